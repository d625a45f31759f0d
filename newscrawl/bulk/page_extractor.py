"""Extraction of captured pages in guarded worker processes, with counts and failures."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.crawl.discovery.urls import registered_domain, site_key_or
from newscrawl.crawl.warc.archive_reader import Flaw
from newscrawl.crawl.warc.captures import NoPageError, is_server_message, page_of
from newscrawl.crawl.workers.pool import WorkerError
from newscrawl.items import Article
from newscrawl.pipelines.news_extract import TASK, drop_reason

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from newscrawl.crawl.warc.archive_reader import ArchiveRecord
    from newscrawl.crawl.warc.captures import Capture
    from newscrawl.crawl.workers.pool import WorkerPool
    from newscrawl.pipelines.pipeline_options import PipelineOptions


class Failure(NamedTuple):
    """A page or a part of an archive without result."""

    #: URL of the page, "" if unknown
    url: str
    #: a reason of ``WorkerError`` or :class:`~newscrawl.crawl.warc.archive_reader.Flaw`
    reason: str
    message: str


def record_pages(
    records: Iterable[ArchiveRecord | Flaw],
    counts: Counter[str],
    failed: Callable[[Failure], object],
) -> Iterator[Capture]:
    """Yield the pages in *records*; count the other records, call *failed* with each flaw."""
    for record in records:
        if isinstance(record, Flaw):
            counts[record.reason] += 1
            failed(_flaw_failure(record))
            continue
        counts["record"] += 1
        if not is_server_message(record):
            continue
        try:
            page = page_of(record)
        except NoPageError as error:
            counts[error.reason] += 1
        except Exception as error:  # noqa: BLE001  # costs this record only
            counts["failed"] += 1
            failed(Failure(record.url, "error", f"{type(error).__name__}: {error}"))
        else:
            yield page


def _flaw_failure(flaw: Flaw) -> Failure:
    if flaw.reason == "too_large":
        message = f"a record is too large: {flaw.url}"
    elif flaw.reason == "cut":
        message = f"the archive is cut off at byte {flaw.offset}"
    else:
        message = f"a record is damaged at byte {flaw.offset}"
    return Failure(flaw.url, flaw.reason, message)


def _no_styles(_: Capture) -> dict[str, Any]:
    return {}


class PageExtractor:
    """Extracts pages in worker processes, at most *ahead* pages at a time.

    *encoding* overrides the charset of the HTTP header. *failed* is called with each failure,
    *styles* returns the style sheet arguments of the task for a page.
    """

    def __init__(
        self,
        pool: WorkerPool,
        options: PipelineOptions,
        *,
        ahead: int,
        failed: Callable[[Failure], object],
        encoding: str | None = None,
        styles: Callable[[Capture], dict[str, Any]] = _no_styles,
    ) -> None:
        self._pool = pool
        self._options = options
        self._ahead = ahead
        self._failed = failed
        self._encoding = encoding
        self._styles = styles
        #: ``article``, ``failed`` and reasons for dropped pages
        self.counts: Counter[str] = Counter()

    async def articles(self, pages: Iterable[Capture]) -> AsyncIterator[Article]:
        """Yield the articles of *pages* in order."""
        pending: deque[asyncio.Task[Article | None]] = deque()
        for page in pages:
            pending.append(asyncio.create_task(self._article(page)))
            if len(pending) >= self._ahead and (article := await pending.popleft()):
                yield article
        while pending:
            if article := await pending.popleft():
                yield article

    async def _article(self, page: Capture) -> Article | None:
        try:
            plain = await self._pool.call(
                TASK,
                page.body,
                site=registered_domain(site_key_or(page.url, "")),
                url=page.url,
                encoding=self._encoding or page.encoding,
                fetched_at=page.at.isoformat() if page.at else None,
                method=self._options.method,
                parts=self._options.body_parts,
                formats=self._options.body_formats,
                hints=page.hints,
                **self._styles(page),
            )
        except WorkerError as error:
            self.counts["failed"] += 1
            self._failed(Failure(page.url, error.reason, str(error)))
            return None
        article = Article.from_dict(plain)
        if page.truncated:
            article.flags.append("truncated")
        dropped = drop_reason(article, self._options)
        self.counts[dropped.reason if dropped else "article"] += 1
        return None if dropped else article
