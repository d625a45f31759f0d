"""Scrapy alone, and with trafilatura inline and in a pool of processes.

Only Scrapy and trafilatura are imported.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.asyncio import create_looping_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class StallMeter:
    """Writes the longest delay of a ticker, in seconds, to the file in ``STALL_FILE``.

    ``stall`` includes waits for a busy processor, ``stall_cpu`` is the longest CPU time of the
    event loop's thread between two ticks.
    """

    _INTERVAL = 0.01

    def __init__(self, crawler: Crawler) -> None:
        self._path = Path(crawler.settings["STALL_FILE"])
        self._loop = create_looping_call(self._tick)
        self._longest = self._longest_cpu = 0.0
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        return cls(crawler)

    def _start(self) -> None:
        self._last, self._last_cpu = time.monotonic(), time.thread_time()
        self._loop.start(self._INTERVAL, now=False)

    def _tick(self) -> None:
        now, cpu = time.monotonic(), time.thread_time()
        self._longest = max(self._longest, now - self._last - self._INTERVAL)
        self._longest_cpu = max(self._longest_cpu, cpu - self._last_cpu)
        self._last, self._last_cpu = now, cpu

    def _stop(self) -> None:
        self._tick()
        self._loop.stop()
        self._path.write_text(
            json.dumps({"stall": self._longest, "stall_cpu": self._longest_cpu}), encoding="utf-8"
        )


class PageSpider(scrapy.Spider):
    """Fetches ``urls`` and yields their HTML."""

    name = "pages"

    async def start(self) -> AsyncIterator[Any]:
        """Yield the requests."""
        for url in self.urls:  # type: ignore[attr-defined]
            yield scrapy.Request(url)

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        """Yield the page."""
        yield {"url": response.url, "html": response.text}


class DropPages:
    """Drops the HTML: the floor of the comparison."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the item without its page."""
        return {"url": item["url"]}


class ExtractInline:
    """Extracts on the event loop."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the article."""
        return extract(item["html"], item["url"])


class ExtractInPool:
    """Extracts in one process per core, started before the first request."""

    async def open_spider(self) -> None:
        """Start the processes, each with trafilatura imported."""
        self._pool = ProcessPoolExecutor(len(os.sched_getaffinity(0)), initializer=_warm_up)
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(self._pool, _warm_up) for _ in range(8)))

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the article."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, extract, item["html"], item["url"])

    def close_spider(self) -> None:
        """Stop the processes."""
        self._pool.shutdown()


def extract(html: str | bytes, url: str) -> dict[str, Any]:
    """Return trafilatura's article as it is written to the feed."""
    from trafilatura import bare_extraction  # noqa: PLC0415  # not by Scrapy alone

    found = bare_extraction(html, url=url, with_metadata=True, include_comments=False)
    if found is None:
        return {"url": url}
    plain = {name: getattr(found, name) for name in ("title", "author", "date", "description")}
    return {"url": url, **plain, "body": found.text}


def _warm_up() -> None:
    extract("<html><body><p>The harbour opens again.</p></body></html>", "http://a.example/")


def crawl(urls: list[str], pipeline: type, settings: dict[str, Any]) -> None:
    """Crawl *urls* with *pipeline*."""
    if pipeline is ExtractInline:
        _warm_up()
    process = AsyncCrawlerProcess({**settings, "ITEM_PIPELINES": {pipeline: 300}})
    process.crawl(PageSpider, urls=urls)
    process.start()
