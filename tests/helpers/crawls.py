"""Complete crawls by ``scrapy`` in a separate process."""

import functools
import importlib
import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector, StatsT
from scrapy.utils.asyncio import create_looping_call
from twisted.web._newclient import HTTPClientParser

from newscrawl.workers.pool import WorkerPool
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy


class FileStatsCollector(MemoryStatsCollector):
    """Writes the stats of a crawl as JSON to the file in the setting ``STATS_FILE``."""

    def _persist_stats(self, stats: StatsT) -> None:
        path = self._crawler.settings["STATS_FILE"]
        Path(path).write_text(json.dumps(stats, default=str), encoding="utf-8")


PARSERS = (
    "charset_normalizer:from_bytes",
    "newscrawl.crawling.discovery.feed_parser:read_feed",
    "newscrawl.crawling.network.rule_files:read_rules",
    "newscrawl.crawling.discovery.sitemaps:read_sitemap",
    "newscrawl.workers.child:run_task",
    "newscrawl.css.parser:parse_sheet",
    "newscrawl.document.document:parse_document",
    "newscrawl.neardup.sketch:sketch",
    "parsel.selector:create_root_node",
    "w3lib.encoding:to_unicode",
)
"""Functions that decode or parse downloaded bytes: pages, style sheets, feeds, robots.txt.

Not Protego, which reads the rules that a worker has reduced.
"""

MAX_READ = 16 * 1024
"""Bytes that one of :data:`PARSERS` may parse on the event loop's thread: heads of pages."""


class ReactorMeter:
    """Records parsing on the event loop's thread, response headers and memory in the stats.

    ``reactor/read``: largest input of one of :data:`PARSERS` on the event loop's thread;
    ``thread/read``: largest on another thread; ``reactor/headers``: most headers of a response;
    ``process/memory``: largest resident memory, in bytes; ``tasks/NAME``: tasks of workers.
    """

    _TICK_INTERVAL = 0.05

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._process = psutil.Process()
        self._loop = create_looping_call(self._tick)
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)
        for stat in ("reactor/read", "thread/read"):
            self._stats.set_value(stat, 0)
        for parser in PARSERS:
            self._wrap_parser(*parser.split(":"))
        self._wrap_header_parser()
        self._count_tasks()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the extension."""
        return cls(crawler)

    def _wrap_parser(self, module: str, name: str) -> None:
        """Replace a function by a wrapper that records its input, in all modules that import it."""
        owner: Any = importlib.import_module(module)
        *classes, name = name.split(".")
        for cls in classes:
            owner = getattr(owner, cls)
        parse = getattr(owner, name)

        @functools.wraps(parse)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            texts = [
                value for value in (*args, *kwargs.values()) if isinstance(value, (bytes, str))
            ]
            on_reactor = threading.current_thread() is threading.main_thread()
            thread = "reactor" if on_reactor else "thread"
            self._stats.max_value(f"{thread}/read", max(map(len, texts), default=0))
            return parse(*args, **kwargs)

        setattr(owner, name, recorded)
        for other in list(sys.modules.values()):
            if getattr(other, name, None) is parse:
                setattr(other, name, recorded)

    def _count_tasks(self) -> None:
        call = WorkerPool.call

        async def counted(
            pool: WorkerPool, function: str, *args: Any, **options: Any
        ) -> dict[str, Any]:
            self._stats.inc_value(f"tasks/{function.rpartition(':')[2]}")
            return await call(pool, function, *args, **options)

        WorkerPool.call = counted  # type: ignore[assignment, method-assign]

    def _wrap_header_parser(self) -> None:
        receive = HTTPClientParser.headerReceived

        def received(parser: Any, name: bytes, value: bytes) -> None:
            parser.received_headers = getattr(parser, "received_headers", 0) + 1
            self._stats.max_value("reactor/headers", parser.received_headers)
            receive(parser, name, value)  # type: ignore[no-untyped-call]

        HTTPClientParser.headerReceived = received  # type: ignore[method-assign]

    def _start(self) -> None:
        self._loop.start(self._TICK_INTERVAL, now=False)

    def _stop(self) -> None:
        self._loop.stop()

    def _tick(self) -> None:
        # Not memusage/max: its first value is the memory of the parent process.
        self._stats.max_value("process/memory", self._process.memory_info().rss)


@dataclass(frozen=True, slots=True)
class Crawl:
    """Result of a crawl."""

    returncode: int
    #: standard output and standard error
    output: str
    items: list[dict[str, Any]]
    stats: dict[str, Any]

    def errors(self) -> list[str]:
        """Return the log lines with errors, tracebacks and unhandled exceptions."""
        pattern = re.compile(r"Traceback|\b(ERROR|CRITICAL)\b|Unhandled|never (awaited|retrieved)")
        return [line for line in self.output.splitlines() if pattern.search(line)]

    def site_counts(self, site: str) -> Counter[str]:
        """Return the counts of *site*: ``discovered_count``, ``failed_count/timeout``, ..."""
        prefix = f"newscrawl/site/{site}/"
        return Counter(
            {k.removeprefix(prefix): v for k, v in self.stats.items() if k.startswith(prefix)}
        )


def total(counts: Mapping[str, int], prefix: str) -> int:
    """Return the sum of the counts named *prefix* or ``prefix/REASON``."""
    return sum(n for name, n in counts.items() if f"{name}/".startswith(f"{prefix}/"))


def direct_environment() -> dict[str, str]:
    """Return the environment of this process without proxies."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


def crawl_sites(
    folder: Path,
    sites: Iterable[str],
    environment: Mapping[str, str] | None = None,
    **settings: object,
) -> Crawl:
    """Run ``scrapy crawl sitelist`` over *sites*, with its files in *folder*."""
    site_list = folder / "sites.txt"
    site_list.write_text("\n".join(sites), encoding="utf-8")
    command = ["crawl", "sitelist", "-a", f"sites={site_list}"]
    return run_scrapy(folder, command, environment, settings)


def crawl_pages(
    folder: Path,
    urls: Iterable[str],
    environment: Mapping[str, str] | None = None,
    **settings: object,
) -> Crawl:
    """Fetch *urls* with a plain Scrapy spider, with its files in *folder*."""
    command = ["runspider", "tests/spiders/page_spider.py", "-a", f"urls={','.join(urls)}"]
    return run_scrapy(folder, command, environment, settings)


def run_scrapy(
    folder: Path,
    command: list[str],
    environment: Mapping[str, str] | None,
    settings: Mapping[str, object],
    timeout: float = 240,
    *,
    with_feed: bool = True,
) -> Crawl:
    """Run a ``scrapy`` command with *settings* added to those of this project.

    Without an *environment* it has no proxy, and hosts under ``.example`` are those of the test.
    The items of the result are read from the feed: without it there are none.
    """
    feed, stats = folder / "articles.jsonl", folder / "stats.json"
    settings = {
        "STATS_CLASS": f"{FileStatsCollector.__module__}.{FileStatsCollector.__qualname__}",
        "STATS_FILE": stats,
        "EXTENSIONS": json.dumps({f"{__name__}.ReactorMeter": 0}),
        "NEWSCRAWL_CSS_STORE": folder / "sheets",
        "NEWSCRAWL_STATE": folder / "state.sqlite",
        "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        **({} if environment else {"TWISTED_DNS_RESOLVER": "tests.servers.site.FakeResolver"}),
        **settings,
    }
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    output = ["-O", str(feed)] if with_feed else []
    log = folder / "crawl.log"
    environment = {**(environment or direct_environment()), "PYTHONWARNINGS": "default"}
    process = ForkedScrapy([*command, *output, *options], REPOSITORY, environment, log)
    status = process.wait(timeout)
    items = [json.loads(line) for line in feed.read_text().splitlines()] if feed.exists() else []
    recorded = json.loads(stats.read_text()) if stats.exists() else {}
    return Crawl(status, log.read_text(encoding="utf-8"), items, recorded)
