"""Extraction of a unit in a guarded worker process, which then waits for the next one.

A new process would have to load its modules and models again.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from dataclasses import asdict
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Final

from newscrawl.archives.captures import MAX_FAILURES, Failure
from newscrawl.archives.unit_pages import RowFields
from newscrawl.items import Article
from newscrawl.pipeline_options import PAGE_TASK
from newscrawl.workers.process import Limits, SiteBudget, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from newscrawl.archives.sources import Unit
    from newscrawl.pipeline_options import PipelineOptions

UNIT_TASK: Final = "newscrawl.archives.unit_pages:extract_unit"

IDLE_SECONDS: Final = 60.0
"""Seconds after which an idle process ends: the job may be over."""

_PRELOAD: Final = ("newscrawl.workers.tasks:load_models", "newscrawl.archives.unit_pages")

_lock: Final = Lock()
_idle: Final[defaultdict[tuple[int, float], list[tuple[WorkerProcess, Timer]]]] = defaultdict(list)


class UnreadableError(Exception):
    """The file of a unit could not be read."""


class UnitExtraction:
    """Extracts the pages of *unit*; calls *add* with each article.

    *limits* are those of pages; *domains* and *url_gate* of
    :func:`~newscrawl.archives.unit_pages.left_out`.
    """

    def __init__(
        self,
        unit: Unit,
        options: PipelineOptions,
        limits: Limits,
        *,
        url_gate: bool = False,
        domains: frozenset[str] = frozenset(),
        add: Callable[[Article], object],
    ) -> None:
        self._unit = unit
        #: argument *first* of the unit and *skip*, with which a new process would continue
        self._position: tuple[int | None, int] = unit.first, 0
        self._options = options
        self._add = add
        self._budget = SiteBudget(limits.site_seconds)
        self._arguments = {
            "fields": RowFields.of(options),
            "url_gate": url_gate,
            "domains": sorted(domains),
            "task": PAGE_TASK,
            "options": options.task_arguments,
            "memory_limit": limits.memory,
            "max_pages": limits.tasks,
            "site_seconds": limits.site_seconds,
        }
        #: the page in work (its part of the stream) and the time of its start
        self._page: dict[str, Any] | None = None
        self._since = 0.0
        #: offset of the first record that was read; None if none starts in the unit
        self.first: int | None = None
        #: offset of the first record after the unit
        self.next: int | None = None
        #: ``record``, ``article``, ``failed`` and reasons for pages that were left out
        self.counts: Counter[str] = Counter()
        self.failures: list[Failure] = []

    def run(self, worker: WorkerProcess) -> None:
        """Extract all pages in *worker*; raise :class:`UnreadableError`.

        A page that ends the process is a failure, and a new process continues after it.
        """
        while True:
            first, skip = self._position
            plain = {
                "unit": {**asdict(self._unit), "first": first},
                "skip": skip,
                "used": self._budget.used,
                **self._arguments,
            }
            answer = worker.submit(UNIT_TASK, b"", plain, self._take).result()
            if "result" in answer:
                self._count(answer["result"])
                if answer["result"]["finished"]:
                    return
                worker.kill()
            elif self._page is None:
                raise UnreadableError(answer["message"])
            else:
                answer["seconds"] = time.monotonic() - self._since
                self._finish(self._page, answer)

    def _take(self, part: dict[str, Any]) -> None:
        if self._page is None:
            self._page, self._since = part, time.monotonic()
            self._count(part)
        else:
            self._finish(self._page, part)

    def _count(self, progress: dict[str, Any]) -> None:
        self.counts.update(progress["counts"])
        room = MAX_FAILURES - len(self.failures)
        self.failures += [Failure(*failure) for failure in progress["failures"][:room]]
        if self.first is None:
            self.first = progress["first"]
        self.next = progress["next"]

    def _finish(self, page: dict[str, Any], answer: dict[str, Any]) -> None:
        """Add the result of *page*, after which a new process would continue."""
        self._page = None
        self._position = page["position"]
        if "seconds" in answer:
            self._budget.add(page["site"], answer["seconds"])
        if "reason" in answer:
            self.counts["failed"] += 1
            if len(self.failures) < MAX_FAILURES:
                failure = Failure.of(page["url"], answer["reason"], answer["message"])
                self.failures.append(failure)
            return
        article = Article.from_dict(answer["result"])
        dropped = self._options.drop_reason(article)
        self.counts[dropped or "article"] += 1
        if not dropped:
            self._add(article)


def take_worker(deadline: float) -> WorkerProcess:
    """Return an idle worker with this *deadline* (seconds), or a new one."""
    with _lock:
        workers = _idle[_key(deadline)]
        worker, timer = workers.pop() if workers else (None, None)
    if worker is None or timer is None:
        return WorkerProcess(Limits(deadline, memory=0, tasks=0), *_PRELOAD)
    timer.cancel()
    return worker


def keep_worker(worker: WorkerProcess, deadline: float) -> None:
    """Keep *worker*, which has no task, for :func:`take_worker`."""
    key = _key(deadline)

    def expire() -> None:
        with _lock:
            if (worker, timer) not in _idle[key]:
                return  # taken in the meantime
            _idle[key].remove((worker, timer))
        worker.close()

    timer = Timer(IDLE_SECONDS, expire)
    timer.daemon = True
    with _lock:
        _idle[key].append((worker, timer))
    timer.start()


def close_idle_workers() -> None:
    """Close the idle workers of this process."""
    with _lock:
        closed = [entry for key in _idle if key[0] == os.getpid() for entry in _idle[key]]
        _idle.clear()
    for worker, timer in closed:
        timer.cancel()
        worker.close()


def _key(deadline: float) -> tuple[int, float]:
    # A forked process has none of the threads of its parent's workers.
    return os.getpid(), deadline
