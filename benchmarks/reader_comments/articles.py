"""Articles without comments: bodies of several kinds in page layouts of several kinds."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.reader_comments.texts import Writer

Kind = Literal["news", "short", "long", "opinion", "interview", "letters", "live", "tweets"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COMMENT_LIKE: frozenset[Kind] = frozenset({"opinion", "interview", "letters", "live"})
"""Kinds whose body has the structure or the tone of comments."""
OWN_WORDS: frozenset[Kind] = frozenset({"opinion", "interview", "letters", "tweets"})
"""Kinds whose body has sentences like those of comments."""


class Body(NamedTuple):
    """A body and its label."""

    html: str
    #: labelled paragraphs
    paragraphs: list[str]


def make_body(kind: Kind, writer: Writer) -> Body:
    """Return a body of *kind*."""
    return _BODIES[kind](writer)


def _prose(writer: Writer, number: int, sentences: int = 3) -> list[str]:
    return [writer.paragraph("article", sentences) for _ in range(number)]


def _body(paragraphs: list[str]) -> Body:
    return Body("\n".join(f"<p>{escape(text, quote=False)}</p>" for text in paragraphs), paragraphs)


def _news(writer: Writer) -> Body:
    return _body(_prose(writer, writer.rng.randint(5, 9)))


def _short(writer: Writer) -> Body:
    return _body(_prose(writer, 2))


def _long(writer: Writer) -> Body:
    return _body(_prose(writer, writer.rng.randint(16, 22)))


def _opinion(writer: Writer) -> Body:
    return _body([writer.paragraph("own", 3) for _ in range(3)] + _prose(writer, 4))


def _interview(writer: Writer) -> Body:
    html, paragraphs = [], _prose(writer, 1)
    html.append(f"<p>{escape(paragraphs[0], quote=False)}</p>")
    for question in (writer.one("question") for _ in writer.labels("question")):
        answer = writer.paragraph("own", 2) + writer.paragraph("article", 1)
        html.append(f"<p><strong>{escape(question, quote=False)}</strong></p>")
        html.append(f"<p>{escape(answer, quote=False)}</p>")
        paragraphs += [question, answer]
    return Body("\n".join(html), paragraphs)


def _letters(writer: Writer) -> Body:
    """Return letters to the editor, each with the name and place of its author."""
    html, paragraphs = [], []
    for _ in range(5):
        text = writer.paragraph("own", 2) + writer.paragraph("article", 2)
        author = f"{writer.one('person')}, {writer.one('place')}"
        html.append(
            f"<div class='letter'><p>{escape(text, quote=False)}</p>"
            f"<p class='letter-author'><em>{escape(author, quote=False)}</em></p></div>"
        )
        paragraphs += [text, author]
    return Body("\n".join(html), paragraphs)


def _live(writer: Writer) -> Body:
    """Return entries of a live blog, each with a time, an author and a button."""
    html: list[str] = []
    paragraphs = []
    share = escape(writer.ui("share"), quote=False)
    for _ in range(6):
        text = writer.paragraph("article", 2)
        author = escape(writer.one("person"), quote=False)
        html.append(
            f"<div class='entry' id='e{len(html)}'><div class='entry-head'><time>{writer.time()}</time>"
            f" <span class='entry-author'>{author}</span></div><p>{escape(text, quote=False)}</p>"
            f"<a class='entry-share' href='#'>{share}</a></div>"
        )
        paragraphs.append(text)
    return Body("\n".join(html), paragraphs)


def _tweets(writer: Writer) -> Body:
    """Return prose with two embedded posts of a social network, which may be kept or not."""
    html, paragraphs = [], _prose(writer, 6)
    for place, text in enumerate(paragraphs):
        html.append(f"<p>{escape(text, quote=False)}</p>")
        if place in {1, 3}:
            quote = escape(writer.paragraph("own", 1), quote=False)
            name = escape(writer.one("person"), quote=False)
            date = escape(writer.long_date(), quote=False)
            html.append(
                f"<blockquote class='twitter-tweet'><p>{quote}</p>— {name} (@n{place}) "
                f"<a href='https://social.example/1'>{date}</a></blockquote>"
            )
    return Body("\n".join(html), paragraphs)


_BODIES: Mapping[Kind, Callable[[Writer], Body]] = {
    "news": _news,
    "short": _short,
    "long": _long,
    "opinion": _opinion,
    "interview": _interview,
    "letters": _letters,
    "live": _live,
    "tweets": _tweets,
}

LAYOUTS = {
    "blog": "<body class='single single-post'><header id='masthead' class='site-header'><p class='site-title'>"
    "<a href='/'>{site}</a></p><nav>{menu}</nav></header><div id='content' class='site-content'><div "
    "id='primary' class='content-area'><main id='main' class='site-main'><article id='post-12' "
    "class='post-12 post type-post status-publish hentry'><header class='entry-header'><h1 class='entry-title'>"
    "{title}</h1><div class='entry-meta'><span class='posted-on'><time>{date}</time></span> <span class='byline'>"
    "{byline}</span></div></header><div class='entry-content'>{body}</div></article>{comments}</main></div>"
    "<aside id='secondary' class='widget-area'>{related}</aside></div><footer class='site-footer'>"
    "{site}</footer></body>",
    "newspaper": "<body><header class='c-header'><a href='/'>{site}</a><nav class='c-nav'>{menu}</nav></header><main>"
    "<article class='c-article'><header class='c-article__header'><h1 class='c-article__title'>{title}</h1>"
    "<p class='c-article__byline'>{byline} · <time>{date}</time></p></header><figure><img src='/i.jpg' alt=''>"
    "<figcaption>{caption}</figcaption></figure><div class='c-article__body'>{body}</div>{related}{comments}"
    "</article></main><footer class='c-footer'>{site}</footer></body>",
    "hashed": "<body><div id='__next'><div class='sc-a1'><header class='sc-b1'><nav>{menu}</nav></header><main "
    "class='sc-c1'><div class='sc-d1'><h1 class='sc-e1'>{title}</h1><div class='sc-f1'><span>{byline}</span>"
    "<time>{date}</time></div></div><section class='sc-g1'>{body}</section><div class='sc-h1'>{comments}</div>"
    "<div class='sc-i1'>{related}</div></main></div></div></body>",
    "table": "<body bgcolor='#ffffff'><table width='980' cellpadding='3'><tr><td width='160' valign='top'>{menu}</td>"
    "<td valign='top'><h1>{title}</h1><font size='1'>{byline}, {date}</font><br>{body}<br>{comments}</td>"
    "<td width='200' valign='top'>{related}</td></tr></table></body>",
    "plain": "<body><div id='top'><a href='/'>{site}</a>{menu}</div><div id='content'><h1>{title}</h1><p class='meta'>"
    "{byline}, {date}</p>{body}{comments}{related}</div></body>",
}


def make_frame(layout: str, writer: Writer, title: str, body: str) -> Callable[[str], bytes]:
    """Return a function that returns the page with *body* and a comment section."""
    links = "".join(
        f"<li><a href='/s/{place}'>{escape(text, quote=False)}</a></li>"
        for place, text in enumerate(writer.labels("teasers"))
    )
    menu = "".join(f"<li><a href='/m'>{escape(text)}</a></li>" for text in writer.labels("menu"))
    values = {
        "site": "The Example",
        "title": escape(title, quote=False),
        "menu": f"<ul>{menu}</ul>",
        "byline": escape(f"{writer.ui('by')} {writer.one('person')}", quote=False),
        "date": escape(writer.long_date(), quote=False),
        "caption": escape(writer.ui("caption"), quote=False),
        "related": f"<div class='related'><h3>{writer.ui('related')}</h3><ul>{links}</ul></div>",
        "body": body,
    }
    direction = "rtl" if writer.language == "ar" else "ltr"
    head = (
        f"<!DOCTYPE html><html lang='{writer.language}' dir='{direction}'><head><meta charset='utf-8'>"
        f"<title>{values['title']}</title></head>"
    )

    def page(comments: str) -> bytes:
        return f"{head}{LAYOUTS[layout].format(**values, comments=comments)}</html>".encode()

    return page
