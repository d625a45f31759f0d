"""Crawl states with a fake clock: open, list, fetch, emit."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from newscrawl import clock
from newscrawl.crawling.crawl_store import CrawlStore
from newscrawl.crawling.discovery.entries import Entry
from newscrawl.crawling.discovery.site_list import Site
from newscrawl.crawling.discovery.site_plan import SitePlan
from newscrawl.crawling.discovery.target import Budgets, Target
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.history.revisit_policy import ArticleStatus
from newscrawl.crawling.urls import page_key
from newscrawl.items import Article
from newscrawl.spiders.sitelist import SitelistSpider

Opening = Callable[..., AbstractAsyncContextManager[CrawlState]]

SITE = "site.example"
HOME = f"http://{SITE}/"
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
BUDGETS = Budgets(
    articles=10, requests=100, sitemaps=5, feeds=5, sections=5, depth=2, max_in_flight=2
)


class FakeClock:
    """A clock that stops until it is set forward."""

    def __init__(self) -> None:
        self.now = NOON
        clock.set_clock(lambda: self.now)

    def forward(self, hours: float) -> None:
        """Set the clock forward."""
        self.now += timedelta(hours=hours)


@asynccontextmanager
async def opened(path: Path | str, **settings: Any) -> AsyncIterator[CrawlState]:
    """Open the state as a crawl does."""
    crawler = get_crawler(SitelistSpider, settings_dict={"NEWSCRAWL_STATE": str(path)} | settings)
    state = CrawlState.for_crawler(crawler)
    try:
        await state.open()
        yield state
    finally:
        await CrawlStore.for_crawler(crawler).close()


def entry(path: str, when: datetime | None = None, changed: datetime | None = None) -> Entry:
    url = f"{HOME}{path}"
    times = when and when.timestamp(), changed and changed.timestamp()
    return Entry(url, page_key(url), *times, {"title": path})


def target(listed: Entry) -> Target:
    return Target("article", listed.url, timestamp=listed.timestamp, history=listed.history)


def response(url: str, **headers: str) -> HtmlResponse:
    return HtmlResponse(url, headers=headers, request=Request(url, meta={"newscrawl_site": SITE}))


async def emit(
    state: CrawlState,
    listed: Any,
    text: str,
    *,
    at: str = "",
    canonical: str | None = None,
    title: str | None = None,
    **headers: str,
) -> ArticleStatus | None:
    """Fetch the page *listed*, extract an article with *text*, and return its status."""
    url = f"{HOME}{at}" if at else listed.url
    state.pages.record_fetch(target(listed), response(url, **headers))
    article = Article(url=url, canonical_url=canonical, title=title, body=text)
    return await state.pages.judge(article, url)


async def listed_as_due(state: CrawlState, *entries: Any) -> list[str]:
    """List *entries*; return the paths of those that are due."""
    classified = await state.pages.classify(list(entries))
    state.pages.record_entries(SITE, classified)
    return [page.url.removeprefix(HOME) for page in classified.due]


async def due_pages(state: CrawlState, limit: int = 10) -> list[str]:
    """Return the paths of the due pages at the start of a crawl."""
    history = await state.load(SITE, limit=limit)
    return [page.url.removeprefix(HOME) for page in history.pages]


async def due_page(state: CrawlState) -> Any:
    """Return the only due page."""
    (page,) = (await state.load(SITE, limit=10)).pages
    return page


def frontier(known: Any = None, **options: Any) -> SitePlan:
    return SitePlan(Site(HOME, **options), BUDGETS, known or {})


async def restored_frontier(state: CrawlState, limit: int = 20) -> SitePlan:
    """Return the frontier of the site at the start of a crawl."""
    history = await state.load(SITE, limit=limit)
    site = frontier(history.known_sources)
    for row in history.sources:
        site.add_source(row.role, row.url, depth=row.depth, timestamp=row.published)
    return site
