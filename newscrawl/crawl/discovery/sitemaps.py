"""Sitemaps and robots.txt: where a site lists its pages.

Pure functions of bytes, made for a worker process. Sources: the sitemap protocol
(https://www.sitemaps.org/protocol.html) and Google's news extension of it. Real sitemaps break
both; one bad entry never loses the rest.
"""

from __future__ import annotations

import gzip
import re
import zlib
from codecs import BOM_UTF8
from io import BytesIO
from typing import TYPE_CHECKING, Any

from lxml import etree

from newscrawl.crawl.discovery.feed_entries import Entries
from newscrawl.crawl.discovery.feed_parser import read_feed
from newscrawl.crawl.discovery.urls import absolute_url
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_SIZE = 50 * 1024 * 1024
"""Bytes of a sitemap after decompression, as the protocol bounds them; the rest is cut off."""
MAX_ENTRIES = 50_000
"""Entries of a sitemap, as the protocol bounds them."""
ROBOTS_SIZE = 512 * 1024
"""Bytes of robots.txt that are read (RFC 9309 asks for at least 500 KiB)."""

# A sitemap needs no document type; its entities are an attack or an accident.
_DOCTYPE = re.compile(
    rb"(\s*(?:<\?xml[^>]*>)?\s*)<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE
)
_SITEMAP_LINE = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_MAX_ROBOTS_SITEMAPS = 100


def read_robots(data: bytes, *, url: str) -> dict[str, Any]:
    """Return the ``sitemaps`` that the robots.txt *data* names, in its order."""
    lines = _SITEMAP_LINE.findall(data[:ROBOTS_SIZE])[:_MAX_ROBOTS_SITEMAPS]
    found = (absolute_url(line.decode("utf-8", "replace"), url) for line in lines)
    return {"sitemaps": list(dict.fromkeys(filter(None, found)))}


def read_sitemap(
    data: bytes,
    *,
    url: str,
    owners: Sequence[str],
    since: str | None = None,
    limit: int = 1000,
    traps: bool = True,
) -> dict[str, Any]:
    """Return what the sitemap *data* lists, newest first, at most *limit* entries.

    ``kind`` is ``index`` (the entries are sitemaps), ``urlset``, ``news``, ``feed``, ``text`` or
    ``unknown``; ``entries`` are those of :class:`~newscrawl.crawl.discovery.feed_entries.Entries`. Entries of
    other owners than *owners* and entries older than *since* (ISO 8601) are left out and counted.
    """
    entries = Entries(url, owners, since=since, limit=limit, traps=traps)
    data = _inflate(data)
    if len(data) > MAX_SIZE:
        entries.leave_out("over_size")
    data = _without_doctype(data[:MAX_SIZE].removeprefix(BOM_UTF8))
    head = data[:2048].lstrip()
    if re.search(rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)\b", head):
        return _read_xml(data, entries)
    if re.search(rb"<(?:rss|feed|rdf:RDF)\b", head) or head.startswith(b"{"):
        return read_feed(data, url=url, owners=owners, limit=limit, traps=traps)
    if re.match(rb"https?://", head):
        return _read_text(data, entries)
    if head.startswith(b"<"):
        return _read_xml(data, entries)
    return {"kind": "unknown", "entries": [], "left_out": {}}


def _inflate(data: bytes) -> bytes:
    """Return *data* unpacked, and no more than a byte over the bound of what was packed."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    inflater = zlib.decompressobj(wbits=31)
    try:
        return inflater.decompress(data, MAX_SIZE + 1)
    except zlib.error:
        return _inflate_piecewise(data)


def _inflate_piecewise(data: bytes) -> bytes:
    """Return what comes out of a damaged gzip stream before the damage."""
    pieces: list[bytes] = []
    with gzip.GzipFile(fileobj=BytesIO(data)) as file:
        try:
            while (piece := file.read1(65536)) and 65536 * len(pieces) <= MAX_SIZE:
                pieces.append(piece)
        except (OSError, EOFError, zlib.error):
            pass
    return b"".join(pieces)


def _without_doctype(data: bytes) -> bytes:
    found = _DOCTYPE.match(data)
    return found[1] + data[found.end() :] if found else data


def _read_xml(data: bytes, entries: Entries) -> dict[str, Any]:
    kind = "unknown"
    for number, element in enumerate(_parsed_entries(data)):
        if number == MAX_ENTRIES:
            entries.leave_out("over_size")
            break
        is_sitemap = _local(element) == "sitemap"
        fields = _fields(element)
        if "loc" in fields:
            kind = _kind(kind, is_sitemap=is_sitemap, is_news="news" in fields)
            entries.add(
                fields["loc"],
                date=fields.get("publication_date"),
                changed=fields.get("lastmod"),
                title=fields.get("title"),
                language=fields.get("language"),
                any_owner=is_sitemap,
            )
        elif fields:
            entries.leave_out("bad")
        element.clear()
    return entries.result(kind)


def _kind(kind: str, *, is_sitemap: bool, is_news: bool) -> str:
    if is_sitemap:
        return "index"
    return "news" if is_news or kind == "news" else "urlset"


def _parsed_entries(data: bytes) -> Iterator[etree._Element]:
    # Entities stay unexpanded and nothing is loaded; huge_tree because the size is bounded here.
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


def _local(element: etree._Element) -> str:
    return etree.QName(element).localname.lower()


def _text(element: etree._Element) -> str:
    return squeeze("".join(map(str, element.itertext())))


def _fields(element: etree._Element) -> dict[str, str]:
    fields: dict[str, str] = {}
    for child in element:
        name = _local(child)
        if name == "news":
            fields["news"] = "yes"
            for part in child.iter("{*}publication_date", "{*}title", "{*}language"):
                fields.setdefault(_local(part), _text(part))
        elif name in {"loc", "lastmod"}:
            fields.setdefault(name, _text(child))
    return {name: text for name, text in fields.items() if text}


def _read_text(data: bytes, entries: Entries) -> dict[str, Any]:
    lines = re.split(rb"[\r\n]+", data, maxsplit=MAX_ENTRIES)
    if len(lines) > MAX_ENTRIES:
        entries.leave_out("over_size")
    for line in (raw.decode("utf-8", "replace") for raw in lines[:MAX_ENTRIES]):
        if line.startswith(("http://", "https://")):
            entries.add(line)
        elif line.strip():
            entries.leave_out("bad")
    return entries.result("text")
