"""``SitelistSpider``: crawls the newest articles of a list of news sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator  # noqa: TC003  # scrapy-poet reads them
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse, JsonResponse, Response, XmlResponse
from scrapy.utils.defer import deferred_from_coro

from newscrawl import clock
from newscrawl.crawling.article_filters import ArticleFilters
from newscrawl.crawling.discovery.paging import MIN_DISTANCE, Sample, search_stories
from newscrawl.crawling.discovery.period import ANY_TIME, Period, archive_span
from newscrawl.crawling.discovery.site_list import read_arguments
from newscrawl.crawling.discovery.site_plan import SitePlan
from newscrawl.crawling.discovery.target import Budgets, RemainingArticles
from newscrawl.crawling.frontier.leases import OUTCOME, PLANNED, LeaseBook
from newscrawl.crawling.history.conditional_requests import conditional_headers
from newscrawl.crawling.history.crawl_state import CrawlState, Pause
from newscrawl.crawling.history.page_history import DELETED, GONE, ClassifiedEntries
from newscrawl.crawling.history.queries import Queries, Query
from newscrawl.crawling.logs import shorten_start_errors
from newscrawl.crawling.network import copy_response
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.page_download import (
    SHEETS,
    download_page,
    header_feeds,
    header_hints,
    page_of,
)
from newscrawl.crawling.network.page_rendering import PageRenderer
from newscrawl.crawling.network.web_archive import WebArchive
from newscrawl.crawling.reporting.result import QUERY_STAT
from newscrawl.crawling.site_stats import DroppedPage, SiteStats
from newscrawl.crawling.urls import UrlPatterns, absolute_url
from newscrawl.defaults import setting
from newscrawl.document.encoding import is_binary
from newscrawl.fields.kind.barriers import NEEDS_JS, gate_of
from newscrawl.items import KEPT, Article, PageItem, instant, parse_iso
from newscrawl.middlewares import PolitenessMiddleware
from newscrawl.middlewares.opt_out import NOT_EMITTED
from newscrawl.pipeline_options import PAGE_TASK
from newscrawl.pipelines import NewsExtractPipeline
from newscrawl.workers.child import STOPPED, WorkerError, is_stopped
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from newscrawl.crawling.discovery.paging import Place
    from newscrawl.crawling.discovery.site_list import Site
    from newscrawl.crawling.discovery.target import Role, Target
    from newscrawl.crawling.frontier.leases import FinishedRequest
    from newscrawl.crawling.shards import Shard

MAX_ARCHIVE_SPAN: Final = 32 * 24 * 3600
"""Seconds of an archive page whose articles are of its period."""
MAX_PARAMETERS: Final = 20
"""Tracking parameters of a site that are compared, two requests for each combination."""

MIN_SEARCHED: Final = 3 * MIN_DISTANCE
"""Undated entries of a listing that is searched for those of a period."""
MIN_ORDERED: Final = 7
"""Samples of the first listing of a site that show whether its entries are in order of time."""

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
        self.archive: WebArchive | None = None
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
        spider.archive = WebArchive.from_crawler(crawler)
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
        self.renderer = PageRenderer.for_crawler(self.crawler)
        self.site_stats = SiteStats(self.crawler.stats)
        self.emits_deleted = setting(settings, "NEWSCRAWL_DELETED")
        self.max_links = setting(settings, "NEWSCRAWL_PAGE_LINKS")
        self.traps = setting(settings, "NEWSCRAWL_TRAPS_ENABLED")
        self.include = setting(settings, "NEWSCRAWL_INCLUDE")
        self.exclude = setting(settings, "NEWSCRAWL_EXCLUDE")
        self.crawl_state = CrawlState.for_crawler(self.crawler)
        self.queries = Queries.for_crawler(self.crawler)
        if self.query and (asked := str(self.query)):
            self.crawler.stats.set_value(QUERY_STAT, asked)
        self.plans: dict[str, SitePlan] = {}
        self.remaining = RemainingArticles(setting(settings, "NEWSCRAWL_LIMIT") or float("inf"))
        #: plans that have had no request because of :attr:`remaining`
        self._short: dict[str, SitePlan] = {}
        self.crawler.signals.connect(self._item_left, signals.item_scraped)
        for signal in (signals.item_dropped, signals.item_error):
            self.crawler.signals.connect(self._item_lost, signal)
        age = setting(settings, "NEWSCRAWL_MAX_AGE")
        earliest = clock.now() - timedelta(days=age) if age else None
        self.filters = filters = ArticleFilters.read(settings)
        self.since = _iso(filters.earliest or earliest)
        #: the period that was asked for
        self.window = {"since": _iso(filters.earliest), "until": _iso(filters.latest)}

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
        stalled = LeaseBook.for_crawler(self.crawler).stalled
        if stalled and stalled.site != site.key:
            stalled = None
        if stalled:
            await self.crawl_state.record_stall(stalled)
        budgets = Budgets.from_settings(self.crawler.settings, site.limit or self.limit)
        history = await self.crawl_state.load(site.key, limit=2 * budgets.articles)
        period = Period.of(**self.window)
        known, learned = history.known_sources, history.parameters
        plan = SitePlan(site, budgets, known, period, self.remaining, parameters=learned)
        plan.resume(finished)
        for row in history.sources:
            plan.add_source(
                row.role, row.url, depth=row.depth, timestamp=row.published, key=row.key
            )
        patterns = self._patterns_of(plan)
        for page in history.pages:
            if patterns.accept(page["url"]):
                plan.add_article(page, depth=page["depth"], certain=page["certain"])
        self.site_stats.count(site.key, "discovered_count", plan.candidate_count)
        self.plans[site.key] = plan
        if stalled:
            self._count_failure(plan, cast("Role", stalled.role), stalled.url, "stalled")
            plan.add_default_sitemap(stalled.url)
        return plan

    def _patterns_of(self, plan: SitePlan) -> UrlPatterns:
        return UrlPatterns(plan.site.include or self.include, [*plan.site.exclude, *self.exclude])

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
                "dont_obey_robotstxt": target.role == "robots",
                "depth_reset": True,  # the depth is that of the target
                "verbatim_url": url.isascii(),
            }
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
        target = plan.in_flight.get(ticket)
        item = None
        if target is not None:
            plan.address.record_origin(target, response.url)
            try:
                item = await self._on_response(plan, target, response)
            except WorkerError as error:
                if is_stopped(error):
                    raise
                self._record_failure(plan, target, failure_reason(error), response.request)
            except Exception:
                self.logger.exception("Could not process %s", response.url)
                self._record_failure(plan, target, "error", response.request)
            plan.close(ticket, accepted=item is not None)
        if item is not None:
            plan.in_pipelines.add(ticket)
            yield item
        for request in self._more_requests(plan):
            yield request

    async def errback(self, failure: Failure) -> AsyncIterator[Any]:
        """Record the failure of a request; yield an item, if requested, and the next requests."""
        request: Request = failure.request  # type: ignore[attr-defined]
        ticket, plan = self._request_of(request.meta)
        if target := plan.in_flight.get(ticket):
            if is_stopped(failure.value):
                return
            reason = failure_reason(failure.value)
            await self._read_error_page(plan, target, getattr(failure.value, "response", None))
            copy = await self._replace(plan, target, reason, request)
            plan.close(ticket, accepted=copy is not None)
            if copy is not None:
                plan.in_pipelines.add(ticket)
                yield copy
            elif self.emits_deleted and target.is_revisit and reason in DELETED:
                self.site_stats.count(plan.site.key, "deleted_count")
                yield Article(url=target.url, fetched_at=clock.now(), flags=["deleted"])
        for next_request in self._more_requests(plan):
            yield next_request

    def _request_of(self, meta: dict[str, Any]) -> tuple[int, SitePlan]:
        return meta["newscrawl_ticket"], self.plans[meta["newscrawl_site"]]

    async def _replace(
        self, plan: SitePlan, target: Target, reason: str, request: Request | None
    ) -> PageItem | None:
        """Return the copy of a page that is gone in a web archive, or record the failure."""
        if target.role == "article" and not target.is_revisit and reason in GONE:
            site = plan.site.key
            archive = self.archive
            if archive and (copy := await archive.newest_copy(target.url, newscrawl_site=site)):
                plan.record_read(target)
                plan.accepted += 1
                self.crawl_state.pages.record_fetch(target, Response(target.url, request=request))
                self.site_stats.count(site, "fetched_count")
                return replace(copy, site=site, hints={**target.hints, **copy.hints})
        self._record_failure(plan, target, reason, request)
        return None

    def _record_failure(
        self, plan: SitePlan, target: Target, reason: str, request: Request | None = None
    ) -> None:
        self.crawl_state.record_failure(plan, target, request, reason)
        if target.is_start and target.role == "section":
            self.site_stats.count(plan.site.key, f"start_page_count/{reason}")
        if request is not None:
            request.meta[OUTCOME] = f"failed/{reason}"
        self._count_failure(plan, target.role, target.url, reason)

    def _count_failure(self, plan: SitePlan, role: Role, url: str, reason: str) -> None:
        stat = "failed_count" if role == "article" else "discovery_failed_count"
        self.site_stats.count(plan.site.key, f"{stat}/{reason}")
        self.logger.info("Failed (%s): %s %s", reason, role, url)

    async def _on_response(
        self, plan: SitePlan, target: Target, response: Response
    ) -> PageItem | None:
        if response.status == HTTPStatus.NOT_MODIFIED:
            self._on_unchanged(plan, target, response)
        elif target.role in ("section", "article"):
            return await self._on_page(plan, target, response)
        elif target.role == "robots":
            await self._on_robots(plan, target, response)
        else:
            await self._on_listing(plan, target, response)
        return None

    def _on_unchanged(self, plan: SitePlan, target: Target, response: Response) -> None:
        if target.from_site_list and target.role == "section":
            plan.add_domain(response.url)
        self.crawl_state.record_unchanged(plan, target, response)
        plan.count_known(target.history)
        stat = "unchanged_count" if target.role == "article" else "not_modified_count"
        self.site_stats.count(plan.site.key, f"{stat}/{target.role}")

    async def _on_robots(self, plan: SitePlan, target: Target, response: Response) -> None:
        task = "newscrawl.crawling.discovery.sitemaps:read_robots"
        urls = (await self._call(task, plan, response))["sitemaps"]
        for url in urls:
            plan.add_sitemap(url)
        if not urls:
            plan.add_default_sitemap(response.url)
        self.crawl_state.record_listing(plan, target, response, ClassifiedEntries())

    async def _parse_in_worker(
        self, task: str, plan: SitePlan, response: Response, **options: Any
    ) -> dict[str, Any]:
        """Parse *response* in a worker process, again if it has learned parameters of the site."""
        patterns = self._patterns_of(plan)
        options |= {
            "domains": sorted(plan.address.domains),
            "traps": self.traps,
            "patterns": (patterns.include, patterns.exclude),
        }
        for _ in range(2):
            found = await self._call(task, plan, response, learned=plan.parameters, **options)
            if not await self._learn_parameters(plan, found["variants"]):
                break
        return found

    async def _learn_parameters(
        self, plan: SitePlan, variants: Iterable[tuple[Sequence[str], Sequence[str]]]
    ) -> bool:
        """Compare pages that differ only in tracking parameters; return whether some are kept."""
        learned = False
        for names, urls in variants:
            known = plan.parameters
            if len(known) >= MAX_PARAMETERS or not known.keys().isdisjoint(names):
                continue
            known.update(dict.fromkeys(names, False))  # not compared by others meanwhile
            first, second = [await self._read_page(plan, url) for url in urls]
            if first["body"] and second["body"]:
                kept = all(first[name] != second[name] for name in ("stated", "body"))
                known.update(dict.fromkeys(names, kept))
                self.crawl_state.record_parameters(plan.site.key, names, kept=kept)
                learned |= kept
        return learned

    async def _search_period(
        self,
        plan: SitePlan,
        listing: Target,
        listed: list[dict[str, Any]],
        left_out: dict[str, int],
        *,
        goes_on: bool = True,
    ) -> list[dict[str, Any]]:
        """Return *listed* without the undated entries of other times, counted in *left_out*.

        The dates of a few pages show these, if the entries are in order of time. *goes_on*: the
        listing has further pages.
        """
        undated = [entry for entry in listed if entry["timestamp"] is None]
        if len(undated) < MIN_SEARCHED or not plan.is_searched(listing, goes_on=goes_on):
            return listed
        role: Role = "sitemap" if listing.role == "sitemap" else "section"

        async def read(number: int) -> Sample | None:
            text = (await self._read_page(plan, undated[number]["url"]))["date"]
            if (moment := instant(text)) is None:
                return None
            return Sample(moment.timestamp(), self.filters.reason_by_date(parse_iso(text)))

        score = plan.order_scores[role]
        samples = 3 if score else MIN_ORDERED
        reasons = await search_stories(len(undated), samples, read) if score >= 0 else None
        plan.order_scores[role] += 1 if reasons else -1
        counts = Counter(left_out)
        if reasons:
            counts.update(filter(None, reasons))
            outside = {e["key"] for e, reason in zip(undated, reasons, strict=True) if reason}
            for entry in undated:
                entry["timestamp"] = plan.period.until
            listed = [entry for entry in listed if entry["key"] not in outside]
        limit = 2 * plan.budgets.articles
        counts["over_limit"] += max(len(listed) - limit, 0)
        left_out.update(+counts)
        return listed[:limit]

    async def _read_page(self, plan: SitePlan, url: str) -> dict[str, Any]:
        """Return the body of a page, its date, title and canonical URL; no body if it fails."""
        try:
            meta = {"newscrawl_site": plan.site.key, "verbatim_url": True}
            response = await download_page(self.crawler, url, meta)
            page = await self._call(PAGE_TASK, plan, response, encoding=page_of(response).encoding)
        except Exception as error:  # noqa: BLE001  # any middleware's
            if is_stopped(error):
                raise WorkerError(str(error), STOPPED) from None
            self.logger.info("Could not read (%s): %s", failure_reason(error), url)
            return {"body": "", "date": None}
        return {**page, "stated": (page["title"], page["canonical_url"])}

    async def _call(
        self, task: str, plan: SitePlan, response: Response, **options: Any
    ) -> dict[str, Any]:
        site, url = plan.site.key, response.url
        return await self.pool.call(task, response.body, site=site, url=url, **options)

    async def _on_listing(self, plan: SitePlan, target: Target, response: Response) -> None:
        """Process a feed or sitemap."""
        # Twice the limit, since some candidates fail or are not articles.
        limit = 2 * plan.budgets.articles
        options, task = {**self.window, "limit": limit}, "feed_parser:read_feed"
        if target.role == "sitemap":
            options["since"], task = self.since, "sitemaps:read_sitemap"
        task = f"newscrawl.crawling.discovery.{task}"
        listing = await self._parse_in_worker(task, plan, response, **options)
        if listing["kind"] == "unknown":
            self._record_failure(plan, target, "unreadable", response.request)
            if isinstance(response, HtmlResponse):
                plan.add_html_listing(response.url, target.depth)
            return
        listed, left_out = listing["entries"], listing["left_out"]
        plan.exclude(listing["outside"])
        if listing["kind"] == "index":
            for entry in listed:  # of feeds, in OPML, or of sitemaps
                time, key = entry["timestamp"], entry["key"]
                depth = target.depth + 1
                plan.add_source(target.role, entry["url"], depth=depth, timestamp=time, key=key)
            listed = []
        elif target.role == "sitemap":
            listed = await self._search_period(plan, target, listed, left_out)
            plan.record_place(target, _place(plan, listed, left_out))
        self._count_left_out(plan, left_out)
        if "over_size" in left_out:
            self.logger.info("Truncated (size limit): %s", response.url)
        certain = listing["kind"] in ("feed", "news")
        before, since = plan.listed_count, target.history.get("fetched_at")
        entries = await self._add_articles(plan, response.url, listed, certain=certain, since=since)
        following = listing.get("next") and absolute_url(str(listing["next"]), response.url)
        if following:
            place = _place(plan, listed, left_out)
            if place == "newer" or _goes_on(plan, before, entries):
                plan.add_next_feed(following)
        pause = Pause(listing.get("ttl", 0.0), frozenset(listing.get("skip_hours", ())))
        rolled_over = self.crawl_state.record_listing(
            plan, target, response, entries, certain=certain, pause=pause
        )
        self.site_stats.count(plan.site.key, "rolled_over_count", int(rolled_over))

    async def _on_page(self, plan: SitePlan, target: Target, response: Response) -> PageItem | None:
        if target.from_site_list:
            plan.add_domain(response.url)
        if target.role == "section" and isinstance(response, XmlResponse):
            await self._on_listing(plan, target, response)
            return None
        if reason := self._rejection(plan, target, response):
            return await self._replace(plan, target, reason, response.request)
        if target.certain or target.is_revisit:
            return self._accept(plan, target, response)
        page, response = await self._read_links(plan, target, response)
        item = None
        if page["barrier"] and target.role == "section":
            self._follow_sources(plan, target, page, response)
            self._record_failure(plan, target, page["barrier"], response.request)
            return None
        if target.role == "article":
            is_list = page["kind"] == "index" and not page["barrier"]
            plan.record_kind(target, is_list=is_list)
            if not is_list:
                item = self._accept(plan, target, response)
                item.extracted = page["article"] and (item.html, page["article"])
                return item
            self._drop_index(plan.site.key, response, page)
        # Only sections with article metadata: others may be an imprint or a privacy policy.
        elif page["is_article"] and not target.from_site_list:
            item = await self._accept_section(plan, target, response)
        await self._follow_links(plan, target, response, page)
        return item

    async def _read_links(
        self, plan: SitePlan, target: Target, response: Response
    ) -> tuple[dict[str, Any], Response]:
        """Return the kind and the links of a page, and the page; a section is rendered if needed."""
        task = "newscrawl.crawling.discovery.page_links:read_page"
        # Reading the links takes as long as an extraction.
        links = {"limit": self.max_links, "index_only": target.role == "article"}
        sent = self._page_item(plan, target, response)
        options = {"encoding": sent.encoding, **links, **self.window}
        pipeline = self.crawler.get_item_pipeline(NewsExtractPipeline)
        if target.role == "article" and pipeline is not None:
            options["extraction"] = await pipeline.task_arguments(sent)
        try:
            page = await self._parse_in_worker(task, plan, response, **options)
        except WorkerError:
            if not options.pop("extraction", None):
                raise
            page = await self._parse_in_worker(task, plan, response, **options)
        if page["barrier"] == NEEDS_JS and target.role == "section":
            has_links = page["articles"] and not page["scripted"]
            if not has_links and (shown := await self.renderer.render(sent)):
                # Without validators: the page as sent stays the same when there are new links.
                response = copy_response(response, body=shown.html, headers={})
                options["encoding"] = shown.encoding
                page = await self._parse_in_worker(task, plan, response, **options)
            page["barrier"] = None if page["articles"] else page["barrier"]
        return page, response

    def _rejection(self, plan: SitePlan, target: Target, response: Response) -> str | None:
        is_data = target.role == "section" and isinstance(response, JsonResponse)
        if not isinstance(response, HtmlResponse) and not is_data:
            return "not_html"
        if is_binary(response.body):
            return "binary"
        if response.url != target.url and not target.from_site_list:
            if reason := gate_of(target.url, response.url) or plan.home_reason(
                target, response.url
            ):
                return reason
            if not self._patterns_of(plan).accept(response.url):
                return "pattern"
        if not plan.address.owns(response.url):
            return "other_site"
        return None if plan.add_final_url(target, response.url) else "duplicate"

    def _drop_index(self, site: str, response: Response, page: dict[str, Any]) -> None:
        kind, confidence = page["kind"], page["confidence"]
        self.site_stats.count(site, "fetched_count")
        self.site_stats.count(site, "dropped_count/not_article")
        self.site_stats.add_dropped_page(DroppedPage(site, kind, confidence, response.url))
        self.logger.info("Dropped: not an article (%s, %.2f): %s", kind, confidence, response.url)
        response.meta[OUTCOME] = "dropped/not_article"

    async def _follow_links(
        self, plan: SitePlan, target: Target, response: Response, page: dict[str, Any]
    ) -> None:
        entries, depth = ClassifiedEntries(), target.depth + 1
        self._add_feeds(plan, page["feeds"], response)
        if target.depth <= plan.budgets.depth:
            # Known articles may have links like those of sections.
            for entry in await self.crawl_state.pages.without_articles(
                page["sections"], plan.site.key
            ):
                plan.add_section(entry, depth)
            page["articles"] = await self._search_period(
                plan, target, page["articles"], page["left_out"], goes_on=bool(page["next"])
            )
            self._count_left_out(plan, page["left_out"])
            place = _place(plan, page["articles"], page["left_out"])
            begin, end = archive_span(target.url) or (0, 0)
            for entry in page["articles"] if end - begin < MAX_ARCHIVE_SPAN else ():
                # Of an archive page, unless it lists a year.
                entry["timestamp"] = entry["timestamp"] or target.timestamp
            before, since = plan.listed_count, target.history.get("fetched_at")
            entries = await self._add_articles(
                plan, response.url, page["articles"], depth=depth, since=since
            )
            if place in ("within", "undated") and not _goes_on(plan, before, entries):
                place = "older"
            plan.add_pages(target, page["next"], place)
        self.crawl_state.record_listing(plan, target, response, entries, depth=depth)

    def _add_feeds(self, plan: SitePlan, feeds: Iterable[str], response: Response) -> None:
        for url in (*feeds, *header_feeds(response)):
            plan.add_feed(url)

    def _follow_sources(
        self, plan: SitePlan, target: Target, page: dict[str, Any], response: Response
    ) -> None:
        """Add the feeds and, of a page of the site list, the sections that a barrier names."""
        self._add_feeds(plan, page["feeds"], response)
        for entry in page["sections"] if target.from_site_list else ():
            plan.add_section(entry, target.depth + 1)

    async def _read_error_page(
        self, plan: SitePlan, target: Target, response: Response | None
    ) -> None:
        """Add the sources that a page of the site list names although its status is an error."""
        if (
            target.role != "section"
            or not target.is_start
            or not isinstance(response, HtmlResponse)
        ):
            return
        task = "newscrawl.crawling.discovery.page_links:read_page"
        try:
            page = await self._parse_in_worker(task, plan, response, limit=self.max_links)
        except WorkerError:
            page = {"feeds": (), "sections": ()}
        self._follow_sources(plan, target, page, response)

    async def _accept_section(
        self, plan: SitePlan, target: Target, response: Response
    ) -> PageItem | None:
        history = await self.crawl_state.pages.add_page(plan.site.key, target)
        is_wanted = self._patterns_of(plan).accept(target.url) and self.remaining.number > 0
        is_wanted &= NOT_EMITTED not in response.meta
        if history is None or not is_wanted or not plan.mark_article(target.key):
            return None
        self.site_stats.count(plan.site.key, "discovered_count")
        return self._accept(plan, replace(target, role="article", history=history), response)

    def _accept(self, plan: SitePlan, target: Target, response: Response) -> PageItem:
        plan.record_read(target)
        plan.accepted += not target.is_revisit
        self.crawl_state.pages.record_fetch(target, response)
        self.site_stats.count(plan.site.key, "fetched_count")
        return self._page_item(plan, target, response)

    def _page_item(self, plan: SitePlan, target: Target, response: Response) -> PageItem:
        hints = {**target.hints, **header_hints(response)}
        if kept := [name for name in sorted(plan.kept) if f"{name}=" in target.url.lower()]:
            hints[KEPT] = ",".join(kept)
        return replace(
            page_of(response),
            site=plan.site.key,
            hints=hints,
            stylesheets=response.meta.get(SHEETS) or None,  # False for a section page
        )

    async def _add_articles(
        self,
        plan: SitePlan,
        source: str,  # noqa: ARG002  # for subclasses
        listed: list[dict[str, Any]],
        *,
        depth: int = 0,
        certain: bool = False,
        since: float | None = None,
    ) -> ClassifiedEntries:
        """Add the articles listed at the URL *source*, last read at *since*, that are due."""
        entries = await self.crawl_state.pages.classify(listed, plan.site.key, since=since)
        added = [plan.add_article(entry, depth=depth, certain=certain) for entry in entries.due]
        known = plan.add_known_pages(entries.known)
        self.site_stats.count(plan.site.key, "discovered_count", sum(added))
        self.site_stats.count(plan.site.key, "known_count", known)
        return entries

    def _count_left_out(self, plan: SitePlan, left_out: dict[str, int]) -> None:
        for reason, number in left_out.items():
            self.site_stats.count(plan.site.key, f"left_out_count/{reason}", number)

    def _item_left(self, response: Response | Failure | None) -> None:
        """Continue with the site of an item that has left the pipelines."""
        request = getattr(response, "request", None)
        if request is None or "newscrawl_ticket" not in request.meta:
            return
        ticket, plan = self._request_of(request.meta)
        if ticket in plan.in_pipelines:
            plan.in_pipelines.remove(ticket)
            self._send(self._more_requests(plan))

    def _item_lost(self, response: Response | Failure | None) -> None:
        """Request another page for one that gave no article."""
        self.remaining.number += 1
        self._item_left(response)

    def _spider_idle(self) -> None:
        """Fail the requests that got no response, and continue with the next requests."""
        for plan in self.plans.values():
            for ticket in list(plan.in_flight):
                if target := plan.close(ticket):
                    self._record_failure(plan, target, "lost")
            plan.in_pipelines.clear()
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
        if not found and plan.is_idle:
            found = self._part_requests(plan)
        if not found and self.remaining.number <= 0:
            self._short[plan.site.key] = plan
        return found

    def _part_requests(self, plan: SitePlan) -> list[Any]:
        """Return the requests of possible further pages that are in no story."""
        number, joined = plan.release_parts(self.crawl_state.pages.joined)
        self.site_stats.count(plan.site.key, "discovered_count", number)
        for story, key in joined:
            self.crawl_state.pages.record_parts(plan.site.key, story, [key])
        return list(self._next_requests(plan))

    def _spider_closed(self, reason: str) -> None:
        for plan in self.plans.values():
            site = plan.site.key
            in_flight = sum(target.role == "article" for target in plan.in_flight.values())
            skip_reason = plan.skip_reason if reason == "finished" else "stopped"
            skipped = plan.candidate_count + in_flight
            self.site_stats.count(site, f"skipped_count/{skip_reason}", skipped)
            self._count_left_out(plan, plan.left_out)
            self.site_stats.count(site, "undated_count", plan.undated)
            if plan.undated:
                message = "Candidates of %s without a date: %d, requested last; %d were not (%s)"
                left = min(plan.undated, skipped)
                self.logger.info(message, site, plan.undated, left, skip_reason)
            if plan.failure and not plan.is_read:
                self.site_stats.count(site, f"unreachable_count/{plan.failure}")
            for role, number in plan.not_due.items():
                self.site_stats.count(site, f"not_due_count/{role}", number)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _goes_on(plan: SitePlan, before: int, entries: ClassifiedEntries) -> bool:
    """Return whether the next page may have other new articles, after *before* listed ones."""
    return plan.listed_count > before and (plan.period != ANY_TIME or not entries.known)


def _place(plan: SitePlan, articles: list[dict[str, Any]], left_out: dict[str, int]) -> Place:
    """Return when most articles of a listing were published, compared with the period."""
    dates = [entry["timestamp"] for entry in articles if entry["timestamp"]]
    if articles and not dates:
        return "undated"
    if not all(map(plan.period.is_after, dates)):
        return "within"
    return (
        "newer" if len(dates) + left_out.get("too_new", 0) > left_out.get("too_old", 0) else "older"
    )
