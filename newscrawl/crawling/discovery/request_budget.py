"""``RequestBudget``: the requests of a site in progress, and how many more it may have."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.crawling.discovery.target import Budgets, RemainingArticles, Role, Target


class RequestBudget:
    """Requests of one site, within its *budgets* and the *remaining* articles of all sites."""

    def __init__(self, budgets: Budgets, remaining: RemainingArticles) -> None:
        self.limits = budgets
        self.remaining = remaining
        #: by ticket, the number of the request
        self.in_flight: dict[int, Target] = {}
        #: tickets of pages that have not left the item pipelines
        self.in_pipelines: set[int] = set()
        #: new article pages passed to the pipelines (without revisits)
        self.accepted = 0
        self.sources_in_flight = self._new_in_flight = 0
        self._tickets = count(1)
        self._number = 0
        self._by_role: Counter[Role] = Counter()

    @property
    def is_idle(self) -> bool:
        """True if nothing is in flight or in the pipelines."""
        return not (self.in_flight or self.in_pipelines)

    @property
    def is_full(self) -> bool:
        """True if no article may follow."""
        return self.accepted >= self.limits.articles or self.remaining.number <= 0

    @property
    def missing(self) -> int:
        """Number of articles below the limit, without those in flight."""
        of_site = self.limits.articles - self.accepted - self._new_in_flight
        return int(min(of_site, self.remaining.number))

    def is_spent(self, sent: int) -> bool:
        """Return whether no request may follow; *sent*: all requests of the site so far."""
        return max(self._number, sent) >= self.limits.requests

    def allows(self, role: Role) -> bool:
        """Return whether another discovered source of *role* may be requested."""
        return self._by_role[role] < self.limits.requests_for(role)

    def open(self, target: Target) -> int:
        """Add a request and return its ticket."""
        self._number += 1
        is_archive = target.role == "section" and target.timestamp is not None
        if not target.from_site_list and not is_archive:
            self._by_role[target.role] += 1
        ticket = next(self._tickets)
        self.in_flight[ticket] = target
        self._count(target, 1)
        self.remaining.number -= target.role == "article"
        return ticket

    def close(self, ticket: int, *, accepted: bool = False) -> Target | None:
        """Remove a request that is done and return its target; None if it was removed before.

        *accepted*: its page was passed to the pipelines.
        """
        target = self.in_flight.pop(ticket, None)
        if target is not None:
            self._count(target, -1)
            self.remaining.number += (target.role == "article") - accepted
        return target

    def _count(self, target: Target, change: int) -> None:
        self.sources_in_flight += change * (target.role != "article")
        self._new_in_flight += change * (not target.is_revisit)

    def restore(self, role: Role, outcome: str, *, is_listed: bool) -> None:
        """Count a request of the crawl before it was interrupted, with its *outcome*."""
        self._number += 1
        if role == "article":
            self.accepted += outcome.startswith(("article", "dropped"))
            self.remaining.number -= outcome == "article"
        elif not is_listed:
            self._by_role[role] += 1
