"""Parser of RSS, Atom and JSON Feed.

A pure function of bytes, run in a worker process. RSS and Atom are read by feedparser, which takes
seconds per megabyte: large feeds are truncated, since their newest entries come first.
"""

from __future__ import annotations

import calendar
import json
import re
import sys
from datetime import UTC, datetime
from html import unescape
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import feedparser
from w3lib.html import remove_tags

from newscrawl.crawl.discovery.listing_entries import EntryCollector
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Sequence
    from time import struct_time

MAX_SIZE: Final = 2 * 1024 * 1024
"""Maximum size of RSS or Atom, in bytes; longer feeds are truncated."""
MAX_ENTRIES: Final = 2000
"""Maximum number of entries of a feed."""

# feedparser takes quadratic time for the attributes of a tag, and for entries within entries.
_MAX_TAG: Final = 16 * 1024
_LONG_TAG: Final = re.compile(rb"<[^<>]{%d}" % _MAX_TAG)
_ENTRY: Final = re.compile(rb"<(?:[\w.-]{1,99}:)?(?:item|entry)[\s/>]", re.IGNORECASE)
_ENTRY_END: Final = re.compile(rb"</(?:[\w.-]{1,99}:)?(?:item|entry)\s{0,99}>", re.IGNORECASE)
_ROOT: Final = re.compile(rb"<((?:[\w.-]{1,99}:)?(?:rss|feed|RDF))\b", re.IGNORECASE)
# For references that are no characters, feedparser raises UnicodeEncodeError or OverflowError, lxml
# UnicodeDecodeError.
_REFERENCE: Final = re.compile(rb"&#(?:(\d++)|x([\da-f]++))", re.IGNORECASE)
_MAX_DIGITS: Final = 7
_SURROGATES: Final = range(0xD800, 0xE000)


def read_feed(
    data: bytes, *, url: str, domains: Sequence[str], limit: int = 1000, traps: bool = True
) -> dict[str, Any]:
    """Return the *limit* newest entries of the feed *data*.

    ``kind`` is ``feed`` or ``unknown``; the other keys are those of
    :meth:`newscrawl.crawl.discovery.listing_entries.EntryCollector.result`.
    """
    entries = EntryCollector(url, domains, limit=limit, traps=traps)
    if data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return _read_json(data, entries)
    truncated = _truncate(data)
    if truncated is not data:
        entries.skip("over_size")
    valid = replace_invalid_references(truncated)
    try:
        parsed = feedparser.parse(BytesIO(valid), sanitize_html=False, resolve_relative_uris=False)
    except ValueError:  # malformed names of encodings and namespaces
        return entries.result("unknown")
    language = parsed.feed.get("language")
    for entry in parsed.entries[:MAX_ENTRIES]:
        _add(entries, entry, language)
    return entries.result("feed" if parsed.get("version") or parsed.entries else "unknown")


def _truncate(data: bytes) -> bytes:
    """Return *data* itself if it is within the limits, else a feed of its first whole entries."""
    limit = min(MAX_SIZE, len(data))
    if long_tag := _LONG_TAG.search(data, 0, limit):
        limit = long_tag.start()
    excess = next(islice(_ENTRY.finditer(data, 0, limit), MAX_ENTRIES, None), None)
    if limit == len(data) and not excess:
        return data
    limit = excess.start() if excess else limit
    ends = (match.end() for match in _ENTRY_END.finditer(data, 0, limit))
    end = max(ends, default=limit)
    root = _ROOT.search(data, 0, end)
    name = root[1] if root else b"rss"
    closing = b"</channel></rss>" if name.lower() == b"rss" else b"</%s>" % name
    return data[:end] + closing


def replace_invalid_references(data: bytes) -> bytes:
    """Return *data* with U+FFFD for each numeric reference that is no character."""
    return _REFERENCE.sub(_valid_reference, data)


def _valid_reference(reference: re.Match[bytes]) -> bytes:
    """Return a numeric character reference, or that of U+FFFD if it is not a character."""
    digits = (reference[1] or reference[2]).lstrip(b"0") or b"0"
    if len(digits) <= _MAX_DIGITS:
        code = int(digits, 10 if reference[1] else 16)
        if code <= sys.maxunicode and code not in _SURROGATES:
            return reference[0]
    return b"&#xFFFD"


def _add(entries: EntryCollector, entry: dict[str, Any], language: str | None) -> None:
    # dict.get: feedparser's own get() returns one date for the other.
    link = entry.get("link")
    if not isinstance(link, str):
        entries.skip("bad")
        return
    entries.add(
        link,
        date=_iso(dict.get(entry, "published_parsed")),
        changed=_iso(dict.get(entry, "updated_parsed")),
        title=_title(entry),
        language=language,
    )


def _title(entry: dict[str, Any]) -> str:
    # An RSS title may be escaped markup; feedparser detects it by its content.
    title = entry.get("title", "")
    if entry.get("title_detail", {}).get("type") == "text/html":
        title = unescape(remove_tags(title))
    return squeeze(title)


def _iso(parsed: struct_time | None) -> str | None:
    try:
        return parsed and datetime.fromtimestamp(calendar.timegm(parsed), UTC).isoformat()
    except (ValueError, OverflowError):
        return None


def _read_json(data: bytes, entries: EntryCollector) -> dict[str, Any]:
    """Read a JSON Feed (https://www.jsonfeed.org/version/1.1/)."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError):
        return entries.result("unknown")
    items = parsed.get("items")
    if not isinstance(items, list):
        return entries.result("unknown")
    if len(items) > MAX_ENTRIES:
        entries.skip("over_size")
    for item in items[:MAX_ENTRIES]:
        _add_json(entries, item if isinstance(item, dict) else {}, parsed.get("language"))
    return entries.result("feed")


def _add_json(entries: EntryCollector, item: dict[str, Any], feed_language: Any) -> None:
    values = {
        name: item[name] if isinstance(item.get(name), str) else None
        for name in ("url", "date_published", "date_modified", "title", "language")
    }
    if values["url"] is None:
        entries.skip("bad")
        return
    entries.add(
        values["url"],
        date=values["date_published"],
        changed=values["date_modified"],
        title=squeeze(values["title"] or ""),
        language=values["language"] or (feed_language if isinstance(feed_language, str) else None),
    )
