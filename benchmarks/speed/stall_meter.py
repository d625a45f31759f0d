"""Scrapy extension: longest stall of the event loop."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


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
