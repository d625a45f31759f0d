"""``CrawlState``: what a crawl knows from the crawls before it, in the file of its store.

A listing's new pages are written together with its validators, so that a listing that answers
"not modified" hides nothing. An article's row is written in the transaction that puts the article
out, so that "seen" and "delivered" never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakKeyDictionary

from scrapy import signals

from newscrawl import clock
from newscrawl.crawl.frontier.frontier_store import CrawlStore
from newscrawl.crawl.frontier.leases import LeaseBook
from newscrawl.crawl.history import schema as tables
from newscrawl.crawl.history.page_history import PageHistory
from newscrawl.crawl.history.revisit_policy import HOUR, Policy
from newscrawl.crawl.history.source_history import SourceHistory
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawl.discovery.site_frontier import SiteFrontier
    from newscrawl.crawl.discovery.target import Target
    from newscrawl.crawl.history.page_history import Sifted
    from newscrawl.crawl.history.source_history import Remembered

DAY: Final = 24 * HOUR
NEXT_DUE: Final = "newscrawl/state/next_due"
"""Stat: when the first of the sources is due again that the crawl met (ISO 8601)."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What former crawls know of a site."""

    sources: Remembered
    #: pages that are due, in the form of :class:`~newscrawl.crawl.discovery.feed_entries.Entries`
    pages: list[dict[str, Any]]


class CrawlState:
    """The memory of a crawl: its :class:`PageHistory` and :class:`SourceHistory`."""

    _states: ClassVar[WeakKeyDictionary[Crawler, CrawlState]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        policy = Policy(
            shortest=setting(settings, "NEWSCRAWL_POLL_MIN") * HOUR,
            longest=setting(settings, "NEWSCRAWL_POLL_MAX") * HOUR,
            window=setting(settings, "NEWSCRAWL_UPDATE_WINDOW") * HOUR,
            tries=setting(settings, "NEWSCRAWL_PAGE_TRIES"),
        )
        asks = setting(settings, "NEWSCRAWL_ONLY_NEW")
        self._store = CrawlStore.for_crawler(crawler)
        self.pages = PageHistory(self._store, LeaseBook.for_crawler(crawler), policy, asks=asks)
        self.sources = SourceHistory(self._store, LeaseBook.for_crawler(crawler), policy, asks=asks)
        self._max_age = setting(settings, "NEWSCRAWL_MAX_AGE") * DAY
        self._keep = setting(settings, "NEWSCRAWL_STATE_DAYS") * DAY
        self._stats = crawler.stats

    @classmethod
    def for_crawler(cls, crawler: Crawler) -> CrawlState:
        """Return the one state of *crawler*; raises as ``CrawlStore.for_crawler`` does."""
        if crawler not in cls._states:
            state = cls._states[crawler] = cls(crawler)
            crawler.signals.connect(state.pages.item_error, signals.item_error)
            crawler.signals.connect(state.pages.item_done, signals.item_scraped)
            crawler.signals.connect(state.pages.item_done, signals.item_dropped)
            crawler.signals.connect(state.close, signals.spider_closed)
        return cls._states[crawler]

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlState | None:
        """Return the state of *crawler*, if anything of it has asked for one."""
        return cls._states.get(crawler)

    async def open(self) -> None:
        """Make the tables, and forget what no site has named for long."""
        await self._store.open(tables.SCHEMA)
        if self._keep:
            before = clock.now().timestamp() - self._keep
            for sql, dated in tables.FORGET:
                self._store.write(sql, [(before,) if dated else ()])

    async def recall(self, site: str, *, limit: int) -> Memory:
        """Return what former crawls know of *site*.

        *limit*: entries of a listing that this crawl reads, and pages of a kind that it begins with.
        """
        since = clock.now().timestamp() - self._max_age if self._max_age else float("-inf")
        sources = await self.sources.recall(site, limit=limit)
        sections = [{"key": row.key} for row in sources.rows if row.role == "section"]
        left = {entry["key"] for entry in await self.pages.not_articles(sections)}
        sources.rows = [row for row in sources.rows if row.role != "section" or row.key in left]
        return Memory(sources, await self.pages.recall(site, since=since, limit=limit))

    def listed(
        self,
        frontier: SiteFrontier,
        target: Target,
        response: Response,
        sifted: Sifted,
        *,
        depth: int = 0,
        certain: bool = False,
        cut: int = 0,
    ) -> None:
        """Write down what was found on *target*: pages, sources, and that it was read.

        The file has the latter with the end of the request, behind all others. *cut*: the limit,
        where it left entries out. A *target* that was to be an article is none.
        """
        site = frontier.site.key
        self.pages.write_listed(site, sifted, depth=depth, certain=certain)
        self.sources.write_found(frontier)
        if target.role == "article":
            self.pages.failed(target, response.request, "not_article")
            return
        listed = len(sifted.due) + len(sifted.known)
        self.sources.read(site, target, response, new=len(sifted.fresh), listed=listed, cut=cut)

    def unchanged(self, frontier: SiteFrontier, target: Target, response: Response) -> None:
        """Write down that *target* has not changed since it was fetched."""
        self.sources.write_found(frontier)
        if target.role == "article":
            self.pages.unchanged(target, response)
        else:
            self.sources.unchanged(frontier.site.key, target, response)

    def failed(
        self, frontier: SiteFrontier, target: Target, request: Request | None, reason: str
    ) -> None:
        """Write down that *target* could not be had, or not be read."""
        self.sources.write_found(frontier)
        if target.role == "article":
            self.pages.failed(target, request, reason)
        else:
            self.sources.failed(frontier.site.key, target, request)

    def close(self) -> None:
        """Tell when there is something to do again."""
        if (due := self.sources.next_due) is not None:
            when = datetime.fromtimestamp(due, UTC).isoformat(timespec="seconds")
            self._stats.set_value(NEXT_DUE, when)
