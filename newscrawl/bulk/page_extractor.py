"""Extraction of captured pages in guarded worker processes, with counts and failures."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from newscrawl.bulk.captured_pages import Failure, page_arguments, site_of
from newscrawl.crawl.workers.pool import WorkerError
from newscrawl.items import Article
from newscrawl.pipeline_options import PAGE_TASK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from newscrawl.crawl.warc.captures import Capture
    from newscrawl.crawl.workers.pool import WorkerPool
    from newscrawl.pipeline_options import PipelineOptions


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
        arguments = {**page_arguments(page), **self._options.task_arguments, **self._styles(page)}
        if self._encoding:
            arguments["encoding"] = self._encoding
        try:
            plain = await self._pool.call(PAGE_TASK, page.body, site=site_of(page), **arguments)
        except WorkerError as error:
            self.counts["failed"] += 1
            self._failed(Failure(page.url, error.reason, str(error)))
            return None
        return kept_article(plain, self._options, self.counts, truncated=page.truncated)


def kept_article(
    plain: dict[str, Any], options: PipelineOptions, counts: Counter[str], *, truncated: bool
) -> Article | None:
    """Return the article in the result of the task, None if it is to be dropped; count it."""
    article = Article.from_dict(plain)
    if truncated:
        article.flags.append("truncated")
    dropped = options.drop_reason(article)
    counts[dropped or "article"] += 1
    return None if dropped else article
