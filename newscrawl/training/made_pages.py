"""Pages made of labelled ones, for the classifier of kinds.

Articles in old layouts (tables, columns of links, no structured data, short stories among teasers)
and home and section pages, of which the corpora hold few. What they say and, for half of them,
their surroundings are those of real pages. Nothing of them is kept: they are made again for each
training.
"""

from __future__ import annotations

from functools import cache
from html import escape
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree
from lxml.html import fragment_fromstring

from newscrawl.body.blocks import find_blocks
from newscrawl.corpora.corpus import load_corpus
from newscrawl.document.document import Document, parse_document
from newscrawl.fields.kind.longest_run import longest_runs
from newscrawl.text import words
from newscrawl.training.block_labels import label_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from newscrawl.corpora.corpus import LabelledPage


_FOUND = 0.8
"""Share of the body that must be found to be replaced by teasers."""
_LEFT = 0.2
"""Size of the longest run of other prose, in bodies: a longer one is a second article."""


class LabelledStory(NamedTuple):
    """The texts of a labelled page."""

    title: str
    paragraphs: list[str]
    day: str
    author: str

    @classmethod
    def of(cls, page: LabelledPage) -> LabelledStory:
        """Return the texts of *page*, whose title and body are labelled."""
        paragraphs = [line for line in (page.body or "").splitlines() if line.strip()]
        day = page.date.isoformat()[:10] if page.date else "2012-05-17"
        return cls(page.title or "", paragraphs, day, next(iter(page.authors), ""))


def stories_of(pages: Iterable[LabelledPage]) -> list[LabelledStory]:
    """Return the texts of those of *pages* whose title and body are labelled."""
    return [LabelledStory.of(page) for page in pages if page.title and page.body]


Made = tuple[str, bytes]
"""The way in which a page is made, and the page."""


@cache
def corpus_stories(folder: Path) -> list[LabelledStory]:
    """Return the texts of the labelled pages of the corpus in *folder*."""
    return stories_of(load_corpus(folder).pages)


def made_articles(page: LabelledPage, html: bytes, stories: Sequence[LabelledStory]) -> list[Made]:
    """Return the article of *page* in other layouts, with teasers of *stories* around it.

    ``made article``: in layouts of ours; ``old style``: on its page, without structured data.
    """
    random = Random(f"article {page.corpus} {page.id}")  # noqa: S311  # the same for the same page
    site = _Site(random, stories)
    story = LabelledStory.of(page)
    made = [("made article", site.page(site.article(story), story.title)) for _ in range(2)]
    return [*made, ("old style", _old_style(html, page.body or "", site))]


def made_indexes(page: LabelledPage, html: bytes, stories: Sequence[LabelledStory]) -> list[Made]:
    """Return home and section pages, with teasers of *stories*.

    ``made index``: in layouts of ours; ``index in place``: on *page*, in place of its body;
    ``made other``: an imprint or the like, in one of the two ways.
    """
    random = Random(f"index {page.corpus} {page.id}")  # noqa: S311
    site = _Site(random, stories)
    body = page.body or ""
    made = [("made index", site.page(site.index(), ""))]
    made += [("index in place", one) for one in _in_place(html, body, site, site.index())]
    name = site.label()
    other = site.imprint(name)
    if site.chance(0.5):
        return [*made, ("made other", site.page(other, name))]
    return [*made, *(("made other", one) for one in _in_place(html, body, site, other, name))]


_PARAGRAPH_FORMS = (
    "<p>{0}</p>", "<p>{0}</p>", "<p>{0}</p>", "{0}<br><br>", "{0}<br><br>", "<div>{0}</div>",
    "<div><p>{0}</p></div>", "<div><h3>{1}</h3><p>{0}</p></div>", "<div><span>19:04</span><p>{0}</p></div>",
)  # fmt: skip
"""Ways to write a paragraph of an article; the last are products, steps and entries of a live blog."""


class _Site:
    """Makes the parts of pages, by chance."""

    def __init__(self, random: Random, stories: Sequence[LabelledStory]) -> None:
        self.random = random
        self._stories = stories

    def chance(self, probability: float) -> bool:
        """Return True as often as *probability* says."""
        return self.random.random() < probability

    def story(self) -> LabelledStory:
        """Return any of the stories."""
        return self.random.choice(self._stories)

    def stories(self, number: int) -> list[LabelledStory]:
        """Return *number* of the stories."""
        return self.random.choices(self._stories, k=number)

    def page(self, main: str, title: str) -> bytes:
        """Return a page with that *title* around *main*, laid out by a table or by boxes."""
        site = " ".join(self.story().title.split()[: self.random.randint(1, 4)])
        shown = self.random.choice((f"{title} | {site}", f"{site}: {title}", title, title, site))
        title = escape(shown if title else site)
        left = self.links(self.random.randint(5, 40)) if self.chance(0.7) else ""
        right = "".join(self.box() for _ in range(self.random.randint(0, 4)))
        top, foot = self.links(self.random.randint(3, 15)), self.links(self.random.randint(0, 12))
        foot += f"<p>&copy; 2008 {escape(' '.join(self.sentences(2)))}</p>"
        head = self.random.choice(
            ("<h1><a href='/'>{}</a></h1>", "<a href='/'>{}</a>", "<b>{}</b>")
        )
        logo = head.format(escape(site))
        if self.chance(0.5):
            columns = "".join(f"<td>{part}</td>" for part in (left, main, right) if part)
            body = f"<table><tr><td>{logo}{top}</td></tr></table><table><tr>{columns}</tr></table>{foot}"
        else:
            columns = "".join(f"<div>{part}</div>" for part in (left, main, right) if part)
            body = f"<div>{logo}{top}</div>{columns}<div>{foot}</div>"
        name = f"<title>{title}</title>" if self.chance(0.8) else ""
        return f"<html><head>{name}</head><body>{body}</body></html>".encode()

    def article(self, story: LabelledStory) -> str:
        """Return *story*, whole or its beginning, and what follows stories."""
        number = self.random.choice((1, 1, 2, 3, 4, 6, 1000, 1000, 1000))
        paragraphs = story.paragraphs[:number]
        form = self.random.choice(_PARAGRAPH_FORMS)
        text = "".join(form.format(escape(one), escape(self.label())) for one in paragraphs)
        parts = [
            self.heading(escape(story.title), linked=self.chance(0.2)),
            self.byline(story) if self.chance(0.7) else "",
            f"<div>{text}</div>",
        ]
        if self.chance(0.3):
            parts.append(self.links(self.random.randint(2, 8)))
        if self.chance(0.4):
            parts.append(self.box())
        if self.chance(0.3):
            parts += [self.comment() for _ in range(self.random.randint(1, 15))]
        return "".join(parts)

    def index(self) -> str:
        """Return the teasers of a home or section page, of one kind or several."""
        parts = [self.heading(escape(self.label()))]
        for _ in range(self.random.choice((1, 1, 2, 4))):
            if self.chance(0.5):
                parts.append(f"<h2>{escape(self.label())}</h2>")
            parts.append(self.teasers(self.random.choice((1, 2, 4, 6, 8, 12, 16, 20))))
        if self.chance(0.2):  # the beginnings of a blog's entries
            number = self.random.choice((1, 2, 3))
            parts += [
                self.entry(story, number) for story in self.stories(self.random.randint(4, 10))
            ]
        return "".join(parts)

    def imprint(self, name: str) -> str:
        """Return what a site says of itself: undated prose, addresses, numbers."""
        texts = [text for story in self.stories(3) for text in story.paragraphs]
        start = self.random.randrange(max(len(texts), 1))
        parts = [self.heading(escape(name))]
        for text in texts[start : start + self.random.randint(2, 15)]:
            tag, length = ("h3", 3) if self.chance(0.2) else ("p", 100)
            parts.append(f"<{tag}>{escape(' '.join(text.split()[:length]))}</{tag}>")
        for _ in range(self.random.randint(0, 4)):
            number = self.random.randint(10_000, 9_999_999)
            parts.append(f"<p>{escape(self.label())} {number}<br>{escape(self.label())}</p>")
        return f"<div>{''.join(parts)}</div>"

    def label(self) -> str:
        """Return a word or two: the name of a section or a page."""
        return " ".join(self.story().title.split()[: self.random.randint(1, 2)])

    def entry(self, story: LabelledStory, number: int) -> str:
        """Return the first *number* paragraphs of *story* under its linked headline."""
        text = "".join(f"<p>{escape(one)}</p>" for one in story.paragraphs[:number])
        more = "<p><a href='/more'>&raquo;</a></p>"
        return f"<div><h2><a href='/s'>{escape(story.title)}</a></h2>{self.byline(story)}{text}{more}</div>"

    def heading(self, text: str, *, linked: bool = False) -> str:
        """Return *text* as the heading of a page."""
        tag = self.random.choice(("h1", "h1", "h2", "h3", "b", "div", "p", "font"))
        return f"<{tag}><a href='/x'>{text}</a></{tag}>" if linked else f"<{tag}>{text}</{tag}>"

    def byline(self, story: LabelledStory) -> str:
        """Return day, author or both."""
        tag = self.random.choice(("p", "span", "div", "small"))
        parts = [story.day if self.chance(0.8) else "", story.author if self.chance(0.6) else ""]
        return f"<{tag}>{escape(' '.join(filter(None, parts)))}</{tag}>"

    def links(self, number: int) -> str:
        """Return links of a word or two: sections, tags, months."""
        names = [" ".join(story.title.split()[:2])[:24] for story in self.stories(number)]
        form = self.random.choice(
            (
                "<li><a href='/{1}'>{0}</a></li>", "<a href='/{1}'>{0}</a> | ",
                "<a href='/{1}'>{0}</a><br>", "<td><a href='/{1}'>{0}</a></td>",
                "<p><a href='/{1}'>{0}</a></p>", "<div><a href='/{1}'>{0}</a></div>",
            )
        )  # fmt: skip
        items = "".join(form.format(escape(name), place) for place, name in enumerate(names))
        return (
            f"<table><tr>{items}</tr></table>" if form.startswith("<td") else f"<div>{items}</div>"
        )

    def box(self) -> str:
        """Return what stands in the columns beside articles."""
        title = f"<h3>{escape(self.label())}</h3>"
        return (
            title
            + self.random.choice(
                (
                    lambda: self.teasers(self.random.randint(3, 12)),
                    lambda: self.links(self.random.randint(5, 30)),
                    lambda: "<form><input name=q><input type=submit></form>",
                    lambda: f"<p>{escape(' '.join(self.sentences(3)))}</p>",
                )
            )()
        )

    def teasers(self, number: int) -> str:
        """Return headlines that lead to *number* stories, with or without excerpts."""
        excerpt, dated, image = (
            self.random.choice((0, 0, 1, 1, 2)),
            self.chance(0.4),
            self.chance(0.4),
        )
        tag = self.random.choice(("h2", "h3", "h4", "b", "span", "strong"))
        box = self.random.choice(("li", "div", "tr", "article", "p", "div"))
        items: list[str] = []
        for story in self.stories(number):
            text = " ".join(" ".join(story.paragraphs).split()[: 25 * excerpt])
            inner = f"<{tag}><a href='/s/{len(items)}'>{escape(story.title)}</a></{tag}>"
            inner = "<img src=1.jpg>" * image + inner + self.byline(story) * dated
            inner += f"<p>{escape(text)}</p>" if text else ""
            items.append(
                f"<{box}><td>{inner}</td></{box}>" if box == "tr" else f"<{box}>{inner}</{box}>"
            )
        joined = "".join(items)
        return f"<table>{joined}</table>" if box == "tr" else f"<div>{joined}</div>"

    def comment(self) -> str:
        """Return the comment of a reader."""
        story = self.story()
        return f"<div>{self.byline(story)}<p>{escape(' '.join(self.sentences(2)))}</p></div>"

    def sentences(self, number: int) -> list[str]:
        """Return *number* beginnings of paragraphs."""
        return [
            " ".join(self.random.choice(one.paragraphs or [""]).split()[:20])
            for one in self.stories(number)
        ]


def _body_elements(html: bytes, body: str) -> tuple[etree._Element, list[etree._Element]]:
    """Return the root of a page, and the elements that hold its labelled *body*, in its order."""
    document = parse_document(html)
    blocks = find_blocks(document)
    bags = [words(" ".join(document.text[row] for row in rows)) for rows in blocks.rows]
    labels = label_blocks(bags, words(body))
    held: dict[int, list[int]] = {}
    for owner, bag, label in zip(blocks.owner, bags, labels, strict=True):
        sizes = held.setdefault(owner, [0, 0])
        sizes[label] += len(bag)
    rows = [owner for owner, (other, own) in held.items() if own > other and owner > 0]
    kept = _outermost(rows, document.end)
    return document.root, [document.element(row) for row in kept]


def _outermost(rows: Iterable[int], end: Sequence[int]) -> list[int]:
    kept: list[int] = []
    for row in sorted(rows):
        if not kept or row >= end[kept[-1]]:
            kept.append(row)
    return kept


def _clear(element: etree._Element) -> None:
    tail = element.tail
    element.clear()
    element.tail = tail


_SEMANTIC = frozenset({"article", "main", "section", "header", "footer", "nav", "aside", "figure",
                       "figcaption", "hgroup"})  # fmt: skip


def _old_style(html: bytes, body: str, site: _Site) -> bytes:
    """Return a page as it would have been written before structured data."""
    root, elements = _body_elements(html, body)
    if site.chance(0.4):
        for element in elements[site.random.randint(1, 4) :]:
            _clear(element)
    _state_nothing(root, site)
    if site.chance(0.4):
        for element in elements:
            if element.tag == "p":
                element.tag = "span"
                element.append(etree.Element("br"))
                element.append(etree.Element("br"))
    if site.chance(0.6):
        _lay_out(root, site)
    return etree.tostring(root, encoding="utf-8", method="html")


def _state_nothing(root: etree._Element, site: _Site) -> None:
    """Take structured data and the names of parts from the page."""
    heading = site.random.choice(("h1", "h1", "h2", "b", "div", "p"))
    nameless = site.chance(0.5)
    for element in list(root.iter()):
        if element.tag in _SEMANTIC:
            element.tag = "div"
        elif element.tag == "h1":
            element.tag = heading
        elif element.tag == "time":
            element.tag = "span"
        drop = ("itemprop", "itemtype", "itemscope", "datetime", *(("class", "id") * nameless))
        for name in drop:
            element.attrib.pop(name, "")
    _drop(root, lambda it: it.tag == "script" or (it.tag == "meta" and "property" in it.attrib))
    head, body = root.find("head"), root.find("body")
    if head is not None and site.chance(0.2):
        etree.SubElement(head, "meta", property="og:type", content="website")
    if body is not None and site.chance(0.3):
        body.insert(0, _element(f"<h1><a href='/'>{escape(site.label())}</a></h1>"))


def _drop(root: etree._Element, unwanted: Callable[[etree._Element], bool]) -> None:
    for element in [it for it in root.iter() if it is not root and unwanted(it)]:
        _remove(element)


def _remove(element: etree._Element) -> None:
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _lay_out(root: etree._Element, site: _Site) -> None:
    """Put the page into the middle of a table, between columns of links and teasers."""
    body = root.find("body")
    if body is None:
        return
    middle = etree.Element("td")
    middle.text, body.text = body.text, None
    for child in list(body):
        middle.append(child)
    left = _element(site.links(site.random.randint(8, 40)))
    right = _element("".join(site.box() for _ in range(site.random.randint(1, 3))))
    row = etree.SubElement(etree.SubElement(body, "table"), "tr")
    for part in (left, middle, right):
        cell = part if part.tag == "td" else etree.Element("td")
        if cell is not part:
            cell.append(part)
        row.append(cell)


def _in_place(
    html: bytes, body: str, site: _Site, content: str, name: str | None = None
) -> list[bytes]:
    """Return a page with *content* in place of its *body*; none where other prose would be left.

    With *name* it has that as its title, and no date or author.
    """
    root, elements = _body_elements(html, body)
    taken = sum(len(" ".join(map(str, element.itertext()))) for element in elements)
    if taken < _FOUND * len(body):
        return []
    for element in elements[1:]:
        _clear(element)
    place = elements[0]
    _clear(place)
    if longest_runs(Document(root, "utf-8", []))[0] > _LEFT * taken:
        return []
    place.tag = "div"
    place.append(_element(content))
    stated = site.random.choice(("kept", "gone", "gone", "gone", "list"))
    if name is not None or stated != "kept":
        _state_list(root, site, listed=name is None and stated == "list")
    for title in root.iter("title"):
        if name is not None:
            title.text = name
    if name is not None or site.chance(0.8):
        _drop(root, lambda it: it.tag in {"time", "h1"})
    return [etree.tostring(root, encoding="utf-8", method="html")]


def _state_list(root: etree._Element, site: _Site, *, listed: bool) -> None:
    """Take from the page what calls it an article; where *listed* it says that it is a list."""
    _drop(root, lambda it: it.tag == "script" or (it.tag == "meta" and _is_of_article(it)))
    if site.chance(0.5):
        for meta in root.iter("meta"):
            if meta.get("property") == "og:type":
                meta.set("content", "website")
    head = root.find("head")
    if listed and head is not None:
        script = etree.SubElement(head, "script", type="application/ld+json")
        script.text = '{"@type": "CollectionPage"}'


def _is_of_article(meta: etree._Element) -> bool:
    values = [str(meta.attrib.get(name, "")) for name in ("property", "name", "itemprop")]
    stated = " ".join(values).lower()
    return any(part in stated for part in ("article", "date", "author", "publ", "modif", "time"))


def _element(html: str) -> etree._Element:
    element: etree._Element = fragment_fromstring(html, create_parent="div")
    return element
