"""Records of crawls, read from a state file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.crawling.reporting.crawl_recorder import RecordedArticle
from newscrawl.crawling.site_stats import DroppedPage, SiteCounts

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

# Pages that former crawls make unnecessary, and those that were not asked for.
_KNOWN = frozenset(
    {
        "dropped/known", "dropped/unchanged", "failed/duplicate", "dropped/too_old",
        "dropped/too_new", "dropped/language", "dropped/keyword",
    }
)  # fmt: skip
_NO_RESULTS = frozenset(
    {
        "discovered", "left_out", "not_due", "rendering", "rule", "skipped", "stale_rule",
        "start_page", "undated",
    }
)  # fmt: skip
_SELECT_CRAWLS = "SELECT id, started, ended, reason, query, asked FROM crawl"


class ReportError(Exception):
    """The input has no record of a crawl; the message names it."""


@dataclass(slots=True)
class SiteRecord:
    """One site in one crawl."""

    articles: list[RecordedArticle] = field(default_factory=list)
    dropped: list[DroppedPage] = field(default_factory=list)
    #: counts of the stats: ``discovered``, ``fetched``, ``failed/timeout``, ...
    counts: SiteCounts = field(default_factory=SiteCounts)

    @property
    def article_count(self) -> int:
        """Number of articles, recorded or not."""
        return self.counts["article"] or len(self.articles)

    @property
    def failures(self) -> Counter[str]:
        """Failed requests by reason; of sources only if no page of the site was fetched."""
        failed = self.counts.reasons("failed")
        return failed + self.counts.reasons("discovery_failed") if self.counts.failure else failed

    @property
    def losses(self) -> int:
        """Number of pages that failed or had no article; articles of earlier crawls are neither."""
        lost = self.counts.reasons("failed") + self.counts.reasons("dropped")
        return lost.total() - sum(self.counts[name] for name in _KNOWN)

    @property
    def pages(self) -> int:
        """Number of pages that gave an article or should have."""
        return self.article_count + self.losses

    @property
    def results(self) -> set[str]:
        """Names of the counts of requests: ``fetched``, ``failed/timeout``, ...; ``article``."""
        found = {name for name in self.counts if name.partition("/")[0] not in _NO_RESULTS}
        return found | ({"article"} if self.articles else set())


@dataclass(slots=True)
class CrawlRecord:
    """One crawl. Times are seconds since 1970."""

    started: float
    ended: float
    #: reason why it ended
    reason: str = ""
    #: number of its query
    query: int = 0
    #: the settings of the query that are not the defaults: ``until``, ``keywords``, ...
    asked: dict[str, Any] = field(default_factory=dict)
    sites: dict[str, SiteRecord] = field(default_factory=dict)

    @property
    def is_idle(self) -> bool:
        """Whether it found nothing new, and nothing failed."""
        return not any(site.pages or site.failures for site in self.sites.values())

    def site(self, name: str) -> SiteRecord:
        """Return the record of a site, which is added if it is missing."""
        return self.sites.setdefault(name, SiteRecord())


def read_crawls(path: str) -> list[CrawlRecord]:
    """Return the crawls in the state file *path*, in order of time.

    Raises :class:`ReportError`.
    """
    crawls = _read_state(path)
    if not crawls:
        raise ReportError(f"{path}: no crawl is recorded")
    return sorted(crawls, key=lambda crawl: crawl.ended)


def last_query(crawls: Sequence[CrawlRecord]) -> list[CrawlRecord]:
    """Return the crawls for the query of the last one."""
    return [crawl for crawl in crawls if crawl.query == crawls[-1].query]


def _read_state(path: str) -> list[CrawlRecord]:
    uri = f"{Path(path).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=5)) as connection:
            return _select(connection)
    except (TypeError, KeyError, ValueError) as error:
        reason = "its records are of another version of newscrawl, or damaged"
        raise ReportError(f"{path}: {reason}; delete the file to start a new one") from error
    except sqlite3.DatabaseError as error:
        reason = str(error)
        if "no such table" in reason:
            reason = "no crawl is recorded"
        elif "locked" in reason:
            reason = "in use by another process"
        raise ReportError(f"{path}: {reason}") from error


def _select(connection: sqlite3.Connection) -> list[CrawlRecord]:
    crawls = {
        number: CrawlRecord(started, ended, reason, query, json.loads(asked))
        for number, started, ended, reason, query, asked in connection.execute(_SELECT_CRAWLS)
    }
    for crawl, site, *columns in connection.execute("SELECT * FROM crawl_site"):
        counts, articles, dropped = map(json.loads, columns)
        crawls[crawl].sites[site] = SiteRecord(
            [RecordedArticle(*values) for values in articles],
            [DroppedPage(*values) for values in dropped],
            SiteCounts(counts),
        )
    # Without those of a clock that was ahead of today's.
    last = crawls[max(crawls)].ended if crawls else 0.0
    return [crawl for crawl in crawls.values() if crawl.ended <= last]


def as_time(seconds: float) -> datetime:
    """Return the time *seconds* after 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, None without values."""
    found = list(values)
    return sum(found) / len(found) if found else None
