"""Constructs transplanted into labelled pages, as training data for the block classifier.

The corpora have few lists, posts, cards, notes, further articles and notices in or around their
stories. :data:`OF_STORY` and :data:`NOT_OF_STORY` have the forms of each. They are filled with
texts of other stories of the corpus, thus in its languages; names are hashed in a quarter of the
pages, and left out in another.
"""

from __future__ import annotations

import re
from html import escape
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from newscrawl.lab.training.made_pages import body_elements, element_of
from newscrawl.language_words import word_table
from newscrawl.text import squeeze, xml_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.page_templates import LabelledStory


class Construct(NamedTuple):
    """Forms of a construct.

    ``[...]`` is repeated, ``{...}`` a random value: s sentence, p paragraph, w words, a one or two,
    v a phrase, l words of furniture, L a sentence with some, n name, t title of another story, d
    day, m number, i image or nothing, u address on the site, x elsewhere, k code, ``c names`` a
    class attribute; H and B are the tags of headings and boxes, the same in the whole construct.
    """

    #: where it is inserted: in front of the story, in the middle, at its end or below it
    places: str
    forms: tuple[str, ...]


OF_STORY: Mapping[str, Construct] = {
    "list": Construct("middle end", (
        "<ul>[<li>{s}</li>]</ul>", "<ul{c list facts}>[<li>{v}</li>]</ul>", "<ol>[<li><p>{s}</p></li>]</ol>",
        "<p>{s}:</p><ul>[<li>{v}</li>]</ul>", "<p>{s}:</p><ul>[<li><a href='{x}'>{v}</a></li>]</ul>",
        "<p>{s}:</p><ul>[<li><a href='{u}'>{w}</a>, {w}</li>]</ul>", "<h3>{w}</h3><ul>[<li>{v}</li>]</ul>",
        "<ul>[<li><strong>{w}:</strong> {s}</li>]</ul>", "<p>[• {s}<br>]</p>", "<div>[– {v}<br>]</div>",
        "<h3>{w}</h3><ul>[<li>{m} g {w}</li>]</ul>", "<div{c list}>[<div>{v}</div>]</div>",
        "<dl>[<dt>{w}</dt><dd>{s}</dd>]</dl>",
    )),
    "quotation": Construct("middle end", (
        "<blockquote>{p}</blockquote>", "<blockquote{c quote wp-block-quote}><p>{p}</p></blockquote>",
        "<blockquote><p>{s}</p><p>{s}</p></blockquote>", "<figure><blockquote><p>{p}</p></blockquote></figure>",
        "<blockquote><p>{p}</p><cite>{n}</cite></blockquote>", "<div><div><blockquote><div>{p}</div></blockquote></div></div>",
    )),
    "post": Construct("middle middle end", (
        "<blockquote class='twitter-tweet'><p dir=ltr>{s}</p>— {n} (@{n}) <a href='{x}'>{d}</a></blockquote>",
        "<blockquote class='twitter-tweet'><p>{s} <a href='{x}'>#{w}</a></p>— {n} <a href='{x}'>{d}</a></blockquote>",
        "<blockquote class='instagram-media'><div><p>{s}</p><p><a href='{x}'>{n}</a></p></div></blockquote>",
        "<blockquote class='bluesky-embed'><p>{p}</p>— {n} {d}</blockquote>",
        "<div{c embed tweet}>[<blockquote class='twitter-tweet'><p>{s}</p>— {n} {d}</blockquote>]</div>",
        "<blockquote class='tiktok-embed'><section><a href='{x}'>@{n}</a> <p>{s}</p></section></blockquote>",
    )),
    "code": Construct("middle end", (
        "<pre>{k}</pre>", "<pre><code>{k}</code></pre>", "<div{c highlight code}><pre>{k}</pre></div>",
        "<figure{c highlight}><pre><code>{k}</code></pre></figure>", "<div><code>[{k}<br>]</code></div>",
        "<pre>[<div>{k}</div>]</pre>", "<div{c highlight}><div{c code}><pre><code>[<span>{k}</span>\n]</code></pre></div></div>",
    )),
    "panel": Construct("middle end", (
        "<details{c accordion}><summary>{w}</summary><p>{p}</p></details>",
        "<details><summary>{w}</summary>[<p>{s}</p>]</details>",
        "<details><summary><h3>{w}</h3></summary><div><p>{p}</p></div></details>",
    )),
    "heading": Construct("middle middle front", (
        "<{H}>{w}</{H}><p>{p}</p>", "<{H}{c heading subhead}>{w}</{H}><p>{p}</p>", "<p><b>{w}</b></p><p>{p}</p>",
        "<div><{H}>{w}</{H}></div><p>{p}</p>", "<{H}><a href='{x}'>{w}</a></{H}><p>{p}</p>",
        "<{H}><a href='{u}'>{w}</a></{H}><p>{p}</p><p>{p}</p>",
    )),
    "items": Construct("middle end end", (
        "[<{H}>{w}</{H}>{i}<p>{p}</p>]", "[<{H}>{m}. {w}</{H}><p>{p}</p>]",
        "[<{B}{c item product card step}>{i}<{H}>{w}</{H}><p>{p}</p></{B}>]",
        "[<{B}{c item venue slide}>{i}<{H}><a href='{x}'>{w}</a></{H}><p>{s}</p><p>{w}</p></{B}>]",
        "[<{B}{c card item}><{H}><a href='{u}'>{w}</a></{H}><p>{p}</p></{B}>]",
        "<div{c items list grid content}>[<{B}{c item}>{i}<{H}>{w}</{H}><p>{s}</p></{B}>]</div>",
        "<ul>[<li><{H}>{w}</{H}><p>{s}</p></li>]</ul>", "<ol{c steps}>[<li>{i}<p>{p}</p></li>]</ol>",
        "[<div{c step}><span>{m}</span><div>{s}</div></div>]", "[<p><b>{w}?</b></p><p>{p}</p>]",
        "[<p><b>{w}?</b><br>{p}</p>]", "[<div><h3>{w}?</h3><p>{p}</p></div>]",
    )),
    "note": Construct("middle end", (
        "<div{c note callout info-box box}><p>{s}</p></div>", "<div{c note callout alert}>{p}</div>",
        "<div{c note wp-block-group}><strong>{w}</strong> <p>{p}</p></div>", "<section><p>{s}</p></section>",
        "<div{c callout card}><div>{w}</div><div>{s}</div></div>", "<div{c box}><p>{w}</p><p>{p}</p></div>",
    )),
    "standfirst": Construct("front", (
        "<div{c standfirst lead intro}>{s}</div>", "<p{c lead intro subtitle}>{s}</p>", "<p><b>{s}</b></p>",
        "<h2{c lead deck}>{s}</h2>", "<div><p>{s}</p></div>", "<div{c summary}><div>{s} {s}</div></div>",
        "<header{c head}><p>{s}</p></header>",
    )),
    "loose text": Construct("middle end end", (
        "{p}<br><br>", "<div>{p}</div>", "<span>{p}</span><br><br>", "<div><div><p>{p}</p></div></div>",
        "<section><p>{p}</p><p>{p}</p></section>", "<p>{s}</p>", "<div><h3>{w}</h3><p>{p}</p><p>{p}</p></div>",
        "<div>{p}<br><br>{p}</div>",
        "<div><p>{p}</p><div><p>{p}</p><div><p>{p}</p></div></div></div>", "<span>{s}</span>", "{s}", "<p><a href='{u}'>{p}</a></p>",
        "<p><a href='{u}'>{w}</a>, {s}</p>", "<p>{s} <a href='{u}'>{w}</a> {s}</p>", "<p>– {s}<br>– {s}</p>",
    )),
}  # fmt: skip
"""Constructs that belong to the story."""

NOT_OF_STORY: Mapping[str, Construct] = {
    "teasers": Construct("middle end below below below", (
        "[<{B}{c teaser card}>{i}<{H}><a href='{u}'>{t}</a></{H}><p>{s}</p></{B}>]",
        "<div{c related more recommended}><h3>{w}</h3>[<{B}{c item}><{H}><a href='{u}'>{t}</a></{H}><span>{d}</span></{B}>]</div>",
        "<section{c related}>[<article{c post}>{i}<span>{w}</span><{H}><a href='{u}'>{t}</a></{H}><p>{p} <a href='{u}'>{w}</a></p></article>]</section>",
        "<h2>{w}</h2><ul{c stream list}>[<li>{i}<a href='{u}'>{t}</a><p>{s}</p></li>]</ul>",
        "<div{c grid tiles}>[<a href='{u}'{c tile}>{i}<{H}>{t}</{H}><p>{s}</p></a>]</div>",
        "[<div><{H}>{t}</{H}><p>{s}</p><a href='{u}'>{w}</a></div>]", "[<p><a href='{u}'>{t}</a><br>{s}</p>]",
        "<div{c sidebar}><h4>{w}</h4>[<div><b><a href='{u}'>{t}</a></b> <i>{d}</i><div>{p}</div></div>]</div>",
        "<div{c latest}><{H}><a href='{u}'>{t}</a></{H}><p>{d}</p><p>{p}</p><p>{p}</p></div>",
    )),
    "read also": Construct("middle middle end", (
        "<p>{w}: <a href='{u}'>{t}</a></p>", "<p><strong>{w}: <a href='{u}'>{t}</a></strong></p>",
        "<div{c read-also related}><span>{w}</span> <a href='{u}'>{t}</a></div>", "<p><a href='{u}'>{t}</a></p>",
        "<p><b>{w}:</b></p><ul>[<li><a href='{u}'>{t}</a></li>]</ul>", "<h3>{w}</h3><ul>[<li><a href='{u}'>{t}</a></li>]</ul>",
        "<div{c box related}>{i}<h4><a href='{u}'>{t}</a></h4><p>{s}</p></div>",
    )),
    "label": Construct("middle middle front end", (
        "<div{c ad advert}>{w}</div>", "<p{c ad-mark ad-note}>{l}</p>", "<div{c ad}><span>{l}</span></div>",
        "<p><small>{l}</small></p>", "<p><em>{l}</em></p>", "<div><p>{l}</p></div>", "<p>{l}</p>", "<div>{l}</div>",
        "<p>{l} {w}</p>", "<div><span>{w} {l}</span></div>",
    )),
    "controls": Construct("front front middle end below", (
        "<div{c tools reading-time}><span>{w}: {m} min</span></div>", "<div{c tools player}>[<span>{w}</span>]</div>",
        "<ul{c tools}>[<li>{w}</li>]</ul>", "<div{c tools}><p>{l}: {m} {l}</p>[<p>{l}</p>]</div>", "<p>{m} {l}</p>", "<div><div>{l}</div><div>{m} {l}</div></div>",
        "<p>{l}</p><p>{l}: {m} min</p>", "<p>{l} {m} {l}</p>", "<div><p>{l}</p><p>{l}</p></div>",
        "<div{c share}>[<a href='{x}'>{l}</a> ]</div>",
        "<ul{c share tags}>[<li>{a}</li>]</ul>", "<ul>[<li><span>{a}</span></li>]</ul>",
        "<dl{c meta}><dt>{a}</dt><dd>{d}</dd><dt>{a}</dt><dd>{n}</dd></dl>",
    )),
    "sign-up": Construct("middle middle end below", (
        "<div{c newsletter promo}><h3>{l}</h3><p>{s}</p><form><input type=email></form></div>",
        "<div{c signup box}><p>{L}</p><a href='{u}'>{w}</a></div>", "<p><em><a href='{x}'>{L}</a></em></p>",
        "<section{c newsletter}><strong>{l}</strong><p>{L}</p><p><a href='{u}'>{l}</a></p></section>",
        "<aside><p>{s}</p></aside>", "<p>{L}</p>", "<p><strong>{L}</strong></p>", "<div><p>{L} {L}</p></div>",
        "<p>{L} <a href='{x}'>{l}</a></p>",
    )),
    "notice": Construct("end below below", (
        "<p>© {s}</p>", "<p>Copyright 2024 {s} {s}</p>", "<div{c legal disclaimer btm}>[<p>{s}</p>]</div>",
        "<p><small>{L} {s}</small></p>", "<footer><p>{p}</p></footer>", "<p><em>{s}</em></p>", "<p>© {L}</p>", "<p>{L}</p>",
        "<p>{L} {L}</p>", "<p><i>{L}</i></p>",
        "<div{c about note}><h4>{w}</h4><p>{p}</p></div>",
        "<div{c author bio}>{i}<p><a href='{u}'>{n}</a> {s}</p></div>", "<p><i><b>{n}</b> {s}</i></p>",
        "<div{c author-box}><h4><a href='{u}'>{n}</a></h4><p>{p}</p></div>",
    )),
    "next article": Construct("below", (
        "[<div{c article story post}><{H}>{t}</{H}><p>{n}, {d}</p>{i}<p>{p}</p><p>{p}</p><p>{p}</p></div>]",
        "<section><h1>{t}</h1>{i}<div><p>{p}</p><p>{p}</p></div></section>",
        "<article{c article}><{H}><a href='{u}'>{t}</a></{H}><div{c meta byline}>{d}</div>[<p>{p}</p>]</article>",
    )),
    "comments": Construct("below", (
        "<h3>{w} ({m})</h3><div>[<div{c reply c-item}><b>{n}</b> {d}<p>{s}</p></div>]</div>",
        "<ul{c opinions}>[<li{c entry}><span>{n}</span><span>{d}</span><div>{p}</div></li>]</ul>",
        "<h4>{m} {w}</h4><table>[<tr><td><b>{n}</b> {d}</td><td>{s}</td></tr>]</table>", "[<p><b>{n}</b> {d}<br>{s}</p>]",
        "<div{c board}>[<div><div><strong>{n}</strong>, {d}</div><div><p>{p}</p></div></div>]</div>",
    )),
    "dialog": Construct("below", (
        "<div{c modal popup}><h2>{w}</h2><p>{p}</p><p><a href='{u}'>{w}</a> <a href='{u}'>{w}</a></p></div>",
        "<div{c overlay notice}><h2>{w}</h2>[<p>{p}</p>]</div>",
    )),
}  # fmt: skip
"""Constructs that do not, in the story or next to it."""

_PAGES = (
    ("<header><a href=/>{w}</a><nav><ul>[<li><a href='{u}'>{w}</a></li>]</ul></nav></header><main><article><h1>{T}</h1>"
    "<p{c byline}>{n}, {d}</p><div{c body text}>{S}</div></article></main><aside><h2>{w}</h2><ul>[<li><a href='{u}'>{t}</a></li>]</ul></aside>"
    "<footer><p>© {w}</p></footer>"),
    ("<div{c page}><div{c nav}>[<a href='{u}'>{w}</a> ]</div><div{c col}><div{c head}><h1>{T}</h1></div><section{c content}>{S}</section></div>"
    "<div{c rail}>[<div{c item}><a href='{u}'>{t}</a></div>]</div><div{c foot}><span>{w}</span></div></div>"),
    ("<table width=960><tr><td colspan=2><a href=/>{w}</a></td></tr><tr><td{c menu}>[<a href='{u}'>{w}</a><br>]</td><td><h1>{T}</h1>{i}"
    "<div{c text}>{S}</div></td></tr></table>"),
    "<article><header><h1{c title}>{T}</h1><time>{d}</time></header>{S}</article><nav>[<a href='{u}'>{w}</a> ]</nav>",
    "<main><h1>{T}</h1>{i}{S}<h2>{w}</h2>[<div><a href='{u}'>{t}</a></div>]</main>",
)  # fmt: skip
"""Small pages around a story: T is its title, S its text."""

_PART, _VALUE = re.compile(r"\[([^\[\]]*)\]"), re.compile(r"\{(\w)(?: ([\w -]+))?\}")
_SENTENCE = re.compile(
    '[^.!?\u3002\uff01\uff1f\u0964]+[.!?\u3002\uff01\uff1f\u0964]+["\u201d\u00bb]?'
)
_DAYS = ("12.05.2024", "2023-11-03", "May 3, 2024", "3 Nov 2023", "14:05", "05/06/24", "2 h")
_CODE = ("let x = {}", "$ make {}", "print({});", "({} 12)", "{}.open(1)", "--{}")
_IMAGES = ("", "<img src=/i.jpg>", "<figure><img src=/i.jpg></figure>")
_FURNITURE = tuple(
    (lists["furniture"], lists["controls"])
    for lists in word_table().values()
    if "furniture" in lists and "controls" in lists
)
_MIN_SENTENCE, _MAX_SENTENCE, _MAX_PARAGRAPH, _ATTEMPTS = 20, 220, 600, 8
_MAX_LEVELS = 4  # above the story
_MIXED = 0.4  # share of labels with other words
_NO_PLACE = frozenset({"body", "html", "table", "tbody", "tr"})


class Transplanted(NamedTuple):
    """A page with inserted constructs."""

    html: bytes
    #: inserted text -> whether it belongs to the story
    labels: Mapping[str, bool]


class _Filler:
    """Fills the forms of one page with the texts of *stories*, and of its *own* story."""

    def __init__(
        self, random: Random, stories: Sequence[LabelledStory], own: Sequence[str]
    ) -> None:
        self._random, self._stories, self._own = random, stories, own or [""]
        self._named, self._hashed = random.random() < 0.75, random.random() < 0.33

    def fill(self, construct: Construct, **fixed: str) -> str:
        """Return a random form of *construct* with random texts, and *fixed* ones."""
        choice = self._random.choice
        fixed |= {
            "H": choice(("h2", "h3", "h3", "h4", "strong")),
            "B": choice(("div", "div", "section", "article")),
        }
        form = _PART.sub(lambda part: part[1] * self._random.randint(2, 7), choice(construct.forms))
        return _VALUE.sub(lambda it: fixed.get(it[1]) or self._value(it[1], it[2]), form)

    def small_page(self, title: str) -> bytes:
        """Return a page with up to eight paragraphs of the story and little else."""
        text = "".join(f"<p>{escape(line)}</p>" for line in self._own[: self._random.randint(1, 8)])
        page = xml_text(self.fill(Construct("", _PAGES), T=escape(title), S=text))
        return (
            f"<html><head><title>{escape(title)}</title></head><body>{page}</body></html>".encode()
        )

    def _value(self, name: str, names: str | None) -> str:
        random, number = self._random, self._random.randint(1, 9999)
        values = {
            "c": lambda: self._class(names or ""),
            "u": lambda: random.choice((f"/s/{number}", f"/n/{number}.html", f"/{number}/a-b-c-d")),
            "x": lambda: random.choice((f"https://www.example.org/{number}", f"#p{number}")),
            "d": lambda: random.choice(_DAYS),
            "i": lambda: random.choice(_IMAGES),
            "m": lambda: str(number % 12 + 1),
            "k": lambda: random.choice(_CODE).format(escape(self._words(1, 2))),
            "n": lambda: escape(self._words(2, 3)),
            "w": lambda: escape(self._words(1, 5)),
            "l": lambda: escape(self._label()),
            "L": lambda: escape(self._notice()),
            "a": lambda: escape(self._words(1, 2)),
            "v": lambda: escape(self._words(3, 7)),
            "t": lambda: escape(squeeze(random.choice(self._stories).title) or self._words(3, 8)),
            "s": lambda: escape(_first_sentence(self._paragraph())),
            "p": lambda: escape(self._paragraph()[:_MAX_PARAGRAPH]),
        }
        return values[name]()

    def _furniture(self, number: int) -> list[str]:
        """Return words of furniture of one language, at least one of them rare in stories."""
        rare, controls = self._random.choice(_FURNITURE)
        return [self._random.choice(rare), *self._random.choices((*rare, *controls), k=number - 1)]

    def _notice(self) -> str:
        """Return a sentence of a title with words of furniture."""
        words = self._words(4, 9).split()
        for word in self._furniture(self._random.randint(1, 3)):
            words.insert(self._random.randint(0, len(words)), word)
        return " ".join(words).capitalize() + "."

    def _label(self) -> str:
        """Return a label of furniture, in part with other words."""
        random = self._random
        words = random.sample(random.choice(random.choice(_FURNITURE)), random.randint(1, 2))
        words += self._words(1, 3).split() if random.random() < _MIXED else []
        random.shuffle(words)
        return " ".join(words).capitalize()

    def _class(self, names: str) -> str:
        if not self._named:
            return ""
        name = (
            f"c{self._random.getrandbits(32):x}"
            if self._hashed
            else self._random.choice(names.split())
        )
        return f" class='{name}'"

    def _paragraph(self) -> str:
        text = ""
        for _ in range(_ATTEMPTS):
            text = squeeze(
                self._random.choice(self._random.choice(self._stories).paragraphs or [""])
            )
            if 2 * _MIN_SENTENCE <= len(text) <= _MAX_PARAGRAPH:
                break
        return text

    def _words(self, low: int, high: int) -> str:
        """Return a few words of a title, or characters of one without spaces."""
        title, number = (
            squeeze(self._random.choice(self._stories).title),
            self._random.randint(low, high),
        )
        words = title.split()
        return " ".join(words[:number]) if len(words) > high else title[: 3 * number]


def _first_sentence(text: str) -> str:
    found = _SENTENCE.match(text)
    is_usable = found and _MIN_SENTENCE <= len(found[0]) <= _MAX_SENTENCE
    return found[0].strip() if found and is_usable else text[:_MAX_SENTENCE]


def transplant(
    page: LabelledPage,
    html: bytes | None,
    stories: Sequence[LabelledStory],
    number: int,
    without: Collection[str] = (),
) -> Transplanted | None:
    """Return *html*, which has the body of *page*, with two to five constructs.

    Without *html*, the body is in a small page. *number* distinguishes variants of a page, the
    constructs *without* are left out. None if the body is not found.
    """
    random = Random(f"transplant {page.corpus} {page.id} {number}")  # noqa: S311  # reproducible
    filler = _Filler(random, stories, [line for line in (page.body or "").split("\n") if line])
    html = html or filler.small_page(page.title or "")
    root, elements = body_elements(html, page.body or "")
    elements = [element for element in elements if element.tag not in _NO_PLACE]
    if not elements:
        return None
    labels: dict[str, bool] = {}
    names = [name for name in (*OF_STORY, *NOT_OF_STORY) if name not in without]
    for name in random.sample(names, min(random.randint(2, 5), len(names))):
        construct = OF_STORY.get(name) or NOT_OF_STORY[name]
        content = element_of(xml_text(filler.fill(construct)))
        labels.update(dict.fromkeys(map(squeeze, map(str, content.itertext())), name in OF_STORY))
        _insert(elements, content, random.choice(construct.places.split()), random)
    return Transplanted(etree.tostring(root, encoding="utf-8", method="html"), labels)


def _insert(
    elements: Sequence[etree._Element], content: etree._Element, place: str, random: Random
) -> None:
    """Insert the children of *content* next to the *elements* of the story."""
    last = random.randrange(max(1, len(elements) - 1)) if place == "middle" else -1
    target = elements[0 if place == "front" else last]
    for _ in range(random.randint(1, _MAX_LEVELS) if place == "below" else 0):
        above = target.getparent()
        if above is None or above.tag in _NO_PLACE:
            break
        target = above
    parent = target.getparent()
    if parent is None or parent.tag in _NO_PLACE - {"body"}:
        return
    index, tail = parent.index(target) + (place != "front"), None
    if place != "front":
        tail, target.tail = target.tail, None
    if content.text and content.text.strip():
        first = etree.Element("div")
        first.text, content.text = content.text, None
        content.insert(0, first)
    children = list(content)
    parent[index:index] = children
    if children and tail:
        children[-1].tail = (children[-1].tail or "") + tail
