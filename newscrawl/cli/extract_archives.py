"""Extraction of WARC archives with the settings of a crawl."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from newscrawl.cli.corpus_options import report
from newscrawl.crawl.stylesheet_fetcher import IMPORT_DEPTH
from newscrawl.crawl.warc.archive_reader import ArchiveError, Flaw, read_records
from newscrawl.crawl.warc.captures import (
    NoPageError,
    is_server_message,
    may_be_sheet,
    page_of,
    redirect_target,
    sheet_of,
)
from newscrawl.crawl.workers.pool import WorkerError
from newscrawl.css.sheet_links import sheet_url, sheet_urls
from newscrawl.defaults import setting
from newscrawl.items import Article
from newscrawl.pipelines.news_extract import TASK, drop_reason

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from newscrawl.crawl.warc.archive_reader import ArchiveRecord
    from newscrawl.crawl.warc.captures import Capture
    from newscrawl.crawl.workers.pool import WorkerPool
    from newscrawl.pipelines.pipeline_options import PipelineOptions

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
    sheets = setting(settings, "NEWSCRAWL_CSS_SHEETS") if styled else 0

    async def run() -> Extractor:
        workers = pool()
        extractor = Extractor(workers, options, ahead=ahead, encoding=encoding, sheets=sheets)
        try:
            async for article in extractor.articles(paths):
                emit(article)
        finally:
            await workers.close()
        return extractor

    extractor = asyncio.run(run())
    report(summary(extractor.counts))
    return not extractor.damaged


class _Sheet(NamedTuple):
    url: str
    hash: str
    imports: list[str]


class Extractor:
    """Extracts the pages of archives in worker processes, at most *ahead* pages at a time.

    *encoding* overrides the charset of the HTTP header. *sheets* is the maximum number of style
    sheets of a page (0: pages are extracted without style).
    """

    def __init__(
        self,
        pool: WorkerPool,
        options: PipelineOptions,
        *,
        ahead: int,
        encoding: str | None,
        sheets: int,
    ) -> None:
        self._pool = pool
        self._ahead = ahead
        self._options = options
        self._encoding = encoding
        self._sheets = _Sheets(pool, sheets)
        #: ``record``, ``article`` and reasons for skipped records
        self.counts: Counter[str] = Counter()
        #: a part of an archive could not be read
        self.damaged = False

    async def articles(self, paths: Sequence[Path]) -> AsyncIterator[Article]:
        """Yield the articles of the archives at *paths* in order; log errors."""
        with TemporaryDirectory(prefix="newscrawl-") as folder:
            await self._sheets.read(paths, folder)
            pending: deque[asyncio.Task[Article | None]] = deque()
            for capture in self._pages(paths):
                pending.append(asyncio.create_task(self._article(capture)))
                if len(pending) >= self._ahead and (article := await pending.popleft()):
                    yield article
            while pending:
                if article := await pending.popleft():
                    yield article

    def _pages(self, paths: Iterable[Path]) -> Iterator[Capture]:
        for record in self._records(paths):
            self.counts["record"] += 1
            if not is_server_message(record):
                continue
            try:
                yield page_of(record)
            except NoPageError as error:
                self.counts[error.reason] += 1

    def _records(self, paths: Iterable[Path]) -> Iterator[ArchiveRecord]:
        for path in paths:
            try:
                for record in read_records(path):
                    if isinstance(record, Flaw):
                        self._log_flaw(path, record)
                    else:
                        yield record
            except ArchiveError as error:
                self.damaged = True
                report(str(error))
            except OSError as error:
                self.damaged = True
                report(f"{path}: {error.strerror or error}")

    def _log_flaw(self, path: Path, flaw: Flaw) -> None:
        self.counts[flaw.reason] += 1
        if flaw.reason == "too_large":
            report(f"{path}: a record is too large: {flaw.url}")
            return
        self.damaged = True
        damage = "the archive is cut off" if flaw.reason == "cut" else "a record is damaged"
        report(f"{path}: {damage} at byte {flaw.offset}")

    async def _article(self, page: Capture) -> Article | None:
        try:
            plain = await self._pool.call(
                TASK,
                page.body,
                url=page.url,
                encoding=self._encoding or page.encoding,
                fetched_at=page.at.isoformat(),
                method=self._options.method,
                parts=self._options.body_parts,
                formats=self._options.body_formats,
                hints=page.hints,
                **self._sheets.of(page),
            )
        except WorkerError as error:
            self.counts["failed"] += 1
            report(f"{page.url}: failed ({error.reason}): {error}")
            return None
        article = Article.from_dict(plain)
        if page.truncated:
            article.flags.append("truncated")
        dropped = drop_reason(article, self._options)
        self.counts[dropped.reason if dropped else "article"] += 1
        return None if dropped else article


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
