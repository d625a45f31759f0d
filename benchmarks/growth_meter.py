"""Scrapy extension that samples CPU time, memory and files of a long crawl."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import psutil
from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_TENTHS = 10


class Sample(NamedTuple):
    """State of a crawl after some pages."""

    pages: int
    #: CPU seconds of the crawling process, and of the workers until now
    main_cpu: float
    worker_cpu: float
    #: bytes
    main_memory: int
    worker_memory: int
    state: int
    index: int


class GrowthMeter:
    """Extension that samples a crawl at each tenth of ``GROWTH_PAGES`` items."""

    def __init__(self, crawler: Crawler) -> None:
        self._settings = crawler.settings
        self._stats = crawler.stats
        self._step = max(1, crawler.settings.getint("GROWTH_PAGES") // _TENTHS)
        self._process = psutil.Process()
        self._items = 0
        self._samples: list[Sample] = []
        #: CPU seconds of each worker when it was last seen, by process id and start
        self._workers: dict[tuple[int, float], float] = {}
        crawler.signals.connect(self._started, signals.spider_opened)
        crawler.signals.connect(self._scraped, signals.item_scraped)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        return cls(crawler)

    def _started(self) -> None:
        self._sample()

    def _scraped(self) -> None:
        self._items += 1
        if self._items % self._step == 0:
            self._sample()
        elif self._items % 100 == 0:
            self._watch_workers()  # they are replaced every 10,000 pages

    def _watch_workers(self) -> int:
        """Update the CPU time of the workers; return their memory."""
        memory = 0
        for child in self._process.children():
            try:
                times, key = child.cpu_times(), (child.pid, child.create_time())
                memory += child.memory_info().rss
            except psutil.NoSuchProcess:
                continue
            self._workers[key] = times.user + times.system
        return memory

    def _sample(self) -> None:
        memory = self._watch_workers()
        self._samples.append(
            Sample(
                self._items,
                time.process_time(),
                sum(self._workers.values()),
                self._process.memory_info().rss,
                memory,
                _size(self._settings["NEWSCRAWL_STATE"]),
                _size(self._settings["NEWSCRAWL_NEARDUP_INDEX"]),
            )
        )
        print(*self._samples[-1], file=sys.stderr, flush=True)

    def _closed(self) -> None:
        self._stats.set_value("growth/samples", self._samples)


def _size(path: str) -> int:
    """Return the size of a SQLite file with its log."""
    files = (Path(path), Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
