"""``SitelistSpider``: crawls the newest articles of a list of news sites."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator  # noqa: TC003  # scrapy-poet reads them
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro

from newscrawl import clock
from newscrawl.crawling.discovery.period import Period
from newscrawl.crawling.discovery.site_list import read_arguments
from newscrawl.crawling.discovery.site_plan import SitePlan
from newscrawl.crawling.discovery.target import Budgets, RemainingArticles
from newscrawl.crawling.frontier.leases import PLANNED, LeaseBook
from newscrawl.crawling.history.conditional_requests import conditional_headers
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.history.page_history import DELETED
from newscrawl.crawling.history.queries import Queries, Query
from newscrawl.crawling.logs import shorten_start_errors
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.page_download import SHEETS
from newscrawl.crawling.network.rules_cache import SITEMAPS
from newscrawl.crawling.reporting.result import QUERY_STAT
from newscrawl.crawling.site_stats import SiteStats
from newscrawl.defaults import setting
from newscrawl.items import Article
from newscrawl.middlewares import PolitenessMiddleware
from newscrawl.spiders.handlers.responses import ResponseTools, SiteResponse
from newscrawl.workers.child import WorkerError, is_stopped

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from newscrawl.crawling.discovery.site_list import Site
    from newscrawl.crawling.discovery.target import Role
    from newscrawl.crawling.frontier.leases import FinishedRequest
    from newscrawl.crawling.shards import Shard

FEED_TYPES: Final = (
    "application/rss+xml, application/atom+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1"
)
"""``Accept`` of requests for feeds: some addresses have a page for browsers, too."""

#: Discovery comes first, so that articles are ordered among all known ones.
_PRIORITY: dict[Role, int] = {
    "robots": 4_000_000,
    "sitemap": 3_000_000,
    "feed": 3_000_000,
    "section": 2_000_000,
    "article": 0,
}


class PlannedRequest(Request):
    """Request for a target of a plan, which the next crawl makes again: in memory only."""

    def to_dict(self, **_: Any) -> dict[str, Any]:
        """Raise ``ValueError``, so that the disk queues of ``JOBDIR`` do not store the request."""
        raise ValueError("planned requests are kept in memory")


class SitelistSpider(Spider):
    """Finds the newest articles of each site and yields a :class:`PageItem` for each.

    Arguments: ``sites`` (path of a file, see :mod:`newscrawl.crawling.discovery.site_list`) or
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
        #: what the crawl is asked for, without the options of single sites
        self.query: Query | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, **kwargs: Any) -> Self:
        """Return the spider; raises ``SitesError`` if an argument is invalid."""
        shorten_start_errors()
        private = {name: value for name, value in kwargs.items() if name.startswith("_")}
        spider = cls(*read_arguments(kwargs, crawler.settings), **private)
        spider._set_crawler(crawler)
        spider.query = Query.read(crawler.settings, limit=spider.limit)
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
        self.politeness = self.crawler.get_downloader_middleware(PolitenessMiddleware)
        self.site_stats = SiteStats(self.crawler.stats)
        self.emits_deleted = setting(settings, "NEWSCRAWL_DELETED")
        self.crawl_state = CrawlState.for_crawler(self.crawler)
        self.queries = Queries.for_crawler(self.crawler)
        if self.query and (asked := str(self.query)):
            self.crawler.stats.set_value(QUERY_STAT, asked)
        self.tools = ResponseTools(self.crawler)
        self.plans: dict[str, SitePlan] = {}
        self.remaining = RemainingArticles(setting(settings, "NEWSCRAWL_LIMIT") or float("inf"))
        #: plans that have had no request because of :attr:`remaining`
        self._short: dict[str, SitePlan] = {}
        self.crawler.signals.connect(self._item_left, signals.item_scraped)
        for signal in (signals.item_dropped, signals.item_error):
            self.crawler.signals.connect(self._item_lost, signal)

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first requests of each site."""
        await self.crawl_state.open()
        finished = await LeaseBook.for_crawler(self.crawler).finished_requests()
        for site in self.sites:
            plan = await self._create_plan(site, finished.get(site.key, []))
            for request in self._requests_of(plan):
                yield request

    async def _create_plan(self, site: Site, finished: list[FinishedRequest]) -> SitePlan:
        """Return the plan of *site* with its history.

        *finished*: requests that this crawl finished before it was interrupted.
        """
        self.queries.put(site, self.limit)
        budgets = Budgets.from_settings(self.crawler.settings, site.limit or self.limit)
        history = await self.crawl_state.load(site.key, limit=2 * budgets.articles)
        period = Period.of(**self.tools.window)
        plan = SitePlan(site, budgets, history.known_sources, period, self.remaining)
        plan.resume(finished)
        for row in history.sources:
            plan.add_source(
                row.role, row.url, depth=row.depth, timestamp=row.published, key=row.key
            )
        patterns = self.tools.reader.patterns_of(plan)
        for page in history.pages:
            if patterns.accept(page.url):
                plan.add_article(page, depth=page.depth, certain=page.certain)
        self.site_stats.count(site.key, "discovered_count", plan.candidate_count)
        self.plans[site.key] = plan
        return plan

    def _next_requests(self, plan: SitePlan) -> Iterator[Any]:
        sent = self.politeness.requests[plan.site.key] if self.politeness else 0
        for ticket, target in plan.next_targets(sent):
            headers, url = conditional_headers(target.history), plan.address.current_url(target)
            accept = {"Accept": FEED_TYPES} if target.role == "feed" else {}
            meta = {
                PLANNED: True,
                "newscrawl_site": plan.site.key,
                "newscrawl_ticket": ticket,
                "newscrawl_role": target.role,
                "newscrawl_hints": target.hints,  # for WARC archives
                "depth_reset": True,  # the depth is that of the target
                "verbatim_url": url.isascii(),
            }
            if target.role == "robots":
                meta |= {"dont_obey_robotstxt": True, SITEMAPS: None}
            if headers:
                meta["handle_httpstatus_list"] = [304]
            if target.role != "article" and target.history.get("failures"):
                meta["dont_retry"] = True
            if target.role != "article":
                meta[SHEETS] = False  # no style sheets
            yield PlannedRequest(
                url,
                callback=self.parse,
                errback=self.errback,
                headers={**accept, **headers},
                meta=meta,
                # Newest first: tickets are numbered in the order of the plan.
                priority=_PRIORITY[target.role] - ticket,
                # The plan filters duplicates; the dupefilter would drop redirects to seen URLs.
                dont_filter=True,
            )

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Process a response; yield a page item, if it is an article, and the next requests."""
        ticket, plan = self._request_of(response.meta)
        target = plan.requests.in_flight.get(ticket)
        item = None
        if target is not None:
            plan.address.record_origin(target, response.url)
            received = SiteResponse(self.tools, plan, target, response.request, response)
            try:
                item = await received.handle()
            except WorkerError as error:
                if is_stopped(error):
                    raise
                received.fail(failure_reason(error))
            except Exception:
                self.logger.exception("Could not process %s", response.url)
                received.fail("error")
            plan.requests.close(ticket, accepted=item is not None)
        if item is not None:
            plan.requests.in_pipelines.add(ticket)
            yield item
        for request in self._more_requests(plan):
            yield request

    async def errback(self, failure: Failure) -> AsyncIterator[Any]:
        """Record the failure of a request; yield an item, if requested, and the next requests."""
        request: Request = failure.request  # type: ignore[attr-defined]
        ticket, plan = self._request_of(request.meta)
        if target := plan.requests.in_flight.get(ticket):
            if is_stopped(failure.value):
                return
            reason = failure_reason(failure.value)
            response = getattr(failure.value, "response", None) or Response(request.url)
            failed = SiteResponse(self.tools, plan, target, request, response)
            await failed.follow_error()
            failed.fail(reason)
            plan.requests.close(ticket)
            if self.emits_deleted and target.is_revisit and reason in DELETED:
                self.site_stats.count(plan.site.key, "deleted_count")
                yield Article(url=target.url, fetched_at=clock.now(), flags=["deleted"])
        for next_request in self._more_requests(plan):
            yield next_request

    def _request_of(self, meta: dict[str, Any]) -> tuple[int, SitePlan]:
        return meta["newscrawl_ticket"], self.plans[meta["newscrawl_site"]]

    def _item_left(self, response: Response | Failure | None) -> None:
        """Continue with the site of an item that has left the pipelines."""
        request = getattr(response, "request", None)
        if request is None or "newscrawl_ticket" not in request.meta:
            return
        ticket, plan = self._request_of(request.meta)
        if ticket in plan.requests.in_pipelines:
            plan.requests.in_pipelines.remove(ticket)
            self._send(self._more_requests(plan))

    def _item_lost(self, response: Response | Failure | None) -> None:
        """Request another page for one that gave no article."""
        self.remaining.number += 1
        self._item_left(response)

    def _spider_idle(self) -> None:
        """Fail the requests that got no response, and continue with the next requests."""
        for plan in self.plans.values():
            for ticket in list(plan.requests.in_flight):
                if target := plan.requests.close(ticket):
                    no_response = Response(target.url)
                    SiteResponse(self.tools, plan, target, None, no_response).fail("lost")
            plan.requests.in_pipelines.clear()
        if self._send(result for plan in self.plans.values() for result in self._requests_of(plan)):
            raise DontCloseSpider

    def _send(self, found: Iterable[Any]) -> int:
        """Pass requests and items that are of no callback to the engine; return their number."""
        engine, number = self.crawler.engine, 0
        for number, result in enumerate(found, 1):  # noqa: B007
            if isinstance(result, Request):
                engine.crawl(result)
            else:
                deferred_from_coro(engine.scraper.start_itemproc_async(result, response=None))
        return number

    def _more_requests(self, plan: SitePlan) -> Iterator[Any]:
        """Yield the next requests of *plan*, and of others if articles remain for them again."""
        yield from self._requests_of(plan)
        while self._short and self.remaining.number > 0:
            yield from self._requests_of(self._short.pop(next(iter(self._short))))

    def _requests_of(self, plan: SitePlan) -> list[Any]:
        found = list(self._next_requests(plan))
        if not found and plan.requests.is_idle:  # possible further pages that are in no story
            number, joined = plan.release_parts(self.crawl_state.pages.joined)
            self.site_stats.count(plan.site.key, "discovered_count", number)
            for story, key in joined:
                self.crawl_state.pages.record_parts(plan.site.key, story, [key])
            found = list(self._next_requests(plan))
        if not found and self.remaining.number <= 0:
            self._short[plan.site.key] = plan
        return found

    def _spider_closed(self, reason: str) -> None:
        for plan in self.plans.values():
            site = plan.site.key
            in_flight = sum(target.role == "article" for target in plan.requests.in_flight.values())
            skip_reason = plan.skip_reason if reason == "finished" else "stopped"
            skipped = plan.candidate_count + in_flight
            self.site_stats.count(site, f"skipped_count/{skip_reason}", skipped)
            for left_out, number in plan.seen.left_out.items():
                self.site_stats.count(site, f"left_out_count/{left_out}", number)
            self.site_stats.count(site, "undated_count", plan.undated)
            if plan.undated:
                message = "Candidates of %s without a date: %d, requested last; %d were not (%s)"
                left = min(plan.undated, skipped)
                self.logger.info(message, site, plan.undated, left, skip_reason)
            if plan.failure and not plan.is_read:
                self.site_stats.count(site, f"unreachable_count/{plan.failure}")
            for role, number in plan.not_due.items():
                self.site_stats.count(site, f"not_due_count/{role}", number)
