"""Targets of the fuzzer: functions of bytes that return JSON values, run in worker processes."""

from __future__ import annotations

import tempfile
import time
import unicodedata
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protego import Protego

from newscrawl.archives.archive_reader import ArchiveError, Flaw, read_records
from newscrawl.archives.captures import NoPageError, page_of
from newscrawl.crawling.discovery.feed_parser import read_feed
from newscrawl.crawling.discovery.page_links import read_page
from newscrawl.crawling.discovery.sitemaps import read_sitemap
from newscrawl.crawling.network.content_codings import CodingError, TooLargeError, decode
from newscrawl.crawling.network.rule_files import (
    MAX_RULES,
    MAX_RULES_SIZE,
    product_token,
    read_rules,
)
from newscrawl.css import decode_sheet, parse_sheet, sheet_urls
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.extraction.methods import available_methods
from newscrawl.items import EXTRA_FIELDS
from newscrawl.settings.base import USER_AGENT
from newscrawl.workers.child import limit_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from newscrawl.archives.archive_reader import ArchiveRecord

URL = "https://news.example/2026/05/04/story.html"
LONG_URL = f"https://news.example/{'a' * 2_000}.html"
DOMAINS = ("news.example",)
#: CPU seconds of the event loop
MAX_STALL = 0.5
MAX_BODY = 2**20
FETCHED_AT = datetime(2026, 11, 16, 12, tzinfo=UTC)
MAX_MEMORY = 250
"""MB that reading a hostile archive may take in addition."""
STYLED_TEXT = b"""<html><head><link rel=stylesheet href=/a.css></head><body class=page>
<h1 id=title>A headline about the harbour</h1><p class="lead a">The first paragraph of the story, on a budget.
<div class="a b c"><p>The second paragraph has <b>bold</b> and <i class=d>hidden</i> words.<p>The third one.</div>
<ul><li>one<li class=a>two</ul><table><tr><td>cell</table></body></html>"""


def run(data: bytes, *, target: str) -> Any:
    """Return the result of *target* for *data*; only the documented exceptions may be raised."""
    name, _, method = target.partition(":")
    return TARGETS[name](data, method) if method else TARGETS[name](data)


def _page(data: bytes, method: str) -> Any:
    options = ExtractOptions(extra_fields=frozenset(EXTRA_FIELDS))
    article = extract(data, URL, fetched_at=FETCHED_AT, method=method, options=options)
    plain = article.to_dict()
    found = [text for text in _texts(plain) if not text.isprintable() and _has_controls(text)]
    if found:
        raise AssertionError(f"control characters: {found[:3]!r}")
    return plain


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _has_controls(text: str) -> bool:
    return any(unicodedata.category(c) == "Cc" and c not in "\t\n" for c in text)


def _links(data: bytes) -> Any:
    return [sheet_urls(data, URL), read_page(data, url=URL, domains=DOMAINS).to_dict()]


def _rules(data: bytes, file: str) -> Any:
    """Read a file of rules, and apply the result as the event loop does."""
    read = read_rules(data, url=URL, file=file, token="newscrawl")
    lines = read["text"].split("\n")
    if len(lines) > MAX_RULES + 2 or len(read["text"].encode()) > MAX_RULES_SIZE + 2 * MAX_RULES:
        raise AssertionError(f"{len(lines)} lines, {len(read['rules'])} characters")
    start = time.process_time()
    rules = Protego.parse(read["text"])
    allowed = [rules.can_fetch(url, USER_AGENT) for url in (URL, LONG_URL)]
    if (seconds := time.process_time() - start) > MAX_STALL:
        raise AssertionError(f"{seconds:.2f} s on the event loop")
    token = product_token(data[:10_000].decode("latin-1"))
    return [read, allowed, str(rules.crawl_delay(USER_AGENT)), token]


def _coding(data: bytes, codings: str) -> Any:
    found = []
    for cut in (False, True):
        try:
            body = decode(data, codings.split(","), MAX_BODY, cut=cut)
        except (CodingError, TooLargeError) as error:
            found.append(str(error))
            continue
        if len(body) > MAX_BODY:
            raise AssertionError(f"{len(body)} bytes")
        found.append(f"{len(body)} {zlib.crc32(body)}")
    return found


def _css(data: bytes) -> Any:
    sheet = parse_sheet(decode_sheet(data, None))
    url = "https://news.example/a.css"
    article = extract(STYLED_TEXT, URL, fetched_at=FETCHED_AT, stylesheets={url: sheet})
    return [sheet.rules, sheet.imports, article.to_dict()]


def _warc(data: bytes) -> Any:
    with tempfile.NamedTemporaryFile(suffix=".warc.gz") as file:
        file.write(data)
        file.flush()
        try:
            return [
                [record.offset, str(record)] if isinstance(record, Flaw) else _record(record)
                for record in read_records(Path(file.name))
            ]
        except ArchiveError:
            return "no archive"


def _hostile_archive(data: bytes) -> Any:
    """Read *data* within :data:`MAX_MEMORY`."""
    limit_memory(MAX_MEMORY)
    try:
        found = _warc(data)
    finally:
        limit_memory(0)
    if any("'memory'" in str(record[1]) for record in found if isinstance(record, list)):
        raise AssertionError("more than the memory limit")
    return found


def _record(record: ArchiveRecord) -> Any:
    try:
        page = page_of(record)
        text = [
            page.url,
            len(page.html),
            page.encoding,
            page.fetched_at and page.fetched_at.isoformat(),
            page.hints,
        ]
    except NoPageError as error:
        text = [error.reason]
    return [record.kind, record.headers, text]


TARGETS: dict[str, Callable[..., Any]] = {
    "page": _page,
    "links": _links,
    "sitemap": lambda data: read_sitemap(data, url=URL, domains=DOMAINS),
    "feed": lambda data: read_feed(data, url=URL, domains=DOMAINS),
    "robots": _rules,
    "coding": _coding,
    "css": _css,
    "warc": _warc,
    "archive": _hostile_archive,
}
_METHODS: dict[str, tuple[str, ...]] = {
    "page": tuple(available_methods()),
    "robots": ("robots", "ai_txt", "tdmrep"),
    "coding": ("gzip", "gzip,gzip", "deflate", "br", "zstd", "gzip,br"),
}
#: the targets with each of their methods, and the other ones
NAMES = tuple(
    ":".join(filter(None, (name, method)))
    for name in TARGETS
    for method in _METHODS.get(name, ("",))
)
