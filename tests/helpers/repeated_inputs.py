"""Readers of downloaded bytes with inputs of any length, of the shapes in ``input_shapes``."""

import contextlib
import gzip
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from protego import Protego

from newscrawl.archives.archive_reader import ArchiveRecord, Flaw, read_records
from newscrawl.archives.captures import NoPageError, page_of
from newscrawl.body.parts import PARTS
from newscrawl.crawling.discovery.feed_parser import read_feed
from newscrawl.crawling.discovery.page_links import read_page
from newscrawl.crawling.discovery.site_list import SitesError, load_sites
from newscrawl.crawling.discovery.sitemaps import read_sitemap
from newscrawl.crawling.logs import mask_secrets
from newscrawl.crawling.network.rule_files import product_token, read_rules
from newscrawl.css import decode_sheet, parse_sheet, sheet_urls
from newscrawl.document.encoding import header_charset, to_utf8
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.items import EXTRA_FIELDS
from newscrawl.middlewares.opt_out import (
    _meta_elements,
    is_opted_out_by_header,
    is_opted_out_by_meta,
)
from newscrawl.middlewares.politeness import retry_after
from tests.helpers.input_shapes import (
    ARCHIVES,
    DEEP_PAGES,
    FEEDS,
    HEAD,
    HEADERS,
    OPT_OUTS,
    PAGES,
    ROBOTS,
    SECRETS,
    SHEETS,
    SITE_LISTS,
    SITEMAPS,
    STORY,
    TEXTS,
    Shape,
)

URL = "https://news.example/2026/05/04/story.html"
SHEET_URL = "https://news.example/a.css"
DOMAINS = ("news.example",)
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ALL_PARTS = ExtractOptions(extra_fields=frozenset(EXTRA_FIELDS), parts=frozenset(PARTS))


def repeat(shape: Shape, size: int) -> bytes:
    """Return an input with *size* repetitions."""
    start, unit, end = shape
    units = (unit.replace("+", str(n + 1)).replace("#", str(n)) for n in range(size))
    return "".join((start, *units, end)).encode("utf-8", "surrogateescape")


def cases() -> Iterator[tuple[str, Callable[[int], object]]]:
    """Yield all readers with their shapes."""
    for reader, (work, shapes) in READERS.items():
        for name, shape in shapes.items():
            yield f"{reader}: {name}", partial(_read, work, shape)


def deep_cases() -> Iterator[tuple[str, Callable[[int], object]]]:
    """Yield the readers of pages with :data:`DEEP_PAGES`."""
    for reader, (work, shapes) in READERS.items():
        if shapes is PAGES:
            for name, shape in DEEP_PAGES.items():
                yield f"{reader}: {name}", partial(_read, work, shape)


def _read(work: Callable[[bytes], object], shape: Shape, size: int) -> object:
    return work(repeat(shape, size))


def _page(html: bytes, **options: Any) -> object:
    return extract(html, URL, fetched_at=NOW, **options)


def _bare_page(html: bytes) -> object:
    """Read a page with all that is optional left out, by the method of the most steps."""
    options = ExtractOptions(parts=frozenset(), remove_boilerplate=False, remove_comments=False)
    return _page(html, options=options)


def _links(html: bytes) -> object:
    return (
        sheet_urls(html, URL),
        read_page(html, url=URL, domains=DOMAINS),
        is_opted_out_by_meta(_meta_elements(html)),
    )


_STYLED = (
    f"{HEAD}<body class=page>{STORY}<div class='a b'><p class=a>The <b>bold</b> <i>word</i></div>"
).encode()


def _sheet(css: bytes) -> object:
    sheet = parse_sheet(decode_sheet(css, None))
    return _page(_STYLED, stylesheets={SHEET_URL: sheet})


def _robots(data: bytes, file: str = "robots") -> object:
    read = read_rules(data, url=URL, file=file, token="newscrawl")
    rules = Protego.parse(read["text"])
    allowed = rules.can_fetch(URL, "newscrawl"), rules.crawl_delay("newscrawl")
    return read["sitemaps"], product_token(data[:9999].decode("latin-1")), allowed


def _site_list(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        for extension in SITE_LISTS:
            path = Path(folder, f"sites{extension}")
            path.write_bytes(data)
            with contextlib.suppress(SitesError):
                load_sites(path)
    return None


def _headers(data: bytes) -> object:
    return header_charset(data), retry_after(data, NOW), is_opted_out_by_header([data], [data])


def _texts(data: bytes) -> object:
    return [to_utf8(data, charset) for charset in (None, "gb18030", "shift_jis", "utf-16")]


def _archive(data: bytes) -> object:
    with tempfile.NamedTemporaryFile(suffix=".warc.gz") as file:
        file.write(data)
        file.flush()
        return [
            None if isinstance(record, Flaw) else _page_or_reason(record)
            for record in read_records(Path(file.name))
        ]


def _page_or_reason(record: ArchiveRecord) -> object:
    try:
        return page_of(record)
    except NoPageError as error:
        return error.reason


READERS: dict[str, tuple[Callable[[bytes], object], dict[str, Shape]]] = {
    "page": (partial(_page, stylesheets={}, options=ALL_PARTS), PAGES),
    "bare page": (_bare_page, PAGES),
    "links": (_links, PAGES),
    "sheet": (_sheet, SHEETS),
    "sitemap": (partial(read_sitemap, url=URL, domains=DOMAINS), SITEMAPS),
    "feed": (partial(read_feed, url=URL, domains=DOMAINS), FEEDS),
    "robots.txt": (_robots, ROBOTS),
    "secrets": (lambda data: mask_secrets(data.decode()), SECRETS),
    "site list": (_site_list, SITE_LISTS),
    "text": (_texts, TEXTS),
    "header": (_headers, HEADERS),
    "archive": (_archive, ARCHIVES),
    "packed archive": (lambda data: _archive(gzip.compress(data)), ARCHIVES),
    "opt-outs": (partial(_robots, file="tdmrep"), OPT_OUTS),
}
