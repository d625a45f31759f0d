"""Spider and middleware that never get past the page with the path in the setting ``TRAP``."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from hashlib import pbkdf2_hmac
from itertools import repeat
from typing import TYPE_CHECKING, Any, Self

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


#: ways to block in a callback after others have entered the loop
AWAITING = ("regex", "released")


def block(how: str) -> None:
    """Block the event loop, with *how*; all but ``busy`` and ``sleep`` until the process is killed."""
    if how == "python":
        while True:
            pass
    elif how == "busy":  # for four seconds of CPU time
        end = time.thread_time() + 4
        while time.thread_time() < end:
            pass
    elif how == "regex":  # C code that holds the interpreter, but looks for signals
        re.match(r"(a+)+$", "a" * 60 + "b")
    elif how == "native":  # C code that holds the interpreter
        deque(repeat(0), maxlen=0)
    elif how == "released":  # C code that releases the interpreter
        pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
    elif how.startswith("sleep"):
        time.sleep(float(how.removeprefix("sleep")))


class TrapMiddleware:
    """Downloader middleware that blocks the loop."""

    def __init__(self, trap: str, how: str) -> None:
        self._trap = trap
        self._how = how

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings["TRAP"], crawler.settings.get("HOW", "python"))

    def process_response(self, request: Any, response: Response) -> Response:
        if self._trap and self._trap in request.url:
            block(self._how)
        return response


class TrapPipeline:
    """Item pipeline that blocks the loop after other requests have entered it."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipeline = cls()
        pipeline.trap = crawler.settings["TRAP"] if crawler.spider.how == "pipeline" else None
        return pipeline

    trap: str | None = None

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.2)
        if self.trap and self.trap in item["url"]:
            block("python")
        return item


class StallSpider(scrapy.Spider):
    """Follows all links of the sites *urls*; blocks the loop at the page ``TRAP``, with *how*."""

    name = "stall"

    def __init__(self, urls: str, how: str = "") -> None:
        super().__init__()
        self.urls = urls.split(",")
        self.how = how

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield scrapy.Request(
                f"{url}/0", self.parse_awaiting if self.how in AWAITING else self.parse
            )

    def parse(self, response: Response) -> list[Any]:
        self.block_at(response)
        return list(self.results(response, self.parse))

    async def parse_awaiting(self, response: Response) -> AsyncIterator[Any]:
        await asyncio.sleep(0.2)  # others enter the loop
        self.block_at(response)
        for result in self.results(response, self.parse_awaiting):
            yield result

    def block_at(self, response: Response) -> None:
        if (trap := self.settings["TRAP"]) and trap in response.url:
            block(self.how)

    def results(self, response: Response, callback: Any) -> Iterator[Any]:
        yield {"url": response.url, "n": response.url.rpartition("/")[2]}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback)
