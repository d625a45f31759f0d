"""HTML templates of made pages: articles, teasers and sidebars in old layouts."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from random import Random

    from newscrawl.lab.corpora.corpus import LabelledPage


class LabelledStory(NamedTuple):
    """Texts of a labelled page."""

    title: str
    paragraphs: list[str]
    day: str
    author: str

    @classmethod
    def of(cls, page: LabelledPage) -> LabelledStory:
        """Return the texts of *page*; title and body must be labelled."""
        paragraphs = [line for line in (page.body or "").splitlines() if line.strip()]
        day = page.date.isoformat()[:10] if page.date else "2012-05-17"
        return cls(page.title or "", paragraphs, day, next(iter(page.authors), ""))


def stories_of(pages: Iterable[LabelledPage]) -> list[LabelledStory]:
    """Return the texts of the pages with a labelled title and body."""
    return [LabelledStory.of(page) for page in pages if page.title and page.body]


_PARAGRAPH_FORMS = (
    "<p>{0}</p>", "<p>{0}</p>", "<p>{0}</p>", "{0}<br><br>", "{0}<br><br>", "<div>{0}</div>",
    "<div><p>{0}</p></div>", "<div><h3>{1}</h3><p>{0}</p></div>", "<div><span>19:04</span><p>{0}</p></div>",
)  # fmt: skip
"""Markup of a paragraph: {0} is the text, {1} a heading."""

_TEASER_FORMS = (
    "<section><h2><a href='{url}'>{title}</a></h2><p>{text} {more}</p><p>{day}</p></section>",
    "<article><h3><a href='{url}'>{title}</a></h3><span>{day}</span>{image}<p>{text}</p>{more}</article>",
    "<div>{image}<span>{label}</span><h3><a href='{url}'>{title}</a></h3><div>{text}</div><div>{day}</div></div>",
    "<div><a href='{url}'>{image}<span>{label}</span><div>{title}</div></a><div>{text}</div><div>{day}</div></div>",
    "<a href='{url}'>{image}<h3>{title}</h3><p>{text}</p><small>{day}</small></a>",
    "<div><h2>{title}</h2><p>{day}</p><p>{text}</p><p><a href='{url}'>&raquo;</a></p></div>",
    "<p><b><a href='{url}'>{title}</a></b><br>{text}<br><em>{day}</em> {more}</p>",
    "<li>{day} <a href='{url}'>{title}</a></li>",
    "<li><a href='{url}'>{image}{title}</a><p>{text}</p>{day}</li>",
    "<dt>{day}</dt><dd><a href='{url}'>{title}</a></dd>",
    "<dt><a href='{url}'>{title}</a> {day}</dt><dd>{text} {more}</dd>",
    "<tr><td>{image}</td><td><a href='{url}'><b>{title}</b></a><br>{text} {more}<br>{day}</td></tr>",
)  # fmt: skip
_LIST_TAGS = {"<li": "ul", "<dt": "dl", "<tr": "table"}
_SENTENCES = re.compile(r"(?:[^.!?\u3002\uff01\uff1f]+[.!?\u3002\uff01\uff1f]+){1,2}")
_MORE = (
    "Read more",
    "Weiterlesen",
    "Lire la suite",
    "Leer m\u00e1s",
    "\u7d9a\u304d\u3092\u8aad\u3080",
    "...",
)


class PageTemplates:
    """Random pages and page parts, with the texts of *stories*."""

    def __init__(self, random: Random, stories: Sequence[LabelledStory]) -> None:
        self.random = random
        self._stories = stories

    def chance(self, probability: float) -> bool:
        """Return True with the given *probability*."""
        return self.random.random() < probability

    def story(self) -> LabelledStory:
        """Return a random story."""
        return self.random.choice(self._stories)

    def stories(self, number: int) -> list[LabelledStory]:
        """Return *number* random stories, possibly repeated."""
        return self.random.choices(self._stories, k=number)

    def page(self, main: str, title: str, alone: float = 0.15) -> bytes:
        """Return a page with the content *main* and a *title*, in a table or in ``div`` elements.

        With the probability *alone* it has nothing else.
        """
        site = " ".join(self.story().title.split()[: self.random.randint(1, 4)])
        full_title = self.random.choice(
            (f"{title} | {site}", f"{site}: {title}", title, title, site)
        )
        head_title = escape(full_title if title else site)
        left = self.links(self.random.randint(5, 40)) if self.chance(0.7) else ""
        right = "".join(self.box() for _ in range(self.random.randint(0, 4)))
        top, foot = self.links(self.random.randint(3, 15)), self.links(self.random.randint(0, 12))
        foot += f"<p>&copy; 2008 {escape(' '.join(self.sentences(2)))}</p>"
        logo_form = self.random.choice(
            ("<h1><a href='/'>{}</a></h1>", "<a href='/'>{}</a>", "<b>{}</b>")
        )
        logo = logo_form.format(escape(site))
        if self.chance(alone):
            body = main
        elif self.chance(0.5):
            columns = "".join(f"<td>{part}</td>" for part in (left, main, right) if part)
            head = f"<table><tr><td>{logo}{top}</td></tr></table>"
            body = f"{head}<table><tr>{columns}</tr></table>{foot}"
        else:
            columns = "".join(f"<div>{part}</div>" for part in (left, main, right) if part)
            body = f"<div>{logo}{top}</div>{columns}<div>{foot}</div>"
        head = f"<title>{head_title}</title>" if self.chance(0.8) else ""
        return f"<html><head>{head}</head><body>{body}</body></html>".encode()

    def article(self, story: LabelledStory) -> str:
        """Return *story*, complete or cut, followed by links, boxes and comments."""
        number = self.random.choice((1, 1, 2, 3, 4, 6, 1000, 1000, 1000))
        paragraphs = story.paragraphs[:number]
        form = self.random.choice(_PARAGRAPH_FORMS)
        text = "".join(
            form.format(escape(paragraph), escape(self.label())) for paragraph in paragraphs
        )
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
        """Return the teasers of a home or section page, in one or several groups."""
        parts = [self.heading(escape(self.label()))]
        for _ in range(self.random.choice((1, 1, 2, 4))):
            if self.chance(0.5):
                parts.append(f"<h2>{escape(self.label())}</h2>")
            parts.append(self.teasers(self.random.choice((1, 2, 4, 6, 8, 12, 16, 20))))
        if self.chance(0.3):  # first paragraphs of blog entries
            number, more = self.random.choice((1, 1, 2, 3)), self.random.choice(_MORE)
            linked = self.chance(0.5)
            stories = enumerate(self.stories(self.random.randint(4, 10)))
            parts += [
                self.entry(it, number, f"/e/{place}", more, linked=linked) for place, it in stories
            ]
        return "".join(parts)

    def section(self, name: str) -> str:
        """Return the page of a section or an author: *name*, one to five teasers."""
        form, more = self.random.choice(_TEASER_FORMS), self.random.choice(_MORE)
        has_text, dated, image, labelled, cut = map(self.chance, (0.8, 0.6, 0.5, 0.5, 0.5))
        items: list[str] = []
        for story in self.stories(self.random.choice((1, 1, 2, 2, 3, 4, 5))):
            url = f"/s/{len(items)}"
            sentences = _SENTENCES.match(" ".join(story.paragraphs[:1]))
            parts = {
                "title": escape(story.title),
                "text": escape(sentences[0]) if sentences and has_text else "",
                "day": story.day if dated else "",
                "label": escape(self.label()) if labelled else "",
                "more": f"<a href='{url}'>{more}</a>" if cut else "",
                "image": "<img src=1.jpg>" if image else "",
            }
            items.append(form.format(url=url, **parts))
        tag = _LIST_TAGS.get(form[:3], "div")
        about = f"<p>{escape(' '.join(self.sentences(1)))}</p>" if self.chance(0.2) else ""
        heading = self.heading(escape(name)) if self.chance(0.9) else ""
        return f"<div>{heading}{about}<{tag}>{''.join(items)}</{tag}></div>"

    def imprint(self, name: str) -> str:
        """Return an imprint or an about page: undated prose, addresses, numbers."""
        texts = [text for story in self.stories(3) for text in story.paragraphs]
        start = self.random.randrange(max(len(texts), 1))
        parts = [self.heading(escape(name))]
        words = self.random.choice((25, 50, 100))
        for text in texts[start : start + self.random.choice((1, 1, 2, 3, 5, 8, 15))]:
            tag, length = ("h3", 3) if self.chance(0.2) else ("p", words)
            parts.append(f"<{tag}>{escape(' '.join(text.split()[:length]))}</{tag}>")
        for _ in range(self.random.choice((0, 0, 1, 2, 4))):
            number = self.random.randint(10_000, 9_999_999)
            parts.append(f"<p>{escape(self.label())} {number}<br>{escape(self.label())}</p>")
        return f"<div>{''.join(parts)}</div>"

    def notice(self, headline: str) -> str:
        """Return a notice, as of a bot check: sentences that do not repeat *headline*."""
        texts = [
            f"<p>{escape(text)}.</p>" for text in self.sentences(self.random.choice((1, 2, 3)))
        ]
        more = self.random.choice(("", "", "<button>OK</button>", "<form><input name=m></form>"))
        return f"<div>{self.heading(escape(headline))}{''.join(texts)}{more}</div>"

    def label(self) -> str:
        """Return one or two words, as the name of a section or a page."""
        return " ".join(self.story().title.split()[: self.random.randint(1, 2)])

    def entry(self, story: LabelledStory, number: int, url: str, more: str, *, linked: bool) -> str:
        """Return the headline and *number* paragraphs of *story* at *url*, and the link *more*."""
        text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in story.paragraphs[:number])
        link = "<a href='{}'>{}</a>"
        title = escape(story.title)
        heading = link.format(url, title) if linked else title
        more = f"<p>{link.format(url, more)}</p>"
        return f"<div><h2>{heading}</h2>{self.byline(story)}{text}{more}</div>"

    def heading(self, text: str, *, linked: bool = False) -> str:
        """Return *text* as the main heading of a page."""
        tag = self.random.choice(("h1", "h1", "h2", "h3", "b", "div", "p", "font"))
        return f"<{tag}><a href='/x'>{text}</a></{tag}>" if linked else f"<{tag}>{text}</{tag}>"

    def byline(self, story: LabelledStory) -> str:
        """Return an element with date, author, both or neither."""
        tag = self.random.choice(("p", "span", "div", "small"))
        parts = [story.day if self.chance(0.8) else "", story.author if self.chance(0.6) else ""]
        return f"<{tag}>{escape(' '.join(filter(None, parts)))}</{tag}>"

    def links(self, number: int) -> str:
        """Return *number* links of one or two words, as to sections or tags."""
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
        """Return a box of a sidebar: teasers, links, a form or text."""
        title = f"<h3>{escape(self.label())}</h3>"
        contents: tuple[Callable[[], str], ...] = (
            lambda: self.teasers(self.random.randint(3, 12)),
            lambda: self.links(self.random.randint(5, 30)),
            lambda: "<form><input name=q><input type=submit></form>",
            lambda: f"<p>{escape(' '.join(self.sentences(3)))}</p>",
        )
        return title + self.random.choice(contents)()

    def teasers(self, number: int) -> str:
        """Return linked headlines of *number* stories, with or without excerpts."""
        excerpt = self.random.choice((0, 0, 1, 1, 2))
        dated, image = self.chance(0.4), self.chance(0.4)
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
        """Return a reader's comment."""
        story = self.story()
        return f"<div>{self.byline(story)}<p>{escape(' '.join(self.sentences(2)))}</p></div>"

    def sentences(self, number: int) -> list[str]:
        """Return the first words of *number* random paragraphs."""
        return [
            " ".join(self.random.choice(story.paragraphs or [""]).split()[:20])
            for story in self.stories(number)
        ]
