"""What a page's head and attributes say, gathered in one pass and not yet judged."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin, urlsplit

from newscrawl.fields.jsonld import parse_json_ld
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from lxml.etree import _Element

    from newscrawl.document import Document

_NAMES = frozenset({"property", "name", "itemprop", "http-equiv"})
# Nothing is left to resolve.
_ABSOLUTE = re.compile(r"https?://[a-z0-9.-]+(?:/(?!\.)[\w%~,;=-]+(?:\.\w+)?)*/?")
# No page of the corpora has more that matter; hostile ones have a million.
_MOST_ITEMS = 300
_MOST_TEXTS = 100


@dataclass(slots=True)
class Markup:
    """Raw statements of a page about itself, each list in document order."""

    #: content of the meta elements, by lower-case ``property``, ``name``, ``itemprop``, ``http-equiv``
    meta: dict[str, list[str]] = field(default_factory=dict)
    #: ``href`` of the canonical link elements
    canonical: list[str] = field(default_factory=list)
    #: values of the JSON-LD scripts
    json_ld: list[Any] = field(default_factory=list)
    #: elements with a ``datetime``
    times: list[_Element] = field(default_factory=list)
    #: elements outside of the head with an ``itemprop``, by each of its tokens
    items: dict[str, list[_Element]] = field(default_factory=dict)
    #: links to pages of authors
    author_links: list[_Element] = field(default_factory=list)
    #: text of the title element
    title: str = ""
    #: ``lang`` of the html element
    lang: str = ""
    #: address that relative ones are resolved against
    base: str | None = None

    def absolute(self, address: str) -> str | None:
        """Return *address* as an absolute HTTP URL, or None where it is none."""
        if _ABSOLUTE.fullmatch(address):
            return address
        try:
            absolute = urljoin(self.base or "", address.strip())
            parts = urlsplit(absolute)
        except ValueError:  # for example "http://[broken"
            return None
        return absolute if parts.scheme in {"http", "https"} and parts.netloc else None


def read_markup(document: Document, url: str | None = None) -> Markup:
    """Return what *document*, a page fetched from *url*, says about itself."""
    root = document.root
    markup = Markup(base=url, lang=root.get("lang") or root.get("xml:lang") or "")
    items = 0
    for element in document.statements:
        tag = element.tag
        if reader := _READERS.get(tag):
            reader(markup, element)
        if tag != "meta" and items < _MOST_ITEMS and (properties := element.get("itemprop")):
            items += 1
            for name in properties.lower().split():
                markup.items.setdefault(name, []).append(element)
    return markup


def text_of(element: _Element) -> str:
    """Return the text of *element* and its descendants, white space squeezed; of a long one its start."""
    return squeeze(" ".join(islice(cast("Iterator[str]", element.itertext()), _MOST_TEXTS)))


def _read_meta(markup: Markup, element: _Element) -> None:
    names, content, value = [], "", ""
    # A third of the cost of asking the element six times.
    for name, text in cast("list[tuple[str, str]]", element.items()):
        if name in _NAMES:
            names.append(text)
        elif name == "content":
            content = text
        elif name == "value":
            value = text
    if names and (content := (content or value).strip()):
        for name in names:
            if name:
                markup.meta.setdefault(name.strip().lower(), []).append(content)


def _read_link(markup: Markup, element: _Element) -> None:
    kind = element.get("rel")
    if kind and "canonical" in kind.lower() and (address := element.get("href")):
        markup.canonical.append(address)


def _read_script(markup: Markup, element: _Element) -> None:
    kind = element.get("type")
    if kind and "ld+json" in kind.lower():
        markup.json_ld.extend(parse_json_ld(element.text or ""))


def _read_time(markup: Markup, element: _Element) -> None:
    if element.get("datetime") and len(markup.times) < _MOST_ITEMS:
        markup.times.append(element)


def _read_anchor(markup: Markup, element: _Element) -> None:
    if "author" in (element.get("rel") or "") and len(markup.author_links) < _MOST_ITEMS:
        markup.author_links.append(element)


def _read_title(markup: Markup, element: _Element) -> None:
    # An svg's title is not the page's.
    parent = element.getparent()
    if not markup.title and (parent is None or parent.tag in {"head", "html", "body"}):
        markup.title = text_of(element)


def _read_base(markup: Markup, element: _Element) -> None:
    address = markup.absolute(element.get("href") or "")
    if address:
        markup.base = address


_READERS = {
    "meta": _read_meta,
    "link": _read_link,
    "script": _read_script,
    "time": _read_time,
    "a": _read_anchor,
    "title": _read_title,
    "base": _read_base,
}
