"""Pool of worker processes that parse downloaded bytes.

Each worker has its own pipes and is killed if a page hangs, crashes or exhausts the memory: such a
page costs one ``WorkerError`` and one process, and no other page is affected.

Pools of other packages share one queue between their workers. In pebble 5.2, a page that hangs in
C code blocks all workers until it is killed; loky has no deadline per task and fails all pending
tasks if a worker dies. ``multiprocessing`` imports the main script again in each worker.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available, run_in_thread

from newscrawl.component import Component
from newscrawl.defaults import setting
from newscrawl.workers.child import STOPPED, WorkerError, result_of, run_task
from newscrawl.workers.process import TASKS_AT_ONCE, Limits, SiteBudget, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from newscrawl.workers.process import Answer

    Place = tuple[WorkerProcess | None, int]

T = TypeVar("T")
_FATAL: Final = frozenset({"crash", "memory", "timeout"})


class WorkerPool(Component):
    """Runs tasks in *workers* processes within *limits*, one task per process at a time.

    Each process has its next task at hand (:data:`~newscrawl.workers.process.TASKS_AT_ONCE`).

    *stats* receives the counts of the pool, *preload* are what a process loads before its first
    task, ``module`` or ``module:function``, by default the package's models.

    With *workers* = 0 tasks run in a thread of this process, one at a time, without deadline and
    memory limit. Calls wait for a free worker;
    :class:`~newscrawl.crawling.network.downloader.Downloader` then pauses the downloads.
    """

    def __init__(
        self,
        workers: int,
        limits: Limits = Limits(),  # noqa: B008  # frozen
        stats: StatsCollector | None = None,
        preload: tuple[str, ...] = (),
    ) -> None:
        self._workers = [WorkerProcess(limits, *preload) for _ in range(workers)]
        # Without processes, one task at a time runs in a thread.
        self._places: list[WorkerProcess | None] = [*self._workers] or [None]
        self._loads: Counter[WorkerProcess | None] = Counter()
        self._capacity = TASKS_AT_ONCE if workers else 1
        self._stats = stats
        self._budget = SiteBudget(limits.site_seconds)
        self._waiting: dict[str, deque[asyncio.Future[Place]]] = defaultdict(deque)
        self._running: Counter[str] = Counter()
        #: sites of tasks that ended their process: their tasks share none, and leave one to others
        self._suspects: set[str] = set()
        self._max_suspects = max(1, workers - 1)
        # Start-time fair queueing: seconds by site, and of the site that was served last.
        self._times: defaultdict[str, float] = defaultdict(float)
        self._now = 0.0
        #: is called when a waiting task gets a worker
        self.on_turn: Callable[[], object] | None = None
        self._stopped = False
        self._awaited: set[asyncio.Future[Any]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return a pool that starts and stops with the spider of *crawler*.

        Raises ``NotConfigured`` if Scrapy runs without asyncio, ``ValueError`` for an invalid
        setting.
        """
        if not is_asyncio_available():
            raise NotConfigured("newscrawl requires Scrapy's default asyncio reactor")
        workers = setting(crawler.settings, "NEWSCRAWL_WORKERS")
        pool = cls(workers, Limits.read(crawler.settings), crawler.stats)
        crawler.signals.connect(pool.start, signals.spider_opened)
        crawler.signals.connect(pool.close, signals.spider_closed)
        return pool

    @property
    def waiting_sites(self) -> int:
        """Number of sites whose tasks wait for a worker, without those that ended one."""
        return len(self._waiting.keys() - self._suspects)

    def start(self) -> None:
        """Start the processes in the background instead of with their first tasks."""
        for worker in self._workers:
            worker.start()

    async def call(
        self, function: str, data: bytes, *, site: str = "", **plain: Any
    ) -> dict[str, Any]:
        """Return the result of *function* (``package.module:name``) for *data* and *plain*.

        *plain* and the result are JSON values. The time of the task counts towards the budget of
        *site*; tasks without one have no budget. Raises :class:`WorkerError`. Cancelling a call
        kills the process that runs it.
        """
        if self._stopped:
            raise WorkerError("the crawl was stopped", STOPPED)
        try:
            return await self._call(function, data, site, plain)
        except asyncio.CancelledError:
            if self._stopped:
                raise WorkerError("the crawl was stopped", STOPPED) from None
            raise

    def stop(self) -> None:
        """Give up all tasks, and those of later calls, with the reason ``stopped``."""
        self._stopped = True
        for future in self._awaited:
            future.cancel()

    async def _call(
        self, function: str, data: bytes, site: str, plain: dict[str, Any]
    ) -> dict[str, Any]:
        worker, load = await self._worker_for(site)
        seconds = None
        try:
            if self._budget.is_exceeded(site):
                raise WorkerError(f"{site} has used its worker time", "budget")
            start = time.monotonic()
            try:
                answer = await self._answer(worker, function, data, plain)
            finally:
                seconds = time.monotonic() - start
            # A process that was killed cannot tell its CPU time.
            seconds = answer.get("seconds", seconds)
            if answer.get("reason") in _FATAL:
                self._suspects.add(site)
            return result_of(answer)
        finally:
            self._release(worker, load, site, seconds)

    async def _result(self, future: asyncio.Future[T]) -> T:
        """Wait for *future*, which :meth:`stop` cancels."""
        self._awaited.add(future)
        try:
            return await future
        finally:
            self._awaited.discard(future)

    async def _answer(
        self, worker: WorkerProcess | None, function: str, data: bytes, plain: dict[str, Any]
    ) -> Answer:
        if worker is None:
            return await self._result(
                asyncio.ensure_future(run_in_thread(run_task, function, data, plain))
            )
        answer = worker.submit(function, data, plain)
        try:
            return await self._result(asyncio.wrap_future(answer))
        except asyncio.CancelledError:
            worker.kill(answer)
            raise

    async def _worker_for(self, site: str) -> Place:
        """Wait for the turn of *site*; return its worker (None: the thread) and its load."""
        turn: asyncio.Future[Place] = asyncio.get_running_loop().create_future()
        if site not in self._waiting and not self._running[site]:  # an idle site saves no time
            self._times[site] = max(self._times[site], self._now)
        self._waiting[site].append(turn)
        self._assign()
        try:
            return await self._result(turn)
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had got a worker
                self._release(*turn.result(), site, None)
            raise

    def _assign(self) -> None:
        """Give the least busy workers to the sites with the fewest tasks and the least time."""
        while self._waiting:
            worker = min(self._places, key=self._loads.__getitem__)
            room = self._capacity - self._loads[worker]
            suspects_room = sum(map(self._running.__getitem__, self._suspects)) < self._max_suspects
            fitting = [
                site
                for site in self._waiting
                if self._load(site) <= room and (suspects_room or site not in self._suspects)
            ]
            if not fitting:
                return
            site = min(fitting, key=lambda site: (self._running[site], self._times[site]))
            self._now = max(self._now, self._times[site])
            turn = self._waiting[site].popleft()
            if not self._waiting[site]:
                del self._waiting[site]
            if not turn.cancelled():
                self._running[site] += 1
                self._loads[worker] += self._load(site)
                turn.set_result((worker, self._load(site)))
                if self.on_turn:
                    self.on_turn()

    def _load(self, site: str) -> int:
        """Return the places in a worker that a task takes: all, if it may end or block it."""
        return self._capacity if site in self._suspects else 1

    def _release(
        self, worker: WorkerProcess | None, load: int, site: str, seconds: float | None
    ) -> None:
        """End a task of *site* that took *worker* *seconds*; None if it did not run."""
        self._running[site] -= 1
        self._loads[worker] -= load
        if seconds is not None:
            self._budget.add(site, seconds)
            self._times[site] += seconds
        self._assign()

    async def close(self) -> None:
        """Terminate all processes; active tasks fail with the reason ``crash``."""
        if self._stats:
            self._stats.set_value("newscrawl/worker/seconds", sum(self._budget.seconds.values()))
            longest = max(self._budget.seconds.values(), default=0.0)
            self._stats.set_value("newscrawl/worker/max_site_seconds", longest)
        await asyncio.gather(*(run_in_thread(worker.close) for worker in self._workers))
