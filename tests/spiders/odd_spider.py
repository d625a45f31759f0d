"""Spider with unusual requests and callbacks, which a scheduler has to support."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

import scrapy
from scrapy.exceptions import DontCloseSpider
from scrapy.http import FormRequest, Response
from twisted.python.failure import Failure


class ReplacingMiddleware:
    """Downloader middleware that replaces a request without its meta."""

    def process_request(self, request: scrapy.Request) -> scrapy.Request | None:
        if not request.url.endswith("/40"):
            return None
        return scrapy.Request(request.url.replace("/40", "/41"), request.callback)


class OddSpider(scrapy.Spider):
    name = "odd"
    custom_settings: ClassVar = {"DOWNLOADER_MIDDLEWARES": {ReplacingMiddleware: 1}}

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.idled = False

    async def start(self) -> AsyncIterator[Any]:
        self.crawler.signals.connect(self.idle, scrapy.signals.spider_idle)
        yield {"url": "start", "n": -1}
        for _ in range(2):  # twice, unfiltered
            yield self.request(1, self.page, dont_filter=True)
        yield self.request(2, self.raises)
        yield self.request(3, self.raises_after_request)
        yield self.request(4, self.repeats_request)
        yield self.request(5, lambda response: {"url": response.url, "n": 5})
        yield self.request(6, self.children)
        yield self.request(7, self.page)  # redirected to 7.html
        yield self.request(19, self.page)  # 404
        yield self.request(19, self.page, method="HEAD", errback=self.requests_another)
        yield self.request(9, self.page)  # a redirect loop
        yield scrapy.Request("http://127.0.0.1:1/", self.page)  # connection refused
        yield FormRequest(f"{self.url}/8", self.posted, formdata={"a": "ü"}, headers={"X": "1"})
        yield self.request(10, self.requests_from_engine)
        yield self.request(40, lambda response: {"url": response.url, "n": 40})

    def request(self, n: int, callback: Any, **options: Any) -> scrapy.Request:
        return scrapy.Request(f"{self.url}/{n}", callback, **options)

    def page(self, response: Response) -> dict[str, Any]:
        return {"url": response.url, "n": 0}

    def raises(self, response: Response) -> None:
        raise RuntimeError("on purpose")

    def raises_after_request(self, response: Response) -> Iterator[Any]:
        yield self.request(31, self.page)
        raise RuntimeError("on purpose")

    async def repeats_request(self, response: Response) -> AsyncIterator[Any]:
        """Yield the request of *response* twice more."""
        if (again := response.meta.get("again", 0)) < 2:
            request = response.request
            assert request is not None
            request.meta["again"] = again + 1
            request.dont_filter = True
            yield request
        yield {"url": response.url, "n": again}

    def children(self, response: Response) -> Iterator[Any]:
        request = self.request(32, self.page, priority=3, dont_filter=True)
        yield request
        yield request
        yield self.request(33, self.page, meta={**response.meta, "set": {1, 2}})
        yield scrapy.Request(f"{self.url}/32", self.page, meta=response.meta)
        yield self.request(57, self.page)  # redirected to a duplicate
        yield scrapy.Request(f"{self.url}/57.html", self.page, priority=1)

    def requests_another(self, failure: Failure) -> Iterator[Any]:
        yield {"url": "errback", "n": 19}
        request = failure.request  # type: ignore[attr-defined]
        yield request.replace(url=f"{self.url}/34", method="GET", errback=None)

    def posted(self, response: Response) -> dict[str, Any]:
        assert response.request is not None
        return {"url": response.url, "n": len(response.request.body)}

    def requests_from_engine(self, response: Response) -> None:
        self.crawler.engine.crawl(self.request(35, self.page, dont_filter=True))

    def idle(self) -> None:
        if not self.idled:
            self.idled = True
            self.crawler.engine.crawl(self.request(36, self.page))
            raise DontCloseSpider
