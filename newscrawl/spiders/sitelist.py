"""``scrapy crawl sitelist``: a list of news sites in, their newest article pages out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse

from newscrawl import clock
from newscrawl.crawl.discovery.site_frontier import SiteFrontier
from newscrawl.crawl.discovery.spider_arguments import read_arguments
from newscrawl.crawl.discovery.target import Budgets
from newscrawl.crawl.frontier.lease import OUTCOME
from newscrawl.crawl.frontier.leases import LeaseBook
from newscrawl.crawl.frontier.request_keys import PLANNED
from newscrawl.crawl.history.conditional_requests import conditions
from newscrawl.crawl.history.crawl_state import CrawlState
from newscrawl.crawl.history.page_history import Sifted
from newscrawl.crawl.reporting.outcomes import DroppedPage, SiteStats, failure_reason
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
    from newscrawl.crawl.frontier.lease import Ended
    from newscrawl.crawl.frontier.shards import Shard

#: Discovery goes first in a host's queue: only what is known can be put in order.
_PRIORITY: dict[Role, int] = {
    "robots": 4_000_000,
    "sitemap": 3_000_000,
    "feed": 3_000_000,
    "section": 2_000_000,
    "article": 0,
}

#: indexes of indexes are not in the protocol, and on the web
MAX_SITEMAP_DEPTH = 3


class SitelistSpider(Spider):
    """Finds the newest articles of each site and yields a :class:`PageItem` for each.

    Arguments: ``sites`` (a file, see :mod:`newscrawl.crawl.discovery.site_list`) or ``site`` (a URL), ``limit``
    (article pages a site) and ``shard`` (``3/16``: of sixteen parts of the list, the third).
    Without the first two, ``NEWSCRAWL_SITES`` names the file.
    """

    name = "sitelist"

    def __init__(
        self,
        sites: list[Site],
        limit: int | None = None,
        shard: Shard | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.sites = sites
        self.limit = limit
        self.shard = shard

    @classmethod
    def from_crawler(cls, crawler: Crawler, **kwargs: Any) -> Self:
        """Return the spider; raises ``SitesError`` for arguments that cannot be used."""
        hidden = {name: value for name, value in kwargs.items() if name.startswith("_")}
        spider = cls(*read_arguments(kwargs, crawler.settings), **hidden)
        spider._set_crawler(crawler)
        crawler.signals.connect(spider._opened, signals.spider_opened)
        crawler.signals.connect(spider._idle, signals.spider_idle)
        crawler.signals.connect(spider._closed, signals.spider_closed)
        return spider

    def _opened(self) -> None:
        settings = self.crawler.settings
        if self.shard:
            listed = self.sites
            self.sites = [site for site in listed if self.shard.holds(site.url)]
            self.logger.info("Shard %s: %d of %d sites", self.shard, len(self.sites), len(listed))
        self.pool = WorkerPool.for_crawler(self.crawler)
        self.politeness = self.crawler.get_downloader_middleware(PolitenessMiddleware)
        self.counts = SiteStats(self.crawler.stats)
        self.max_links = setting(settings, "NEWSCRAWL_PAGE_LINKS")
        self.traps = setting(settings, "NEWSCRAWL_TRAPS_ENABLED")
        self.state = CrawlState.for_crawler(self.crawler)
        self.frontiers: dict[str, SiteFrontier] = {}
        age = setting(settings, "NEWSCRAWL_MAX_AGE")
        self.since = (clock.now() - timedelta(days=age)).isoformat() if age else None

    def _budgets(self, limit: int | None) -> Budgets:
        settings = self.crawler.settings
        return Budgets(
            articles=limit or setting(settings, "NEWSCRAWL_SITE_LIMIT"),
            requests=setting(settings, "NEWSCRAWL_SITE_REQUESTS"),
            sitemaps=setting(settings, "NEWSCRAWL_SITE_SITEMAPS"),
            feeds=setting(settings, "NEWSCRAWL_SITE_FEEDS"),
            sections=setting(settings, "NEWSCRAWL_SITE_SECTIONS"),
            depth=setting(settings, "NEWSCRAWL_LINK_DEPTH"),
            window=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") + 1,
        )

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first requests of each site."""
        await self.state.open()
        book = LeaseBook.for_crawler(self.crawler)
        ended = await book.ended()
        if self.politeness:
            self.politeness.on_request = book.spend
            for key, requests in (await book.spent()).items():
                self.politeness.resume(key, requests, len(ended.get(key, [])))
        for site in self.sites:
            frontier = await self._frontier(site, ended.get(site.key, []))
            for request in self._requests(frontier):
                yield request

    async def _frontier(self, site: Site, ended: list[Ended]) -> SiteFrontier:
        """Return the frontier of *site*, with what former crawls leave to do.

        *ended*: what this one did before it was interrupted.
        """
        budgets = self._budgets(site.limit or self.limit)
        memory = await self.state.recall(site.key, limit=2 * budgets.articles)
        frontier = SiteFrontier(site, budgets, memory.sources.known)
        frontier.resume(ended)
        for row in memory.sources.rows:
            frontier.add_source(row.role, row.url, depth=row.depth, when=row.published)
        new = [
            frontier.add_article(page, depth=page["depth"], certain=page["certain"])
            for page in memory.pages
        ]
        self.counts.count(site.key, "discovered_count", sum(new))
        self.frontiers[site.key] = frontier
        return frontier

    def _requests(self, frontier: SiteFrontier) -> Iterator[Request]:
        if self.politeness:
            frontier.extra = self.politeness.extra[frontier.site.key]
        for ticket, target in frontier.next_targets():
            yield Request(
                target.url,
                callback=self.parse,
                errback=self.fail,
                # Requests of the same kind leave in the order of their tickets: newest first.
                priority=_PRIORITY[target.role] - ticket,
                # Seen URLs are this spider's to know: the dupefilter would swallow a redirect
                # to one of them, and the request with it.
                dont_filter=True,
                headers=conditions(target.past),
                meta={
                    PLANNED: True,
                    "newscrawl_site": frontier.site.key,
                    "newscrawl_ticket": ticket,
                    "newscrawl_role": target.role,
                    # Archives keep it with the page.
                    "newscrawl_hints": target.hints,
                    "dont_obey_robotstxt": target.role == "robots",
                    # Depth counts links, not callbacks.
                    "depth_reset": True,
                    **({"handle_httpstatus_list": [304]} if conditions(target.past) else {}),
                    # A section page needs no style.
                    **({} if target.role == "article" else {META: False}),
                },
            )

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Read what came back; yield a page item if it is an article, and what to fetch next."""
        ticket, frontier = self._request_of(response.meta)
        target = frontier.open.get(ticket)
        item = None
        if target is not None:
            try:
                item = await self._read(frontier, target, response)
            except WorkerError as error:
                self._failed(frontier, target, failure_reason(error), response.request)
            except Exception:
                self.logger.exception("Reading %s", response.url)
                self._failed(frontier, target, "error", response.request)
            frontier.close(ticket)
        if item is not None:
            yield item
        for request in self._requests(frontier):
            yield request

    async def fail(self, failure: Failure) -> AsyncIterator[Request]:
        """Record why a request failed; yield what to fetch next."""
        request: Request = failure.request  # type: ignore[attr-defined]
        ticket, frontier = self._request_of(request.meta)
        if target := frontier.close(ticket):
            self._failed(frontier, target, failure_reason(failure.value), request)
        for request in self._requests(frontier):
            yield request

    def _request_of(self, meta: dict[str, Any]) -> tuple[int, SiteFrontier]:
        return meta["newscrawl_ticket"], self.frontiers[meta["newscrawl_site"]]

    def _failed(
        self, frontier: SiteFrontier, target: Target, reason: str, request: Request | None = None
    ) -> None:
        self.state.failed(frontier, target, request, reason)
        if request is not None:
            request.meta[OUTCOME] = f"failed/{reason}"
        what = "failed_count" if target.role == "article" else "discovery_failed_count"
        self.counts.count(frontier.site.key, f"{what}/{reason}")
        self.logger.info("Failed (%s): %s %s", reason, target.role, target.url)
        if target.role == "robots":
            frontier.guess_sitemap(target.url)

    async def _read(
        self, frontier: SiteFrontier, target: Target, response: Response
    ) -> PageItem | None:
        if response.status == HTTPStatus.NOT_MODIFIED:
            self._unchanged(frontier, target, response)
            return None
        if target.role in ("section", "article"):
            return await self._read_page(frontier, target, response)
        if target.role == "robots":
            found = await self.pool.call(
                "newscrawl.crawl.discovery.sitemaps:read_robots", response.body, url=response.url
            )
            for url in found["sitemaps"]:
                frontier.add_sitemap(url)
            if not found["sitemaps"]:
                frontier.guess_sitemap(response.url)
            self.state.listed(frontier, target, response, Sifted())
        else:
            await self._read_listing(frontier, target, response)
        return None

    def _unchanged(self, frontier: SiteFrontier, target: Target, response: Response) -> None:
        if target.given and target.role == "section":
            frontier.move(response.url)
        self.state.unchanged(frontier, target, response)
        frontier.add_named(target.past)
        what = "unchanged_count" if target.role == "article" else "not_modified_count"
        self.counts.count(frontier.site.key, f"{what}/{target.role}")

    async def _read_listing(
        self, frontier: SiteFrontier, target: Target, response: Response
    ) -> None:
        plain: dict[str, Any] = {"url": response.url, "owners": sorted(frontier.owners)}
        # Twice the limit, since some candidates fail or turn out to be no articles.
        plain["limit"] = 2 * frontier.budgets.articles
        plain["traps"] = self.traps
        if target.role == "feed":
            task = "newscrawl.crawl.discovery.feed_parser:read_feed"
        else:
            task, plain["since"] = "newscrawl.crawl.discovery.sitemaps:read_sitemap", self.since
        found = await self.pool.call(task, response.body, **plain)
        if found["kind"] == "unknown":
            self._failed(frontier, target, "unreadable", response.request)
            return
        self._count_left_out(frontier, found["left_out"])
        if "over_size" in found["left_out"]:
            self.logger.info("Too large, its beginning was read: %s", response.url)
        is_index = found["kind"] == "index"
        if is_index and target.depth < MAX_SITEMAP_DEPTH:
            for entry in found["entries"]:
                frontier.add_sitemap(entry["url"], depth=target.depth + 1, when=entry["when"])
        sifted = await self.state.pages.sift([] if is_index else found["entries"])
        certain = found["kind"] in ("feed", "news")
        self._add_articles(frontier, sifted, certain=certain)
        cut = plain["limit"] if found["left_out"].get("over_limit") else 0
        self.state.listed(frontier, target, response, sifted, certain=certain, cut=cut)

    async def _read_page(
        self, frontier: SiteFrontier, target: Target, response: Response
    ) -> PageItem | None:
        if target.given:
            frontier.move(response.url)
        if reason := self._refusal(frontier, target, response):
            self._failed(frontier, target, reason, response.request)
            return None
        if target.certain or target.is_revisit:
            return self._take(frontier, target, response)
        page = await self._read_links(frontier, response)
        item = None
        if target.role == "article":
            if page["kind"] != "index":
                return self._take(frontier, target, response)
            self.counts.count(frontier.site.key, "fetched_count")
            self.counts.count(frontier.site.key, "dropped_count/not_article")
            no_article = DroppedPage(
                frontier.site.key, page["kind"], page["confidence"], response.url
            )
            self.counts.add_dropped_page(no_article)
            self.logger.info("Dropped: not an article (%s, %.2f): %s", *no_article[1:])
            response.meta[OUTCOME] = "dropped/not_article"
        # Of sections those that only look like an article are the imprint and the privacy policy.
        elif page["is_story"] and not target.given:
            item = await self._take_section(frontier, target, response)
        await self._follow(frontier, target, response, page)
        return item

    def _refusal(self, frontier: SiteFrontier, target: Target, response: Response) -> str | None:
        if not isinstance(response, HtmlResponse):
            return "not_html"
        if is_binary(response.body):
            return "binary"
        if not frontier.owns(response.url):
            return "other_site"
        return None if frontier.arrived(target, response.url) else "duplicate"

    async def _read_links(self, frontier: SiteFrontier, response: Response) -> dict[str, Any]:
        return await self.pool.call(
            "newscrawl.crawl.discovery.page_links:read_page",
            response.body,
            url=response.url,
            owners=sorted(frontier.owners),
            encoding=_charset(response),
            limit=self.max_links,
            traps=self.traps,
        )

    async def _follow(
        self, frontier: SiteFrontier, target: Target, response: Response, page: dict[str, Any]
    ) -> None:
        sifted, depth = Sifted(), target.depth + 1
        for url in page["feeds"]:
            frontier.add_feed(url)
        if target.depth <= frontier.budgets.depth:
            # A link may not look like an article's, and lead to one all the same.
            for entry in await self.state.pages.not_articles(page["sections"]):
                frontier.add_section(entry, depth)
            self._count_left_out(frontier, page["left_out"])
            sifted = await self.state.pages.sift(page["articles"])
            self._add_articles(frontier, sifted, depth=depth)
        self.state.listed(frontier, target, response, sifted, depth=depth)

    async def _take_section(
        self, frontier: SiteFrontier, target: Target, response: Response
    ) -> PageItem | None:
        """Take a section page that turns out to be an article, unless it is known."""
        past = await self.state.pages.list_page(frontier.site.key, target)
        if past is None or not frontier.claim(target.key):
            return None
        self.counts.count(frontier.site.key, "discovered_count")
        return self._take(frontier, replace(target, role="article", past=past), response)

    def _take(self, frontier: SiteFrontier, target: Target, response: Response) -> PageItem:
        frontier.taken += not target.is_revisit
        self.state.pages.taken(target, response)
        self.counts.count(frontier.site.key, "fetched_count")
        return PageItem(
            url=response.url,
            html=response.body,
            encoding=_charset(response),
            fetched_at=clock.now(),
            site=frontier.site.key,
            hints=target.hints,
            stylesheets=response.meta.get(META) or None,  # False: a section page
        )

    def _add_articles(
        self, frontier: SiteFrontier, sifted: Sifted, *, depth: int = 0, certain: bool = False
    ) -> None:
        new = [frontier.add_article(entry, depth=depth, certain=certain) for entry in sifted.due]
        self.counts.count(frontier.site.key, "discovered_count", sum(new))
        self.counts.count(frontier.site.key, "known_count", frontier.add_known(sifted.known))

    def _count_left_out(self, frontier: SiteFrontier, left_out: dict[str, int]) -> None:
        for reason, number in left_out.items():
            self.counts.count(frontier.site.key, f"left_out_count/{reason}", number)

    def _idle(self) -> None:
        """Settle requests that nothing answers for any more, and go on with their sites."""
        requests: list[Request] = []
        for frontier in self.frontiers.values():
            for ticket in list(frontier.open):
                if target := frontier.close(ticket):
                    self._failed(frontier, target, "lost")
            requests += self._requests(frontier)
        for request in requests:
            self.crawler.engine.crawl(request)
        if requests:
            raise DontCloseSpider

    def _closed(self, reason: str) -> None:
        for frontier in self.frontiers.values():
            pages = sum(target.role == "article" for target in frontier.open.values())
            why = frontier.end if reason == "finished" else "stopped"
            self.counts.count(frontier.site.key, f"skipped_count/{why}", frontier.waiting + pages)
            for role, number in frontier.resting.items():
                self.counts.count(frontier.site.key, f"not_due_count/{role}", number)


def _charset(response: Response) -> str | None:
    return header_charset(response.headers.get("Content-Type"))
