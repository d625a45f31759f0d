"""``PageHandler``: section pages and articles."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scrapy.http import HtmlResponse, JsonResponse, XmlResponse

from newscrawl.crawling.discovery.period import archive_span
from newscrawl.crawling.frontier.leases import OUTCOME
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.history.page_history import ClassifiedEntries
from newscrawl.crawling.network import copy_response
from newscrawl.crawling.network.page_download import SHEETS, header_feeds, header_hints, page_of
from newscrawl.crawling.network.page_rendering import PageRenderer
from newscrawl.crawling.site_stats import DroppedPage, SiteStats
from newscrawl.defaults import setting
from newscrawl.document.encoding import is_binary
from newscrawl.fields.kind.barriers import NEEDS_JS, gate_of
from newscrawl.items import KEPT
from newscrawl.middlewares.opt_out import NOT_EMITTED
from newscrawl.pipelines import NewsExtractPipeline
from newscrawl.spiders.handlers.listings import goes_on, place_of
from newscrawl.workers.child import WorkerError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawling.discovery.entries import ClassifiedPage
    from newscrawl.crawling.discovery.site_plan import SitePlan
    from newscrawl.crawling.discovery.target import Target
    from newscrawl.items import PageItem
    from newscrawl.spiders.handlers.failed_requests import FailureHandler
    from newscrawl.spiders.handlers.listings import ListingHandler
    from newscrawl.spiders.handlers.reader import Reader

logger = logging.getLogger(__name__)

MAX_ARCHIVE_SPAN: Final = 32 * 24 * 3600
"""Seconds of an archive page whose articles are of its period."""


class PageHandler:
    """Follows the links of pages, and passes articles to the pipelines."""

    def __init__(
        self,
        crawler: Crawler,
        reader: Reader,
        listings: ListingHandler,
        failures: FailureHandler,
    ) -> None:
        self._crawler = crawler
        self._reader = reader
        self._listings = listings
        self._failures = failures
        self._state = CrawlState.for_crawler(crawler)
        self._stats = SiteStats(crawler.stats)
        self._renderer = PageRenderer.for_crawler(crawler)
        self._max_links = setting(crawler.settings, "NEWSCRAWL_PAGE_LINKS")

    async def handle(self, plan: SitePlan, target: Target, response: Response) -> PageItem | None:
        """Process a section page or an article; return the item of an article."""
        if target.from_site_list:
            plan.add_domain(response.url)
        if target.role == "section" and isinstance(response, XmlResponse):
            await self._listings.handle(plan, target, response)
            return None
        if reason := self._rejection(plan, target, response):
            return await self._failures.replace(plan, target, reason, response.request)
        if target.certain or target.is_revisit:
            return self._accept(plan, target, response)
        page, response = await self._read(plan, target, response)
        handle = self._handle_article if target.role == "article" else self._handle_section
        return await handle(plan, target, response, page)

    async def _handle_article(
        self, plan: SitePlan, target: Target, response: Response, page: ClassifiedPage
    ) -> PageItem | None:
        is_list = page.kind == "index" and not page.barrier
        plan.record_kind(target, is_list=is_list)
        if is_list:
            self._drop_index(plan.site.key, response, page)
            await self._follow_links(plan, target, response, page)
            return None
        item = self._accept(plan, target, response)
        item.extracted = (item.html, page.article) if page.article else None
        return item

    async def _handle_section(
        self, plan: SitePlan, target: Target, response: Response, page: ClassifiedPage
    ) -> PageItem | None:
        if page.barrier:
            self._follow_sources(plan, target, page, response)
            self._failures.record(plan, target, page.barrier, response.request)
            return None
        item = None
        # Only sections with article metadata: others may be an imprint or a privacy policy.
        if page.is_article and not target.from_site_list:
            item = await self._accept_section(plan, target, response)
        await self._follow_links(plan, target, response, page)
        return item

    async def handle_error(self, plan: SitePlan, target: Target, response: Response | None) -> None:
        """Add the sources that a page of the site list names although its status is an error."""
        is_front = target.role == "section" and target.is_start
        if not is_front or not isinstance(response, HtmlResponse):
            return
        try:
            page = await self._reader.read_links(plan, response, limit=self._max_links)
        except WorkerError:
            self._add_feeds(plan, [], response)
        else:
            self._follow_sources(plan, target, page, response)

    async def _read(
        self, plan: SitePlan, target: Target, response: Response
    ) -> tuple[ClassifiedPage, Response]:
        """Return the kind and the links of a page, and the page; a section is rendered if needed."""
        # Reading the links takes as long as an extraction.
        links = {"limit": self._max_links, "index_only": target.role == "article"}
        sent = _page_item(plan, target, response)
        options: dict[str, Any] = {"encoding": sent.encoding, **links, **self._listings.window}
        pipeline = self._crawler.get_item_pipeline(NewsExtractPipeline)
        if target.role == "article" and pipeline is not None:
            options["extraction"] = await pipeline.task_arguments(sent)
        try:
            page = await self._reader.read_links(plan, response, **options)
        except WorkerError:
            if not options.pop("extraction", None):
                raise
            page = await self._reader.read_links(plan, response, **options)
        if page.barrier == NEEDS_JS and target.role == "section":
            has_links = page.articles and not page.scripted
            if not has_links and (shown := await self._renderer.render(sent)):
                # Without validators: the page as sent stays the same when there are new links.
                response = copy_response(response, body=shown.html, headers={})
                options["encoding"] = shown.encoding
                page = await self._reader.read_links(plan, response, **options)
            page.barrier = None if page.articles else page.barrier
        return page, response

    def _rejection(self, plan: SitePlan, target: Target, response: Response) -> str | None:
        is_data = target.role == "section" and isinstance(response, JsonResponse)
        if not isinstance(response, HtmlResponse) and not is_data:
            return "not_html"
        if is_binary(response.body):
            return "binary"
        if response.url != target.url and not target.from_site_list:
            if reason := gate_of(target.url, response.url) or plan.seen.home_reason(
                target, response.url
            ):
                return reason
            if not self._reader.patterns_of(plan).accept(response.url):
                return "pattern"
        if not plan.address.owns(response.url):
            return "other_site"
        return None if plan.seen.add_final_url(target, response.url) else "duplicate"

    def _drop_index(self, site: str, response: Response, page: ClassifiedPage) -> None:
        kind, confidence = page.kind, page.confidence
        self._stats.count(site, "fetched_count")
        self._stats.count(site, "dropped_count/not_article")
        self._stats.add_dropped_page(DroppedPage(site, kind, confidence, response.url))
        logger.info("Dropped: not an article (%s, %.2f): %s", kind, confidence, response.url)
        response.meta[OUTCOME] = "dropped/not_article"

    async def _follow_links(
        self, plan: SitePlan, target: Target, response: Response, page: ClassifiedPage
    ) -> None:
        entries, depth = ClassifiedEntries(), target.depth + 1
        self._add_feeds(plan, page.feeds, response)
        if target.depth <= plan.requests.limits.depth:
            # Known articles may have links like those of sections.
            keys = [entry.key for entry in page.sections]
            emitted = await self._state.pages.emitted(keys, plan.site.key)
            for entry in page.sections:
                if entry.key not in emitted:
                    plan.add_section(entry, depth)
            articles = await self._reader.search_period(
                plan, target, page.articles, page.left_out, goes_on=bool(page.next)
            )
            self._listings.count_left_out(plan, page.left_out)
            place = place_of(plan, articles, page.left_out)
            begin, end = archive_span(target.url) or (0, 0)
            for entry in articles if end - begin < MAX_ARCHIVE_SPAN else ():
                # Of an archive page, unless it lists a year.
                entry.timestamp = entry.timestamp or target.timestamp
            before = plan.seen.listed_count
            entries = await self._listings.add_articles(
                plan, target, response.url, articles, depth=depth
            )
            if place in ("within", "undated") and not goes_on(plan, before, entries):
                place = "older"
            plan.add_pages(target, page.next, place)
        self._state.record_listing(plan, target, response, entries, depth=depth)

    @staticmethod
    def _add_feeds(plan: SitePlan, feeds: list[str], response: Response) -> None:
        for url in (*feeds, *header_feeds(response)):
            plan.add_feed(url)

    def _follow_sources(
        self, plan: SitePlan, target: Target, page: ClassifiedPage, response: Response
    ) -> None:
        """Add the feeds and, of a page of the site list, the sections that a barrier names."""
        self._add_feeds(plan, page.feeds, response)
        for entry in page.sections if target.from_site_list else ():
            plan.add_section(entry, target.depth + 1)

    async def _accept_section(
        self, plan: SitePlan, target: Target, response: Response
    ) -> PageItem | None:
        history = await self._state.pages.add_page(plan.site.key, target)
        is_wanted = (
            self._reader.patterns_of(plan).accept(target.url)
            and plan.requests.remaining.number > 0
            and NOT_EMITTED not in response.meta
        )
        if history is None or not is_wanted or not plan.seen.mark_article(target.key):
            return None
        self._stats.count(plan.site.key, "discovered_count")
        return self._accept(plan, replace(target, role="article", history=history), response)

    def _accept(self, plan: SitePlan, target: Target, response: Response) -> PageItem:
        plan.record_read(target)
        plan.requests.accepted += not target.is_revisit
        self._state.pages.record_fetch(target, response)
        self._stats.count(plan.site.key, "fetched_count")
        return _page_item(plan, target, response)


def _page_item(plan: SitePlan, target: Target, response: Response) -> PageItem:
    hints = {**target.hints, **header_hints(response)}
    if kept := [name for name in sorted(plan.kept) if f"{name}=" in target.url.lower()]:
        hints[KEPT] = ",".join(kept)
    return replace(
        page_of(response),
        site=plan.site.key,
        hints=hints,
        stylesheets=response.meta.get(SHEETS) or None,  # False for a section page
    )
