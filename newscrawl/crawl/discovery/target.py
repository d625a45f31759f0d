"""Fetch targets of a site, and its budgets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from newscrawl.crawl.discovery.urls import page_key

#: what a request is for
Role = Literal["robots", "sitemap", "feed", "section", "article"]


@dataclass(frozen=True, slots=True)
class Target:
    """A URL to fetch, and what for."""

    role: Role
    url: str
    #: links between the listed page and this one
    depth: int = 0
    #: order date, in seconds; None where unknown
    when: float | None = None
    #: named as an article by a feed or a news sitemap: its page need not prove it
    certain: bool = False
    #: named by the site list
    given: bool = False
    #: what discovery knows of the article
    hints: dict[str, str] = field(default_factory=dict)
    #: what is known of former fetches (see :mod:`newscrawl.crawl.history.crawl_state`), as plain values
    past: dict[str, Any] = field(default_factory=dict)
    #: page key of the URL; made where it is not given
    key: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", page_key(self.url))

    def key_of(self, url: str) -> str:
        """Return the page key of *url*, which is the target's own unless it was redirected."""
        return self.key if url == self.url else page_key(url)

    @property
    def is_revisit(self) -> bool:
        """True for an article that was put out before."""
        return "hash" in self.past


@dataclass(frozen=True, slots=True)
class KnownSource:
    """What is known of a source from former crawls."""

    #: whether it is time to ask it again
    due: bool
    #: as in :class:`Target`
    past: dict[str, Any]

    def is_due(self, changed: float | None) -> bool:
        """Return True where it is to be fetched; *changed*: when an index says it last changed."""
        fetched = self.past.get("fetched_at")
        return self.due or bool(changed and fetched and changed > fetched)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Bounds on what one site may cost."""

    #: article pages handed on
    articles: int
    #: requests of any kind
    requests: int
    #: sitemaps read besides the ones given; so with feeds and sections
    sitemaps: int
    #: feeds read
    feeds: int
    #: section pages read
    sections: int
    #: links between the listed page and a page whose links are used
    depth: int
    #: article pages in flight at a time
    window: int

    def of(self, role: Role) -> int:
        """Return how many requests of *role* a site may make."""
        bounds = {"sitemap": self.sitemaps, "feed": self.feeds, "section": self.sections}
        return bounds.get(role, self.requests)
