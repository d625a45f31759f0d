"""Whole crawls in a process of their own, as a user starts them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil
from scrapy import signals
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.asyncio import create_looping_call

from newscrawl.settings import base
from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsT


class FileStatsCollector(MemoryStatsCollector):
    """Writes the stats of a crawl to the file that the setting ``STATS_FILE`` names."""

    def _persist_stats(self, stats: StatsT) -> None:
        path = self._crawler.settings["STATS_FILE"]
        Path(path).write_text(json.dumps(stats, default=str), encoding="utf-8")


class StallMeter:
    """Records the longest time that the event loop's thread was busy without a pause, and memory.

    CPU time of the thread, since on a busy machine the clock on the wall measures the others.
    """

    _TICK = 0.05

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._before = time.thread_time()
        self._process = psutil.Process()
        self._loop = create_looping_call(self._tick)
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        return cls(crawler)

    def _start(self) -> None:
        self._before = time.thread_time()
        self._loop.start(self._TICK, now=False)

    def _stop(self) -> None:
        self._loop.stop()

    def _tick(self) -> None:
        now = time.thread_time()
        self._stats.max_value("reactor/stall", now - self._before)
        self._before = now
        # Not memusage/max: that begins with the size of the process that started this one.
        self._stats.max_value("process/memory", self._process.memory_info().rss)


@dataclass(frozen=True, slots=True)
class Crawl:
    """What a crawl left behind."""

    returncode: int
    #: standard error and standard output
    output: str
    items: list[dict[str, Any]]
    stats: dict[str, Any]

    def troubles(self) -> list[str]:
        """Return the lines of the log that a healthy crawl does not have."""
        bad = re.compile(r"Traceback|\b(ERROR|CRITICAL)\b|Unhandled|never (awaited|retrieved)")
        return [line for line in self.output.splitlines() if bad.search(line)]

    def site_counts(self, site: str) -> Counter[str]:
        """Return the counts of *site*: ``discovered_count``, ``failed_count/timeout``, ..."""
        prefix = f"newscrawl/site/{site}/"
        return Counter(
            {k.removeprefix(prefix): v for k, v in self.stats.items() if k.startswith(prefix)}
        )


def total(counts: Mapping[str, int], what: str) -> int:
    """Return the sum of all counts of *what*, whatever their reason."""
    return sum(n for name, n in counts.items() if name == what or name.startswith(f"{what}/"))


def crawl_sites(
    folder: Path, sites: Iterable[str], environment: Mapping[str, str], **settings: object
) -> Crawl:
    """Run ``scrapy crawl sitelist`` over *sites*, with its files in *folder*."""
    listed = folder / "sites.txt"
    listed.write_text("\n".join(sites), encoding="utf-8")
    command = ["crawl", "sitelist", "-a", f"sites={listed}"]
    return run_scrapy(folder, command, environment, settings)


def crawl_pages(
    folder: Path, urls: Iterable[str], environment: Mapping[str, str], **settings: object
) -> Crawl:
    """Have a spider that knows nothing of us fetch *urls*, with its files in *folder*."""
    command = ["runspider", "tests/page_spider.py", "-a", f"urls={','.join(urls)}"]
    return run_scrapy(folder, command, environment, settings)


def run_scrapy(
    folder: Path,
    command: list[str],
    environment: Mapping[str, str],
    settings: Mapping[str, object],
    timeout: float = 240,
    *,
    with_feed: bool = True,
) -> Crawl:
    """Run a crawl in the settings of this project and in *settings*; without a feed no items."""
    feed, stats = folder / "articles.jsonl", folder / "stats.json"
    given = {
        "STATS_CLASS": f"{FileStatsCollector.__module__}.{FileStatsCollector.__qualname__}",
        "STATS_FILE": stats,
        "EXTENSIONS": json.dumps({**base.EXTENSIONS, f"{__name__}.StallMeter": 0}),
        "NEWSCRAWL_CSS_STORE": folder / "sheets.sqlite",
        "NEWSCRAWL_STATE": folder / "state.sqlite",
        # The servers of the tests are on this machine.
        "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
        # Politeness to a server in the same process would only cost time.
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        **settings,
    }
    options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    output = ["-O", str(feed)] if with_feed else []
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *command, *output, *options],
        cwd=REPOSITORY,
        env={**environment, "PYTHONWARNINGS": "default"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
    )
    items = [json.loads(line) for line in feed.read_text().splitlines()] if feed.exists() else []
    recorded = json.loads(stats.read_text()) if stats.exists() else {}
    return Crawl(done.returncode, done.stdout, items, recorded)
