"""Run a function over labelled pages in worker processes."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from newscrawl.crawl.workers.pool import WorkerError, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from newscrawl.corpora.corpus import LabelledPage

DEADLINE = 60.0
"""Seconds after which a page has failed: three times a crawl's, so that a busy machine scores alike."""
MEMORY_LIMIT = 2048
"""MB that a page may take."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageOutcome(Generic[T]):
    """What became of a page: what was measured on it, and the error if it failed."""

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
    """Return the outcome of *function* (``package.module:name``) on each of *pages*, in order.

    It is called with the page's bytes, the page as JSON values and *plain*, in one of *workers*
    processes (with 0, in a thread, without deadline); *read* makes a value of what it returns.
    A page that raises, hangs, or kills its process is worth what *failed* returns. *advance*
    is called after each page.
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

    return asyncio.run(_map(on_page, pages, workers))


async def _map(
    on_page: Callable[[WorkerPool, LabelledPage], Any], pages: Sequence[LabelledPage], workers: int
) -> list[Any]:
    pool = WorkerPool(workers, deadline=DEADLINE, memory_limit=MEMORY_LIMIT)
    turn = asyncio.Semaphore(max(workers, 1))  # else the bytes of all pages wait in memory

    async def in_turn(page: LabelledPage) -> Any:
        async with turn:
            return await on_page(pool, page)

    try:
        return await asyncio.gather(*map(in_turn, pages))
    finally:
        await pool.close()
