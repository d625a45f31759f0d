"""Markdown and HTML of the body, read back by other implementations."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import lxml.html
import nh3
from lxml import etree
from markdown_it import MarkdownIt

from newscrawl.document.document import DocumentError
from newscrawl.extraction.body_structure import EMBED_TEXT
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.items import Article
from newscrawl.text import words

CORPUS_NAMES = (
    "news212", "fundus", "wcxb", "daniel", "l3sgn1", "dragnet", "postlight", "css-sites",
    "fundus-history",
)  # fmt: skip
FORMATS = frozenset(("body_markdown", "body_html"))
_INLINE = {"a", "code", "em", "img", "strong", "sub", "sup"}
_BLOCKS = {
    "blockquote", "br", "figcaption", "figure", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "pre",
    "table", "td", "th", "tr", "ul",
}  # fmt: skip
ELEMENTS = _INLINE | _BLOCKS
"""Elements of the HTML of the body."""
ATTRIBUTES = {"a": {"href"}, "img": {"alt", "src"}}
"""Their attributes."""
FAULTS = ("Markdown: words", "HTML: words", "Markdown: active", "HTML: active")
"""Other words than the text; something that a sanitiser removes."""
URL = "https://news.example/2026/story"
# Raw HTML in Markdown is read as HTML: text that looks like it must be escaped.
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def rendered(markdown: str) -> str:
    """Return *markdown* as HTML."""
    return str(_MARKDOWN.render(markdown))


def words_of(markup: str) -> list[str]:
    """Return the words of an HTML fragment, without the symbols of embedded players."""
    tree = lxml.html.fragment_fromstring(markup, create_parent="div")
    pieces: list[str] = []
    for event, element in etree.iterwalk(tree, ("start", "end")):
        text = element.text if event == "start" else element.tail
        pieces += [" " if element.tag in _BLOCKS else "", text or ""]
    return words("".join(pieces).replace(EMBED_TEXT, ""))


def is_inactive(markup: str) -> bool:
    """Return whether a sanitiser keeps all of *markup*, elements of Markdown's tables aside."""
    tags = ELEMENTS | {"article", "h1", "thead", "tbody"}
    cleaned = nh3.clean(
        markup, tags=tags, attributes=ATTRIBUTES, url_schemes={"http", "https"}, link_rel=None
    )
    return _normalised(cleaned) == _normalised(markup)


def _normalised(markup: str) -> bytes:
    tree = lxml.html.fragment_fromstring(markup, create_parent="div")
    for body in list(tree.iter("tbody")):  # implied by HTML
        body.drop_tag()
    return bytes(lxml.html.tostring(tree, encoding="utf-8"))


def faults(article: Article) -> list[str]:
    """Return the faults of the Markdown and the HTML of *article*, from :data:`FAULTS`."""
    formats = (rendered(article.body_markdown or ""), article.body_html or "")
    expected = words(article.body)
    found = [words_of(markup) != expected for markup in formats]
    found += [not is_inactive(markup) for markup in formats]
    return [fault for fault, is_found in zip(FAULTS, found, strict=True) if is_found]


def articles(folder: Path, options: ExtractOptions) -> Iterator[tuple[str, Article]]:
    """Yield the articles with a body in the pages of *folder*, with the names of the pages."""
    for file in sorted((folder / "pages").iterdir()):
        try:
            article = extract(gzip.decompress(file.read_bytes()), URL, options=options)
        except DocumentError:
            continue
        if article.body:
            yield file.name, article
