"""``SiteSources``: which sources of a site former crawls know, and which are due."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.crawling.discovery.target import KnownSource, Role, Target


class SiteSources:
    """Sources of one site: *known* ones of former crawls, by role and page key, and new ones."""

    def __init__(self, known: Mapping[tuple[Role, str], KnownSource]) -> None:
        self._known = known
        #: sources that no former crawl has found, to be stored
        self.new: list[Target] = []
        #: number of known sources that are not due, by role
        self.not_due: Counter[Role] = Counter()
        #: known sources that failed last and are not due
        self._failing: list[Target] = []

    def add(self, target: Target) -> tuple[Target, bool]:
        """Return *target* with its history, and whether it is due.

        A page of the site list that failed last is due in every crawl.
        """
        known = self._known.get((target.role, target.key))
        if known is None:
            self.new.append(target)
            return target, True
        target = replace(target, history=known.history)
        failed = bool(known.history.get("failures"))
        if known.is_due(target.timestamp) or (failed and target.is_start):
            return target, True
        self.not_due[target.role] += 1
        if failed:
            self._failing.append(target)
        return target, False

    def release_failing(self) -> list[Target]:
        """Return the sources that failed last: now that one answers again, all are due."""
        failing, self._failing = self._failing, []
        for source in failing:
            self.not_due[source.role] -= 1
        return failing
