"""Order in which the tasks of several sites get a worker."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Waiting tasks by site: the site that has used the least time comes next.

    Start-time fair queueing (Goyal, Vin and Cheng 1996, with the seconds of a task as its length): a
    site that was idle does not save up time. *budget*: seconds per site, beyond
    :data:`SECONDS_PER_TASK` for each task; 0: no limit.
    """

    def __init__(self, budget: float = 0.0) -> None:
        self._budget = budget
        self._waiting: dict[str, deque[T]] = defaultdict(deque)
        self._running: Counter[str] = Counter()
        # Virtual time of each site, and of the site served last.
        self._times: dict[str, float] = {}
        self._now = 0.0

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def push(self, site: str, task: T) -> None:
        """Add a waiting *task*."""
        if site not in self._waiting and not self._running[site]:
            self._times[site] = max(self._times.get(site, 0.0), self._now)
        self._waiting[site].append(task)

    def pop(self) -> tuple[str, T] | None:
        """Remove and return the next task with its site, which is now running."""
        if not self._waiting:
            return None
        site = min(self._waiting, key=lambda site: (self._running[site], self._times[site]))
        task = self._waiting[site].popleft()
        if not self._waiting[site]:
            del self._waiting[site]
        self._now = max(self._now, self._times[site])
        self._running[site] += 1
        return site, task

    def finish(self, site: str, seconds: float | None) -> None:
        """Record that a task of *site* has ended after *seconds*; None if it has not begun."""
        self._running[site] -= 1
        if seconds is not None:
            self._times[site] += seconds
