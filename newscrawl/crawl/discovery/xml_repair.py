"""Repair of sitemaps and feeds before they are parsed."""

from __future__ import annotations

import re
import sys
from html.entities import html5
from typing import Final

from newscrawl.document.encoding import to_utf8

ROOT: Final = re.compile(
    rb"<((?:[\w.-]{1,99}:)?(urlset|sitemapindex|rss|feed|rdf))(?=[\s/>])", re.IGNORECASE
)
"""Start of the root element, with its name with and without prefix."""
_MAX_PROLOG: Final = 64 * 1024
# For references that are no characters, feedparser raises UnicodeEncodeError or OverflowError, lxml
# UnicodeDecodeError.
_REFERENCE: Final = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?:#(?:(\d++)|x([\da-f]++))|([a-z][a-z\d]{0,31});)?",
    re.IGNORECASE | re.DOTALL,
)
_XML_ENTITIES: Final = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_MAX_DIGITS: Final = 7
_SURROGATES: Final = range(0xD800, 0xE000)


def repair_xml(data: bytes) -> bytes:
    """Return a sitemap or feed in UTF-8, from its root element on, with valid references.

    What precedes the root is an encoding that may be wrong, a document type that may be an attack,
    or a warning of PHP. *data* that has no known root element is only decoded.
    """
    data = to_utf8(data).utf8
    root = ROOT.search(data, 0, _MAX_PROLOG)
    return _REFERENCE.sub(_valid_reference, data[root.start() :]) if root else data


def _valid_reference(match: re.Match[bytes]) -> bytes:
    """Return a reference that XML has: that of U+FFFD for what is not a character."""
    decimal, hexadecimal, name = match.groups()
    if digits := (decimal or hexadecimal or b"").lstrip(b"0"):
        code = int(digits, 10 if decimal else 16) if len(digits) <= _MAX_DIGITS else sys.maxsize
        is_character = code <= sys.maxunicode and code not in _SURROGATES
        return match[0] if is_character else b"&#xFFFD"
    if decimal or hexadecimal:
        return b"&#xFFFD"
    if name is None:
        return b"&amp;" if match[0] == b"&" else match[0]
    if name in _XML_ENTITIES:
        return match[0]
    characters = html5.get(f"{name.decode()};")
    return (
        "".join(f"&#{ord(c)};" for c in characters).encode()
        if characters
        else b"&amp;" + match[0][1:]
    )
