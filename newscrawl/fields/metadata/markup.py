"""What a page's head and attributes say, gathered in one pass and not yet judged."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from newscrawl.fields.metadata.jsonld import parse_json_ld
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from typing import Any

    from newscrawl.document.document import Document
    from newscrawl.document.rows import Statement

_NAMES = frozenset({"property", "name", "itemprop", "http-equiv"})
# Nothing is left to resolve.
_ABSOLUTE = re.compile(r"https?://[a-z0-9.-]+(?:/(?!\.)[\w%~,;=-]+(?:\.\w+)?)*/?")
# No page of the corpora has more that matter; hostile ones have a million.
_MOST_ITEMS = 300
_MOST_TEXTS = 100
_MOST_ROWS = 1000


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
    times: list[Statement] = field(default_factory=list)
    #: elements outside of the head with an ``itemprop``, by each of its tokens
    items: dict[str, list[Statement]] = field(default_factory=dict)
    #: links to pages of authors
    author_links: list[Statement] = field(default_factory=list)
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


def read_markup(
    document: Document, url: str | None = None, names: Container[str] | None = None
) -> Markup:
    """Return what *document*, a page fetched from *url*, says about itself.

    With *names*, in lower case, other meta elements are left out: most of a page's are.
    """
    markup = Markup(base=url)
    items = 0
    for statement in document.statements:
        if statement.tag == "meta":  # most are
            _read_meta(markup.meta, statement.attributes, names)
            continue
        if reader := _READERS.get(statement.tag):
            reader(markup, statement, document)
        if items < _MOST_ITEMS and (properties := statement.get("itemprop")):
            items += 1
            for name in properties.lower().split():
                markup.items.setdefault(name, []).append(statement)
    return markup


def text_of(document: Document, statement: Statement) -> str:
    """Return the text inside of what states something, white space squeezed; of a long one its start."""
    end = min(document.end[statement.row], statement.row + _MOST_ROWS)
    texts = filter(None, document.text[statement.row : end])
    return squeeze(" ".join(islice(texts, _MOST_TEXTS)))


def _read_meta(
    meta: dict[str, list[str]], attributes: Mapping[str, str], names: Container[str] | None
) -> None:
    for attribute, value in attributes.items():
        if attribute in _NAMES and value:
            name = value.strip().lower()
            if names is None or name in names:
                content = (attributes.get("content") or attributes.get("value") or "").strip()
                if content:
                    meta.setdefault(name, []).append(content)


def _read_html(markup: Markup, html: Statement, document: Document) -> None:  # noqa: ARG001  # as all
    if html.row == 0:
        markup.lang = html.get("lang") or html.get("xml:lang")


def _read_link(markup: Markup, link: Statement, document: Document) -> None:  # noqa: ARG001
    if "canonical" in link.get("rel").lower() and (address := link.get("href")):
        markup.canonical.append(address)


def _read_script(markup: Markup, script: Statement, document: Document) -> None:  # noqa: ARG001
    if "ld+json" in script.get("type").lower():
        markup.json_ld.extend(parse_json_ld(script.script))


def _read_time(markup: Markup, time: Statement, document: Document) -> None:  # noqa: ARG001
    if time.get("datetime") and len(markup.times) < _MOST_ITEMS:
        markup.times.append(time)


def _read_anchor(markup: Markup, link: Statement, document: Document) -> None:  # noqa: ARG001
    if "author" in link.get("rel") and len(markup.author_links) < _MOST_ITEMS:
        markup.author_links.append(link)


def _read_title(markup: Markup, title: Statement, document: Document) -> None:
    # An svg's title is not the page's.
    parent = document.parent[title.row]
    if not markup.title and document.tag[parent] in {"head", "html", "body"}:
        markup.title = text_of(document, title)


def _read_base(markup: Markup, base: Statement, document: Document) -> None:  # noqa: ARG001
    address = markup.absolute(base.get("href"))
    if address:
        markup.base = address


_READERS = {
    "html": _read_html,
    "link": _read_link,
    "script": _read_script,
    "time": _read_time,
    "a": _read_anchor,
    "title": _read_title,
    "base": _read_base,
}
