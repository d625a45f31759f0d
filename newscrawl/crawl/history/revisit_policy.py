"""When to fetch something again: pure functions of what came of the last fetches.

Feeds, sitemaps and section pages are asked sooner when they bring news, later when they do not,
within bounds, as StormCrawler's ``AdaptiveScheduler`` and Nutch's ``AdaptiveFetchSchedule`` do.
Articles are fetched once, and again only in the hours after their publication, at growing
intervals. What failed is tried again in the next crawl, then with growing delays, then given up.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Collection

HOUR: Final = 3600.0
SOONER: Final = 0.5
"""Factor of a source's interval when it brought news: it is caught up with in a few polls."""
LATER: Final = 1.5
"""Factor when it brought none: a quiet night does not put a feed to sleep."""
AGAIN: Final = 2.0
"""Factor of an article's interval when it had not changed, and of the delays after failures."""
EARLY: Final = 0.9
"""Share of an interval after which something is due: a timer never strikes to the second."""
ARTICLE_INTERVAL: Final = HOUR
"""Seconds from the first fetch of an article to the second."""
ROBOTS_INTERVAL: Final = 24 * HOUR
"""Seconds that a robots.txt is good for, at most (RFC 9309, section 2.4)."""
DEAD: Final = 7 * 24 * HOUR
"""Seconds, at most, until a source that keeps failing is tried again."""

#: failures of a page that no further try will heal
PERMANENT: Final = frozenset(
    {
        "not_article", "not_html", "binary", "too_large", "other_site", "duplicate", "scheme",
        "http_410", "http_451",
    }
)  # fmt: skip

#: what a page has in store for the output
Verdict = Literal["new", "updated", "unchanged", "known"]


@dataclass(frozen=True, slots=True)
class Policy:
    """Bounds in seconds, and how often a page that fails is tried."""

    #: between two polls of a source, whatever it brings
    shortest: float = HOUR / 4
    #: between two polls of a source that brings nothing
    longest: float = 12 * HOUR
    #: after its publication, in which an article is looked at again
    window: float = 24 * HOUR
    #: of a page, in as many crawls
    tries: int = 5

    def first(self, role: str) -> float:
        """Return the interval of a source that was never fetched."""
        return ROBOTS_INTERVAL if role == "robots" else self._bounded(2 * self.shortest)

    def after_poll(self, role: str, interval: float, *, new: int, listed: int) -> float:
        """Return the interval of a source whose *listed* entries had *new* ones among them.

        Where all were new, some may have come and gone unseen: then it is the shortest.
        """
        if role == "robots":
            return ROBOTS_INTERVAL
        if new and new >= listed:
            return self.shortest
        return self._bounded(interval * (SOONER if new else LATER))

    def after_source_failure(self, failures: int) -> float:
        """Return the delay after a source failed for the *failures*-th time in a row."""
        return min(DEAD, self.shortest * AGAIN ** min(failures, 30))

    def after_page(self, interval: float | None, age: float, *, changed: bool) -> float | None:
        """Return the interval of an article that was fetched *age* seconds after publication.

        *interval*: the one that ended with this fetch; None for the first. The result is None
        where the article is not looked at again: its next visit would be beyond the window.
        """
        longer = ARTICLE_INTERVAL if changed or interval is None else AGAIN * interval
        return longer if age + longer <= self.window else None

    def after_page_failure(self, failures: int, reason: str) -> float | None:
        """Return the delay after a page failed for the *failures*-th time; None gives it up.

        The next crawl tries again, whenever it comes.
        """
        if reason in PERMANENT or failures >= self.tries:
            return None
        return 0.0 if failures <= 1 else ARTICLE_INTERVAL * AGAIN ** (failures - 2)

    def _bounded(self, interval: float) -> float:
        return max(self.shortest, min(self.longest, interval))


def due_at(now: float, interval: float) -> float:
    """Return when something is due that was fetched at *now*."""
    return now + EARLY * interval


def body_hash(body: str) -> bytes:
    """Return 16 bytes that tell the text of an article from any other; white space is nothing."""
    return hashlib.blake2b(squeeze(body).encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Delivered:
    """An article that was put out before."""

    #: page key of the article
    key: str
    #: see :func:`body_hash`
    hash: bytes
    #: False where the two URLs only name the same canonical URL
    same_url: bool = True


def judge(key: str, text: bytes, before: Collection[Delivered]) -> Verdict:
    """Return what an article is to the output.

    *key* is its page key, *text* the hash of its body, *before* what was put out under any of
    its URLs. Another page that merely names the same canonical URL counts only with the same
    text: there are sites that name their front page in all articles.
    """
    for delivered in before:
        if delivered.key == key:
            return "unchanged" if delivered.hash == text else "updated"
    for delivered in before:
        if delivered.same_url or delivered.hash == text:
            return "known"
    return "new"
