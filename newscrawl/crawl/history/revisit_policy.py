"""Revisit policy: pure functions from the results of previous fetches to the time of the next.

The polling interval of feeds, sitemaps and section pages shrinks when they list new articles and
grows when they do not, within limits, as in StormCrawler's ``AdaptiveScheduler`` and Nutch's
``AdaptiveFetchSchedule``. Articles are fetched once, and again at growing intervals in the hours
after publication. Failed pages are retried in the next crawl, then with back-off, then given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Collection

HOUR: Final = 3600.0
NEWS_FACTOR: Final = 0.5
"""Factor of a source's interval after a poll with new entries."""
NO_NEWS_FACTOR: Final = 1.5
"""Factor of a source's interval after a poll without new entries."""
BACKOFF_FACTOR: Final = 2.0
"""Factor of the delay after failures, and of the interval of an unchanged article."""
DUE_RATIO: Final = 0.9
"""Share of an interval after which a fetch is due, since scheduled crawls may start early."""
ARTICLE_INTERVAL: Final = HOUR
"""Seconds from the first fetch of an article to the second."""
ROBOTS_INTERVAL: Final = 24 * HOUR
"""Maximum age of robots.txt in seconds (RFC 9309, section 2.4)."""
MAX_SOURCE_DELAY: Final = 7 * 24 * HOUR
"""Maximum delay in seconds after failures of a source."""

#: failures of a page that are not retried
PERMANENT_FAILURES: Final = frozenset(
    {
        "not_article", "not_html", "binary", "too_large", "other_site", "duplicate", "scheme",
        "http_410", "http_451", "redirected_home",
    }
)  # fmt: skip

#: status of an article compared to the articles emitted before
ArticleStatus = Literal["new", "updated", "unchanged", "known", "soft_404", "shrunk"]


@dataclass(frozen=True, slots=True)
class RevisitPolicy:
    """Limits of intervals, in seconds, and of retries."""

    #: minimum interval between two polls of a source
    min_interval: float = HOUR / 4
    #: maximum interval between two polls of a source
    max_interval: float = 12 * HOUR
    #: time after publication in which an article is fetched again
    update_window: float = 24 * HOUR
    #: maximum number of crawls that try to fetch a page
    max_tries: int = 5

    def first_interval(self, role: str) -> float:
        """Return the interval of a source after its first fetch."""
        return ROBOTS_INTERVAL if role == "robots" else self._clamp(2 * self.min_interval)

    def after_poll(self, role: str, interval: float, *, new: int, listed: int) -> float:
        """Return the next interval of a source that listed *listed* entries, *new* of them new.

        The minimum if all were new, since more entries may have been missed.
        """
        if role == "robots":
            return ROBOTS_INTERVAL
        if new and new >= listed:
            return self.min_interval
        return self._clamp(interval * (NEWS_FACTOR if new else NO_NEWS_FACTOR))

    def after_source_failure(self, failures: int) -> float:
        """Return the delay after the *failures*-th consecutive failure of a source."""
        return min(MAX_SOURCE_DELAY, self.min_interval * BACKOFF_FACTOR ** min(failures, 30))

    def after_page(self, interval: float | None, age: float, *, changed: bool) -> float | None:
        """Return the next interval of an article fetched *age* seconds after publication.

        *interval*: the previous one, None after the first fetch. Returns None if the next visit
        would be outside of the update window.
        """
        following = ARTICLE_INTERVAL if changed or interval is None else BACKOFF_FACTOR * interval
        return following if age + following <= self.update_window else None

    def after_page_failure(self, failures: int, reason: str) -> float | None:
        """Return the delay after the *failures*-th failure of a page; None if it is given up.

        The first retry is in the next crawl.
        """
        if reason in PERMANENT_FAILURES or failures >= self.max_tries:
            return None
        return 0.0 if failures <= 1 else ARTICLE_INTERVAL * BACKOFF_FACTOR ** (failures - 2)

    @property
    def max_delays(self) -> tuple[float, float, float, float]:
        """Maximum delays of pages, failed sources, robots.txt and other sources."""
        last_retry = ARTICLE_INTERVAL * BACKOFF_FACTOR ** max(0, self.max_tries - 2)
        page = max(self.update_window, last_retry)
        return page, MAX_SOURCE_DELAY, ROBOTS_INTERVAL, max(self.max_interval, self.min_interval)

    def _clamp(self, interval: float) -> float:
        return max(self.min_interval, min(self.max_interval, interval))


def due_at(now: float, interval: float) -> float:
    """Return the time of the next fetch after a fetch at *now*."""
    return now + DUE_RATIO * interval


@dataclass(frozen=True, slots=True)
class EmittedArticle:
    """An article that was emitted before."""

    #: page key of the article
    key: str
    #: :func:`body_hash` of its text
    hash: bytes
    #: False if the pages only have the same canonical URL
    same_url: bool = True


def article_status(key: str, digest: bytes, emitted: Collection[EmittedArticle]) -> ArticleStatus:
    """Return the status of an article with the page key *key* and the body hash *digest*.

    *emitted*: the articles emitted under any of its URLs. One that only has the same canonical URL
    must also have the same text: some sites declare their home page as canonical URL everywhere.
    """
    for article in emitted:
        if article.key == key:
            return "unchanged" if article.hash == digest else "updated"
    if any(article.same_url or article.hash == digest for article in emitted):
        return "known"
    return "new"
