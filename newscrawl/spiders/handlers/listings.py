"""``ListingHandler``: robots.txt, feeds and sitemaps, and the articles of any listing."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse

from newscrawl import clock
from newscrawl.crawling.discovery.period import ANY_TIME
from newscrawl.crawling.history.crawl_state import CrawlState, Pause
from newscrawl.crawling.site_stats import SiteStats
from newscrawl.crawling.urls import absolute_url
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawling.discovery.entries import Entry
    from newscrawl.crawling.discovery.paging import Place
    from newscrawl.crawling.discovery.site_plan import SitePlan
    from newscrawl.crawling.discovery.target import Target
    from newscrawl.crawling.history.page_history import ClassifiedEntries
    from newscrawl.spiders.handlers.failed_requests import FailureHandler
    from newscrawl.spiders.handlers.reader import Reader

logger = logging.getLogger(__name__)


class ListingHandler:
    """Adds what a listing names to the plan of its site."""

    def __init__(self, crawler: Crawler, reader: Reader, failures: FailureHandler) -> None:
        self._reader = reader
        self._failures = failures
        self._state = CrawlState.for_crawler(crawler)
        self._stats = SiteStats(crawler.stats)
        age = setting(crawler.settings, "NEWSCRAWL_MAX_AGE")
        oldest = clock.now() - timedelta(days=age) if age else None
        #: the period that was asked for, as ISO 8601
        self.window = {"since": _iso(reader.filters.earliest), "until": _iso(reader.filters.latest)}
        #: that of sitemaps, which list old articles, too
        self._sitemap_window = {**self.window, "since": _iso(reader.filters.earliest or oldest)}
        #: is called with the entries of each listing and its URL
        self.observer: Callable[[list[Entry], str], None] | None = None

    async def handle(self, plan: SitePlan, target: Target, response: Response) -> None:
        """Process a robots.txt, feed or sitemap."""
        window = self._sitemap_window if target.role == "sitemap" else self.window
        # Twice the limit, since some candidates fail or are not articles.
        limit = 2 * plan.requests.limits.articles
        listing = await self._reader.read_listing(plan, target, response, **window, limit=limit)
        if listing.kind == "unknown":
            self._failures.record(plan, target, "unreadable", response.request)
            if isinstance(response, HtmlResponse):
                plan.add_html_listing(response.url, target.depth)
            return
        listed, left_out = listing.entries, listing.left_out
        plan.exclude(listing.outside)
        if listing.kind == "index":
            self._add_sources(plan, target, response.url, listed)
            listed = []
        elif target.role == "sitemap":
            listed = await self._reader.search_period(plan, target, listed, left_out)
            plan.series.record(target, place_of(plan, listed, left_out))
        self.count_left_out(plan, left_out)
        if "over_size" in left_out:
            logger.info("Truncated (size limit): %s", response.url)
        certain = listing.kind in ("feed", "news")
        before = plan.seen.listed_count
        entries = await self.add_articles(plan, target, response.url, listed, certain=certain)
        following = listing.next and absolute_url(listing.next, response.url)
        if following:
            place = place_of(plan, listed, left_out)
            if place == "newer" or goes_on(plan, before, entries):
                plan.add_next_feed(following)
        pause = Pause(listing.ttl, frozenset(listing.skip_hours))
        rolled_over = self._state.record_listing(
            plan, target, response, entries, certain=certain, pause=pause
        )
        self._stats.count(plan.site.key, "rolled_over_count", int(rolled_over))

    @staticmethod
    def _add_sources(plan: SitePlan, target: Target, url: str, listed: list[Entry]) -> None:
        """Add the sitemaps of a robots.txt or of an index, or the feeds of an OPML file."""
        if target.role == "robots":
            for entry in listed:
                plan.add_sitemap(entry.url)
            if not listed:
                plan.add_default_sitemap(url)
            return
        depth = target.depth + 1
        for entry in listed:
            plan.add_source(
                target.role, entry.url, depth=depth, timestamp=entry.timestamp, key=entry.key
            )

    async def add_articles(
        self,
        plan: SitePlan,
        target: Target,
        url: str,
        listed: list[Entry],
        *,
        depth: int = 0,
        certain: bool = False,
    ) -> ClassifiedEntries:
        """Add the articles that are due of those *listed* by *target*, whose final URL is *url*."""
        if self.observer:
            self.observer(listed, url)
        site, since = plan.site.key, target.history.get("fetched_at")
        entries = await self._state.pages.classify(listed, site, since=since)
        added = [plan.add_article(entry, depth=depth, certain=certain) for entry in entries.due]
        self._stats.count(site, "discovered_count", sum(added))
        self._stats.count(site, "known_count", plan.seen.add_known(entries.known))
        return entries

    def count_left_out(self, plan: SitePlan, left_out: Mapping[str, int]) -> None:
        """Count entries that are not requested, by reason."""
        for reason, number in left_out.items():
            self._stats.count(plan.site.key, f"left_out_count/{reason}", number)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def goes_on(plan: SitePlan, before: int, entries: ClassifiedEntries) -> bool:
    """Return whether the next page may have other new articles, after *before* listed ones."""
    return plan.seen.listed_count > before and (plan.period != ANY_TIME or not entries.known)


def place_of(plan: SitePlan, articles: list[Entry], left_out: Mapping[str, int]) -> Place:
    """Return when most articles of a listing were published, compared with the period."""
    dates = [entry.timestamp for entry in articles if entry.timestamp]
    if articles and not dates:
        return "undated"
    if not all(map(plan.period.is_after, dates)):
        return "within"
    newer = len(dates) + left_out.get("too_new", 0) > left_out.get("too_old", 0)
    return "newer" if newer else "older"
