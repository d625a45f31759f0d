"""Extension that records each crawl in its state file, for ``newscrawl report``."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy import signals
from scrapy.exceptions import NotConfigured

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.crawl_store import CrawlStore, query_of, state_tables
from newscrawl.crawling.site_stats import SiteCounts, dropped_pages, site_counts
from newscrawl.crawling.urls import site_key_or
from newscrawl.defaults import setting
from newscrawl.items import Article

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from newscrawl.crawling.site_stats import DroppedPage

SCHEMA: Final = state_tables("""
CREATE TABLE IF NOT EXISTS crawl (
    id INTEGER PRIMARY KEY, started REAL NOT NULL, ended REAL NOT NULL, reason TEXT NOT NULL,
    query INTEGER NOT NULL, asked TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS crawl_site (
    crawl INTEGER NOT NULL, site TEXT NOT NULL, counts TEXT NOT NULL, articles TEXT NOT NULL,
    dropped TEXT NOT NULL, PRIMARY KEY (crawl, site)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alarm (
    id INTEGER PRIMARY KEY, query INTEGER NOT NULL, site TEXT NOT NULL, measure TEXT NOT NULL,
    message TEXT NOT NULL, since REAL NOT NULL, closed REAL, sent REAL
);
""")
"""Times are seconds since 1970. *query*: what the crawl was asked for
(:mod:`newscrawl.crawling.history.queries`), 0 of other spiders; *asked*: the same as JSON, without
the defaults. The columns of ``crawl_site`` are JSON: an object, and lists of the values of
:class:`RecordedArticle` and of :class:`~newscrawl.crawling.site_stats.DroppedPage`. Alarms are
those of ``newscrawl report``; *sent*: the last time that it has reported one."""

RECORD_SECONDS: Final = 9 * 86400.0
"""Age up to which crawls and closed alarms are kept: a week before the last day, and a day."""
MIN_CRAWLS: Final = 10
"""Crawls that are kept at any age, the last ones."""
MAX_SITE_ARTICLES: Final = 200
"""Articles of a host that are recorded in a crawl, the first ones."""

_DELETE_OLD: Final = f"""
DELETE FROM crawl WHERE ended < ? AND id <= (SELECT max(id) FROM crawl) - {MIN_CRAWLS}
"""  # noqa: S608
_DELETE_SITES: Final = "DELETE FROM crawl_site WHERE crawl < (SELECT min(id) FROM crawl)"
_DELETE_ALARMS: Final = "DELETE FROM alarm WHERE closed < ?"
# Sites of which nothing was due: the last crawl has all sites.
_DELETE_IDLE: Final = """
DELETE FROM crawl_site WHERE counts = '{}' AND crawl < (SELECT max(id) FROM crawl)
"""
_INSERT_CRAWL: Final = "INSERT INTO crawl VALUES (NULL, ?, ?, ?, ?, ?)"
# Of the crawl inserted in the same transaction.
_INSERT_SITE: Final = "INSERT INTO crawl_site VALUES ((SELECT max(id) FROM crawl), ?, ?, ?, ?)"


class RecordedArticle(NamedTuple):
    """An emitted article, without its site."""

    url: str
    title: str | None
    kind: str
    #: ISO 8601
    published: str | None
    #: seconds since 1970
    fetched_at: float | None
    #: of the body
    confidence: float | None
    #: characters of the body
    length: int
    #: number of authors
    authors: int
    cluster: str | None

    @classmethod
    def of(cls, article: Article) -> RecordedArticle:
        """Return what is recorded of *article*."""
        body = article.evidence.get("body")
        return cls(
            article.url or "",
            # Reports cannot have lone surrogates.
            article.title and article.title.encode("utf-8", "replace").decode(),
            article.kind,
            article.date.isoformat() if article.date else None,
            article.fetched_at.timestamp() if article.fetched_at else None,
            body.confidence if body else None,
            len(article.body),
            len(article.authors),
            (article.cluster or {}).get("id"),
        )


class CrawlRecorder(Component):
    """Records the counts, latencies and articles of each site in ``NEWSCRAWL_STATE``.

    Disabled for a state in memory. Articles are those of ``NEWSCRAWL_OUTPUT = "article"``.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_STATE"):
            raise NotConfigured
        self._crawler = crawler
        self._started = clock.steady()
        self._articles: dict[str, list[RecordedArticle]] = defaultdict(list)
        crawler.signals.connect(self.add_item, signals.item_scraped)
        crawler.signals.connect(self.close, signals.spider_closed)

    def add_item(self, item: Any, response: Response | Failure | None) -> None:
        """Record *item* if it is an article."""
        if isinstance(item, Article) and "deleted" not in item.flags:
            # The site of the list, also if it has moved to another domain.
            request = getattr(response, "request", None)
            meta = request.meta if request else {}
            site = meta.get("newscrawl_site") or site_key_or(item.url or "", "invalid")
            articles = self._articles[site]
            if len(articles) < MAX_SITE_ARTICLES:
                articles.append(RecordedArticle.of(item))

    def close(self, reason: str) -> None:
        """Write the record."""
        stats = self._crawler.stats.get_stats()
        counts = site_counts(stats)
        dropped: defaultdict[str, list[DroppedPage]] = defaultdict(list)
        for page in dropped_pages(stats):
            dropped[page.site].append(page)
        ended = clock.now().timestamp()
        started = ended - (clock.steady() - self._started).total_seconds()
        store = CrawlStore.for_crawler(self._crawler)
        store.write(_INSERT_CRAWL, [(started, ended, reason, *query_of(self._crawler.spider))])
        for site in sorted({*counts, *self._articles, *dropped}):
            found = counts.get(site, SiteCounts())
            lists = {} if found.is_idle else found, self._articles[site], dropped[site]
            store.write(_INSERT_SITE, [(site, *map(json.dumps, lists))])
        for statement in (_DELETE_OLD, _DELETE_ALARMS):
            store.write(statement, [(ended - RECORD_SECONDS,)])
        store.write(_DELETE_SITES)
        store.write(_DELETE_IDLE)
