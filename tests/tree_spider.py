"""A spider of somebody else, over a TreeSite: ``scrapy runspider tests/tree_spider.py -a url=URL``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure


class SlowPipeline:
    """Takes its time, as extraction does, and drops every hundredth page."""

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.01)
        if item["n"] % 100 == 3:
            raise scrapy.exceptions.DropItem("a hundredth")
        return item


class TreeSpider(scrapy.Spider):
    name = "tree"
    custom_settings = {"ITEM_PIPELINES": {SlowPipeline: 300}}

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.url}/0", dont_filter=True)  # type: ignore[attr-defined]

    def parse(self, response: Response, depth: int = 0) -> Iterator[Any]:
        title = response.css("title::text").get("")
        yield {"url": response.url, "n": int(title.removeprefix("Page ")), "depth": depth}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(
                link, self.parse, errback=self.failed, cb_kwargs={"depth": depth + 1}
            )

    def failed(self, failure: Failure) -> None:
        self.logger.info("Failed: %s", failure.value)
