"""Absolute web addresses of the links, images and players of a page."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from newscrawl.patterns import lazy_regex
from newscrawl.text import squeeze, without_controls

if TYPE_CHECKING:
    from newscrawl.document.document import Document

MAX_URL = 2000
"""Characters of a URL; longer ones are left out."""
_MAX_ALT = 500
_MAX_SOURCES = 20_000  # of a ``srcset``
# Not in URLs (https://url.spec.whatwg.org/#url-code-points), or special in Markdown.
_UNSAFE = lazy_regex(r"""[^!#$%&*+,./0-9:;=?@A-Z_a-z~\u00a1-\U0010fffd-]""")
# Most links; resolving them takes ten times as long.
_PLAIN_URL = re.compile(r"https?://[a-z0-9.-]*[a-z0-9](?:/[!#$%&+,./0-9:;=?@A-Z_a-z~-]*)?")
_HOST = re.compile(r"[\w.-]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202d\u202e]")
# Attributes of images that a script loads come first: ``src`` is a placeholder then.
_IMAGE_ATTRIBUTES = ("data-src", "data-original", "data-lazy-src", "src")
PLAYER_TAGS = ("iframe", "video", "audio")
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
        is_host = parts.port != 0 and _HOST.fullmatch(parts.hostname or "") is not None
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not is_host or len(url) > MAX_URL:
        return None
    return _UNSAFE.sub(lambda match: quote(match[0], safe="", errors="replace"), url)


class PageLinks:
    """Addresses of the elements of a page, by row."""

    def __init__(self, document: Document, url: str | None) -> None:
        self._document = document
        self._url = url
        self._addresses = document.attributes["href"]

    def link(self, row: int) -> str | None:
        """Return the address of the ``a`` element at *row*."""
        return web_url(self._addresses.get(row), self._base)

    def image(self, row: int) -> tuple[str, str] | None:
        """Return address and alternative text of the ``img`` element at *row*."""
        value_of = self._document.attributes_of(row).get
        if "1" in {value_of("width"), value_of("height")}:  # counts visits
            return None
        values = [value_of(name) for name in _IMAGE_ATTRIBUTES]
        values += [_last_source(value_of(name)) for name in ("data-srcset", "srcset")]
        urls = (web_url(value, self._base) for value in values if value)
        source = next((url for url in urls if url), None)
        return (
            (source, squeeze(without_controls(value_of("alt", "")[:_MAX_ALT]))) if source else None
        )

    def player(self, row: int) -> str | None:
        """Return the address of the player at *row*; frames without full screen are no players."""
        document, attributes = self._document, self._document.attributes_of(row)
        if document.tag[row] == "iframe" and "allowfullscreen" not in attributes:
            return None
        children = (child for child in document.children(row) if document.tag[child] == "source")
        values = [attributes.get("src"), attributes.get("data-src")]
        values += [document.attributes_of(child).get("src") for child in children]
        urls = (web_url(value, self._base) for value in values)
        return next((url for url in urls if url), None)

    @cached_property
    def _base(self) -> str | None:
        for row in self._document.rows_of("base"):
            if href := web_url(self._addresses.get(row), self._url):
                return href
        return self._url


def _last_source(value: str | None) -> str | None:
    """Return the last address of a ``srcset``, mostly the largest image."""
    if not value or len(value) > _MAX_SOURCES:
        return None
    return value.rsplit(", ", 1)[-1].strip().partition(" ")[0]
