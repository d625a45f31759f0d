"""Which candidate of a site goes first: the newest."""

from __future__ import annotations

from heapq import heappop, heappush, nsmallest
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.crawl.discovery.target import Target


class Queue:
    """Targets, newest first; those without a date follow in the order they came."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Target]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, target: Target) -> None:
        """Add *target*."""
        age = float("inf") if target.when is None else -target.when
        heappush(self._heap, (age, next(self._order), target))

    def pop(self) -> Target:
        """Remove the newest target and return it."""
        return heappop(self._heap)[2]

    def first(self) -> Target:
        """Return the newest target, which stays."""
        return self._heap[0][2]

    def date_of(self, rank: int) -> float | None:
        """Return the order date of the *rank*-th newest target; None where it has none."""
        return nsmallest(rank, self._heap)[-1][2].when
