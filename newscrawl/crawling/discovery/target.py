"""Fetch targets of a site, their priority queue, and the budgets of their requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush, nsmallest
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from newscrawl.crawling.urls import page_key
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from typing import Self

    from scrapy.settings import BaseSettings

    from newscrawl.crawling.discovery.period import Period

#: purpose of a request
Role = Literal["robots", "sitemap", "feed", "section", "article"]


@dataclass(frozen=True, slots=True)
class Target:
    """A URL to fetch."""

    role: Role
    url: str
    #: number of links from the listed page to this one
    depth: int = 0
    #: publication or modification time in seconds, for ordering; None if unknown
    timestamp: float | None = None
    #: listed by a feed or a news sitemap: the page is not classified before extraction
    certain: bool = False
    #: named by the site list
    from_site_list: bool = False
    #: title, date and language of the article according to its listing
    hints: dict[str, str] = field(default_factory=dict)
    #: state of previous fetches (``PageRow.history``), as plain values
    history: dict[str, Any] = field(default_factory=dict)
    #: read in a former crawl, so that it is no answer of the site
    is_remembered: bool = False
    #: page key of the URL, computed unless it is given
    key: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", page_key(self.url))

    @property
    def is_start(self) -> bool:
        """True for a source that the site list names, which robots.txt is not."""
        return self.from_site_list and self.role != "robots"

    @property
    def is_revisit(self) -> bool:
        """True if the article was emitted earlier."""
        return "hash" in self.history


class TargetQueue:
    """Priority queue of fetch targets, in the order of the *period*; the first added one first."""

    def __init__(self, period: Period) -> None:
        self._period = period
        self._heap: list[tuple[float, int, Target]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, target: Target) -> None:
        """Add *target*."""
        rank = self._period.rank(target.timestamp)
        heappush(self._heap, (rank, next(self._order), target))

    def pop(self) -> Target:
        """Remove and return the first target."""
        return heappop(self._heap)[2]

    def peek(self) -> Target:
        """Return the first target."""
        return self._heap[0][2]

    def rank_at(self, place: int) -> float:
        """Return the rank of the target at this *place*, counted from 1."""
        return nsmallest(place, self._heap)[-1][0]


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source that previous crawls found."""

    #: its polling interval has passed
    due: bool
    #: as in :class:`Target`
    history: dict[str, Any]

    def is_due(self, changed: float | None) -> bool:
        """Return True if it should be fetched; *changed*: last modification listed in an index."""
        fetched = self.history.get("fetched_at")
        return self.due or bool(changed and fetched and changed > fetched)


@dataclass(slots=True)
class RemainingArticles:
    """Articles that a crawl may still emit; pages in progress are counted as articles."""

    number: float = float("inf")


@dataclass(frozen=True, slots=True)
class Budgets:
    """Limits of one site; sources of the site list are not counted."""

    #: article pages
    articles: int
    #: requests of any role
    requests: int
    #: discovered sitemaps, newest first: archives have hundreds
    sitemaps: int = 20
    #: discovered feeds: the main feed and those of some sections
    feeds: int = 10
    #: discovered section pages, read if feeds and sitemaps list too few articles
    sections: int = 20
    #: links from the listed page to a page whose links are followed: 2 reaches subsections
    depth: int = 2
    #: article requests in flight at the same time
    max_in_flight: int = 2

    @classmethod
    def from_settings(cls, settings: BaseSettings, limit: int | None) -> Self:
        """Return the budgets of *settings*; *limit* overrides ``NEWSCRAWL_SITE_LIMIT``."""
        return cls(
            articles=limit or setting(settings, "NEWSCRAWL_SITE_LIMIT"),
            requests=setting(settings, "NEWSCRAWL_SITE_REQUESTS"),
            max_in_flight=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") + 1,
        )


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
        limits, requests = self.limits, self.limits.requests
        by_role = {"sitemap": limits.sitemaps, "feed": limits.feeds, "section": limits.sections}
        return self._by_role[role] < by_role.get(role, requests)

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
