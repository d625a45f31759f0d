"""Time that the tasks of a site may take."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS_PER_TASK: Final = 0.5
"""Seconds per task that do not count towards the budget of a site. Pages take 0.02 on average."""


class SiteBudget:
    """Time used by site, with a budget of *seconds* each; 0: no limit.

    :data:`SECONDS_PER_TASK` of each task do not count. *used* is the :attr:`used` of an earlier
    process.
    """

    def __init__(
        self, seconds: float = 0.0, used: Mapping[str, tuple[float, int]] | None = None
    ) -> None:
        self._budget = seconds
        #: seconds used, by site
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._tasks: Counter[str] = Counter()
        for site, (time, tasks) in (used or {}).items():
            self.seconds[site], self._tasks[site] = time, tasks

    @property
    def used(self) -> dict[str, tuple[float, int]]:
        """Seconds and tasks by site."""
        return {site: (seconds, self._tasks[site]) for site, seconds in self.seconds.items()}

    def add(self, site: str, seconds: float) -> None:
        """Add a task of *site*."""
        self._tasks[site] += 1
        self.seconds[site] += seconds

    def is_exceeded(self, site: str) -> bool:
        """Return whether *site* has used its time; "" stands for no site, which has no budget."""
        if not (self._budget and site):
            return False
        return self.seconds[site] > self._budget + SECONDS_PER_TASK * self._tasks[site]
