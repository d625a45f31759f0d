"""Near-duplicate index in a thread."""

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

MAX_BATCH = 50
"""Stories in a transaction. A crash loses one transaction, and closing waits for one."""


class IndexThread:
    """Adds stories to the index at *path* in the order of the calls of :meth:`add`.

    Stories that arrive during a transaction share the next one, so that a burst of articles does
    not wait for one fsync per article.
    """

    def __init__(self, path: str | None, options: Options) -> None:
        self._path = path
        self._options = options
        # One thread, since SQLite connections are bound to their thread.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="neardup")
        self._index: Index | None = None
        self._pending: list[tuple[Story, asyncio.Future[Verdict]]] = []
        #: done when no stories are pending
        self._idle: asyncio.Future[None] | None = None

    async def open(self) -> None:
        """Open the index."""
        self._index = await self._run(Index, self._path, self._options)

    async def close(self) -> None:
        """Add all pending stories and close the index."""
        while self._idle and not self._idle.done():
            await self._idle
        if self._index:
            await self._run(self._index.close)
        self._thread.shutdown(wait=False)

    async def add(self, story: Story) -> Verdict:
        """Commit *story* and return its verdict. Raises the exceptions of the index."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Verdict] = loop.create_future()
        self._pending.append((story, future))
        if self._idle is None or self._idle.done():
            self._idle = loop.create_future()
            self._start_batch(loop)
        return await future

    def _start_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Add the next batch of pending stories in the thread."""
        assert self._index is not None  # noqa: S101  # opened before the first item
        batch, self._pending = self._pending[:MAX_BATCH], self._pending[MAX_BATCH:]
        job = self._thread.submit(self._index.add_many, [story for story, _ in batch])
        futures = [future for _, future in batch]
        job.add_done_callback(lambda job: loop.call_soon_threadsafe(self._finish, job, futures))

    def _finish(self, job: Future[list[Verdict]], futures: list[asyncio.Future[Verdict]]) -> None:
        """Set the results of *futures* and start the next batch."""
        error = job.exception()
        for number, future in enumerate(futures):
            if future.done():  # cancelled
                continue
            if error:
                future.set_exception(error)
            else:
                future.set_result(job.result()[number])
        if self._pending:
            self._start_batch(asyncio.get_running_loop())
        elif self._idle:
            self._idle.set_result(None)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = asyncio.get_running_loop().run_in_executor
        return await call(self._thread, lambda: function(*args, **kwargs))
