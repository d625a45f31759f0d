"""Pages that block the event loop: the crawl is killed, and the next run sets them aside."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from collections import Counter
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest

from newscrawl.crawling.frontier.watchdog import read_record
from newscrawl.crawling.output.segments import read_segments
from newscrawl.samples import SampleSites
from newscrawl.samples.server import write_sites_file
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy
from tests.servers.tree_site import TreeSite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 7
TRAP_PAGE = 5
MIDDLEWARE = "tests.spiders.stall_spider.TrapMiddleware"
PIPELINE = "tests.spiders.stall_spider.TrapPipeline"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc"),
]


@pytest.fixture
def sites() -> Iterator[list[TreeSite]]:
    """Return three sites of a few pages."""
    with ExitStack() as stack:
        yield [stack.enter_context(TreeSite(PAGES)) for _ in range(3)]


class StallCrawl:
    """Crawl of *sites* in *folder*, of which page ``TRAP_PAGE`` of the first blocks the loop."""

    def __init__(self, folder: Path, sites: list[TreeSite], how: str) -> None:
        self.folder = folder
        self.sites = sites
        self.how = how
        self.state = folder / "state.sqlite"
        self.record = folder / "state.sqlite.stalled"
        self.trap = f"{sites[0].url}/{TRAP_PAGE}"

    def start(self, limit: float = 2, **settings: object) -> ForkedScrapy:
        """Start a process; it resumes the crawl if there is a state."""
        if self.how.startswith("middleware"):
            settings["DOWNLOADER_MIDDLEWARES"] = json.dumps({MIDDLEWARE: 500})
            settings["HOW"] = self.how.removeprefix("middleware-")
        settings = {
            "NEWSCRAWL_STATE": self.state,
            "NEWSCRAWL_STALL_LIMIT": limit,
            "STATS_FILE": self.folder / "stats.json",
            "ITEM_PIPELINES": json.dumps({PIPELINE: 300}),
            "TRAP": self.trap,
            **settings,
        }
        spider = REPOSITORY / "tests" / "spiders" / "stall_spider.py"
        urls = ",".join(site.url for site in self.sites)
        words = ["-a", f"urls={urls}", "-a", f"how={self.how}", *options(settings)]
        return start_scrapy(self.folder, "tests.spiders.tree_settings", "runspider", spider, *words)

    def run(self, limit: float = 2, **settings: object) -> int:
        """Run to the end and return the exit code."""
        return self.start(limit, **settings).wait(timeout=240)

    @property
    def log(self) -> str:
        return (self.folder / "log.txt").read_text()

    def outcomes(self) -> Counter[tuple[str, str]]:
        """Return the number of outcomes by URL and outcome."""
        return Counter(rows(self.state, "SELECT url, outcome FROM outcome"))

    def expected(self, trap_outcome: str) -> Counter[tuple[str, str]]:
        urls = [f"{site.url}/{n}" for site in self.sites for n in range(PAGES)]
        return Counter((url, trap_outcome if url == self.trap else "article") for url in urls)

    def items(self) -> Counter[str]:
        texts = rows(self.state, "SELECT item FROM outbox")
        return Counter(json.loads(text)["url"] for (text,) in texts)

    def served(self) -> int:
        """Return how often the page was served that blocks the loop."""
        return self.sites[0].served.count(TRAP_PAGE)


def options(settings: dict[str, Any]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]


def start_scrapy(folder: Path, settings: str, *words: object) -> ForkedScrapy:
    """Start a ``scrapy`` command in *folder*, with its log in ``log.txt``."""
    environment = {
        **os.environ,
        "SCRAPY_SETTINGS_MODULE": settings,
        "PYTHONWARNINGS": "default",
    }
    return ForkedScrapy(list(map(str, words)), folder, environment, folder / "log.txt")


def rows(state: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(state)) as connection:
        return connection.execute(query).fetchall()


def assert_set_aside(crawl: StallCrawl) -> None:
    """Run again: the crawl ends, everything but the page is complete, the page has failed once."""
    served = crawl.served()
    assert crawl.run() == 0, crawl.log
    assert crawl.outcomes() == crawl.expected("failed/stalled"), crawl.log
    assert crawl.items() == Counter(url for url, end in crawl.outcomes() if end == "article")
    assert crawl.served() == served
    assert rows(crawl.state, "SELECT count(*) FROM request") == [(0,)]
    assert not crawl.record.exists()
    assert f"setting aside {crawl.trap} as failed/stalled" in crawl.log
    stats = json.loads((crawl.folder / "stats.json").read_text())
    assert stats["newscrawl/outcome_count/failed/stalled"] == 1
    assert "Traceback" not in crawl.log


@pytest.mark.parametrize(
    "how",
    [
        *("python", "regex", "released", "native"),
        *("middleware-native", "pipeline"),
    ],
)
def test_stalled_page_is_set_aside(tmp_path: Path, sites: list[TreeSite], how: str):
    """One run is killed; the next one completes all other pages, whatever blocks the loop."""
    crawl = StallCrawl(tmp_path, sites, how)
    assert crawl.run() == -signal.SIGPROF, crawl.log
    # While the watchdog's thread writes the record, a regular expression may begin, which keeps the
    # thread from logging it.
    if how != "regex":
        assert (f"stuck in {crawl.trap}: " in crawl.log) is not how.endswith("native")
    stalled = read_record(crawl.state)
    assert stalled is not None
    assert stalled.url == crawl.trap
    assert "stall_spider.py:" in stalled.place
    assert_set_aside(crawl)


def test_killed_by_hand_during_a_stall(tmp_path: Path, sites: list[TreeSite]):
    """The page is known before the watchdog acts, whoever kills the crawl."""
    crawl = StallCrawl(tmp_path, sites, "regex")
    process = crawl.start(limit=10)
    while process.poll() is None and not read_record(crawl.state):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert_set_aside(crawl)


def test_killed_healthy_crawl(tmp_path: Path, sites: list[TreeSite]):
    """A kill without a stall sets nothing aside."""
    crawl = StallCrawl(tmp_path, sites, "")
    process = crawl.start()
    while process.poll() is None and len(sites[0].served) < PAGES - 2:
        time.sleep(0.002)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert read_record(crawl.state) is None
    assert crawl.run() == 0, crawl.log
    assert crawl.outcomes() == crawl.expected("article")


def test_sleep_is_no_stall(tmp_path: Path, sites: list[TreeSite]):
    """A callback that blocks without using CPU time is left alone."""
    crawl = StallCrawl(tmp_path, sites, "sleep6")
    assert crawl.run() == 0, crawl.log
    assert crawl.outcomes() == crawl.expected("article")
    assert not crawl.record.exists()


def test_recovered_loop(tmp_path: Path, sites: list[TreeSite]):
    """The record of a loop that continues is deleted before anybody kills the crawl."""
    crawl = StallCrawl(tmp_path, sites, "busy")
    process = crawl.start(limit=10)
    recorded = False
    while process.poll() is None:
        recorded |= read_record(crawl.state) is not None
        time.sleep(0.01)
    assert process.returncode == 0, crawl.log
    assert recorded
    assert not crawl.record.exists()
    assert crawl.outcomes() == crawl.expected("article")


def test_disabled(tmp_path: Path, sites: list[TreeSite]):
    """With a limit of 0 there is no watchdog, and no record."""
    crawl = StallCrawl(tmp_path, sites, "sleep3")
    process = crawl.start(limit=0)
    while process.poll() is None and not crawl.served():
        time.sleep(0.002)
    assert not crawl.record.exists()
    assert process.wait(timeout=240) == 0


def test_sitelist(tmp_path: Path):
    """An article that blocks the loop fails in one crawl, and is tried again in the next."""

    def run(sites: SampleSites, trap: str) -> int:
        write_sites_file(tmp_path / "sites.txt", sites)
        settings = {
            "NEWSCRAWL_STATE": tmp_path / "state.sqlite",
            "NEWSCRAWL_SEGMENTS": tmp_path / "segments",
            "NEWSCRAWL_CSS_STORE": tmp_path / "sheets",
            "NEWSCRAWL_NEARDUP_INDEX": tmp_path / "near-duplicates.sqlite",
            "NEWSCRAWL_STALL_LIMIT": 3,
            "DOWNLOADER_MIDDLEWARES": json.dumps({MIDDLEWARE: 595}),
            "TRAP": trap,
        }
        words = ["crawl", "sitelist", "-a", "sites=sites.txt", *options(settings)]
        process = start_scrapy(tmp_path, "newscrawl.settings.demo", *words)
        return process.wait(timeout=240)

    def articles() -> list[str]:
        return sorted(item["url"] for item in read_segments(tmp_path / "segments"))

    state = tmp_path / "state.sqlite"
    with SampleSites() as sites:
        assert run(sites, "") == 0
        complete, trap = articles(), articles()[0]
        for path in tmp_path.glob("**/*"):
            if path.is_file():
                path.unlink()
        assert run(sites, trap) == -signal.SIGPROF
        assert run(sites, trap) == 0
        log = (tmp_path / "log.txt").read_text()
        assert articles() == complete[1:], log
        query = f"SELECT outcome, role FROM outcome WHERE url = '{trap}'"
        assert rows(state, query) == [("failed/stalled", "article")]
        query = f"SELECT status, failures FROM page WHERE url = '{trap}'"
        assert rows(state, query) == [("failed", 1)]
        assert run(sites, "") == 0
        assert articles() == complete
