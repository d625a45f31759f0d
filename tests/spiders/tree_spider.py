"""Spider of another project: crawls a TreeSite."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar, Self

import scrapy
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DropItem, NotConfigured
from scrapy.http import Response
from twisted.python.failure import Failure

from newscrawl.workers.pool import WorkerPool

TASK = "newscrawl.workers.tasks:extract_page"


class SlowPipeline:
    """Delays items, as extraction does, and drops every hundredth item."""

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.01)
        if item["n"] % 100 == 3:
            raise DropItem("every hundredth item", log_level="DEBUG")
        return item


class WorkerPipeline:
    """Parses the item in a worker process if ``TREE_WORKERS`` is set."""

    def __init__(self, crawler: Crawler) -> None:
        self._pool = WorkerPool.for_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getint("TREE_WORKERS"):
            raise NotConfigured
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        await self._pool.call(TASK, f"<p>{item['body']}".encode())
        return item


class TreeSpider(scrapy.Spider):
    """Follows all links; closes at the page with the number *stop*, if given."""

    name = "tree"
    custom_settings: ClassVar = {"ITEM_PIPELINES": {SlowPipeline: 300, WorkerPipeline: 301}}

    def __init__(self, url: str, stop: str | None = None) -> None:
        super().__init__()
        self.url = url
        self.stop = stop

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.url}/0", dont_filter=True)

    def parse(self, response: Response, depth: int = 0) -> Iterator[Any]:
        title = response.css("title::text").get("")
        number = title.removeprefix("Page ")
        yield {"url": response.url, "n": int(number), "body": response.css("p::text").get()}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(
                link, self.parse, errback=self.failed, cb_kwargs={"depth": depth + 1}
            )
        if number == self.stop:
            raise CloseSpider("enough")

    def failed(self, failure: Failure) -> None:
        self.logger.info("Failed: %s", failure.value)
