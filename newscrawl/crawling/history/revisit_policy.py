"""Revisit policy: pure functions from the results of previous fetches to the time of the next.

A source is polled when the articles that it is expected to have listed have waited long enough
together: at intervals in proportion to the root of the time between two articles, as minimises the
mean delay for a number of polls. The visits of articles follow the changes of their site
(:mod:`newscrawl.crawling.history.change_rates`). Failed pages are retried in the next crawl, then
with back-off, then given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import TYPE_CHECKING, Final, Literal

from newscrawl.crawling.history.change_rates import HOUR

if TYPE_CHECKING:
    from collections.abc import Collection

    from newscrawl.crawling.history.change_rates import ChangeRates

WAITING_TIME: Final = HOUR / 4
"""Expected time that new articles have waited together, in seconds, that makes a poll due."""
DAY: Final = 24 * HOUR
RATE_MEMORY: Final = 12 * HOUR
"""Time in seconds after which the observations of a source count for a third."""
LONG_PAUSE: Final = 1.5 * DAY
"""Time in seconds between two polls after which the entries of a source do not tell its rate."""
MIN_RATE_MEMORY: Final = 3 * HOUR
"""The same for a new source, whose first rate is an estimate."""
MIN_CREDIT: Final = 1
REDUNDANT_CREDIT: Final = 0.1
"""Credit of the first poll of a page whose first entry another source has listed before."""
REDUNDANT_ARTICLES: Final = 8
"""Articles that others have listed before which reduce a rate to a third, without new ones."""
REDUNDANT_RATE: Final = 2 * WAITING_TIME / (HOUR * 6) ** 2
"""Rate below which they do not reduce that of a listed page; of other pages: a quarter."""
ACTIVE_CREDIT: Final = 12
"""Minimum credit of the first poll of a source, and of one with new articles."""
RETIRED_RATE: Final = 1e-14 / HOUR
"""Rate below which a source is retired: after more than two weeks without an article."""
BACKOFF_FACTOR: Final = 2.0
"""Factor of the delay after failures."""
DUE_RATIO: Final = 0.9
"""Share of an interval after which a fetch is due, since scheduled crawls may start early."""
ARTICLE_INTERVAL: Final = HOUR
"""Minimum time in seconds between two visits of an article that changes, and two retries."""
ROBOTS_INTERVAL: Final = 24 * HOUR
"""Maximum age of robots.txt in seconds (RFC 9309, section 2.4)."""
MAX_SOURCE_DELAY: Final = 7 * 24 * HOUR
"""Maximum delay in seconds after failures of a source, and interval of a retired one."""
LATE_VISIT: Final = 1.25
"""Factor of the update window until which the visit at its end may be late."""

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
    #: maximum number of visits in it to an article that does not change
    revisits: int = 3
    #: maximum number of crawls that try to fetch a page
    max_tries: int = 5

    def source_rate(
        self,
        rate: float | None,
        credit: float,
        *,
        elapsed: float,
        known: float,
        shared: int = 0,
        is_start: bool = True,
    ) -> float:
        """Return the articles per second of a source after a poll that found *credit* of them.

        *rate*: the one before, None at the first poll; *elapsed*, *known*: seconds since the last
        poll and since the first; *shared*: new articles of a poll without others that another
        source has listed before; *is_start*: named by the site list. A long pause, or one by a
        wrong clock, does not reduce the rate.
        """
        if rate is None or not elapsed:
            return rate or credit / DAY
        if elapsed > LONG_PAUSE:
            return max(rate, credit / elapsed)
        keep = exp(-elapsed / max(MIN_RATE_MEMORY, min(RATE_MEMORY, known)))
        rate = keep * rate + (1 - keep) * credit / elapsed
        least = REDUNDANT_RATE if is_start else REDUNDANT_RATE / 4
        return max(rate * exp(-shared / REDUNDANT_ARTICLES), min(rate, least))

    def first_credit(self, new: int, recent: int | None, *, is_start: bool) -> float:
        """Return the articles a day of a source that was read for the first time.

        *new*: number of entries that no other source lists; *recent*: number of entries of the last
        day, if they are dated; *is_start*: named by the site list, thus no page of old articles.
        """
        credit = recent or (new if is_start else 0)
        return max(credit, ACTIVE_CREDIT if credit else MIN_CREDIT)

    def after_poll(
        self,
        role: str,
        rate: float,
        *,
        turnover: float = inf,
        wait: float = 0.0,
        is_start: bool = True,
    ) -> float:
        """Return the interval to the next poll of a source with *rate*.

        *turnover*: seconds in which all its entries are replaced by new ones; *wait*: seconds for
        which the site asks not to poll again; *is_start*: named by the site list, thus not retired.
        """
        if role == "robots":
            return ROBOTS_INTERVAL
        interval = sqrt(2 * WAITING_TIME / rate) if rate else inf
        limit = self.max_interval if rate >= RETIRED_RATE or is_start else MAX_SOURCE_DELAY
        interval = max(min(interval, limit), min(wait, self.max_interval))
        return max(self.min_interval, min(interval, turnover / 2))

    def after_source_failure(self, failures: int, *, never_read: bool = False) -> float:
        """Return the delay after the *failures*-th consecutive failure of a source.

        *never_read*: it is unlikely to exist.
        """
        first = DAY * 3 if never_read else BACKOFF_FACTOR * self.min_interval
        return min(MAX_SOURCE_DELAY, first * BACKOFF_FACTOR ** min(failures - 1, 30))

    def after_page(
        self, rates: ChangeRates, age: float, last: float | None = None, *, sampled: bool = False
    ) -> float | None:
        """Return the delay after a visit to an article *age* seconds after its publication.

        *last*: age at the visit before, if the article has changed since then; *sampled*: visit it
        at the end of the update window even if the site's articles do not change. Returns None if
        the article is not visited again.
        """
        window = self.update_window
        following = rates.next_visit(age, window, visits=self.revisits, sampled=sampled)
        if last is not None and following is not None:
            following = min(following, age + max(ARTICLE_INTERVAL, (age - last) / 2))
        if following is None:
            return None
        # The last visit is no earlier than the end of the window.
        return following - age if following >= window else DUE_RATIO * (following - age)

    def after_page_failure(self, failures: int, reason: str) -> float | None:
        """Return the delay after the *failures*-th failure of a page; None if it is given up.

        The first retry is in the next crawl.
        """
        if reason in PERMANENT_FAILURES or failures >= self.max_tries:
            return None
        return 0.0 if failures <= 1 else ARTICLE_INTERVAL * BACKOFF_FACTOR ** (failures - 2)


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
