"""Parser of RSS, Atom and JSON Feed, and repair of XML before it is parsed.

A pure function of bytes, run in a worker process. RSS and Atom are read by feedparser, which takes
seconds per megabyte: large feeds are truncated, since their newest entries come first.
"""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from html.entities import html5
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import feedparser
from w3lib.html import remove_tags

from newscrawl.crawling.discovery.listing_entries import MAX_URL_LENGTH, EntryCollector, is_usable
from newscrawl.crawling.network.content_codings import unpacked
from newscrawl.document.encoding import to_utf8
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.crawling.discovery.entries import Listing

MAX_SIZE: Final = 2 * 1024 * 1024
"""Maximum size of RSS or Atom, in bytes; longer feeds are truncated."""
MAX_ENTRIES: Final = 2000
"""Maximum number of entries of a feed."""
MAX_JSON_SIZE: Final = 10 * 1024 * 1024
"""Maximum size of a JSON Feed, in bytes; it cannot be truncated."""

# feedparser takes quadratic time for the attributes of a tag, and for entries within entries.
_MAX_TAG: Final = 16 * 1024
_LONG_TAG: Final = re.compile(rb"<[^<>]{%d}" % _MAX_TAG)
# It resolves xml:base at each start tag: nested relative ones make ever longer addresses.
_BASE: Final = re.compile(
    rb"""\s(?:xml:)?base\s{0,9}=\s{0,9}(?:"(?!https?:|/)([^"<>]*)"|'(?!https?:|/)([^'<>]*)')""",
    re.IGNORECASE,
)
_MAX_BASES: Final = 100
_ENTRY: Final = re.compile(rb"<(?:[\w.-]{1,99}:)?(?:item|entry)[\s/>]", re.IGNORECASE)
_ENTRY_END: Final = re.compile(rb"</(?:[\w.-]{1,99}:)?(?:item|entry)\s{0,99}>", re.IGNORECASE)
_HINT: Final = re.compile(rb"<(?:\w{1,20}:)?(ttl|updateFrequency)>\s{0,99}(\d{1,6})\s{0,99}</")
_PERIOD: Final = re.compile(rb"<(?:\w{1,20}:)?updatePeriod>\s{0,99}(\w{5,7})\s{0,99}</")
_PERIODS: Final = {
    b"hourly": 3600, b"daily": 86_400, b"weekly": 604_800, b"monthly": 2_592_000, b"yearly": 31_536_000,
}  # fmt: skip
_OUTLINE: Final = re.compile(rb"""\sxmlUrl\s{0,9}=\s{0,9}["']([^"'<>]{1,2083})["']""")
_PAGE: Final = re.compile(rb"\s{0,99}<(?:!doctype\s{1,9})?html\b", re.IGNORECASE)
_HOME: Final = re.compile(r"(?:https?://[^/?#]+)?/?")


def read_feed(data: bytes, *, url: str, domains: Sequence[str], **options: Any) -> Listing:
    """Return the newest entries of the feed *data*, or the feeds of an OPML file.

    *options* are those of
    :class:`~newscrawl.crawling.discovery.listing_entries.EntryCollector`.
    """
    entries = EntryCollector(url, domains, **options)
    data = unpacked(data, MAX_JSON_SIZE + 1)
    if b"<opml" in data[:_MAX_TAG]:
        for outline in islice(_OUTLINE.finditer(data), MAX_ENTRIES):
            entries.add(unescape(outline[1].decode("utf-8", "replace")), is_sitemap=True)
        return entries.result("index")
    if is_json(data):
        return read_json(data, entries)
    if _PAGE.match(data) and not ROOT.search(data, 0, _MAX_PROLOG):
        return entries.result("unknown")
    return read_xml(repair_xml(data), entries)


def is_json(data: bytes) -> bool:
    """Return whether *data* may be a JSON Feed."""
    return data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def read_xml(data: bytes, entries: EntryCollector) -> Listing:
    """Add the entries of RSS or Atom, which was repaired, and return the result of *entries*."""
    truncated = _truncate(data)
    if truncated is not data:
        entries.skip("over_size")
    options: dict[str, Any] = {"sanitize_html": False, "resolve_relative_uris": False}
    truncated = _without_nested_bases(truncated)
    if b"xml:base" in truncated:
        options["response_headers"] = {"content-location": entries.base}
    try:
        parsed = feedparser.parse(BytesIO(truncated), **options)
    except ValueError:  # malformed names of encodings and namespaces
        return entries.result("unknown")
    language, home = parsed.feed.get("language"), parsed.feed.get("link")
    is_rss = not str(parsed.get("version")).startswith("atom")
    if is_rss and isinstance(home, str) and home.startswith(("http://", "https://")):
        # RSS has no rule for relative links. A service that serves the feed has no stories.
        entries.set_base(home)
    for entry in parsed.entries[:MAX_ENTRIES]:
        _add(entries, entry, language, is_rss=is_rss)
    kind = "feed" if parsed.get("version") or parsed.entries else "unknown"
    links = parsed.feed.get("links", ())
    following = next((link.get("href") for link in links if link.get("rel") == "next"), None)
    return entries.result(kind, ttl=_polling_interval(truncated), next=_usable(following))


def _polling_interval(feed: bytes) -> float:
    """Return the seconds between two polls of *feed*, by ``ttl`` or the module Syndication."""
    first = _ENTRY.search(feed)
    head = feed[: min(first.start() if first else len(feed), _MAX_TAG)]
    numbers = {name: int(number) for name, number in _HINT.findall(head)}
    period = _PERIOD.search(head)
    pause = _PERIODS.get(period[1].lower(), 0) if period else 0.0
    return max(60.0 * numbers.get(b"ttl", 0), pause / max(1, numbers.get(b"updateFrequency", 1)))


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
    root = ROOT.search(data, 0, end)
    name = root[1] if root else b"rss"
    closing = b"</channel></rss>" if name.lower() == b"rss" else b"</%s>" % name
    return data[:end] + closing


def _without_nested_bases(feed: bytes) -> bytes:
    """Return *feed* without the relative ``xml:base`` after the first ones."""
    kept = 0

    def replaced(match: re.Match[bytes]) -> bytes:
        nonlocal kept
        kept += 1
        is_short = len(match[0]) <= MAX_URL_LENGTH
        return match[0] if is_short and kept <= _MAX_BASES else b""

    return _BASE.sub(replaced, feed)


def _add(
    entries: EntryCollector, entry: dict[str, Any], language: str | None, *, is_rss: bool
) -> None:
    if not (link := _link(entry)):
        entries.skip("bad")
        return
    # Not the dates that feedparser reads: it takes the first digits for a year. And dict.get, as
    # feedparser's own get() returns one date for the other.
    published, updated = dict.get(entry, "published"), dict.get(entry, "updated")
    entries.add(
        link,
        date=published or dict.get(entry, "created") or (updated if is_rss else None),  # dc:date
        changed=updated,
        title=_title(entry),
        language=language,
        is_feed=True,
    )


def _link(entry: dict[str, Any]) -> str | None:
    """Return the address of the story: that of the site, the first of several that show a page.

    If there is none but that of the front page, the ID may be the address.
    """
    pages = (
        link.get("href")
        for link in entry.get("links", ())
        if link.get("rel") == "alternate" and link.get("type") == "text/html"
    )
    original = entry.get("feedburner_origlink") or entry.get("pheedo_origlink")
    found = original or next(pages, None) or entry.get("link")
    link, name = (text if isinstance(text, str) else "" for text in (found, entry.get("id")))
    is_address = name.startswith(("http://", "https://"))
    return (name if is_address and _HOME.fullmatch(link) else link) or None


def _title(entry: dict[str, Any]) -> str:
    # An RSS title may be escaped markup; feedparser detects it by its content.
    title = entry.get("title", "")
    if entry.get("title_detail", {}).get("type") == "text/html":
        title = unescape(remove_tags(title))
    return squeeze(title)


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


def read_json(data: bytes, entries: EntryCollector) -> Listing:
    """Add the entries of a JSON Feed and return the result of *entries*.

    Specification: https://www.jsonfeed.org/version/1.1/
    """
    if len(data) > MAX_JSON_SIZE:
        entries.skip("over_size")
        return entries.result("unknown")
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
    return entries.result("feed", next=_usable(parsed.get("next_url")))


def _usable(url: Any) -> str | None:
    return url if isinstance(url, str) and is_usable(url) else None


def _add_json(entries: EntryCollector, item: dict[str, Any], feed_language: Any) -> None:
    values = {
        name: item[name] if isinstance(item.get(name), str) else None
        for name in ("url", "id", "date_published", "date_modified", "title", "language")
    }
    url = values["url"] or values["id"]
    if url is None or (not values["url"] and not url.startswith(("http://", "https://"))):
        entries.skip("bad")
        return
    entries.add(
        url,
        date=values["date_published"],
        changed=values["date_modified"],
        title=squeeze(values["title"] or ""),
        language=values["language"] or (feed_language if isinstance(feed_language, str) else None),
    )
