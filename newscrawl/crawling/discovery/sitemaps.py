"""Parsers of sitemaps.

Pure functions of bytes, run in a worker process. They implement the sitemap protocol
(https://www.sitemaps.org/protocol.html) and Google's news extension. An invalid entry is skipped
and counted.
"""

from __future__ import annotations

import re
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from newscrawl.crawling.discovery import feed_parser
from newscrawl.crawling.discovery.feed_parser import ROOT, repair_xml
from newscrawl.crawling.discovery.listing_entries import EntryCollector
from newscrawl.crawling.discovery.period import sitemap_spans
from newscrawl.crawling.network.content_codings import unpacked
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.crawling.discovery.entries import Listing

MAX_SIZE = 50 * 1024 * 1024
"""Maximum size of a decompressed sitemap in bytes (protocol limit); the rest is ignored."""
MAX_ENTRIES = 50_000
"""Maximum number of entries of a sitemap (protocol limit)."""
MAX_ENTRY_SIZE = 1024 * 1024
"""Maximum bytes of an entry, ten times those of 1,000 images; a longer one ends the sitemap."""

_NEWS_FIELDS = frozenset({"publication_date", "title", "language"})
_TEXT = re.compile(rb"(?:\s*#[^\r\n]*[\r\n])*\s*https?://", re.IGNORECASE)
_ENTRY = re.compile(rb"<(?:[\w.-]{1,99}:)?(?:url|sitemap)[\s>]", re.IGNORECASE)
_ENTRY_NAMES = [f"{{*}}{name}" for name in ("url", "sitemap", "URL", "SITEMAP", "Url", "Sitemap")]
# An index can list its sitemaps as if they were pages.
_SITEMAP_NAME = re.compile(r"\.xml(?:\.gz)?(?:\?|$)", re.IGNORECASE)
_MAX_PARTS = 10_000  # of an entry: it may have 1,000 images


def read_sitemap(data: bytes, *, url: str, domains: Sequence[str], **options: Any) -> Listing:
    """Return the newest entries of the sitemap *data*, which may be a feed.

    *options* are those of
    :class:`~newscrawl.crawling.discovery.listing_entries.EntryCollector`.
    """
    entries = EntryCollector(url, domains, **options)
    data = unpacked(data, MAX_SIZE + 1)
    if len(data) > MAX_SIZE:
        entries.skip("over_size")
    data = data[:MAX_SIZE]
    if feed_parser.is_json(data):
        return feed_parser.read_json(data, entries)
    data = repair_xml(data)
    root = ROOT.match(data)
    name = root[2].lower() if root else b""
    if name in (b"urlset", b"sitemapindex"):
        return _read_xml(data, entries, is_index=name == b"sitemapindex")
    if name:
        return feed_parser.read_xml(data, entries)
    if _TEXT.match(data, 0, 64 * 1024):
        return _read_text(data, entries)
    return entries.result("unknown")


def _read_xml(data: bytes, entries: EntryCollector, *, is_index: bool) -> Listing:
    end = _end_of_entries(data)
    found, room = list[_ListedUrl](), MAX_ENTRIES
    for entry in _parsed_entries(data[:end]):
        room -= max(1, len(entry.locs))
        if room < 0:
            end = 0
            break
        found.append(entry)
    if end < len(data):
        entries.skip("over_size")
    names = (loc for entry in found for loc in entry.locs)
    is_index |= any(entry.is_sitemap for entry in found) or all(map(_SITEMAP_NAME.search, names))
    spans = iter(sitemap_spans([loc for entry in found for loc in entry.locs]) if is_index else ())
    for entry in found:
        for loc in entry.locs:
            entries.add(
                loc,
                date=entry.fields.get("publication_date"),
                changed=entry.fields.get("lastmod"),
                title=entry.fields.get("title"),
                language=entry.fields.get("language"),
                is_sitemap=is_index,
                span=next(spans, None),
            )
        if entry.fields and not entry.locs:
            entries.skip("bad")
    is_news = any("news" in entry.fields for entry in found if entry.locs)
    has_locs = any(entry.locs for entry in found)
    kind = "index" if is_index else "news" if is_news else "urlset"
    return entries.result(kind if has_locs else "unknown")


def _end_of_entries(data: bytes) -> int:
    """Return the end of the entries to read: the start of one too long, or one too many."""
    last = 0
    for number, match in enumerate(_ENTRY.finditer(data)):
        if match.start() - last > MAX_ENTRY_SIZE:
            return last
        last = match.start()
        if number == MAX_ENTRIES:
            return last
    return last if len(data) - last > MAX_ENTRY_SIZE else len(data)


class _ListedUrl(NamedTuple):
    is_sitemap: bool
    locs: list[str]
    fields: dict[str, str]


def _parsed_entries(data: bytes) -> Iterator[_ListedUrl]:
    # Entities are not expanded and nothing is loaded; huge_tree, since the size is limited above.
    events = etree.iterparse(
        BytesIO(data),
        events=("end",),
        tag=_ENTRY_NAMES,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for _, element in events:
            yield _entry(element)
            element.clear()
            parent = element.getparent()
            if parent is not None and parent.getparent() is None:
                del parent[: parent.index(element)]  # what is between the entries
    except etree.XMLSyntaxError:
        return


def _local_name(element: etree._Element) -> str:
    # Not etree.QName, which raises ValueError for prefixes without a declaration.
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def _text(element: etree._Element) -> str:
    return squeeze("".join(map(str, element.itertext())))


def _entry(element: etree._Element) -> _ListedUrl:
    fields: dict[str, str] = {}
    locs = []
    for child in islice(element, _MAX_PARTS):
        name = _local_name(child)
        if name == "news":
            fields["news"] = "yes"
            for part in child.iter():
                if (part_name := _local_name(part)) in _NEWS_FIELDS:
                    fields.setdefault(part_name, _text(part))
        elif name == "loc":
            locs.append(_text(child).replace("&amp;", "&"))  # escaped twice
        elif name == "lastmod":
            fields.setdefault(name, _text(child))
    is_sitemap = _local_name(element) == "sitemap"
    locs = list(filter(None, locs or [squeeze(element.text or "")]))
    return _ListedUrl(
        is_sitemap, locs if is_sitemap else locs[:1], {k: v for k, v in fields.items() if v}
    )


def _read_text(data: bytes, entries: EntryCollector) -> Listing:
    lines = re.split(rb"[\r\n]+", data, maxsplit=MAX_ENTRIES)
    if len(lines) > MAX_ENTRIES:
        entries.skip("over_size")
    for line in (raw.decode("utf-8", "replace").strip() for raw in lines[:MAX_ENTRIES]):
        if line.startswith(("http://", "https://")):
            entries.add(line)
        elif line and not line.startswith("#"):
            entries.skip("bad")
    return entries.result("text")
