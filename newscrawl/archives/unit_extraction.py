"""Extraction of a unit in a guarded worker process."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from newscrawl.archives.captures import MAX_FAILURES, Failure
from newscrawl.archives.unit_pages import RowFields
from newscrawl.items import Article
from newscrawl.pipeline_options import PAGE_TASK
from newscrawl.workers.fork_server import ForkServer, can_fork
from newscrawl.workers.process import Limits, SiteBudget, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from newscrawl.archives.sources import Unit
    from newscrawl.pipeline_options import PipelineOptions

UNIT_TASK: Final = "newscrawl.archives.unit_pages:extract_unit"

_PRELOAD: Final = ("newscrawl.workers.tasks:load_models", "newscrawl.archives.unit_pages")

# Of this process, and of those that it is a copy of.
_servers: Final[dict[int, ForkServer]] = {}


class UnreadableError(Exception):
    """The file of a unit could not be read."""


class UnitExtraction:
    """Extracts the pages of *unit*; calls *add* with each article.

    *limits* are those of pages, *domains* the registered domains to extract; empty: all.
    """

    def __init__(
        self,
        unit: Unit,
        options: PipelineOptions,
        limits: Limits,
        *,
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
            self._options.trim(article)
            self._add(article)


def unit_worker(deadline: float) -> WorkerProcess:
    """Return a worker for units, with the *deadline* of each page in seconds.

    The process of which it is a copy remains for other units, until :func:`close_server`.
    """
    if can_fork():
        _servers.setdefault(os.getpid(), ForkServer.shared(_PRELOAD))
    return WorkerProcess(Limits(deadline, memory=0, tasks=0), *_PRELOAD)


def close_server() -> None:
    """End the process of which the workers of this process are copies."""
    _servers.pop(os.getpid(), None)
