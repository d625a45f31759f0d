"""Raw metadata in the head and attributes of a page, collected in one pass."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from newscrawl.fields.metadata.jsonld import parse_json_ld

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement

_NAMES = frozenset({"property", "name", "itemprop", "http-equiv"})
# URLs that need no resolution.
_ABSOLUTE = re.compile(
    r"https?://[a-z0-9.-]+(?:/(?!\.)[\w%~,;=-]+(?:\.\w+)?)*/?(?:\?[\w%~,;=&+.-]+)?"
)
# Properties whose values are other works, with authors and dates of their own.
_OTHER_WORKS = frozenset({"citation", "comment", "haspart", "isbasedon", "mentions", "review"})
# Limits the cost of hostile pages.
_MAX_ITEMS = 300
_MAX_TEXTS = 100
_MAX_ROWS = 1000


@dataclass(slots=True)
class Markup:
    """Raw metadata of a page; lists are in document order."""

    #: contents of the meta elements by lower-case ``property``, ``name``, ``itemprop``, ``http-equiv``
    meta: dict[str, list[str]] = field(default_factory=dict)
    #: ``href`` of the canonical link elements
    canonical: list[str] = field(default_factory=list)
    #: values of the JSON-LD scripts
    json_ld: list[Any] = field(default_factory=list)
    #: elements with a ``datetime``, and ``abbr`` elements with the class of a date and a ``title``
    times: list[Statement] = field(default_factory=list)
    #: elements other than meta elements by each token of their ``itemprop``
    items: dict[str, list[Statement]] = field(default_factory=dict)
    #: links with ``rel=author``
    author_links: list[Statement] = field(default_factory=list)
    #: links with ``rel=category``, to sections
    category_links: list[Statement] = field(default_factory=list)
    #: other links with ``rel=tag``
    tag_links: list[Statement] = field(default_factory=list)
    #: images in ``figure`` elements, or with an ``itemprop``
    images: list[Statement] = field(default_factory=list)
    #: text of the title element
    title: str = ""
    #: ``lang`` of the html element
    lang: str = ""
    #: base URL of relative addresses
    base: str | None = None

    def absolute(self, address: str) -> str | None:
        """Return *address* as an absolute HTTP URL, or None for other and invalid URLs."""
        if _ABSOLUTE.fullmatch(address):
            return address
        try:
            absolute = urljoin(self.base or "", address.strip())
            parts = urlsplit(absolute)
        except ValueError:  # for example "http://[broken"
            return None
        return absolute if parts.scheme in {"http", "https"} and parts.netloc else None


def read_markup(
    document: Document, url: str | None = None, is_read: Callable[[str], bool] | None = None
) -> Markup:
    """Return the metadata of *document*, a page fetched from *url*.

    With *is_read*, only meta elements are read for whose name in lower case it returns True.
    """
    markup = Markup(base=url)
    items = cited = 0
    for statement in document.statements:
        if statement.row < cited:
            continue
        properties = statement.get("itemprop").lower()
        if properties in _OTHER_WORKS:
            cited = document.end[statement.row]
        if statement.tag == "meta":
            _read_meta(markup.meta, statement.attributes, is_read)
            continue
        _read_element(markup, statement, document)
        if properties and items < _MAX_ITEMS:
            items += 1
            for name in properties.split():
                markup.items.setdefault(name, []).append(statement)
    return markup


def text_of(document: Document, statement: Statement) -> str:
    """Return the text of an element with white space collapsed; a long text is truncated."""
    end = min(document.end[statement.row], statement.row + _MAX_ROWS)
    texts = (row for row in range(statement.row, end) if document.text[row])
    return document.join_texts(islice(texts, _MAX_TEXTS))


def _read_meta(
    meta: dict[str, list[str]],
    attributes: Mapping[str, str],
    is_read: Callable[[str], bool] | None,
) -> None:
    for attribute, value in attributes.items():
        if attribute in _NAMES and value:
            name = value.strip().lower()
            if is_read is None or is_read(name):
                contents = map(attributes.get, ("content", "value", "datetime"))
                content = next(filter(None, contents), "").strip()
                if content:
                    meta.setdefault(name, []).append(content)


def _read_element(markup: Markup, element: Statement, document: Document) -> None:
    match element.tag:
        case "html" if element.row == 0:
            markup.lang = element.get("lang") or element.get("xml:lang")
        case "link" if "canonical" in element.get("rel").lower() and element.get("href"):
            markup.canonical.append(element.get("href"))
        case "script" if "ld+json" in element.get("type").lower():
            markup.json_ld.extend(parse_json_ld(element.script))
        case "time" | "abbr" if instant_of(element) and len(markup.times) < _MAX_ITEMS:
            markup.times.append(element)
        case "a":
            _read_link(markup, element.get("rel").lower().split(), element)
        case "img" if len(markup.images) < _MAX_ITEMS:
            markup.images.append(element)
        # An svg element may have a title, too.
        case "title" if document.tag[document.parent[element.row]] in {"head", "html", "body"}:
            markup.title = markup.title or text_of(document, element)
        case "base":
            markup.base = markup.absolute(element.get("href")) or markup.base


def instant_of(element: Statement) -> str:
    """Return the ``datetime`` of an element, or the ``title`` that it has in the hAtom format."""
    return element.get("title" if element.tag == "abbr" else "datetime")


def _read_link(markup: Markup, relations: list[str], link: Statement) -> None:
    for relation, links in (
        ("author", markup.author_links),
        ("category", markup.category_links),
        ("tag", markup.tag_links),
    ):
        if relation in relations and len(links) < _MAX_ITEMS:
            links.append(link)
            return
