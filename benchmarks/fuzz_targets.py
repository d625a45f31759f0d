"""Targets of the fuzzer: functions of bytes that return JSON values, run in worker processes."""

from __future__ import annotations

import tempfile
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protego import Protego

from newscrawl.crawl.discovery.feed_parser import read_feed
from newscrawl.crawl.discovery.page_links import read_page
from newscrawl.crawl.discovery.sitemaps import read_robots, read_sitemap
from newscrawl.crawl.network.robots_rules import own_groups, sitemap_lines
from newscrawl.crawl.warc.archive_reader import ArchiveError, Flaw, read_records
from newscrawl.crawl.warc.captures import NoPageError, page_of, redirect_target, sheet_of
from newscrawl.css.sheet_links import sheet_urls
from newscrawl.css.sheets.sheet import parse_sheet
from newscrawl.css.syntax.charset import decode_sheet
from newscrawl.extraction.body_formats import BODY_FORMATS
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.extraction.methods import PAGE_METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from newscrawl.crawl.warc.archive_reader import ArchiveRecord

URL = "https://news.example/2026/05/04/story.html"
DOMAINS = ("news.example",)
FETCHED_AT = datetime(2026, 11, 16, 12, tzinfo=UTC)
STYLED_TEXT = b"""<html><head><link rel=stylesheet href=/a.css></head><body class=page>
<h1 id=title>A headline about the harbour</h1><p class="lead a">The first paragraph of the story, on a budget.
<div class="a b c"><p>The second paragraph has <b>bold</b> and <i class=d>hidden</i> words.<p>The third one.</div>
<ul><li>one<li class=a>two</ul><table><tr><td>cell</table></body></html>"""


def run(data: bytes, *, target: str) -> Any:
    """Return the result of *target* for *data*; only the documented exceptions may be raised."""
    name, _, method = target.partition(":")
    return TARGETS[name](data, method) if method else TARGETS[name](data)


def _page(data: bytes, method: str) -> Any:
    options = ExtractOptions(formats=frozenset(BODY_FORMATS))
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
    return [sheet_urls(data, URL), read_page(data, url=URL, domains=DOMAINS)]


def _robots(data: bytes) -> Any:
    groups = own_groups(data[: 500 * 1024].decode("utf-8", "replace"), "newscrawl")
    rules = Protego.parse(groups)
    return [
        read_robots(data, url=URL),
        sitemap_lines(data).decode("latin-1"),
        groups,
        rules.can_fetch(URL, "newscrawl"),
        str(rules.crawl_delay("newscrawl")),
    ]


def _css(data: bytes) -> Any:
    sheet = parse_sheet(decode_sheet(data, None))
    url = "https://news.example/a.css"
    article = extract(STYLED_TEXT, URL, fetched_at=FETCHED_AT, stylesheets={url: sheet})
    return [sheet.to_plain(), article.to_dict()]


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


def _record(record: ArchiveRecord) -> Any:
    try:
        page = page_of(record)
        text = [page.url, len(page.body), page.encoding, page.at.isoformat(), page.hints]
    except NoPageError as error:
        text = [error.reason]
    sheet = sheet_of(record)
    return [record.kind, record.headers, text, sheet and len(sheet.body), redirect_target(record)]


TARGETS: dict[str, Callable[..., Any]] = {
    "page": _page,
    "links": _links,
    "sitemap": lambda data: read_sitemap(data, url=URL, domains=DOMAINS),
    "feed": lambda data: read_feed(data, url=URL, domains=DOMAINS),
    "robots": _robots,
    "css": _css,
    "warc": _warc,
}
#: a page method each, and the other formats
NAMES = tuple(
    [f"page:{method}" for method in PAGE_METHODS] + [name for name in TARGETS if name != "page"]
)
