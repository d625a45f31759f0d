"""The index of near-duplicates, worked on in a thread of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from newscrawl.neardup import Index

if TYPE_CHECKING:
    from collections.abc import Callable
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
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the index."""
        self._index = await self._run(Index, self._path, self._options)

    async def close(self) -> None:
        """Close the index, after what waits."""
        if self._task:
            await self._task
        if self._index:
            await self._run(self._index.close)
        self._thread.shutdown(wait=False)

    async def add(self, story: Story) -> Verdict:
        """Return the verdict on *story*, which is then on disk. Raises what the index raises."""
        future: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._waiting.append((story, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        assert self._index is not None  # noqa: S101  # opened before the first item
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            try:
                verdicts = await self._run(self._index.add_many, [story for story, _ in batch])
            except Exception as error:  # noqa: BLE001  # each story's own to handle
                for _, future in batch:
                    if not future.done():  # cancelled
                        future.set_exception(error)
            else:
                for (_, future), verdict in zip(batch, verdicts, strict=True):
                    if not future.done():
                        future.set_result(verdict)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = asyncio.get_running_loop().run_in_executor
        return await call(self._thread, lambda: function(*args, **kwargs))
