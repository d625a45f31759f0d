"""``SitelistSpider``: crawls the newest articles of a list of news sites."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse

from newscrawl import clock
from newscrawl.crawl.article_filters import ArticleFilters
from newscrawl.crawl.discovery.site_frontier import SiteFrontier
from newscrawl.crawl.discovery.spider_arguments import read_arguments
from newscrawl.crawl.discovery.target import Budgets
from newscrawl.crawl.frontier.lease import OUTCOME
from newscrawl.crawl.frontier.leases import LeaseBook
from newscrawl.crawl.frontier.request_keys import PLANNED
from newscrawl.crawl.history.conditional_requests import conditional_headers
from newscrawl.crawl.history.crawl_state import CrawlState
from newscrawl.crawl.history.page_history import ClassifiedEntries
from newscrawl.crawl.reporting.outcomes import DroppedPage, SiteStats, failure_reason
from newscrawl.crawl.start_errors import shorten_start_errors
from newscrawl.crawl.stylesheet_fetcher import META
from newscrawl.crawl.workers.pool import WorkerError, WorkerPool
from newscrawl.defaults import setting
from newscrawl.document.encoding import header_charset, is_binary
from newscrawl.items import PageItem
from newscrawl.middlewares import PolitenessMiddleware

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from newscrawl.crawl.discovery.site_list import Site
    from newscrawl.crawl.discovery.target import Role, Target
    from newscrawl.crawl.frontier.lease import FinishedRequest
    from newscrawl.crawl.frontier.shards import Shard

#: Discovery comes first, so that articles are ordered among all known ones.
_PRIORITY: dict[Role, int] = {
    "robots": 4_000_000,
    "sitemap": 3_000_000,
    "feed": 3_000_000,
    "section": 2_000_000,
    "article": 0,
}


class SitelistSpider(Spider):
    """Finds the newest articles of each site and yields a :class:`PageItem` for each.

    Arguments: ``sites`` (path of a file, see :mod:`newscrawl.crawl.discovery.site_list`) or
    ``site`` (a URL), by default the setting ``NEWSCRAWL_SITES``; ``limit`` (article pages per
    site) and ``shard`` (``3/16``: the third of 16 parts of the list).
    """

    name = "sitelist"

    def __init__(
        self, sites: list[Site], limit: int | None = None, shard: Shard | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.sites = sites
        self.limit = limit
        self.shard = shard

    @classmethod
    def from_crawler(cls, crawler: Crawler, **kwargs: Any) -> Self:
        """Return the spider; raises ``SitesError`` if an argument is invalid."""
        shorten_start_errors()
        private = {name: value for name, value in kwargs.items() if name.startswith("_")}
        spider = cls(*read_arguments(kwargs, crawler.settings), **private)
        spider._set_crawler(crawler)
        crawler.signals.connect(spider._spider_opened, signals.spider_opened)
        crawler.signals.connect(spider._spider_idle, signals.spider_idle)
        crawler.signals.connect(spider._spider_closed, signals.spider_closed)
        return spider

    def _spider_opened(self) -> None:
        settings = self.crawler.settings
        if self.shard:
            listed = self.sites
            self.sites = [site for site in listed if self.shard.holds(site.url)]
            self.logger.info("Shard %s: %d of %d sites", self.shard, len(self.sites), len(listed))
        self.pool = WorkerPool.for_crawler(self.crawler)
        self.politeness = self.crawler.get_downloader_middleware(PolitenessMiddleware)
        self.site_stats = SiteStats(self.crawler.stats)
        self.max_links = setting(settings, "NEWSCRAWL_PAGE_LINKS")
        self.traps = setting(settings, "NEWSCRAWL_TRAPS_ENABLED")
        self.state = CrawlState.for_crawler(self.crawler)
        self.frontiers: dict[str, SiteFrontier] = {}
        age = setting(settings, "NEWSCRAWL_MAX_AGE")
        earliest = clock.now() - timedelta(days=age) if age else None
        earliest = ArticleFilters.read(settings).earliest or earliest
        self.since = earliest.isoformat() if earliest else None

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first requests of each site."""
        await self.state.open()
        book = LeaseBook.for_crawler(self.crawler)
        finished = await book.finished_requests()
        if self.politeness:
            self.politeness.on_request = book.count_request
            for key, requests in (await book.request_counts()).items():
                self.politeness.resume(key, requests, len(finished.get(key, [])))
        for site in self.sites:
            frontier = await self._create_frontier(site, finished.get(site.key, []))
            for request in self._next_requests(frontier):
                yield request

    async def _create_frontier(self, site: Site, finished: list[FinishedRequest]) -> SiteFrontier:
        """Return the frontier of *site* with its history.

        *finished*: requests that this crawl finished before it was interrupted.
        """
        stalled = LeaseBook.for_crawler(self.crawler).stalled
        if stalled and stalled.site != site.key:
            stalled = None
        if stalled:
            await self.state.record_stall(stalled)
        budgets = Budgets.from_settings(self.crawler.settings, site.limit or self.limit)
        history = await self.state.load(site.key, limit=2 * budgets.articles)
        frontier = SiteFrontier(site, budgets, history.known_sources)
        frontier.resume(finished)
        for row in history.sources:
            frontier.add_source(row.role, row.url, depth=row.depth, timestamp=row.published)
        for page in history.pages:
            frontier.add_article(page, depth=page["depth"], certain=page["certain"])
        self.site_stats.count(site.key, "discovered_count", frontier.candidate_count)
        self.frontiers[site.key] = frontier
        if stalled:
            self._count_failure(frontier, cast("Role", stalled.role), stalled.url, "stalled")
        return frontier

    def _next_requests(self, frontier: SiteFrontier) -> Iterator[Request]:
        if self.politeness:
            frontier.extra_requests = self.politeness.extra[frontier.site.key]
        for ticket, target in frontier.next_targets():
            headers = conditional_headers(target.history)
            meta = {
                PLANNED: True,
                "newscrawl_site": frontier.site.key,
                "newscrawl_ticket": ticket,
                "newscrawl_role": target.role,
                "newscrawl_hints": target.hints,  # for WARC archives
                "dont_obey_robotstxt": target.role == "robots",
                "depth_reset": True,  # the depth is that of the target
            }
            if headers:
                meta["handle_httpstatus_list"] = [304]
            if target.role != "article":
                meta[META] = False  # no style sheets
            yield Request(
                target.url,
                callback=self.parse,
                errback=self.errback,
                headers=headers,
                meta=meta,
                # Newest first: tickets are numbered in the order of the frontier.
                priority=_PRIORITY[target.role] - ticket,
                # The frontier filters duplicates; the dupefilter would drop redirects to seen URLs.
                dont_filter=True,
            )

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Process a response; yield a page item, if it is an article, and the next requests."""
        ticket, frontier = self._request_of(response.meta)
        target = frontier.in_flight.get(ticket)
        item = None
        if target is not None:
            try:
                item = await self._on_response(frontier, target, response)
            except WorkerError as error:
                self._record_failure(frontier, target, failure_reason(error), response.request)
            except Exception:
                self.logger.exception("Could not process %s", response.url)
                self._record_failure(frontier, target, "error", response.request)
            frontier.close(ticket)
        if item is not None:
            yield item
        for request in self._next_requests(frontier):
            yield request

    async def errback(self, failure: Failure) -> AsyncIterator[Request]:
        """Record the failure of a request; yield the next requests."""
        request: Request = failure.request  # type: ignore[attr-defined]
        ticket, frontier = self._request_of(request.meta)
        if target := frontier.close(ticket):
            self._record_failure(frontier, target, failure_reason(failure.value), request)
        for next_request in self._next_requests(frontier):
            yield next_request

    def _request_of(self, meta: dict[str, Any]) -> tuple[int, SiteFrontier]:
        return meta["newscrawl_ticket"], self.frontiers[meta["newscrawl_site"]]

    def _record_failure(
        self, frontier: SiteFrontier, target: Target, reason: str, request: Request | None = None
    ) -> None:
        self.state.record_failure(frontier, target, request, reason)
        if request is not None:
            request.meta[OUTCOME] = f"failed/{reason}"
        self._count_failure(frontier, target.role, target.url, reason)

    def _count_failure(self, frontier: SiteFrontier, role: Role, url: str, reason: str) -> None:
        stat = "failed_count" if role == "article" else "discovery_failed_count"
        self.site_stats.count(frontier.site.key, f"{stat}/{reason}")
        self.logger.info("Failed (%s): %s %s", reason, role, url)
        if role == "robots":
            frontier.add_default_sitemap(url)

    async def _on_response(
        self, frontier: SiteFrontier, target: Target, response: Response
    ) -> PageItem | None:
        if response.status == HTTPStatus.NOT_MODIFIED:
            self._on_unchanged(frontier, target, response)
        elif target.role in ("section", "article"):
            return await self._on_page(frontier, target, response)
        elif target.role == "robots":
            await self._on_robots(frontier, target, response)
        else:
            await self._on_listing(frontier, target, response)
        return None

    def _on_unchanged(self, frontier: SiteFrontier, target: Target, response: Response) -> None:
        if target.from_site_list and target.role == "section":
            frontier.add_domain(response.url)
        self.state.record_unchanged(frontier, target, response)
        frontier.count_known(target.history)
        stat = "unchanged_count" if target.role == "article" else "not_modified_count"
        self.site_stats.count(frontier.site.key, f"{stat}/{target.role}")

    async def _on_robots(self, frontier: SiteFrontier, target: Target, response: Response) -> None:
        task = "newscrawl.crawl.discovery.sitemaps:read_robots"
        urls = (await self._call(task, frontier, response))["sitemaps"]
        for url in urls:
            frontier.add_sitemap(url)
        if not urls:
            frontier.add_default_sitemap(response.url)
        self.state.record_listing(frontier, target, response, ClassifiedEntries())

    async def _parse_in_worker(
        self, task: str, frontier: SiteFrontier, response: Response, **options: Any
    ) -> dict[str, Any]:
        """Parse *response* in a worker process."""
        domains = sorted(frontier.domains)
        return await self._call(
            task, frontier, response, domains=domains, traps=self.traps, **options
        )

    async def _call(
        self, task: str, frontier: SiteFrontier, response: Response, **options: Any
    ) -> dict[str, Any]:
        site, url = frontier.site.key, response.url
        return await self.pool.call(task, response.body, site=site, url=url, **options)

    async def _on_listing(self, frontier: SiteFrontier, target: Target, response: Response) -> None:
        """Process a feed or sitemap."""
        # Twice the limit, since some candidates fail or are not articles.
        limit = 2 * frontier.budgets.articles
        if target.role == "feed":
            task = "newscrawl.crawl.discovery.feed_parser:read_feed"
            listing = await self._parse_in_worker(task, frontier, response, limit=limit)
        else:
            task = "newscrawl.crawl.discovery.sitemaps:read_sitemap"
            listing = await self._parse_in_worker(
                task, frontier, response, limit=limit, since=self.since
            )
        if listing["kind"] == "unknown":
            self._record_failure(frontier, target, "unreadable", response.request)
            return
        self._count_left_out(frontier, listing["left_out"])
        if "over_size" in listing["left_out"]:
            self.logger.info("Truncated (size limit): %s", response.url)
        listed = listing["entries"]
        if listing["kind"] == "index":
            for entry in listed:
                depth, timestamp = target.depth + 1, entry["timestamp"]
                frontier.add_sitemap(entry["url"], depth=depth, timestamp=timestamp)
            listed = []
        certain = listing["kind"] in ("feed", "news")
        entries = await self._add_articles(frontier, listed, certain=certain)
        cut = limit if listing["left_out"].get("over_limit") else 0
        self.state.record_listing(frontier, target, response, entries, certain=certain, cut=cut)

    async def _on_page(
        self, frontier: SiteFrontier, target: Target, response: Response
    ) -> PageItem | None:
        if target.from_site_list:
            frontier.add_domain(response.url)
        if reason := self._rejection(frontier, target, response):
            self._record_failure(frontier, target, reason, response.request)
            return None
        if target.certain or target.is_revisit:
            return self._accept(frontier, target, response)
        task = "newscrawl.crawl.discovery.page_links:read_page"
        # Reading the links takes as long as an extraction.
        links = {"limit": self.max_links, "index_only": target.role == "article"}
        options = {"encoding": _charset(response), **links}
        page = await self._parse_in_worker(task, frontier, response, **options)
        item = None
        if target.role == "article":
            if page["kind"] != "index":
                return self._accept(frontier, target, response)
            self._drop_index(frontier.site.key, response, page)
        # Only sections with article metadata: others may be an imprint or a privacy policy.
        elif page["is_article"] and not target.from_site_list:
            item = await self._accept_section(frontier, target, response)
        await self._follow_links(frontier, target, response, page)
        return item

    def _rejection(self, frontier: SiteFrontier, target: Target, response: Response) -> str | None:
        if not isinstance(response, HtmlResponse):
            return "not_html"
        if is_binary(response.body):
            return "binary"
        if not frontier.is_own_url(response.url):
            return "other_site"
        return None if frontier.add_final_url(target, response.url) else "duplicate"

    def _drop_index(self, site: str, response: Response, page: dict[str, Any]) -> None:
        kind, confidence = page["kind"], page["confidence"]
        self.site_stats.count(site, "fetched_count")
        self.site_stats.count(site, "dropped_count/not_article")
        self.site_stats.add_dropped_page(DroppedPage(site, kind, confidence, response.url))
        self.logger.info("Dropped: not an article (%s, %.2f): %s", kind, confidence, response.url)
        response.meta[OUTCOME] = "dropped/not_article"

    async def _follow_links(
        self, frontier: SiteFrontier, target: Target, response: Response, page: dict[str, Any]
    ) -> None:
        entries, depth = ClassifiedEntries(), target.depth + 1
        for url in page["feeds"]:
            frontier.add_feed(url)
        if target.depth <= frontier.budgets.depth:
            # Known articles may have links like those of sections.
            for entry in await self.state.pages.without_articles(page["sections"]):
                frontier.add_section(entry, depth)
            self._count_left_out(frontier, page["left_out"])
            entries = await self._add_articles(frontier, page["articles"], depth=depth)
        self.state.record_listing(frontier, target, response, entries, depth=depth)

    async def _accept_section(
        self, frontier: SiteFrontier, target: Target, response: Response
    ) -> PageItem | None:
        """Return the item of a section page that is a new article."""
        history = await self.state.pages.add_page(frontier.site.key, target)
        if history is None or not frontier.mark_article(target.key):
            return None
        self.site_stats.count(frontier.site.key, "discovered_count")
        return self._accept(frontier, replace(target, role="article", history=history), response)

    def _accept(self, frontier: SiteFrontier, target: Target, response: Response) -> PageItem:
        frontier.accepted += not target.is_revisit
        self.state.pages.record_fetch(target, response)
        self.site_stats.count(frontier.site.key, "fetched_count")
        return PageItem(
            url=response.url,
            html=response.body,
            encoding=_charset(response),
            fetched_at=clock.now(),
            site=frontier.site.key,
            hints=target.hints,
            stylesheets=response.meta.get(META) or None,  # False for a section page
        )

    async def _add_articles(
        self,
        frontier: SiteFrontier,
        listed: list[dict[str, Any]],
        *,
        depth: int = 0,
        certain: bool = False,
    ) -> ClassifiedEntries:
        """Add the articles of a listing that are due."""
        entries = await self.state.pages.classify(listed)
        added = [frontier.add_article(entry, depth=depth, certain=certain) for entry in entries.due]
        known = frontier.add_known_pages(entries.known)
        self.site_stats.count(frontier.site.key, "discovered_count", sum(added))
        self.site_stats.count(frontier.site.key, "known_count", known)
        return entries

    def _count_left_out(self, frontier: SiteFrontier, left_out: dict[str, int]) -> None:
        for reason, number in left_out.items():
            self.site_stats.count(frontier.site.key, f"left_out_count/{reason}", number)

    def _spider_idle(self) -> None:
        """Fail the requests that got no response, and continue with the next requests."""
        requests: list[Request] = []
        for frontier in self.frontiers.values():
            for ticket in list(frontier.in_flight):
                if target := frontier.close(ticket):
                    self._record_failure(frontier, target, "lost")
            requests += self._next_requests(frontier)
        for request in requests:
            self.crawler.engine.crawl(request)
        if requests:
            raise DontCloseSpider

    def _spider_closed(self, reason: str) -> None:
        for frontier in self.frontiers.values():
            site = frontier.site.key
            in_flight = sum(target.role == "article" for target in frontier.in_flight.values())
            skip_reason = frontier.skip_reason if reason == "finished" else "stopped"
            skipped = frontier.candidate_count + in_flight
            self.site_stats.count(site, f"skipped_count/{skip_reason}", skipped)
            for role, number in frontier.not_due.items():
                self.site_stats.count(site, f"not_due_count/{role}", number)


def _charset(response: Response) -> str | None:
    return header_charset(response.headers.get("Content-Type"))
