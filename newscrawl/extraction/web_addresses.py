"""Absolute web addresses of the links, images and players of a page."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from newscrawl.document.document import rows_between
from newscrawl.document.rows import TEXT
from newscrawl.text import squeeze, without_controls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from urllib.parse import SplitResult

    from lxml import etree

    from newscrawl.document.document import Document

MAX_URL = 2000
"""Characters of a URL; longer ones are left out."""
_MAX_ALT = 500
_MAX_SOURCES = 20_000  # of a ``srcset``
# Not in URLs (https://url.spec.whatwg.org/#url-code-points), or special in Markdown.
_UNSAFE = re.compile(r"""[^!#$%&*+,./0-9:;=?@A-Z_a-z~\u00a1-\U0010fffd-]""")
# Most links; resolving them takes ten times as long.
_PLAIN_URL = re.compile(r"https?://[a-z0-9.-]*[a-z0-9](?:/[!#$%&+,./0-9:;=?@A-Z_a-z~-]*)?")
_HOST = re.compile(r"[\w.-]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202d\u202e]")
# Attributes of images that a script loads come first: ``src`` is a placeholder then.
_IMAGE_ATTRIBUTES = ("data-src", "data-original", "data-lazy-src", "src")
MEDIA_TAGS = ("iframe", "video", "audio")
"""Tags of embedded players."""


def web_url(value: str | None, base: str | None) -> str | None:
    """Return *value* as an absolute URL with the scheme http or https, or None.

    Characters that are special in HTML or Markdown are percent-encoded.
    """
    if value is None or len(value) > MAX_URL:
        return None
    if _PLAIN_URL.fullmatch(value):
        return value
    value = _CONTROLS.sub("", value).strip()
    if not value or value.startswith("#"):
        return None
    try:
        url = urljoin(base or "", value)
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and _is_host(parts)
    except ValueError:
        return None
    if not is_web or len(url) > MAX_URL:
        return None
    return _UNSAFE.sub(lambda match: quote(match[0], safe="", errors="replace"), url)


def _is_host(parts: SplitResult) -> bool:
    """Return whether *parts* have a valid host. Raises ``ValueError`` if the port is invalid."""
    return parts.port != 0 and _HOST.fullmatch(parts.hostname or "") is not None


class PageLinks:
    """Addresses of the elements of a page, by row; fast for those around and between *roots*."""

    def __init__(self, document: Document, url: str | None, roots: Sequence[int]) -> None:
        self._document = document
        self._url = url
        #: row of the closest element around all roots
        self._top = roots[0] if roots else 0
        while roots and document.end[self._top] <= roots[-1]:
            self._top = document.parent[self._top]
        self._elements: dict[str, dict[int, etree._Element]] = {}

    def link(self, row: int) -> str | None:
        """Return the address of the ``a`` element at *row*."""
        return web_url(self._element(row).get("href"), self._base)

    def image(self, row: int) -> tuple[str, str] | None:
        """Return address and alternative text of the ``img`` element at *row*."""
        element = self._element(row)
        if "1" in {element.get("width"), element.get("height")}:  # counts visits
            return None
        values = [element.get(name) for name in _IMAGE_ATTRIBUTES]
        values += [_last_source(element.get(name)) for name in ("data-srcset", "srcset")]
        urls = (web_url(value, self._base) for value in values if value)
        source = next((url for url in urls if url), None)
        return (
            (source, squeeze(without_controls((element.get("alt") or "")[:_MAX_ALT])))
            if source
            else None
        )

    def player(self, row: int) -> str | None:
        """Return the address of the player at *row*; frames without full screen are no players."""
        element = self._element(row)
        if element.tag == "iframe" and element.get("allowfullscreen") is None:
            return None
        values = [element.get("src"), element.get("data-src")]
        values += [source.get("src") for source in element.findall("source")]
        urls = (web_url(value, self._base) for value in values)
        return next((url for url in urls if url), None)

    @cached_property
    def _base(self) -> str | None:
        for row in self._document.rows_of("base"):
            if href := web_url(self._element(row).get("href"), self._url):
                return href
        return self._url

    def _element(self, row: int) -> etree._Element:
        """Return the element at *row*; reading all elements of a tag creates the fewest objects."""
        elements = self._elements.setdefault(self._document.tag[row], {})
        if row not in elements:
            is_inside = self._top <= row < self._document.end[self._top]
            elements.update(self._elements_in(self._top if is_inside else 0, row))
        return elements[row]

    def _elements_in(self, top: int, row: int) -> Iterator[tuple[int, etree._Element]]:
        """Return the elements in and at *top* with the tag of *row*, by row."""
        document, tag, element = self._document, self._document.tag, self._document.root
        for ancestor in reversed([top, *document.ancestors(top)][:-1]):
            siblings = document.children(document.parent[ancestor])
            element = element[
                sum(sibling < ancestor and tag[sibling] != TEXT for sibling in siblings)
            ]
        rows = document.rows_of(tag[row])
        inside = rows_between(rows, top, document.end[top])
        return zip(inside, element.iter(tag[row]), strict=True)


def _last_source(value: str | None) -> str | None:
    """Return the last address of a ``srcset``, mostly the largest image."""
    if not value or len(value) > _MAX_SOURCES:
        return None
    return value.rsplit(", ", 1)[-1].strip().partition(" ")[0]
