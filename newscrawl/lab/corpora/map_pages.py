"""Runs a function on labelled pages in worker processes."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from newscrawl.workers.child import WorkerError
from newscrawl.workers.pool import WorkerPool
from newscrawl.workers.process import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

DEADLINE = 60.0
"""Seconds per page; longer than in a crawl, so that a busy machine gives the same scores."""
MEMORY_LIMIT = 2048
"""Memory limit per page, in MB."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageOutcome(Generic[T]):
    """Value measured on a page, and the error if the page failed."""

    page: LabelledPage
    value: T
    error: str | None = None


def map_pages(
    function: str,
    pages: Sequence[LabelledPage],
    read: Callable[[Mapping[str, Any]], T],
    failed: Callable[[LabelledPage], T],
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
    **plain: Any,
) -> list[PageOutcome[T]]:
    """Call *function* (``package.module:name``) for each page; return outcomes in page order.

    The arguments are the bytes of the page, the page as JSON values and *plain*. Calls run in
    *workers* processes, or with 0 in a thread without deadline. *read* converts the plain result
    to a value. A page that raises, times out or kills its process gets the value of *failed*.
    *advance* is called after each page.
    """

    async def on_page(pool: WorkerPool, page: LabelledPage) -> PageOutcome[T]:
        try:
            html = page.html()
            result = await pool.call(function, html, page=page.to_plain(), **plain)
            return PageOutcome(page, read(result))
        except (WorkerError, OSError, EOFError, zlib.error) as error:
            return PageOutcome(page, failed(page), error=str(error))
        finally:
            if advance:
                advance()

    # Not the package's models: those of other features are what training replaces.
    preload = (function.partition(":")[0],)
    return asyncio.run(_map(on_page, pages, workers, preload))


async def _map(
    on_page: Callable[[WorkerPool, LabelledPage], Any],
    pages: Sequence[LabelledPage],
    workers: int,
    preload: tuple[str, ...],
) -> list[Any]:
    limits = Limits(deadline=DEADLINE, memory=MEMORY_LIMIT)
    pool = WorkerPool(workers, limits, preload=preload)
    slots = asyncio.Semaphore(max(workers, 1))  # limits the pages whose bytes are in memory

    async def on_slot(page: LabelledPage) -> Any:
        async with slots:
            return await on_page(pool, page)

    try:
        return await asyncio.gather(*map(on_slot, pages))
    finally:
        await pool.close()
