"""Extension that records each crawl in its state file, for ``newscrawl report``."""

from __future__ import annotations

import json
from collections import defaultdict
from statistics import quantiles
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy import signals
from scrapy.exceptions import NotConfigured

from newscrawl import clock
from newscrawl.crawl.discovery.urls import registered_domain, site_key_or
from newscrawl.crawl.frontier.crawl_store import CrawlStore, state_tables
from newscrawl.crawl.reporting.outcomes import dropped_pages, site_counts
from newscrawl.defaults import setting
from newscrawl.items import Article

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

SCHEMA: Final = state_tables("""
CREATE TABLE IF NOT EXISTS crawl (
    id INTEGER PRIMARY KEY, started REAL NOT NULL, ended REAL NOT NULL, reason TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS crawl_site (
    crawl INTEGER NOT NULL,
    site TEXT NOT NULL,
    counts TEXT NOT NULL,
    median_latency REAL,
    slow_latency REAL,
    PRIMARY KEY (crawl, site)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS crawl_article (
    crawl INTEGER NOT NULL,
    site TEXT NOT NULL,
    url TEXT NOT NULL,
    title TEXT,
    kind TEXT NOT NULL,
    published TEXT,
    fetched_at REAL,
    confidence REAL,
    length INTEGER NOT NULL,
    authors INTEGER NOT NULL,
    cluster TEXT
);
CREATE INDEX IF NOT EXISTS crawl_article_crawl ON crawl_article (crawl);
CREATE TABLE IF NOT EXISTS crawl_dropped (
    crawl INTEGER NOT NULL, site TEXT NOT NULL, kind TEXT NOT NULL, confidence REAL NOT NULL,
    url TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS crawl_dropped_crawl ON crawl_dropped (crawl);
""")
"""Times are seconds since 1970, latencies seconds; *slow_latency*: 9 of 10 requests took less."""

MAX_CRAWLS: Final = 100
"""Crawls that are kept, the last ones."""
MAX_SITE_ARTICLES: Final = 200
"""Articles of a host that are recorded in a crawl, the first ones."""
MAX_LATENCIES: Final = 1000
"""Requests of a host whose latency is recorded in a crawl, the first ones."""

_DELETE_OLD: Final = tuple(
    f"DELETE FROM {table} WHERE {column} <= (SELECT max(id) FROM crawl) - ?"  # noqa: S608
    for table, column in (
        ("crawl_site", "crawl"), ("crawl_article", "crawl"), ("crawl_dropped", "crawl"),
        ("crawl", "id"),
    )
)  # fmt: skip
# The crawl inserted in the same transaction.
_LAST: Final = "(SELECT max(id) FROM crawl)"
_INSERT_CRAWL: Final = "INSERT INTO crawl (started, ended, reason) VALUES (?, ?, ?)"
_INSERT_SITE: Final = f"INSERT INTO crawl_site VALUES ({_LAST}, ?, ?, ?, ?)"  # noqa: S608
_INSERT_ARTICLE: Final = f"""
INSERT INTO crawl_article VALUES ({_LAST}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""  # noqa: S608
_INSERT_DROPPED: Final = f"INSERT INTO crawl_dropped VALUES ({_LAST}, ?, ?, ?, ?)"  # noqa: S608


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
            _storable(article.title),
            article.kind,
            article.date.isoformat() if article.date else None,
            article.fetched_at.timestamp() if article.fetched_at else None,
            body.confidence if body else None,
            len(article.body),
            len(article.authors),
            (article.cluster or {}).get("id"),
        )


class CrawlRecorder:
    """Records the counts, latencies and articles of each site in ``NEWSCRAWL_STATE``.

    Disabled for a state in memory. Articles are those of ``NEWSCRAWL_OUTPUT = "article"``.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_STATE"):
            raise NotConfigured
        self._crawler = crawler
        self._started = clock.now().timestamp()
        self._articles: dict[str, list[RecordedArticle]] = defaultdict(list)
        self._latencies: dict[str, list[float]] = defaultdict(list)
        crawler.signals.connect(self.open, signals.spider_opened)
        crawler.signals.connect(self.add_item, signals.item_scraped)
        crawler.signals.connect(self.add_response, signals.response_received)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; raises ``NotConfigured`` for a state in memory."""
        return cls(crawler)

    async def open(self) -> None:
        """Create the tables."""
        await CrawlStore.for_crawler(self._crawler).open(SCHEMA)

    def add_item(self, item: Any) -> None:
        """Record *item* if it is an article."""
        if isinstance(item, Article):
            articles = self._articles[site_key_or(item.url or "", "invalid")]
            if len(articles) < MAX_SITE_ARTICLES:
                articles.append(RecordedArticle.of(item))

    def add_response(self, response: Response, request: Request) -> None:
        """Record the latency of *request*."""
        latencies = self._latencies[site_key_or(response.url, "invalid")]
        latency = request.meta.get("download_latency")
        if latency is not None and len(latencies) < MAX_LATENCIES:
            latencies.append(latency)

    def close(self, reason: str) -> None:
        """Write the record."""
        stats = self._crawler.stats.get_stats()
        counts = site_counts(stats)
        site_of = _Sites(counts)
        latencies: dict[str, list[float]] = defaultdict(list)
        for host, found in self._latencies.items():
            latencies[site_of(host)] += found
        articles = [
            (site_of(host), *article) for host, found in self._articles.items() for article in found
        ]
        ended = clock.now().timestamp()
        store = CrawlStore.for_crawler(self._crawler)
        store.write(_INSERT_CRAWL, [(self._started, ended, reason)])
        sites = sorted({*counts, *(site for site, *_ in articles)})
        store.write(
            _INSERT_SITE,
            [
                (site, json.dumps(counts.get(site, {})), *_latency(latencies[site]))
                for site in sites
            ],
        )
        store.write(_INSERT_ARTICLE, articles)
        store.write(_INSERT_DROPPED, dropped_pages(stats))
        for statement in _DELETE_OLD:
            store.write(statement, [(MAX_CRAWLS,)])


class _Sites:
    """Finds the site of a host: the site itself, or one of the same registered domain."""

    def __init__(self, sites: Iterable[str]) -> None:
        self._sites = frozenset(sites)
        self._by_domain = {registered_domain(site): site for site in sorted(self._sites)}

    def __call__(self, host: str) -> str:
        return host if host in self._sites else self._by_domain.get(registered_domain(host), host)


def _latency(seconds: list[float]) -> tuple[float | None, float | None]:
    """Return the median and the ninth decile."""
    if not seconds:
        return None, None
    deciles = quantiles(seconds, n=10, method="inclusive") if len(seconds) > 1 else seconds * 9
    return deciles[4], deciles[8]


def _storable(text: str | None) -> str | None:
    """Return *text* without lone surrogates, which SQLite cannot store."""
    return text and text.encode("utf-8", "replace").decode()
