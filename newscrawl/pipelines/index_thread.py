"""The index of near-duplicates, worked on in a thread of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from newscrawl.neardup import Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import ParamSpec, TypeVar

    from newscrawl.neardup import Options, Story, Verdict

    P = ParamSpec("P")
    T = TypeVar("T")

MOST_AT_ONCE = 50
"""Stories in one transaction: what a crash can make a crawl do again, and a close wait for."""


class IndexThread:
    """Adds stories to the index at *path* in the order in which :meth:`add` is called.

    Stories that come while others are being added go into one transaction together, so that a
    burst of articles does not wait for the disk article by article.
    """

    def __init__(self, path: str | None, options: Options) -> None:
        self._path = path
        self._options = options
        # SQLite wants the thread that opened the file, and one thread keeps the order.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neardup")
        self._index: Index | None = None
        self._waiting: list[tuple[Story, asyncio.Future[Verdict]]] = []
        #: done while nothing is being added
        self._last: asyncio.Future[None] | None = None

    async def open(self) -> None:
        """Open the index."""
        self._index = await self._run(Index, self._path, self._options)

    async def close(self) -> None:
        """Close the index, after what waits."""
        while self._last and not self._last.done():
            await self._last
        if self._index:
            await self._run(self._index.close)
        self._thread.shutdown(wait=False)

    async def add(self, story: Story) -> Verdict:
        """Return the verdict on *story*, which is then on disk. Raises what the index raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Verdict] = loop.create_future()
        self._waiting.append((story, future))
        if self._last is None or self._last.done():
            self._last = loop.create_future()
            self._start(loop)
        return await future

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the thread add what waits."""
        assert self._index is not None  # noqa: S101  # opened before the first item
        batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
        job = self._thread.submit(self._index.add_many, [story for story, _ in batch])
        futures = [future for _, future in batch]
        job.add_done_callback(lambda job: loop.call_soon_threadsafe(self._settle, job, futures))

    def _settle(self, job: Future[list[Verdict]], futures: list[asyncio.Future[Verdict]]) -> None:
        """Hand out the verdicts of *job*, and go on with what has come since."""
        error = job.exception()  # each story's own to handle
        for place, future in enumerate(futures):
            if future.done():  # cancelled
                continue
            if error:
                future.set_exception(error)
            else:
                future.set_result(job.result()[place])
        if self._waiting:
            self._start(asyncio.get_running_loop())
        elif self._last:
            self._last.set_result(None)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = asyncio.get_running_loop().run_in_executor
        return await call(self._thread, lambda: function(*args, **kwargs))
