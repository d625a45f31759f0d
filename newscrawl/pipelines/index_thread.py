"""Near-duplicate index in a thread."""

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
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the index."""
        self._index = await self._run(Index, self._path, self._options)

    async def close(self) -> None:
        """Add all pending stories and close the index."""
        if self._task:
            await self._task
        if self._index:
            await self._run(self._index.close)
        self._thread.shutdown(wait=False)

    async def add(self, story: Story) -> Verdict:
        """Commit *story* and return its verdict. Raises the exceptions of the index."""
        future: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._pending.append((story, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._add_pending())
        return await future

    async def _add_pending(self) -> None:
        assert self._index is not None  # noqa: S101  # opened before the first item
        while self._pending:
            batch, self._pending = self._pending[:MAX_BATCH], self._pending[MAX_BATCH:]
            futures = [future for _, future in batch]
            try:
                verdicts = await self._run(self._index.add_many, [story for story, _ in batch])
            except Exception as error:  # noqa: BLE001  # for the callers of add()
                for future in futures:
                    if not future.done():  # cancelled
                        future.set_exception(error)
            else:
                for future, verdict in zip(futures, verdicts, strict=True):
                    if not future.done():
                        future.set_result(verdict)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = asyncio.get_running_loop().run_in_executor
        return await call(self._thread, lambda: function(*args, **kwargs))
