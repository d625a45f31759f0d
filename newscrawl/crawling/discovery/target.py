"""Fetch targets of a site, their priority queue, and the budgets of the site."""

from __future__ import annotations

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
    #: page key of the URL, computed unless it is given
    key: str = ""
    #: tracking parameters that tell pages of the site apart
    kept: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", page_key(self.url, self.kept))

    def key_of(self, url: str) -> str:
        """Return the page key of *url*, the final URL of this target."""
        return self.key if url == self.url else page_key(url, self.kept)

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
    """Limits of one site."""

    #: article pages
    articles: int
    #: requests of any role
    requests: int
    #: discovered sitemaps (those of the site list are not counted)
    sitemaps: int
    #: discovered feeds, likewise
    feeds: int
    #: discovered section pages, likewise
    sections: int
    #: links from the listed page to a page whose links are followed
    depth: int
    #: article requests in flight at the same time
    max_in_flight: int

    @classmethod
    def from_settings(cls, settings: BaseSettings, limit: int | None) -> Self:
        """Return the budgets of *settings*; *limit* overrides ``NEWSCRAWL_SITE_LIMIT``."""
        return cls(
            articles=limit or setting(settings, "NEWSCRAWL_SITE_LIMIT"),
            requests=setting(settings, "NEWSCRAWL_SITE_REQUESTS"),
            sitemaps=setting(settings, "NEWSCRAWL_SITE_SITEMAPS"),
            feeds=setting(settings, "NEWSCRAWL_SITE_FEEDS"),
            sections=setting(settings, "NEWSCRAWL_SITE_SECTIONS"),
            depth=setting(settings, "NEWSCRAWL_LINK_DEPTH"),
            max_in_flight=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") + 1,
        )

    def requests_for(self, role: Role) -> int:
        """Return the maximum number of requests of *role*."""
        limits = {"sitemap": self.sitemaps, "feed": self.feeds, "section": self.sections}
        return limits.get(role, self.requests)
