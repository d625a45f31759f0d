"""Parsers of sitemaps and of the sitemap lines in robots.txt.

Pure functions of bytes, run in a worker process. They implement the sitemap protocol
(https://www.sitemaps.org/protocol.html) and Google's news extension. An invalid entry is skipped
and counted.
"""

from __future__ import annotations

import gzip
import re
import zlib
from codecs import BOM_UTF8
from io import BytesIO
from typing import TYPE_CHECKING, Any

from lxml import etree

from newscrawl.crawl.discovery.feed_parser import read_feed, replace_invalid_references
from newscrawl.crawl.discovery.listing_entries import EntryCollector
from newscrawl.crawl.discovery.urls import absolute_url
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_SIZE = 50 * 1024 * 1024
"""Maximum size of a decompressed sitemap in bytes (protocol limit); the rest is ignored."""
MAX_ENTRIES = 50_000
"""Maximum number of entries of a sitemap (protocol limit)."""
MAX_ROBOTS_SIZE = 512 * 1024
"""Maximum size of robots.txt in bytes (RFC 9309 requires at least 500 KiB)."""

# Removed before parsing: a sitemap needs no document type, and entities can be an attack.
_DOCTYPE = re.compile(
    rb"(\s*+(?:<\?xml[^>]*+>\s*+)?+)<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE
)
_NEWS_FIELDS = frozenset({"publication_date", "title", "language"})
_SITEMAP_LINE = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_MAX_ROBOTS_SITEMAPS = 100


def read_robots(data: bytes, *, url: str) -> dict[str, Any]:
    """Return the ``sitemaps`` of the robots.txt *data*, in its order."""
    lines = _SITEMAP_LINE.findall(data[:MAX_ROBOTS_SIZE])[:_MAX_ROBOTS_SITEMAPS]
    urls = (absolute_url(line.decode("utf-8", "replace"), url) for line in lines)
    return {"sitemaps": list(dict.fromkeys(filter(None, urls)))}


def read_sitemap(
    data: bytes,
    *,
    url: str,
    domains: Sequence[str],
    since: str | None = None,
    limit: int = 1000,
    traps: bool = True,
) -> dict[str, Any]:
    """Return the *limit* newest entries of the sitemap *data*.

    ``kind`` is ``index`` (the entries are sitemaps), ``urlset``, ``news``, ``feed``, ``text`` or
    ``unknown``; the other keys are those of
    :meth:`newscrawl.crawl.discovery.listing_entries.EntryCollector.result`. Entries outside of
    *domains* and entries older than *since* (ISO 8601) are skipped and counted.
    """
    entries = EntryCollector(url, domains, since=since, limit=limit, traps=traps)
    data = _decompress(data)
    if len(data) > MAX_SIZE:
        entries.skip("over_size")
    data = _without_doctype(data[:MAX_SIZE].removeprefix(BOM_UTF8))
    head = data[:2048].lstrip()
    if re.search(rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)\b", head):
        return _read_xml(data, entries)
    if re.search(rb"<(?:rss|feed|rdf:RDF)\b", head) or head.startswith(b"{"):
        return read_feed(data, url=url, domains=domains, limit=limit, traps=traps)
    if re.match(rb"https?://", head):
        return _read_text(data, entries)
    if head.startswith(b"<"):
        return _read_xml(data, entries)
    return {"kind": "unknown", "entries": [], "left_out": {}}


def _decompress(data: bytes) -> bytes:
    """Return *data*, decompressed to at most ``MAX_SIZE`` + 1 bytes if it is gzip."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, MAX_SIZE + 1)
    except zlib.error:
        return _decompress_damaged(data)


def _decompress_damaged(data: bytes) -> bytes:
    """Return the content of a damaged gzip stream up to the damage."""
    chunks: list[bytes] = []
    with gzip.GzipFile(fileobj=BytesIO(data)) as file:
        try:
            while (chunk := file.read1(65536)) and 65536 * len(chunks) <= MAX_SIZE:
                chunks.append(chunk)
        except (OSError, EOFError, zlib.error):
            pass
    return b"".join(chunks)


def _without_doctype(data: bytes) -> bytes:
    doctype = _DOCTYPE.match(data)
    return doctype[1] + data[doctype.end() :] if doctype else data


def _read_xml(data: bytes, entries: EntryCollector) -> dict[str, Any]:
    kind = "unknown"
    for number, element in enumerate(_parsed_entries(replace_invalid_references(data))):
        if number == MAX_ENTRIES:
            entries.skip("over_size")
            break
        is_sitemap = _local_name(element) == "sitemap"
        fields = _fields(element)
        if "loc" in fields:
            if is_sitemap:
                kind = "index"
            else:
                kind = "news" if kind == "news" or "news" in fields else "urlset"
            entries.add(
                fields["loc"],
                date=fields.get("publication_date"),
                changed=fields.get("lastmod"),
                title=fields.get("title"),
                language=fields.get("language"),
                any_domain=is_sitemap,
            )
        elif fields:
            entries.skip("bad")
        element.clear()
    return entries.result(kind)


def _parsed_entries(data: bytes) -> Iterator[etree._Element]:
    # Entities are not expanded and nothing is loaded; huge_tree, since the size is limited above.
    events = etree.iterparse(
        BytesIO(data),
        events=("end",),
        tag=("{*}url", "{*}sitemap"),
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
            yield element
    except etree.XMLSyntaxError:
        return


def _local_name(element: etree._Element) -> str:
    # Not etree.QName, which raises ValueError for prefixes without a declaration.
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def _text(element: etree._Element) -> str:
    return squeeze("".join(map(str, element.itertext())))


def _fields(element: etree._Element) -> dict[str, str]:
    fields: dict[str, str] = {}
    for child in element:
        name = _local_name(child)
        if name == "news":
            fields["news"] = "yes"
            for part in child.iter():
                if (part_name := _local_name(part)) in _NEWS_FIELDS:
                    fields.setdefault(part_name, _text(part))
        elif name in {"loc", "lastmod"}:
            fields.setdefault(name, _text(child))
    return {name: text for name, text in fields.items() if text}


def _read_text(data: bytes, entries: EntryCollector) -> dict[str, Any]:
    lines = re.split(rb"[\r\n]+", data, maxsplit=MAX_ENTRIES)
    if len(lines) > MAX_ENTRIES:
        entries.skip("over_size")
    for line in (raw.decode("utf-8", "replace") for raw in lines[:MAX_ENTRIES]):
        if line.startswith(("http://", "https://")):
            entries.add(line)
        elif line.strip():
            entries.skip("bad")
    return entries.result("text")
