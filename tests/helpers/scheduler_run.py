"""A run of the scheduler on a state file, with Scrapy's engine, which is not started."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from newscrawl.crawling.frontier import LeaseMiddleware, LeaseScheduler
from newscrawl.crawling.frontier.leases import LeaseBook

URL = "https://a.example"


class Pages(Spider):
    name = "pages"

    def parse(self, response: Response) -> None: ...

    def other(self, response: Response) -> None: ...


class Run:
    """A run of the crawl with the state file *state*."""

    def __init__(self, state: Path, spider: type[Spider], settings: dict[str, Any]) -> None:
        self.crawler = get_crawler(
            spider,
            settings_dict={
                "NEWSCRAWL_STATE": str(state),
                "NEWSCRAWL_SEGMENTS": "segments",
                "SCHEDULER": "newscrawl.crawling.frontier.LeaseScheduler",
                "SPIDER_MIDDLEWARES": {"newscrawl.crawling.frontier.LeaseMiddleware": 1},
                "DOWNLOADER": "newscrawl.crawling.network.downloader.Downloader",
                "DOWNLOAD_HANDLERS": dict.fromkeys(("data", "file", "ftp", "http", "https", "s3")),
                **settings,
            },
        )
        self.spider = self.crawler.spider = spider.from_crawler(self.crawler)
        self.crawler.engine = ExecutionEngine(self.crawler, lambda _: None)
        self.scheduler = LeaseScheduler.from_crawler(self.crawler)
        self.middleware = LeaseMiddleware.from_crawler(self.crawler)
        self.book = LeaseBook.for_crawler(self.crawler)
        # The engine adds the request to the scheduler, but has to run for that.
        self.crawler.engine.crawl = self.scheduler.enqueue_request

    def add(self, *pages: int, callback: str = "parse", **options: Any) -> list[bool]:
        """Enqueue requests for *pages*; return whether each is new."""
        method = getattr(self.spider, callback)
        return [
            self.scheduler.enqueue_request(Request(f"{URL}/{n}", method, **options)) for n in pages
        ]

    def next(self) -> Request:
        request = self.scheduler.next_request()
        assert request is not None
        return request

    async def next_pages(self, count: int) -> list[str]:
        """Return the pages of the next *count* requests, and end these."""
        pages: list[str] = []
        while len(pages) < count:
            if request := self.scheduler.next_request():
                pages.append(request.url.removeprefix(f"{URL}/"))
                self.end(request)
            else:
                await asyncio.sleep(0.001)
        return pages

    def end(self, request: Request) -> None:
        """Record a response to *request* without results."""
        lease = self.book.find(request)
        assert lease is not None
        self.book.response_received(lease, request)
        self.book.check(lease)
        self.book.end_finished()

    def response(self, request: Request, items: int = 0) -> Response:
        """Return a response to *request*, whose callback has yielded *items* and finished."""
        lease = self.book.find(request)
        assert lease is not None
        self.book.response_received(lease, request)
        lease.outputs = items
        return Response(request.url, request=request)

    def send(self, signal: object, response: Response, item: object, **arguments: Any) -> None:
        """Send the signal of an item that has left the pipelines."""
        self.crawler.signals.send_catch_log(
            signal, item=item, response=response, spider=self.spider, **arguments
        )
        self.book.end_finished()

    async def outcomes(self) -> dict[str, str]:
        rows = await self.book.store.read("SELECT url, outcome FROM outcome")
        return {url.removeprefix(f"{URL}/"): outcome for url, outcome in rows}


@asynccontextmanager
async def run(
    state: Path, spider: type[Spider] = Pages, reason: str = "shutdown", **settings: Any
) -> AsyncIterator[Run]:
    """Open the scheduler, and close it for *reason*."""
    current = Run(state, spider, settings)
    loop = asyncio.get_running_loop()
    await current.scheduler.open(current.spider).asFuture(loop)
    yield current
    await current.scheduler.close(reason).asFuture(loop)
    await current.crawler.signals.send_catch_log_async(signals.engine_stopped)
