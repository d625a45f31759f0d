"""Whole crawls in a separate process, started as a user would."""

from __future__ import annotations

import functools
import importlib
import json
import re
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil
from scrapy import signals
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.asyncio import create_looping_call
from twisted.web._newclient import HTTPClientParser

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


READERS = (
    "newscrawl.crawl.discovery.feed_parser:read_feed",
    "newscrawl.crawl.network.robots_rules:own_groups",
    "newscrawl.crawl.discovery.sitemaps:read_sitemap",
    "newscrawl.crawl.workers.child:run_task",
    "newscrawl.css.sheets.sheet:parse_sheet",
    "newscrawl.document.document:parse_document",
    "newscrawl.neardup.sketch:sketch",
    "parsel.selector:create_root_node",
    "protego:Protego.parse",
)
"""Functions that parse downloaded bytes: pages, style sheets, feeds, robots.txt."""

MAX_READ = 16 * 1024
"""Bytes that one of them may read on the event loop's thread: rules of a usual size."""


class ReactorMeter:
    """Records what is read on the event loop's thread, the headers of a response, and memory.

    Stats: ``reactor/read`` is the largest text that one of :data:`READERS` got there,
    ``thread/read`` the largest on another thread of the process.
    """

    _TICK = 0.05

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._process = psutil.Process()
        self._loop = create_looping_call(self._tick)
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)
        for stat in ("reactor/read", "thread/read"):
            self._stats.set_value(stat, 0)
        for reader in READERS:
            self._watch_reader(*reader.split(":"))
        self._watch_headers()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        return cls(crawler)

    def _watch_reader(self, module: str, name: str) -> None:
        """Put a counting wrapper in the place of a function, wherever it was imported to."""
        owner: Any = importlib.import_module(module)
        *classes, name = name.split(".")
        for part in classes:
            owner = getattr(owner, part)
        read = getattr(owner, name)

        @functools.wraps(read)
        def watched(*args: Any, **kwargs: Any) -> Any:
            texts = [
                value for value in (*args, *kwargs.values()) if isinstance(value, (bytes, str))
            ]
            on_reactor = threading.current_thread() is threading.main_thread()
            thread = "reactor" if on_reactor else "thread"
            self._stats.max_value(f"{thread}/read", max(map(len, texts), default=0))
            return read(*args, **kwargs)

        setattr(owner, name, watched)
        for other in list(sys.modules.values()):
            if getattr(other, name, None) is read:
                setattr(other, name, watched)

    def _watch_headers(self) -> None:
        receive = HTTPClientParser.headerReceived

        def received(parser: Any, name: bytes, value: bytes) -> None:
            parser.received_headers = getattr(parser, "received_headers", 0) + 1
            self._stats.max_value("reactor/headers", parser.received_headers)
            receive(parser, name, value)

        HTTPClientParser.headerReceived = received

    def _start(self) -> None:
        self._loop.start(self._TICK, now=False)

    def _stop(self) -> None:
        self._loop.stop()

    def _tick(self) -> None:
        # Not memusage/max: that begins with the size of the process that started this one.
        self._stats.max_value("process/memory", self._process.memory_info().rss)


@dataclass(frozen=True, slots=True)
class Crawl:
    """Results of a crawl."""

    returncode: int
    #: standard error and standard output
    output: str
    items: list[dict[str, Any]]
    stats: dict[str, Any]

    def troubles(self) -> list[str]:
        """Return the log lines that a healthy crawl does not have."""
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
    """Fetch *urls* with a spider that does not use newscrawl, with its files in *folder*."""
    command = ["runspider", "tests/spiders/page_spider.py", "-a", f"urls={','.join(urls)}"]
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
        "EXTENSIONS": json.dumps({**base.EXTENSIONS, f"{__name__}.ReactorMeter": 0}),
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
