"""Worker processes for everything that reads downloaded bytes.

``WorkerPool.call`` names a pure function, gives it a page's bytes and plain arguments, and
returns the plain dict that it returns. A page that hangs, crashes or eats memory costs one
``WorkerError`` and one process; no other page notices.

Why not a ready-made pool: pebble and loky were measured for this. In both the workers share
one queue, so they share its locks and its fate. With pebble 5.2 a page that hangs in libxml2
(300,000 attributes in one tag) held *all* workers for 3 s, since the pool keeps the channel
locked while it waits for SIGTERM, which C code never sees; a worker that the kernel kills
while idle, or that runs out of memory while it receives a page, breaks the whole pool. loky
has no deadline for a task, and fails every pending task with the worker that dies. Here each
worker has pipes of its own and is killed outright, so there is nothing to share.

Why not ``multiprocessing``: its spawn method imports the main script again in each worker,
which starts a second crawl in a script without ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available, run_in_thread

from newscrawl.crawl.workers.child import run_task
from newscrawl.crawl.workers.process import Limits, WorkerProcess
from newscrawl.defaults import DEFAULTS, setting

if TYPE_CHECKING:
    from concurrent.futures import Future

    from scrapy.crawler import Crawler

    from newscrawl.crawl.workers.process import Answer


class WorkerError(Exception):
    """A task failed; ``reason`` names the kind of failure as the stats do."""

    reason: ClassVar[str] = "error"


class WorkerTaskError(WorkerError):
    """The function raised an exception; the message names its type."""


class WorkerDocumentError(WorkerError):
    """The bytes are no document: the function raised ``DocumentError``."""

    reason = "document"


class WorkerMemoryError(WorkerError):
    """The task needed more memory than a worker may have."""

    reason = "memory"


class WorkerTimeoutError(WorkerError):
    """The task outlasted its deadline, and its worker was killed."""

    reason = "timeout"


class WorkerCrashError(WorkerError):
    """The worker died under the task."""

    reason = "crash"


_FAILURES: dict[str, type[WorkerError]] = {
    error.reason: error
    for error in (
        WorkerTaskError,
        WorkerDocumentError,
        WorkerMemoryError,
        WorkerTimeoutError,
        WorkerCrashError,
    )
}


class WorkerPool:
    """Runs named functions over bytes, one task at a time in each of *workers* processes.

    *deadline*: seconds from the moment a worker is given a task until it is killed; 0: none.
    *memory_limit*: MB that tasks may add to a worker's address space (POSIX); 0: no limit.
    *max_tasks*: tasks after which a process is replaced, against slow leaks; 0: never.
    With *workers* = 0 tasks run in a thread of this process, one at a time, with no deadline
    and no memory limit.

    A call waits for a free worker, so that tasks in flight never outnumber the workers. In a
    crawl the page waits with it, and Scrapy pauses its downloads
    (``SCRAPER_SLOT_MAX_ACTIVE_SIZE``).
    """

    _pools: ClassVar[WeakKeyDictionary[Crawler, WorkerPool]] = WeakKeyDictionary()

    def __init__(
        self,
        workers: int = DEFAULTS["NEWSCRAWL_WORKERS"],
        *,
        deadline: float = DEFAULTS["NEWSCRAWL_DEADLINE"],
        memory_limit: int = DEFAULTS["NEWSCRAWL_MEMORY_LIMIT"],
        max_tasks: int = DEFAULTS["NEWSCRAWL_WORKER_TASKS"],
    ) -> None:
        limits = Limits(deadline=deadline, memory=memory_limit, tasks=max_tasks)
        self._workers = [WorkerProcess(limits) for _ in range(workers)]
        self._free: asyncio.Queue[WorkerProcess] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)
        self._thread = asyncio.Lock()

    @classmethod
    def for_crawler(cls, crawler: Crawler) -> WorkerPool:
        """Return the one pool of *crawler*: started with its spider, closed after its pipelines.

        Raises ``NotConfigured`` where Scrapy runs without asyncio, ``ValueError`` for a setting
        that is no number.
        """
        if crawler not in cls._pools:
            cls._pools[crawler] = cls._from_crawler(crawler)
        return cls._pools[crawler]

    @classmethod
    def _from_crawler(cls, crawler: Crawler) -> WorkerPool:
        if not is_asyncio_available():
            raise NotConfigured("newscrawl needs Scrapy's asyncio reactor, the default")
        pool = cls(
            setting(crawler.settings, "NEWSCRAWL_WORKERS"),
            deadline=setting(crawler.settings, "NEWSCRAWL_DEADLINE"),
            memory_limit=setting(crawler.settings, "NEWSCRAWL_MEMORY_LIMIT"),
            max_tasks=setting(crawler.settings, "NEWSCRAWL_WORKER_TASKS"),
        )
        crawler.signals.connect(pool.start, signals.spider_opened)
        crawler.signals.connect(pool.close, signals.spider_closed)
        return pool

    def start(self) -> None:
        """Start the processes in the background; without this each starts with its first task."""
        for worker in self._workers:
            worker.start()

    async def call(self, function: str, data: bytes, **plain: Any) -> dict[str, Any]:
        """Return what *function* (``package.module:name``) returns for *data* and *plain*.

        *plain* and the result are JSON values. Raises :class:`WorkerError`. Cancelling a call
        ends the process that is at its task.
        """
        if not self._workers:
            async with self._thread:
                return _result(await run_in_thread(run_task, function, data, plain))
        worker = await self._free.get()
        job = worker.submit(function, data, plain)
        answer = self._answer(job, worker)
        try:
            return _result(await answer)
        except asyncio.CancelledError:
            job.cancel()
            worker.kill()
            raise

    def _answer(self, job: Future[Answer], worker: WorkerProcess) -> asyncio.Future[Answer]:
        """Return the answer of *job*; when it comes, *worker* is free again.

        ``asyncio.wrap_future`` and a callback for the worker would wake the event loop twice.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def settle() -> None:
            self._free.put_nowait(worker)
            if answer.done():  # cancelled
                return
            if error := job.exception():
                answer.set_exception(error)
            else:
                answer.set_result(job.result())

        job.add_done_callback(lambda _: loop.call_soon_threadsafe(settle))
        return answer

    async def close(self) -> None:
        """End all processes; a task under way fails as a crash."""
        await asyncio.gather(*(run_in_thread(worker.close) for worker in self._workers))


def _result(answer: Answer) -> dict[str, Any]:
    """Return the result in a worker's *answer*, or raise its failure."""
    if "result" in answer:
        result: dict[str, Any] = answer["result"]
        return result
    error = _FAILURES[answer["reason"]](answer["message"])
    if "traceback" in answer:
        error.add_note(answer["traceback"])
    raise error
