"""Fetch targets of a site, their priority queue, and the budgets of the site."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush, nsmallest
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from newscrawl.crawl.discovery.urls import page_key
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from typing import Self

    from scrapy.settings import BaseSettings

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

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", page_key(self.url))

    def key_of(self, url: str) -> str:
        """Return the page key of *url*, the final URL of this target."""
        return self.key if url == self.url else page_key(url)

    @property
    def is_revisit(self) -> bool:
        """True if the article was emitted earlier."""
        return "hash" in self.history


class TargetQueue:
    """Priority queue of fetch targets, newest first; undated targets follow in insertion order."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Target]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, target: Target) -> None:
        """Add *target*."""
        age = float("inf") if target.timestamp is None else -target.timestamp
        heappush(self._heap, (age, next(self._order), target))

    def pop(self) -> Target:
        """Remove and return the newest target."""
        return heappop(self._heap)[2]

    def peek(self) -> Target:
        """Return the newest target."""
        return self._heap[0][2]

    def timestamp_at(self, rank: int) -> float | None:
        """Return the timestamp of the *rank*-th newest target; None if it is undated."""
        return nsmallest(rank, self._heap)[-1][2].timestamp


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
