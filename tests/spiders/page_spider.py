"""Spider of another project: yields the pages of the argument ``urls``."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.http import Response


class PageSpider(scrapy.Spider):
    name = "page"

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls.split(","):  # type: ignore[attr-defined]
            meta: dict[str, Any] = {"newscrawl_css": False} if "?unstyled" in url else {}
            if proxy := self.settings.get("PAGE_PROXY"):
                meta["proxy"] = proxy
            yield scrapy.Request(url, meta=meta)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "html": response.body}
