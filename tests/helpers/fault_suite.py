"""Fault suite: crawls faulty sites together with healthy ones and reports problems.

:mod:`tests.end_to_end.test_faults` crawls most cases at once, ``make faults``
(:mod:`benchmarks.faults`) each case in a separate crawl.
"""

import csv
import json
import os
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from scrapy import signals
from scrapy.crawler import Crawler

from newscrawl.text import printable
from tests.helpers.crawls import MAX_READ, Crawl, ReactorMeter, run_scrapy
from tests.servers import pages
from tests.servers.faulty_pages import Case, FaultSite, FaultWeb
from tests.servers.site import ALLOWED, INTERNAL, SiteServer

MB = 2**20
#: MB per process
MEMORY_LIMIT = 400
#: requests per site
REQUEST_BUDGET = 40
#: names of the healthy sites
HEALTHY = ("healthy-1", "healthy-2")
#: short timeouts and delays, since the server is local
SETTINGS: dict[str, object] = {
    "DOWNLOAD_TIMEOUT": 4,
    "RETRY_TIMES": 1,
    "NEWSCRAWL_BACKOFF_DELAY": 1,
    "NEWSCRAWL_CSS_TIMEOUT": 3,
    "NEWSCRAWL_DEADLINE": 10,
    "NEWSCRAWL_MAX_AGE": 0,
    "NEWSCRAWL_SITE_REQUESTS": REQUEST_BUDGET,
    "NEWSCRAWL_TDM_OPT_OUT_OBEY": True,
}


class FaultMeter(ReactorMeter):
    """Also records the longest stall of the event loop, its function, and the workers' memory.

    With the setting ``KILLED_AFTER`` it kills the crawl after as many responses.

    A stall is measured in CPU time of the event loop's thread, so that a busy machine adds nothing.
    """

    _WATCH_INTERVAL = 0.03

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._last_tick = time.thread_time()
        self._reactor_thread = threading.get_ident()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._ended = threading.Event()
        self._max_stall, self._stall_place, self._max_worker_size = 0.1, "", 0
        self._responses, self._killed_after = 0, crawler.settings.getint("KILLED_AFTER")
        if self._killed_after:
            crawler.signals.connect(self._count_response, signals.response_received)

    def _start(self) -> None:
        self._last_tick = time.thread_time()
        super()._start()
        self._watcher.start()

    def _stop(self) -> None:
        super()._stop()
        self._ended.set()
        self._watcher.join()
        self._tick()
        self._stats.set_value("reactor/stall_place", self._stall_place)
        self._stats.set_value("worker/memory", self._max_worker_size)

    def _count_response(self) -> None:
        self._responses += 1
        if self._responses == self._killed_after:
            self._stop()
            self._stats._persist_stats(self._stats.get_stats())
            os.kill(os.getpid(), signal.SIGKILL)

    def _tick(self) -> None:
        now = time.thread_time()
        self._stats.max_value("reactor/stall", now - self._last_tick)
        self._last_tick = now
        super()._tick()

    def _watch(self) -> None:
        clock = time.pthread_getcpuclockid(self._reactor_thread)
        while not self._ended.wait(self._WATCH_INTERVAL):
            stall = time.clock_gettime(clock) - self._last_tick
            if stall > self._max_stall:
                self._max_stall, self._stall_place = stall, self._reactor_stack()
            sizes = [_size(child) for child in self._process.children(recursive=True)]
            self._max_worker_size = max([self._max_worker_size, *sizes])

    def _reactor_stack(self) -> str:
        """Return the current function of the event loop's thread and its nearest known callers."""
        frame = sys._current_frames().get(self._reactor_thread)
        names: list[str] = []
        while frame is not None and len(names) < 40:
            names.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")
            frame = frame.f_back
        known = [name for name in names if name.startswith(("newscrawl", "scrapy", "twisted"))]
        return " < ".join([*names[:1], *known[:3]])


def _size(process: psutil.Process) -> int:
    """Return the resident memory of *process* in bytes."""
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # ended in the meantime
        return 0


class Outcome(NamedTuple):
    """Row of the outcome table of a crawl state."""

    url: str
    final_url: str
    outcome: str
    site: str
    role: str


@dataclass(slots=True)
class Run:
    """Crawl of faulty and healthy sites, and the server's view of it."""

    crawl: Crawl
    web: FaultWeb
    folder: Path
    recorded: list[Outcome]
    #: requests without an outcome
    pending: int
    #: connections to the internal server
    forbidden: int
    #: the crawl that was killed before
    killed: Crawl | None = None

    def outcomes(self, url: str) -> list[str]:
        """Return the outcomes recorded for *url*."""
        return [row.outcome for row in self.recorded if row.url == url]

    def extracted(self, site: FaultSite) -> int:
        """Return the number of healthy articles of *site* that are complete in the feed."""
        items = {item["url"]: item for item in self.crawl.items}
        return sum(_is_complete(items.get(url), number) for url, number in site.healthy.items())


def _is_complete(item: Mapping[str, Any] | None, number: int) -> bool:
    if item is None or item["title"] != pages.title(number):
        return False
    return set(pages.paragraphs(number)) <= set(item["body"].split("\n\n"))


def crawl_cases(
    folder: Path,
    cases: Mapping[str, Case],
    internal_url: str | None = None,
    address: str = ALLOWED,
    killed_after: int = 0,
    **settings: object,
) -> Run:
    """Crawl the sites of *cases* and two healthy sites, served at *address*.

    *internal_url*: URL of a server that the crawl must not reach; by default a server that counts
    connections. *killed_after*: responses after which the crawl is killed, and then resumed.
    """
    killed = None
    site_list = folder / "sites.txt"
    command = ["crawl", "sitelist", "-a", f"sites={site_list}", "-O", f"{folder / 'a.csv'}"]
    extensions = json.dumps({f"{__name__}.{FaultMeter.__name__}": 0})
    internal = SiteServer(address=INTERNAL)
    with internal, FaultWeb(cases, internal_url or internal.url, HEALTHY, address) as web:
        urls = [f"http://{site.host}/" for site in web.sites.values()]
        site_list.write_text("\n".join(urls), encoding="utf-8")
        settings = {**SETTINGS, "EXTENSIONS": extensions, **settings}
        if killed_after:
            options = {**settings, "KILLED_AFTER": killed_after}
            killed = run_scrapy(folder, command, None, options)
        crawl = run_scrapy(folder, command, None, settings)
    recorded, pending = read_state(folder / "state.sqlite")
    return Run(crawl, web, folder, recorded, pending, internal.connections, killed)


def read_state(path: Path) -> tuple[list[Outcome], int]:
    """Return the outcomes in the state of a crawl and the number of requests without one."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as state:
        rows = state.execute("SELECT url, final_url, outcome, site, role FROM outcome")
        pending = state.execute("SELECT count(*) FROM request WHERE request IS NOT NULL")
        return [Outcome(*row) for row in rows], pending.fetchone()[0]


def crawl_problems(run: Run) -> list[str]:
    """Return the problems of the crawl as a whole."""
    stats, problems = run.crawl.stats, []
    if run.crawl.returncode or stats.get("finish_reason") != "finished":
        problems.append(f"exit {run.crawl.returncode}, {stats.get('finish_reason')}")
    if "Traceback" in run.crawl.output or "Unhandled" in run.crawl.output:
        problems.append("an exception in the log")
    if printable(run.crawl.output) != run.crawl.output:
        problems.append("control characters in the log")
    if run.killed and run.killed.returncode != -signal.SIGKILL:
        problems.append(f"exit {run.killed.returncode} of the crawl to kill")
    for crawl in filter(None, (run.killed, run.crawl)):
        problems += _limit_problems(crawl.stats)
    if run.forbidden:
        problems.append(f"{run.forbidden} forbidden connections")
    if run.pending:
        problems.append(f"{run.pending} requests without an outcome")
    if any(row.outcome == "failed/lost" for row in run.recorded):
        problems.append("a request was lost")
    if cells := formula_cells(run.folder / "a.csv"):
        problems.append(f"formulas: {cells[:3]}")
    # A source that has never answered is requested again by a crawl that resumes.
    known = (row for row in run.recorded if not (run.killed and row.outcome.startswith("failed/")))
    counts = Counter((row.url, row.role) for row in known)
    return problems + [f"two outcomes: {url}" for (url, _), count in counts.items() if count > 1]


def _limit_problems(stats: Mapping[str, Any]) -> list[str]:
    problems = []
    if stats["reactor/read"] > MAX_READ:
        problems.append(f"{stats['reactor/read']} bytes read on the event loop's thread")
    sizes = {name: stats[f"{name}/memory"] / MB for name in ("process", "worker")}
    return problems + [
        f"{name} {size:.0f} MB" for name, size in sizes.items() if size > MEMORY_LIMIT
    ]


def formula_cells(feed: Path) -> list[str]:
    """Return the cells of a CSV feed that a spreadsheet would evaluate."""
    if not feed.exists() or not feed.stat().st_size:
        return []
    csv.field_size_limit(32 * MB)
    with feed.open(newline="", encoding="utf-8") as lines:
        cells = [cell for row in csv.reader(lines) for cell in row]
    return [cell[:40] for cell in cells if cell.startswith(tuple("=+-@＝＋－＠\t\r\n"))]


@dataclass(slots=True)
class CaseResult:
    """Outcomes and problems of a case."""

    name: str
    outcomes: list[str]
    #: healthy articles that were extracted, out of :attr:`healthy`
    extracted: int = 0
    healthy: int = 0
    requests: int = 0
    problems: list[str] = field(default_factory=list)


def check_case(name: str, case: Case, run: Run) -> CaseResult:
    """Return the outcomes of the site of *case* and its problems."""
    site = run.web.sites[name]
    result = CaseResult(name, run.outcomes(f"http://{site.host}{case.path}"))
    result.requests = len(run.web.requests_to(name))
    problems = result.problems
    if len(result.outcomes) != 1:
        problems.append(f"{len(result.outcomes)} outcomes of {case.path}")
    problems += [
        f"unexpected outcome {outcome}"
        for outcome in result.outcomes
        if not outcome.startswith(case.outcomes)
    ]
    sites = [run.web.sites[healthy] for healthy in HEALTHY] + [site] * case.healthy
    result.extracted = sum(map(run.extracted, sites))
    result.healthy = sum(len(site.healthy) for site in sites)
    if result.extracted < result.healthy:
        problems.append("healthy articles are missing")
    problems += [f"early: {request}" for request in run.web.early_requests(name)]
    if result.requests > REQUEST_BUDGET:
        problems.append("more requests than the budget")
    if not any(row.site == site.host for row in run.recorded):
        problems.append("the site has no outcomes")
    return result
