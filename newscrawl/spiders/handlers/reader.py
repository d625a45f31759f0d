"""``Reader``: what the workers find in a response."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from newscrawl.crawling.article_filters import ArticleFilters
from newscrawl.crawling.discovery.entries import ClassifiedPage, Listing
from newscrawl.crawling.discovery.paging import MIN_DISTANCE, Sample, search_stories
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.page_download import download_page, page_of
from newscrawl.crawling.network.rules_cache import READ_RULES, SITEMAPS
from newscrawl.crawling.urls import UrlPatterns
from newscrawl.defaults import setting
from newscrawl.items import instant, parse_iso
from newscrawl.pipeline_options import PAGE_TASK
from newscrawl.workers.child import STOPPED, WorkerError, is_stopped
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawling.discovery.entries import Entry
    from newscrawl.crawling.discovery.site_plan import SitePlan
    from newscrawl.crawling.discovery.target import Role, Target

logger = logging.getLogger(__name__)

MIN_SEARCHED: Final = 3 * MIN_DISTANCE
"""Undated entries of a listing that is searched for those of a period."""
MIN_ORDERED: Final = 7
"""Samples of the first listing of a site that show whether its entries are in order of time."""

_TASKS: Final[dict[Role, str]] = {
    "sitemap": "sitemaps:read_sitemap",
    "feed": "feed_parser:read_feed",
    "section": "feed_parser:read_feed",  # the response is XML
}


class Reader:
    """Reads responses in worker processes, and pages that show how to read a site."""

    #: whether stories are fetched to date listings
    fetches_stories = True

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._pool = WorkerPool.for_crawler(crawler)
        self._state = CrawlState.for_crawler(crawler)
        self._include = setting(settings, "NEWSCRAWL_INCLUDE")
        self._exclude = setting(settings, "NEWSCRAWL_EXCLUDE")
        self.filters = ArticleFilters.read(settings)

    def patterns_of(self, plan: SitePlan) -> UrlPatterns:
        """Return the patterns of URLs of the site of *plan*."""
        return UrlPatterns(plan.site.include or self._include, [*plan.site.exclude, *self._exclude])

    async def read_listing(
        self, plan: SitePlan, target: Target, response: Response, **options: Any
    ) -> Listing:
        """Return the entries of a feed or sitemap."""
        task = f"newscrawl.crawling.discovery.{_TASKS[target.role]}"
        return Listing.from_dict(await self._parse(task, plan, response, **options))

    async def read_sitemaps(self, plan: SitePlan, response: Response) -> list[str]:
        """Return the sitemaps of a robots.txt, which has been read if the crawl obeys it."""
        known: list[str] | None = response.meta[SITEMAPS]
        if known is None:
            read = await self._call(READ_RULES, plan, response, file="robots", token="")
            known = read["sitemaps"]
        return known

    async def read_links(
        self, plan: SitePlan, response: Response, **options: Any
    ) -> ClassifiedPage:
        """Return kind and links of a page."""
        task = "newscrawl.crawling.discovery.page_links:read_page"
        return ClassifiedPage.from_dict(await self._parse(task, plan, response, **options))

    async def _parse(
        self, task: str, plan: SitePlan, response: Response, **options: Any
    ) -> dict[str, Any]:
        patterns = self.patterns_of(plan)
        options |= {
            "domains": sorted(plan.address.domains),
            "patterns": (patterns.include, patterns.exclude),
        }
        return await self._call(task, plan, response, **options)

    async def _call(
        self, task: str, plan: SitePlan, response: Response, **options: Any
    ) -> dict[str, Any]:
        site, url = plan.site.key, response.url
        return await self._pool.call(task, response.body, site=site, url=url, **options)

    async def search_period(
        self,
        plan: SitePlan,
        listing: Target,
        listed: list[Entry],
        left_out: dict[str, int],
        *,
        goes_on: bool = True,
    ) -> list[Entry]:
        """Return *listed* without the undated entries of other times, counted in *left_out*.

        The dates of a few pages show these, if the entries are in order of time. *goes_on*: the
        listing has further pages.
        """
        undated = [entry for entry in listed if entry.timestamp is None]
        if len(undated) < MIN_SEARCHED or not plan.listings.is_searched(listing, goes_on=goes_on):
            return listed
        role: Role = "sitemap" if listing.role == "sitemap" else "section"

        async def read(number: int) -> Sample | None:
            text = await self._read_date(plan, undated[number].url)
            if (moment := instant(text)) is None:
                return None
            return Sample(moment.timestamp(), self.filters.reason_by_date(parse_iso(text)))

        score = plan.listings.order_scores[role]
        samples = 3 if score else MIN_ORDERED
        reasons = await search_stories(len(undated), samples, read) if score >= 0 else None
        plan.listings.order_scores[role] += 1 if reasons else -1
        counts = Counter(left_out)
        if reasons:
            counts.update(filter(None, reasons))
            outside = {e.key for e, reason in zip(undated, reasons, strict=True) if reason}
            for entry in undated:
                entry.timestamp = plan.period.until
            listed = [entry for entry in listed if entry.key not in outside]
        limit = 2 * plan.requests.limits.articles
        counts["over_limit"] += max(len(listed) - limit, 0)
        left_out.update(+counts)
        return listed[:limit]

    async def _read_date(self, plan: SitePlan, url: str) -> str:
        """Return the date of the story at *url*; "" if it cannot be read."""
        if not self.fetches_stories:
            return ""
        try:
            meta = {"newscrawl_site": plan.site.key, "verbatim_url": True}
            response = await download_page(self._crawler, url, meta)
            page = await self._call(PAGE_TASK, plan, response, encoding=page_of(response).encoding)
        except Exception as error:  # noqa: BLE001  # any middleware's
            if is_stopped(error):
                raise WorkerError(str(error), STOPPED) from None
            logger.info("Could not read (%s): %s", failure_reason(error), url)
            return ""
        return page["date"] or ""
