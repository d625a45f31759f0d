"""``SiteResponse``: what follows from the response to a target of a site."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from scrapy.http import HtmlResponse, JsonResponse, Response, XmlResponse

from newscrawl import clock
from newscrawl.crawling.discovery.period import ANY_TIME, archive_span
from newscrawl.crawling.frontier.leases import OUTCOME
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.history.page_history import ClassifiedEntries
from newscrawl.crawling.network import copy_response
from newscrawl.crawling.network.page_download import SHEETS, header_feeds, header_hints, page_of
from newscrawl.crawling.network.page_rendering import PageRenderer
from newscrawl.crawling.network.rules_cache import REMEMBERED
from newscrawl.crawling.site_stats import DroppedPage, SiteStats
from newscrawl.crawling.urls import absolute_url
from newscrawl.defaults import setting
from newscrawl.document.encoding import is_binary
from newscrawl.fields.kind.barriers import NEEDS_JS, gate_of
from newscrawl.middlewares.opt_out import NOT_EMITTED
from newscrawl.pipelines import NewsExtractPipeline
from newscrawl.spiders.handlers.reader import Reader
from newscrawl.workers.child import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from scrapy import Request
    from scrapy.crawler import Crawler

    from newscrawl.crawling.discovery.entries import ClassifiedPage, Entry
    from newscrawl.crawling.discovery.paging import Place
    from newscrawl.crawling.discovery.site_plan import SitePlan
    from newscrawl.crawling.discovery.target import Target
    from newscrawl.items import PageItem

logger = logging.getLogger(__name__)

MAX_ARCHIVE_SPAN: Final = 32 * 24 * 3600
"""Seconds of an archive page whose articles are of its period."""


class ResponseTools:
    """Components and settings that all responses of a crawl need."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.reader = Reader(crawler)
        self.state = CrawlState.for_crawler(crawler)
        self.stats = SiteStats(crawler.stats)
        self.renderer = PageRenderer.for_crawler(crawler)
        age = setting(settings, "NEWSCRAWL_MAX_AGE")
        oldest = clock.now() - timedelta(days=age) if age else None
        filters = self.reader.filters
        #: the period that was asked for, as ISO 8601
        self.window = {"since": _iso(filters.earliest), "until": _iso(filters.latest)}
        #: that of sitemaps, which list old articles, too
        self.sitemap_window = {**self.window, "since": _iso(filters.earliest or oldest)}
        #: is called with the entries of each listing and its URL
        self.observer: Callable[[list[Entry], str], None] | None = None


@dataclass(eq=False, slots=True)
class SiteResponse:
    """The response to a target of a plan, or its *request* that failed."""

    tools: ResponseTools
    plan: SitePlan
    target: Target
    request: Request | None
    response: Response

    def __post_init__(self) -> None:
        if self.request is not None and self.request.meta.get(REMEMBERED):
            self.target = replace(self.target, is_remembered=True)

    def count(self, name: str, number: int = 1) -> None:
        """Add *number* to a stat of the site."""
        self.tools.stats.count(self.plan.site.key, name, number)

    def count_left_out(self, left_out: Mapping[str, int]) -> None:
        """Count entries that are not requested, by reason."""
        for reason, number in left_out.items():
            self.count(f"left_out_count/{reason}", number)

    def fail(self, reason: str) -> None:
        """Record that the target could not be fetched or read."""
        target, is_article = self.target, self.target.role == "article"
        self.tools.state.record_failure(self.plan, target, self.request, reason)
        if target.is_start and target.role == "section":
            self.count(f"start_page_count/{reason}")
        if self.request is not None:
            self.request.meta[OUTCOME] = f"failed/{reason}"
        self.count(f"{'failed' if is_article else 'discovery_failed'}_count/{reason}")
        logger.info("Failed (%s): %s %s", reason, target.role, target.url)

    async def follow_error(self) -> None:
        """Add the sources that a page of the site list names although its status is an error."""
        is_front = self.target.role == "section" and self.target.is_start
        if not is_front or not isinstance(self.response, HtmlResponse):
            return
        try:
            page = await self.tools.reader.read_links(self.plan, self.response)
        except WorkerError:
            self._add_feeds([])
        else:
            self._follow_sources(page)

    async def handle(self) -> PageItem | None:
        """Add what the response names to the plan; return the item of an article."""
        role = self.target.role
        if self.response.status == HTTPStatus.NOT_MODIFIED:
            self._record_unchanged()
        elif role == "robots":
            await self._handle_robots()
        elif role in ("feed", "sitemap"):
            await self._handle_listing()
        else:
            return await self._handle_page()
        return None

    def _record_unchanged(self) -> None:
        plan, target = self.plan, self.target
        if target.from_site_list and target.role == "section":
            plan.add_domain(self.response.url)
        self.tools.state.record_unchanged(plan, target, self.response)
        plan.count_known(target.history)
        stat = "unchanged_count" if target.role == "article" else "not_modified_count"
        self.count(f"{stat}/{target.role}")

    async def _handle_robots(self) -> None:
        sitemaps = await self.tools.reader.read_sitemaps(self.plan, self.response)
        for url in sitemaps:
            self.plan.add_sitemap(url)
        if not sitemaps:
            self.plan.add_default_sitemap(self.response.url)
        self._record_listing(ClassifiedEntries())

    async def _handle_listing(self) -> None:
        tools, plan, target, response = self.tools, self.plan, self.target, self.response
        window = tools.sitemap_window if target.role == "sitemap" else tools.window
        # Twice the limit, since some candidates fail or are not articles.
        limit = 2 * plan.requests.limits.articles
        listing = await tools.reader.read_listing(plan, target, response, **window, limit=limit)
        if listing.kind == "unknown":
            self.fail("unreadable")
            if isinstance(response, HtmlResponse):
                plan.add_html_listing(response.url, target.depth)
            return
        listed, left_out = listing.entries, listing.left_out
        plan.exclude(listing.outside)
        if listing.kind == "index":
            depth = target.depth + 1
            for one in listed:  # sitemaps, or the feeds of an OPML file
                plan.add_source(
                    target.role, one.url, depth=depth, timestamp=one.timestamp, key=one.key
                )
            listed = []
        elif target.role == "sitemap":
            listed = await tools.reader.search_period(plan, target, listed, left_out)
            plan.series.record(target, self._place_of(listed, left_out))
        self.count_left_out(left_out)
        if "over_size" in left_out:
            logger.info("Truncated (size limit): %s", response.url)
        certain, before = listing.kind in ("feed", "news"), plan.seen.listed_count
        entries = await self._add_articles(listed, certain=certain)
        following = listing.next and absolute_url(listing.next, response.url)
        if following and (
            self._place_of(listed, left_out) == "newer" or self._goes_on(before, entries)
        ):
            plan.add_next_feed(following)
        self._record_listing(entries, certain=certain, pause=listing.ttl)

    def _record_listing(self, entries: ClassifiedEntries, **options: Any) -> None:
        record = self.tools.state.record_listing
        self.count(
            "rolled_over_count", record(self.plan, self.target, self.response, entries, **options)
        )

    async def _add_articles(
        self, listed: list[Entry], *, depth: int = 0, certain: bool = False
    ) -> ClassifiedEntries:
        """Add the articles that are due of those *listed*."""
        if self.tools.observer:
            self.tools.observer(listed, self.response.url)
        site, since = self.plan.site.key, self.target.history.get("fetched_at")
        entries = await self.tools.state.pages.classify(listed, site, since=since)
        due = [self.plan.add_article(one, depth=depth, certain=certain) for one in entries.due]
        self.count("discovered_count", sum(due))
        self.count("known_count", self.plan.seen.add_known(entries.known))
        return entries

    def _goes_on(self, before: int, entries: ClassifiedEntries) -> bool:
        """Return whether the next page may have other new articles, after *before* listed ones."""
        is_new = self.plan.seen.listed_count > before
        return is_new and (self.plan.period != ANY_TIME or not entries.known)

    def _place_of(self, articles: list[Entry], left_out: Mapping[str, int]) -> Place:
        """Return when most articles of a listing were published, compared with the period."""
        dates = [entry.timestamp for entry in articles if entry.timestamp]
        if articles and not dates:
            return "undated"
        if not all(map(self.plan.period.is_after, dates)):
            return "within"
        newer = len(dates) + left_out.get("too_new", 0) > left_out.get("too_old", 0)
        return "newer" if newer else "older"

    async def _handle_page(self) -> PageItem | None:
        """Process a section page or an article."""
        target = self.target
        if target.from_site_list:
            self.plan.add_domain(self.response.url)
        if target.role == "section" and isinstance(self.response, XmlResponse):
            await self._handle_listing()
            return None
        if reason := self._rejection():
            self.fail(reason)
            return None
        if target.certain or target.is_revisit:
            return self._accept(target)
        page = await self._read_page()
        return await (
            self._handle_article(page) if target.role == "article" else self._handle_section(page)
        )

    async def _handle_article(self, page: ClassifiedPage) -> PageItem | None:
        is_list = page.kind == "index" and not page.barrier
        self.plan.record_kind(self.target, is_list=is_list)
        if is_list:
            self._drop_index(page)
            await self._follow_links(page)
            return None
        item = self._accept(self.target)
        item.extracted = (item.html, page.article) if page.article else None
        return item

    async def _handle_section(self, page: ClassifiedPage) -> PageItem | None:
        if page.barrier:
            self._follow_sources(page)
            self.fail(page.barrier)
            return None
        item = None
        # Only sections with article metadata: others may be an imprint or a privacy policy.
        if page.is_article and not self.target.from_site_list:
            item = await self._accept_section()
        await self._follow_links(page)
        return item

    async def _read_page(self) -> ClassifiedPage:
        """Return the kind and the links of the page; a section is rendered if needed."""
        tools, is_article = self.tools, self.target.role == "article"
        # Reading the links takes as long as an extraction.
        sent = self._page_item(self.target)
        options: dict[str, Any] = {"encoding": sent.encoding, **tools.window}
        options["index_only"] = is_article
        pipeline = tools.crawler.get_item_pipeline(NewsExtractPipeline)
        if is_article and pipeline is not None:
            options["extraction"] = await pipeline.task_arguments(sent)
        read = partial(tools.reader.read_links, self.plan)
        try:
            page = await read(self.response, **options)
        except WorkerError:
            if not options.pop("extraction", None):
                raise
            page = await read(self.response, **options)
        if page.barrier == NEEDS_JS and not is_article:
            has_links = page.articles and not page.scripted
            if not has_links and (
                shown := await tools.renderer.render(sent, enabled=self.plan.site.render)
            ):
                # Without validators: the page as sent stays the same when there are new links.
                self.response = copy_response(self.response, body=shown.html, headers={})
                page = await read(self.response, **{**options, "encoding": shown.encoding})
            page.barrier = None if page.articles else page.barrier
        return page

    def _rejection(self) -> str | None:
        plan, target, response = self.plan, self.target, self.response
        is_data = target.role == "section" and isinstance(response, JsonResponse)
        if not isinstance(response, HtmlResponse) and not is_data:
            return "not_html"
        if is_binary(response.body):
            return "binary"
        if response.url != target.url and not target.from_site_list:
            gate = gate_of(target.url, response.url)
            if reason := gate or plan.seen.home_reason(target, response.url):
                return reason
            if not self.tools.reader.patterns_of(plan).accept(response.url):
                return "pattern"
        if not plan.address.owns(response.url):
            return "other_site"
        return None if plan.seen.add_final_url(response.url) else "duplicate"

    def _drop_index(self, page: ClassifiedPage) -> None:
        site, url = self.plan.site.key, self.response.url
        self.count("fetched_count")
        self.count("dropped_count/not_article")
        self.tools.stats.add_dropped_page(DroppedPage(site, page.kind, page.confidence, url))
        logger.info("Dropped: not an article (%s, %.2f): %s", page.kind, page.confidence, url)
        self.response.meta[OUTCOME] = "dropped/not_article"

    async def _follow_links(self, page: ClassifiedPage) -> None:
        tools, plan, target = self.tools, self.plan, self.target
        entries, depth = ClassifiedEntries(), target.depth + 1
        self._add_feeds(page.feeds)
        if target.depth <= plan.requests.limits.depth:
            # Known articles may have links like those of sections.
            keys = [entry.key for entry in page.sections]
            emitted = await tools.state.pages.emitted(keys, plan.site.key)
            for entry in page.sections:
                if entry.key not in emitted:
                    plan.add_section(entry, depth)
            articles = await tools.reader.search_period(
                plan, target, page.articles, page.left_out, goes_on=bool(page.next)
            )
            self.count_left_out(page.left_out)
            place = self._place_of(articles, page.left_out)
            begin, end = archive_span(target.url) or (0, 0)
            for entry in articles if end - begin < MAX_ARCHIVE_SPAN else ():
                # Of an archive page, unless it lists a year.
                entry.timestamp = entry.timestamp or target.timestamp
            before = plan.seen.listed_count
            entries = await self._add_articles(articles, depth=depth)
            if place in ("within", "undated") and not self._goes_on(before, entries):
                place = "older"
            plan.add_pages(target, page.next, place)
        tools.state.record_listing(plan, target, self.response, entries, depth=depth)

    def _add_feeds(self, feeds: list[str]) -> None:
        for url in (*feeds, *header_feeds(self.response)):
            self.plan.add_feed(url)

    def _follow_sources(self, page: ClassifiedPage) -> None:
        """Add the feeds and, of a page of the site list, the sections that a barrier names."""
        self._add_feeds(page.feeds)
        for entry in page.sections if self.target.from_site_list else ():
            self.plan.add_section(entry, self.target.depth + 1)

    async def _accept_section(self) -> PageItem | None:
        plan, target = self.plan, self.target
        history = await self.tools.state.pages.add_page(plan.site.key, target)
        is_wanted = (
            self.tools.reader.patterns_of(plan).accept(target.url)
            and plan.requests.remaining.number > 0
            and NOT_EMITTED not in self.response.meta
        )
        if history is None or not is_wanted or not plan.seen.mark_article(target.key):
            return None
        self.count("discovered_count")
        return self._accept(replace(target, role="article", history=history))

    def _accept(self, target: Target) -> PageItem:
        self.plan.record_read(target)
        self.plan.requests.accepted += not target.is_revisit
        self.tools.state.pages.record_fetch(target, self.response)
        self.count("fetched_count")
        return self._page_item(target)

    def _page_item(self, target: Target) -> PageItem:
        hints = {**target.hints, **header_hints(self.response)}
        return replace(
            page_of(self.response),
            site=self.plan.site.key,
            hints=hints,
            stylesheets=self.response.meta.get(SHEETS) or None,  # False for a section page
        )


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
