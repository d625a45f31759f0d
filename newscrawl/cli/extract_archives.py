"""Extraction of WARC archives with the settings of a crawl."""

from __future__ import annotations

import asyncio
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from newscrawl.bulk.captured_pages import record_pages
from newscrawl.bulk.page_extractor import PageExtractor
from newscrawl.cli.corpus_options import report
from newscrawl.crawl.stylesheet_fetcher import IMPORT_DEPTH
from newscrawl.crawl.warc.archive_reader import ArchiveError, Flaw, read_records
from newscrawl.crawl.warc.captures import (
    is_server_message,
    may_be_sheet,
    redirect_target,
    sheet_of,
)
from newscrawl.crawl.workers.pool import WorkerError
from newscrawl.css.sheet_links import sheet_url, sheet_urls
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from newscrawl.bulk.captured_pages import Failure
    from newscrawl.crawl.warc.archive_reader import ArchiveRecord
    from newscrawl.crawl.warc.captures import Capture
    from newscrawl.crawl.workers.pool import WorkerPool
    from newscrawl.items import Article
    from newscrawl.pipeline_options import PipelineOptions

SHEETS: Final = "newscrawl.crawl.workers.tasks:parse_stylesheet"

_MAX_REDIRECTS: Final = 5


def extract_archives(
    paths: Sequence[Path],
    settings: BaseSettings,
    emit: Callable[[Article], None],
    *,
    pool: Callable[[], WorkerPool],
    ahead: int,
    options: PipelineOptions,
    encoding: str | None,
) -> bool:
    """Call *emit* with each article of the archives at *paths*; report the rest on standard error.

    Returns False if an archive is damaged.
    """
    styled = setting(settings, "NEWSCRAWL_CSS_ENABLED")
    limit = setting(settings, "NEWSCRAWL_CSS_SHEETS") if styled else 0
    records = _Records(paths)

    def failed(failure: Failure) -> None:
        report(f"{failure.url}: failed ({failure.reason}): {failure.message}")

    async def run() -> Counter[str]:
        workers = pool()
        sheets = _Sheets(workers, limit)
        extractor = PageExtractor(
            workers, options, ahead=ahead, failed=failed, encoding=encoding, styles=sheets.of
        )
        try:
            with TemporaryDirectory(prefix="newscrawl-") as folder:
                await sheets.read(paths, folder)
                pages = record_pages(records, extractor.counts, records.report_flaw)
                async for article in extractor.articles(pages):
                    emit(article)
        finally:
            await workers.close()
        return extractor.counts

    report(summary(asyncio.run(run())))
    return not records.damaged


class _Records:
    """The records of the archives at *paths*; reports errors on standard error."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = paths
        self._path: Path | None = None
        #: a part of an archive could not be read
        self.damaged = False

    def __iter__(self) -> Iterator[ArchiveRecord | Flaw]:
        for path in self._paths:
            self._path = path
            try:
                yield from read_records(path)
            except ArchiveError as error:
                self.damaged = True
                report(str(error))
            except OSError as error:
                self.damaged = True
                report(f"{path}: {error.strerror or error}")

    def report_flaw(self, failure: Failure) -> None:
        """Report a flaw in the current archive."""
        self.damaged |= failure.reason in {"cut", "damaged"}
        report(f"{self._path}: {failure.message}")


class _Sheet(NamedTuple):
    url: str
    hash: str
    imports: list[str]


class _Sheets:
    """Parsed style sheets of archives, at most *limit* of them for a page (0: none)."""

    def __init__(self, pool: WorkerPool, limit: int) -> None:
        self._pool = pool
        self._limit = limit
        self._store: dict[str, Any] = {}
        self._by_url: dict[str, _Sheet] = {}
        self._redirects: dict[str, str] = {}

    async def read(self, paths: Iterable[Path], folder: str) -> None:
        """Parse all sheets of the archives at *paths* into a store in *folder*."""
        # practically unlimited: the folder is temporary
        self._store = {"store": f"{folder}/sheets.sqlite", "store_size": 2**20}
        for path in paths if self._limit else ():
            try:
                for record in read_records(path, may_be_sheet):
                    if not isinstance(record, Flaw) and is_server_message(record):
                        await self._add(record)
            except (ArchiveError, OSError):
                continue  # logged when the pages are read

    async def _add(self, record: ArchiveRecord) -> None:
        if location := redirect_target(record):
            self._redirects[record.url] = location
        elif sheet := sheet_of(record):
            try:
                plain = await self._pool.call(
                    SHEETS, sheet.body, encoding=sheet.encoding, **self._store
                )
            except WorkerError:
                return  # treated as missing
            self._by_url[sheet.url] = _Sheet(sheet.url, plain["hash"], plain["imports"])

    def of(self, page: Capture) -> dict[str, Any]:
        """Return the sheet arguments of the extraction task; empty if there are no sheets."""
        if not self._by_url:
            return {}
        urls = sheet_urls(page.body, page.url, limit=self._limit)
        linked = {url: self._find(url) for url in urls}
        found = imported = {url: sheet for url, sheet in linked.items() if sheet}
        for _ in range(IMPORT_DEPTH):
            imported = {url: sheet for url, sheet in self._imports(imported) if url not in found}
            found = {**found, **imported}
        return {"stylesheets": {url: sheet.hash for url, sheet in found.items()}, **self._store}

    def _imports(self, sheets: dict[str, _Sheet]) -> Iterator[tuple[str, _Sheet]]:
        """Yield the imported sheets by the URL relative to the linked URL, before redirects."""
        for url, sheet in sheets.items():
            for href in sheet.imports:
                link, source = sheet_url(href, url), sheet_url(href, sheet.url)
                if link and source and (imported := self._find(source)):
                    yield link, imported

    def _find(self, url: str) -> _Sheet | None:
        for _ in range(_MAX_REDIRECTS):
            if url not in self._redirects:
                break
            url = self._redirects[url]
        return self._by_url.get(url)


def summary(counts: Counter[str]) -> str:
    """Return a one-line summary of extracted and skipped records."""
    skipped = ", ".join(
        f"{number} {reason}"
        for reason, number in counts.most_common()
        if reason not in {"record", "article"}
    )
    line = f"{counts['article']} articles in {counts['record']} records"
    return f"{line}; left out: {skipped}" if skipped else line
