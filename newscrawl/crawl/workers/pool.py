"""Pool of worker processes for all parsing of downloaded bytes.

Each worker has its own pipes and is killed if a page hangs, crashes or exhausts the memory: such a
page costs one ``WorkerError`` and one process, and no other page is affected.

Pools of other packages share one queue between their workers. In pebble 5.2, a page that hangs in
C code blocks all workers until it is killed; loky has no deadline per task and fails all pending
tasks if a worker dies. ``multiprocessing`` imports the main script again in each worker.
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
    """A task failed.

    ``reason``, its name in the stats, is ``document`` (the input is not an HTML page), ``memory``
    or ``timeout`` (a limit was exceeded), ``crash`` (the process died) or ``error`` (the task raised
    another exception; the message starts with its type).
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class WorkerPool:
    """Runs tasks in *workers* processes, one task per process at a time.

    - *deadline*: seconds after which a task is aborted; 0: no deadline.
    - *memory_limit*: MB that tasks may add to a worker's address space (POSIX); 0: no limit.
    - *max_tasks*: tasks after which a process is replaced; 0: never.

    With *workers* = 0 tasks run in a thread of this process, one at a time, without deadline and
    memory limit. Calls wait for a free worker; Scrapy then pauses its downloads
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
        """Return the pool of *crawler*, which starts and stops with its spider.

        Raises ``NotConfigured`` if Scrapy runs without asyncio, ``ValueError`` for an invalid
        setting.
        """
        if crawler not in cls._pools:
            cls._pools[crawler] = cls._from_crawler(crawler)
        return cls._pools[crawler]

    @classmethod
    def _from_crawler(cls, crawler: Crawler) -> WorkerPool:
        if not is_asyncio_available():
            raise NotConfigured("newscrawl requires Scrapy's default asyncio reactor")
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
        """Start the processes in the background instead of with their first tasks."""
        for worker in self._workers:
            worker.start()

    async def call(self, function: str, data: bytes, **plain: Any) -> dict[str, Any]:
        """Return the result of *function* (``package.module:name``) for *data* and *plain*.

        *plain* and the result are JSON values. Raises :class:`WorkerError`. Cancelling a call kills
        the process that runs it.
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
        """Return a future of the answer to *job*; release *worker* when it is done.

        ``asyncio.wrap_future`` with a second callback would wake the event loop twice.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def finish() -> None:
            self._free.put_nowait(worker)
            if answer.done():  # cancelled
                return
            if error := job.exception():
                answer.set_exception(error)
            else:
                answer.set_result(job.result())

        job.add_done_callback(lambda _: loop.call_soon_threadsafe(finish))
        return answer

    async def close(self) -> None:
        """Terminate all processes; active tasks fail with the reason ``crash``."""
        await asyncio.gather(*(run_in_thread(worker.close) for worker in self._workers))


def _result(answer: Answer) -> dict[str, Any]:
    """Return the result in *answer*, or raise its failure."""
    if "result" in answer:
        result: dict[str, Any] = answer["result"]
        return result
    error = WorkerError(answer["message"], answer["reason"])
    if "traceback" in answer:
        error.add_note(answer["traceback"])
    raise error
