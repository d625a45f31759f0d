"""``FailureHandler``: requests without a usable response."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.http import Response

from newscrawl.crawling.frontier.leases import OUTCOME
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.history.page_history import GONE
from newscrawl.crawling.network.web_archive import WebArchive
from newscrawl.crawling.site_stats import SiteStats

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from newscrawl.crawling.discovery.site_plan import SitePlan
    from newscrawl.crawling.discovery.target import Target
    from newscrawl.items import PageItem

logger = logging.getLogger(__name__)


class FailureHandler:
    """Records failures, and replaces pages that are gone by their copies in a web archive."""

    def __init__(self, crawler: Crawler) -> None:
        self._archive = WebArchive.from_crawler(crawler)
        self._state = CrawlState.for_crawler(crawler)
        self._stats = SiteStats(crawler.stats)

    def record(
        self, plan: SitePlan, target: Target, reason: str, request: Request | None = None
    ) -> None:
        """Record that *target* could not be fetched or read."""
        site = plan.site.key
        self._state.record_failure(plan, target, request, reason)
        if target.is_start and target.role == "section":
            self._stats.count(site, f"start_page_count/{reason}")
        if request is not None:
            request.meta[OUTCOME] = f"failed/{reason}"
        stat = "failed_count" if target.role == "article" else "discovery_failed_count"
        self._stats.count(site, f"{stat}/{reason}")
        logger.info("Failed (%s): %s %s", reason, target.role, target.url)

    async def replace(
        self, plan: SitePlan, target: Target, reason: str, request: Request | None
    ) -> PageItem | None:
        """Return the copy of a page that is gone in a web archive, or record the failure."""
        if target.role == "article" and not target.is_revisit and reason in GONE:
            site = plan.site.key
            archive = self._archive
            if archive and (copy := await archive.newest_copy(target.url, newscrawl_site=site)):
                plan.record_read(target)
                plan.requests.accepted += 1
                self._state.pages.record_fetch(target, Response(target.url, request=request))
                self._stats.count(site, "fetched_count")
                return replace(copy, site=site, hints={**target.hints, **copy.hints})
        self.record(plan, target, reason, request)
        return None
