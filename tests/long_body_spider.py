"""Yields articles with bodies of 1 MB, and measures their way through the pipeline.

``scrapy runspider tests/long_body_spider.py``.
"""

from __future__ import annotations

import time
from types import coroutine
from typing import TYPE_CHECKING, Any, ClassVar

import scrapy

from newscrawl.items import Article
from newscrawl.pipelines import NearDuplicatePipeline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Generator

BODY = 2**20
"""Characters of a body."""

WORDS = ("mañana", "Straße", "house", "l\u2019été", "über", "港口", "ports")


@coroutine
def timed(steps: Coroutine[Any, Any, Any], durations: list[float]) -> Generator[Any, Any, Any]:
    """Run a coroutine, noting the processor time (seconds) of each step between two waits."""
    while True:
        start = time.thread_time()
        try:
            waited = steps.send(None)
        except StopIteration as done:
            return done.value
        finally:
            durations.append(time.thread_time() - start)
        yield waited


class MeteredPipeline(NearDuplicatePipeline):
    """The pipeline, with the longest time that it held the event loop in the stats."""

    async def process_item(self, item: Any) -> Any:
        """Return what the pipeline returns."""
        durations: list[float] = []
        try:
            return await timed(super().process_item(item), durations)
        finally:
            self._stats.max_value("neardup/held", max(durations))


class LongBodySpider(scrapy.Spider):
    """Twenty articles; every second one is a copy of the one before."""

    name = "long-bodies"
    custom_settings: ClassVar[dict[str, Any]] = {
        "ITEM_PIPELINES": {MeteredPipeline: 300},
        "NEWSCRAWL_NEARDUP_ENABLED": True,
    }

    async def start(self) -> AsyncIterator[Article]:
        """Yield articles, and ask for no page."""
        for number in range(20):
            frame = (f"{word}{number // 2} {place}" for place, word in enumerate(WORDS * 999))
            text = " ".join(frame)
            body = f"{text} " * (1 + BODY // len(text))
            yield Article(url=f"https://site{number}.test/", body=body[:BODY])
