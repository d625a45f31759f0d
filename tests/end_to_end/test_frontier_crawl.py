"""Crawls that are killed, stopped and resumed: no page is lost, no item is duplicated."""

import json
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy
from tests.servers.tree_site import TreeSite

#: with a worker process; the size of a response in Scrapy's queue of responses is at least 1024
FEW_IN_FLIGHT = {
    "TREE_WORKERS": 1,
    "CONCURRENT_REQUESTS": 4,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 4 * 1024,
    "NEWSCRAWL_CHECKPOINT": 0.05,
    "NEWSCRAWL_WORKERS": 1,
}
#: 4 requests and 4 pages in flight, and as many in a commit
MAX_REFETCHED = 16

pytestmark = pytest.mark.slow


@dataclass
class TreeCrawl:
    """Crawl of *site* with its files in *folder*, in one or several consecutive processes."""

    folder: Path
    site: TreeSite
    spider: str = "tree_spider.py"
    options: dict[str, object] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    kills: int = 0
    #: logs of all processes
    logs: list[Path] = field(default_factory=list)

    def start(self) -> ForkedScrapy:
        """Start a process; it resumes the crawl if there is a state."""
        options = [word for item in self.options.items() for word in ("-s", "{}={}".format(*item))]
        spider_arguments = {"url": self.site.url, **self.arguments}
        arguments = [
            word for item in spider_arguments.items() for word in ("-a", "{}={}".format(*item))
        ]
        spider = REPOSITORY / "tests" / "spiders" / self.spider
        self.logs.append(self.folder / f"log-{len(self.logs)}.txt")
        return ForkedScrapy(
            ["runspider", str(spider), *arguments, *options],
            self.folder,
            {
                **os.environ,
                "SCRAPY_SETTINGS_MODULE": "tests.spiders.tree_settings",
                "PYTHONWARNINGS": "default",
            },
            self.logs[-1],
        )

    def kill_at(self, pages: int) -> bool:
        """Kill a process and its group after *pages* served in total; False if it ended before."""
        return self.end_at(pages, lambda process: os.killpg(process.pid, signal.SIGKILL))

    def end_at(self, pages: int, end: Callable[[ForkedScrapy], None]) -> bool:
        """Call *end* on a process after *pages* served in total; False if it ended before."""
        process = self.start()
        while process.poll() is None and len(self.site.served) < pages:
            time.sleep(0.002)
        if process.poll() is not None:
            return False
        end(process)
        self.kills += 1
        process.wait(timeout=200)
        return True

    def finish(self) -> dict[str, Any]:
        """Run to the end and return the stats."""
        process = self.start()
        assert process.wait(timeout=240) == 0, self.output
        return self.stats

    @property
    def stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = json.loads((self.folder / "stats.json").read_text())
        return stats

    @property
    def output(self) -> str:
        """The log of the last process."""
        return self.logs[-1].read_text()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of *query* in the state file."""
        state = self.folder / ".scrapy" / "state.sqlite"
        with closing(sqlite3.connect(state)) as connection:
            return connection.execute(query).fetchall()

    def items(self) -> Counter[int]:
        """Return the number of items of each page."""
        return Counter(json.loads(text)["n"] for (text,) in self.rows("SELECT item FROM outbox"))

    def done(self) -> set[int]:
        """Return the numbers of the pages with a committed outcome, without the first page."""
        if not self.kills:
            return set()
        urls = self.rows("SELECT url FROM outcome")
        return {int(url.rpartition("/")[2].removesuffix(".html")) for (url,) in urls} - {0}

    def repeated(self) -> int:
        """Return the number of refetched pages, without the first page, which is fetched twice."""
        return len(self.site.served) - len(set(self.site.served)) - 1

    def assert_complete(self) -> None:
        """Check that every page was fetched, has one item and one outcome."""
        site = self.site
        assert set(site.served) == site.healthy
        assert self.items() == Counter(n for n in site.healthy if n % 100 != 3)
        outcomes = {
            "article": {n for n in site.healthy if n % 100 != 3},
            "dropped/drop_item": {n for n in site.healthy if n % 100 == 3},
            "failed/redirects": site.loops,
            "failed/http_404": site.gone,
        }
        expected = [
            (f"{site.url}/{n}", outcome) for outcome, pages in outcomes.items() for n in pages
        ]
        expected.append((f"{site.url}/0", "article"))
        assert Counter(self.rows("SELECT url, outcome FROM outcome")) == Counter(expected)
        assert self.rows("SELECT count(*) FROM request") == [(0,)]
        assert not [log for log in self.logs if "Traceback" in log.read_text()]


@pytest.fixture
def crawl(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return a crawl of 200 pages, or as many as the test says."""
    with TreeSite(getattr(request, "param", 200)) as site:
        yield TreeCrawl(tmp_path, site)


def test_resumes_after_twelve_kills(tmp_path: Path):
    """No page is missing, no item twice, no page with a committed outcome fetched again.

    A page is in flight until a worker has read it and its outcome is committed: the crawl has few
    requests and pages in flight and commits often, so that few pages are fetched again.
    """
    points = sorted(random.Random(17).sample(range(1, 290), 12))
    with TreeSite(300) as site:
        crawl = TreeCrawl(tmp_path, site, options=FEW_IN_FLIGHT)
        done: set[int] = set()
        fetched = 0
        for pages in points:
            assert crawl.kill_at(max(pages, len(site.served) + 1)), crawl.output
            assert not done & set(site.served[fetched:])
            done, fetched = crawl.done(), len(site.served)
        assert crawl.finish()["finish_reason"] == "finished"
        assert not done & set(site.served[fetched:])
        crawl.assert_complete()
        assert crawl.repeated() <= len(points) * MAX_REFETCHED


def test_sigterm_keeps_pending_requests(crawl: TreeCrawl):
    """A crawl stopped by SIGTERM finishes requests in flight; the next fetches only the rest."""
    assert crawl.end_at(100, lambda process: process.send_signal(signal.SIGTERM))
    assert crawl.stats["finish_reason"] == "shutdown"
    assert crawl.rows("SELECT count(*) FROM request WHERE request IS NOT NULL") > [(0,)]
    assert "the next run resumes them" in crawl.output
    assert crawl.finish()["newscrawl/frontier/resumed_count"] > 0
    crawl.assert_complete()
    assert crawl.repeated() == 0


def test_memory_limit_and_end_by_the_spider_keep_pending_requests(crawl: TreeCrawl):
    crawl.options = {"MEMUSAGE_LIMIT_MB": 1, "MEMUSAGE_CHECK_INTERVAL_SECONDS": 1}
    assert crawl.finish()["finish_reason"] == "memusage_exceeded"
    crawl.options, crawl.arguments = {}, {"stop": "100"}
    assert crawl.finish()["finish_reason"] == "enough"
    assert crawl.finish()["finish_reason"] == "finished"
    crawl.assert_complete()
    assert crawl.repeated() == 0


def test_finished_crawl_starts_from_the_beginning(crawl: TreeCrawl):
    """Everything is fetched again after a finished crawl."""
    crawl.finish()
    crawl.assert_complete()
    crawl.site.served.clear()
    assert "newscrawl/frontier/resumed_count" not in crawl.finish()
    assert crawl.repeated() == 0


def test_crawls_without_a_state_file(crawl: TreeCrawl):
    """Without a state file the crawl works in memory."""
    crawl.options = {"NEWSCRAWL_STATE": ""}
    stats = crawl.finish()
    assert set(crawl.site.served) == crawl.site.healthy
    assert stats["newscrawl/outcome_count/article"] == stats["item_scraped_count"]
    assert not (crawl.folder / ".scrapy").exists()
