"""Extraction of captured pages in guarded worker processes, with counts and failures."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final

from newscrawl.archives.captured_pages import Failure, site_of
from newscrawl.items import Article
from newscrawl.pipeline_options import PAGE_TASK, page_arguments
from newscrawl.workers.child import WorkerError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from newscrawl.items import PageItem
    from newscrawl.pipeline_options import PipelineOptions
    from newscrawl.workers.pool import WorkerPool


_MAX_WAITING: Final = 64 * 2**20
"""Maximum bytes of the pages that are read ahead."""


class PageExtractor:
    """Extracts pages in worker processes, at most *ahead* pages at a time.

    *encoding* overrides the charset of the HTTP header. *failed* is called with each failure.
    """

    def __init__(
        self,
        pool: WorkerPool,
        options: PipelineOptions,
        *,
        ahead: int,
        failed: Callable[[Failure], object],
        encoding: str | None = None,
    ) -> None:
        self._pool = pool
        self._options = options
        self._ahead = ahead
        self._failed = failed
        self._encoding = encoding
        #: ``article``, ``failed`` and reasons for dropped pages
        self.counts: Counter[str] = Counter()

    async def articles(self, pages: Iterable[PageItem]) -> AsyncIterator[Article]:
        """Yield the articles of *pages* in order."""
        pending: deque[tuple[int, asyncio.Task[Article | None]]] = deque()
        waiting = 0
        for page in pages:
            size = len(page.html)
            pending.append((size, asyncio.create_task(self._article(page))))
            waiting += size
            while len(pending) >= self._ahead or waiting > _MAX_WAITING:
                size, task = pending.popleft()
                waiting -= size
                if article := await task:
                    yield article
        for _, task in pending:
            if article := await task:
                yield article

    async def _article(self, page: PageItem) -> Article | None:
        arguments = page_arguments(page, self._options.task_arguments)
        if self._encoding:
            arguments["encoding"] = self._encoding
        try:
            plain = await self._pool.call(PAGE_TASK, page.html, site=site_of(page), **arguments)
        except WorkerError as error:
            self.counts["failed"] += 1
            self._failed(Failure.of(page.url, error.reason, str(error)))
            return None
        return kept_article(plain, self._options, self.counts)


def kept_article(
    plain: dict[str, Any], options: PipelineOptions, counts: Counter[str]
) -> Article | None:
    """Return the article in the result of the task, None if it is to be dropped; count it."""
    article = Article.from_dict(plain)
    dropped = options.drop_reason(article)
    counts[dropped or "article"] += 1
    return None if dropped else article
