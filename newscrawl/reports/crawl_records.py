"""Records of crawls, read from a state file or from feeds."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newscrawl.crawling.reporting.crawl_recorder import RecordedArticle
from newscrawl.crawling.reporting.result import failed_reason
from newscrawl.crawling.site_stats import DroppedPage, reasons
from newscrawl.crawling.urls import site_key_or
from newscrawl.feeds.feed_rows import read_rows
from newscrawl.items import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.feeds.feed_rows import Row

CRAWL_GAP = 3600.0
"""Seconds between two articles of a feed from which they belong to different crawls."""
_COLUMNS = ("url", "title", "kind", "date", "fetched_at", "evidence", "body", "authors", "cluster")
# Pages that former crawls make unnecessary, and those that were not asked for.
_KNOWN = frozenset(
    {
        "dropped/known", "dropped/unchanged", "failed/duplicate", "dropped/too_old",
        "dropped/too_new", "dropped/language", "dropped/keyword",
    }
)  # fmt: skip
_NO_RESULTS = frozenset(
    {"discovered", "left_out", "not_due", "rendering", "skipped", "start_page", "undated"}
)
_SELECT_CRAWLS = "SELECT id, started, ended, reason, query, asked FROM crawl"
_SQLITE = b"SQLite format 3\0"


class ReportError(Exception):
    """The input has no record of a crawl; the message names it."""


@dataclass(slots=True)
class SiteRecord:
    """One site in one crawl."""

    articles: list[RecordedArticle] = field(default_factory=list)
    dropped: list[DroppedPage] = field(default_factory=list)
    #: counts of the stats, empty for a feed: ``discovered``, ``fetched``, ``failed/timeout``, ...
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def article_count(self) -> int:
        """Number of articles, recorded or not."""
        return self.counts["article"] or len(self.articles)

    def reasons(self, outcome: str) -> Counter[str]:
        """Return the counts by reason of an *outcome*: ``failed``, ``dropped``, ``skipped``."""
        return reasons(self.counts, outcome)

    @property
    def failures(self) -> Counter[str]:
        """Failed requests by reason; of sources only if no page of the site was fetched."""
        failed = self.reasons("failed")
        return failed + self.reasons("discovery_failed") if failed_reason(self.counts) else failed

    @property
    def losses(self) -> int:
        """Number of pages that failed or had no article; articles of earlier crawls are neither."""
        lost = self.reasons("failed").total() + self.reasons("dropped").total()
        return lost - sum(self.counts[name] for name in _KNOWN)

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
    #: reason why it ended, "" for a feed
    reason: str = ""
    #: number of its query, 0 for a feed
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


def read_crawls(paths: Sequence[str]) -> list[CrawlRecord]:
    """Return the crawls in a state file, or in feeds, in order of time.

    A crawl is a run of articles in one feed without a gap of an hour. Raises :class:`ReportError`,
    ``OSError``, and the errors of :func:`~newscrawl.feeds.feed_rows.read_rows`.
    """
    crawls = [
        crawl
        for path in paths
        for crawl in (_read_state(path) if is_state(path) else _read_feed(path))
    ]
    if not crawls:
        raise ReportError(f"{', '.join(paths)}: no crawl is recorded")
    return sorted(crawls, key=lambda crawl: crawl.ended)


def last_query(crawls: Sequence[CrawlRecord]) -> list[CrawlRecord]:
    """Return the crawls for the query of the last one."""
    return [crawl for crawl in crawls if crawl.query == crawls[-1].query]


def is_state(path: str) -> bool:
    """Return whether *path* is a state file, or another one of SQLite."""
    if Path(path).is_dir():
        return False
    with Path(path).open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


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
    for crawl, site, counts in connection.execute("SELECT * FROM crawl_site"):
        crawls[crawl].site(site).counts = Counter(json.loads(counts))
    for crawl, site, *values in connection.execute("SELECT * FROM crawl_article"):
        crawls[crawl].site(site).articles.append(RecordedArticle(*values))
    for crawl, *values in connection.execute("SELECT * FROM crawl_dropped"):
        page = DroppedPage(*values)
        crawls[crawl].site(page.site).dropped.append(page)
    # Without those of a clock that was ahead of today's.
    last = crawls[max(crawls)].ended if crawls else 0.0
    return [crawl for crawl in crawls.values() if crawl.ended <= last]


def _read_feed(path: str) -> Iterator[CrawlRecord]:
    rows = (row for row in read_rows(path, _COLUMNS) if row is not None)
    articles = [article for row in rows if (article := _article(row)) is not None]
    crawl = None
    for article in sorted(articles, key=lambda article: article.fetched_at or 0.0):
        when = article.fetched_at or 0.0
        if crawl is None or when - crawl.ended >= CRAWL_GAP:
            if crawl is not None:
                yield crawl
            crawl = CrawlRecord(when, when)
        crawl.ended = when
        crawl.site(site_key_or(article.url, "invalid")).articles.append(article)
    if crawl is not None:
        yield crawl


def _article(row: Row) -> RecordedArticle | None:
    """Return the article in a row of a feed, None if it has no URL."""
    if not isinstance(row.get("url"), str):
        return None
    fetched, body, authors = instant(row.get("fetched_at")), row.get("body"), row.get("authors")
    published = row.get("date")
    body_evidence, cluster = _part(row.get("evidence"), "body"), _part(row.get("cluster"), "id")
    confidence = _part(body_evidence, "confidence")
    title, kind = row.get("title"), row.get("kind")
    return RecordedArticle(
        row["url"],
        title if isinstance(title, str) else None,
        kind if isinstance(kind, str) else "article",
        str(published) if instant(published) else None,
        fetched.timestamp() if fetched else None,
        float(confidence) if isinstance(confidence, int | float) else None,
        len(body) if isinstance(body, str) else 0,
        len(authors) if isinstance(authors, list) else int(bool(authors)),
        cluster if isinstance(cluster, str) else None,
    )


def _part(value: Any, name: str) -> Any:
    """Return the entry *name* of a dict, which may be JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value.get(name) if isinstance(value, dict) else None


def as_time(seconds: float) -> datetime:
    """Return the time *seconds* after 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, None without values."""
    found = list(values)
    return sum(found) / len(found) if found else None
