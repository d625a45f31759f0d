"""Spider that yields generated articles and quotes, some articles twice."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.http import Response

from newscrawl.items import Article


class ItemSpider(scrapy.Spider):
    """Arguments: ``pages``, with two articles each; ``quotes=1`` for other items."""

    name = "items"
    pages = "10"
    quotes = ""
    custom_settings: dict[str, Any] = {  # noqa: RUF012
        "ADDONS": {},
        "CONCURRENT_REQUESTS": 4,
        "EXTENSIONS": {"newscrawl.crawling.output.segment_writer.SegmentWriter": 500},
        "SCHEDULER": "newscrawl.crawling.frontier.LeaseScheduler",
        "SPIDER_MIDDLEWARES": {"newscrawl.crawling.frontier.LeaseMiddleware": 0},
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }

    async def start(self) -> AsyncIterator[Any]:
        for number in range(int(self.pages)):
            yield scrapy.Request(f"data:,{number}")

    def parse(self, response: Response) -> Iterator[Any]:
        number = int(response.body)
        for half in ("a", "b"):
            url = f"https://site.test/{number}{half}"
            yield Article(url=url, title=f"Straße {number}", body=f"Story {number}{half}. " * 50)
        # Also the first article of the next page.
        yield Article(url=f"https://site.test/{number + 1}a", body=f"Story {number + 1}a. " * 50)
        if self.quotes:
            yield {"quote": number}
