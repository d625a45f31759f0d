"""The fault suite: crawls of faulty sites next to healthy ones, and their problems.

:mod:`tests.end_to_end.test_faults` crawls many faulty sites at once; ``make faults`` each in a crawl of its
own (:mod:`benchmarks.faults`).
"""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil

from newscrawl.settings import base
from tests.helpers.crawls import MAX_READ, Crawl, ReactorMeter, run_scrapy
from tests.servers import pages
from tests.servers.direct import ALLOWED, INTERNAL, RESOLVER, DirectWeb, direct_environment
from tests.servers.faultcases import FaultWeb, ledger

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy.crawler import Crawler

    from tests.servers.faultcases import Case
    from tests.servers.faults import FaultSite

MB = 2**20
#: MB of each process
MEMORY = 400
#: requests to one site
BUDGET = 40
#: healthy sites
HEALTHY = ("well", "good")
#: Times that are short enough for a suite, and no politeness to a server of our own.
SETTINGS: dict[str, object] = {
    "TWISTED_DNS_RESOLVER": RESOLVER,
    "DOWNLOAD_TIMEOUT": 4,
    "RETRY_TIMES": 1,
    "NEWSCRAWL_BACKOFF_DELAY": 1,
    "NEWSCRAWL_CSS_TIMEOUT": 3,
    "NEWSCRAWL_DEADLINE": 10,
    "NEWSCRAWL_MAX_AGE": 0,
    "NEWSCRAWL_SITE_REQUESTS": BUDGET,
}


class FaultMeter(ReactorMeter):
    """Records the longest stall, in which function it was, and the size of the workers, too.

    A stall is CPU time of the event loop's thread, since wall time on a busy machine includes other processes.
    """

    _WATCH = 0.03

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._before = time.thread_time()
        self._reactor = threading.get_ident()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._ended = threading.Event()
        self._busiest, self._place, self._largest = 0.1, "", 0

    def _start(self) -> None:
        self._before = time.thread_time()
        super()._start()
        self._watch.start()

    def _stop(self) -> None:
        super()._stop()
        self._ended.set()
        self._watch.join()
        self._tick()
        self._stats.set_value("reactor/stall_place", self._place)
        self._stats.set_value("worker/memory", self._largest)

    def _tick(self) -> None:
        now = time.thread_time()
        self._stats.max_value("reactor/stall", now - self._before)
        self._before = now
        super()._tick()

    def _look(self) -> None:
        clock = time.pthread_getcpuclockid(self._reactor)
        while not self._ended.wait(self._WATCH):
            busy = time.clock_gettime(clock) - self._before
            if busy > self._busiest:
                self._busiest, self._place = busy, self._function()
            sizes = [_size(child) for child in self._process.children(recursive=True)]
            self._largest = max([self._largest, *sizes])

    def _function(self) -> str:
        """Return the function that the reactor is in, and what of ours or Scrapy's called it."""
        frame, names = sys._current_frames().get(self._reactor), []
        while frame is not None and len(names) < 40:
            names.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")
            frame = frame.f_back
        known = [name for name in names if name.startswith(("newscrawl", "scrapy", "twisted"))]
        return " < ".join([*names[:1], *known[:3]])


def _size(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # ended in the meantime
        return 0


class Ended(NamedTuple):
    """A row of the table of outcomes."""

    url: str
    final_url: str
    outcome: str
    site: str
    role: str


@dataclass(slots=True)
class Run:
    """A crawl of faulty and of healthy sites, and what the servers saw of it."""

    crawl: Crawl
    web: FaultWeb
    folder: Path
    ended: list[Ended]
    #: requests that no outcome was recorded of
    pending: int
    #: connections to forbidden addresses
    forbidden: int
    seconds: float

    def outcomes(self, url: str) -> list[str]:
        """Return the outcomes recorded of *url*."""
        return [one.outcome for one in self.ended if one.url == url]

    def extracted(self, site: FaultSite) -> int:
        """Return how many healthy articles of *site* are in the feed, whole."""
        items = {item["url"]: item for item in self.crawl.items}
        return sum(_is_whole(items.get(url), number) for url, number in site.healthy.items())


def _is_whole(item: Mapping[str, Any] | None, number: int) -> bool:
    if item is None or item["title"] != pages.title(number):
        return False
    return set(pages.paragraphs(number)) <= set(item["body"].split("\n\n"))


def crawl_cases(
    folder: Path,
    cases: Mapping[str, Case],
    inside: str | None = None,
    address: str = ALLOWED,
    **settings: object,
) -> Run:
    """Crawl the sites of *cases* and two healthy ones, at *address*, in one crawl.

    *inside*: URL of a forbidden server; by default one that counts its connections.
    """
    start = time.monotonic()
    listed = folder / "sites.txt"
    command = ["crawl", "sitelist", "-a", f"sites={listed}", "-O", f"{folder / 'a.csv'}"]
    extensions = json.dumps({**base.EXTENSIONS, f"{__name__}.{FaultMeter.__name__}": 0})
    inner = DirectWeb(address=INTERNAL)
    with inner, FaultWeb(cases, inside or inner.url, HEALTHY, address) as web:
        urls = [f"http://{site.host}/" for site in web.sites.values()]
        listed.write_text("\n".join(urls), encoding="utf-8")
        given = {**SETTINGS, "EXTENSIONS": extensions, **settings}
        crawl = run_scrapy(folder, command, direct_environment(), given)
    ended, pending = read_state(folder / "state.sqlite")
    took = time.monotonic() - start
    return Run(crawl, web, folder, ended, pending, inner.connections, took)


def read_state(path: Path) -> tuple[list[Ended], int]:
    """Return the outcomes in the state of a crawl, and how many requests have none."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as state:
        rows = state.execute("SELECT url, final_url, outcome, site, role FROM outcome")
        pending = state.execute("SELECT count(*) FROM request WHERE request IS NOT NULL")
        return [Ended(*row) for row in rows], pending.fetchone()[0]


def troubles_of_run(run: Run) -> list[str]:
    """Return what is wrong with the crawl itself."""
    stats, found = run.crawl.stats, []
    if run.crawl.returncode or stats.get("finish_reason") != "finished":
        found.append(f"exit {run.crawl.returncode}, {stats.get('finish_reason')}")
    if "Traceback" in run.crawl.output or "Unhandled" in run.crawl.output:
        found.append("an exception in the log")
    if stats["reactor/read"] > MAX_READ:
        found.append(f"{stats['reactor/read']} bytes read on the event loop's thread")
    sizes = {name: stats[f"{name}/memory"] / MB for name in ("process", "worker")}
    found += [f"{name} {size:.0f} MB" for name, size in sizes.items() if size > MEMORY]
    if run.forbidden:
        found.append(f"{run.forbidden} forbidden connections")
    if run.pending:
        found.append(f"{run.pending} requests without an outcome")
    if any(one.outcome == "failed/lost" for one in run.ended):
        found.append("a request was lost")
    if cells := formulas(run.folder / "a.csv"):
        found.append(f"formulas: {cells[:3]}")
    twice = {one for one in run.ended if sum(one[::4] == other[::4] for other in run.ended) > 1}
    return found + [f"two outcomes: {one.url}" for one in twice]


def formulas(feed: Path) -> list[str]:
    """Return the cells of a CSV feed that a spreadsheet would compute."""
    if not feed.exists() or not feed.stat().st_size:
        return []
    csv.field_size_limit(32 * MB)
    with feed.open(newline="", encoding="utf-8") as lines:
        cells = [cell for row in csv.reader(lines) for cell in row]
    return [cell[:40] for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@dataclass(slots=True)
class Row:
    """How a case went."""

    name: str
    outcomes: list[str]
    #: healthy articles that were extracted, and that there are
    extracted: int = 0
    healthy: int = 0
    requests: int = 0
    problems: list[str] = field(default_factory=list)


def judge(name: str, case: Case, run: Run) -> Row:
    """Return how the site of *case* ended, and what is wrong with that."""
    site = run.web.sites[name]
    seen = ledger(run.web, name)
    row = Row(name, run.outcomes(f"http://{site.host}{case.path}"), requests=seen.requests)
    if len(row.outcomes) != 1:
        row.problems.append(f"{len(row.outcomes)} outcomes of {case.path}")
    row.problems += [f"ended as {end}" for end in row.outcomes if not end.startswith(case.ends)]
    sites = [run.web.sites[one] for one in HEALTHY] + [site] * case.neighbours
    row.extracted = sum(run.extracted(one) for one in sites)
    row.healthy = sum(len(one.healthy) for one in sites)
    if row.extracted < row.healthy:
        row.problems.append("healthy articles are missing")
    row.problems += [f"early: {request}" for request in seen.early]
    if seen.requests > BUDGET:
        row.problems.append("more requests than the budget")
    ended = [one for one in run.ended if one.site == site.host]
    if not ended:
        row.problems.append("the site has no outcomes")
    return row
