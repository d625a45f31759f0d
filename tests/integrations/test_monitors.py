"""Monitors for spidermon."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from newscrawl.samples import SampleSites
from tests.conftest import REPOSITORY
from tests.helpers.foreign_projects import ADDON, require_package, run_spider
from tests.servers import pages
from tests.servers.page_server import serve_pages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.helpers.crawls import Crawl

SPIDER = """
import scrapy

class WatchedSpider(scrapy.Spider):
    name = "watched"

    async def start(self):
        for url in self.urls.split(","):
            yield scrapy.Request(url)

    def parse(self, response):
        yield {"url": response.url, "html": response.body}
"""
SETTINGS: dict[str, object] = {
    "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
    "SPIDERMON_ENABLED": True,
    "SPIDERMON_SPIDER_CLOSE_MONITORS": ["newscrawl.integrations.monitors.NewscrawlMonitorSuite"],
    "STATS_CLASS": "tests.helpers.stats_history.HistoryStatsCollector",
}
GOOD = {f"/{number}.html": pages.article_page(number).encode() for number in range(4)}


LINKS = {
    path: page.replace(b"<p>", b"<div><a href=/x>").replace(b"</p>", b"</a></div>")
    for path, page in GOOD.items()
}


@pytest.fixture(autouse=True)
def _spidermon() -> None:
    require_package("spidermon", "spidermon")


def alarms(crawl: Crawl) -> dict[str, str]:
    """Return the messages of the monitors that failed, by the name of the monitor."""
    assert crawl.returncode == 0, crawl.output
    assert "3 monitors in" in crawl.output, crawl.output
    assert "ERROR: " not in re.sub(r"ERROR: \[Spidermon\]", "", crawl.output), crawl.output
    found = re.findall(r"FAIL: (\w+)/.*?AssertionError: (.*?)\n", crawl.output, re.DOTALL)
    return dict(found)


def crawl_urls(folder: Path, *urls: str, **settings: object) -> Crawl:
    arguments = {"urls": ",".join(urls)}
    return run_spider(folder, SPIDER, arguments, ADDONS=ADDON, **SETTINGS, **settings)


@pytest.mark.slow
def test_alarms_for_pages(tmp_path: Path):
    """None for a good crawl; failures and a silent site in the next one; its share is a setting."""
    changed = dict(GOOD)
    with serve_pages(GOOD) as good, serve_pages(changed) as other:
        urls = [f"{server.url}{path}" for server in (good, other) for path in GOOD]
        assert alarms(crawl_urls(tmp_path, *urls)) == {}
        changed.update(dict.fromkeys(changed, b""))
        found = alarms(crawl_urls(tmp_path, *urls))
        site = other.url.removeprefix("http://")
        assert found == {
            "FailureMonitor": "4 of 8 pages failed: 4 extraction",
            "SilentSiteMonitor": f"Sites without articles: {site}",
        }
        found = alarms(crawl_urls(tmp_path, *urls, NEWSCRAWL_MONITOR_FAILURES=0.5))
        assert found.keys() == {"SilentSiteMonitor"}


@pytest.mark.slow
def test_alarm_for_lower_confidence(tmp_path: Path):
    """After a change of the template, and only at the site that changed."""
    changed = dict(GOOD)
    settings = {"NEWSCRAWL_KEEP": "article,live,gallery,index,other", "NEWSCRAWL_MIN_BODY": 0}
    with serve_pages(GOOD) as good, serve_pages(changed) as other:
        urls = [f"{server.url}{path}" for server in (good, other) for path in GOOD]
        for _ in range(2):
            crawl = crawl_urls(tmp_path, *urls, **settings)
            assert alarms(crawl) == {}
        site = other.url.removeprefix("http://")
        mean = crawl.stats[f"newscrawl/confidence/{site}"]
        confidences = [item["evidence"]["body"]["confidence"] for item in crawl.items]
        assert mean == pytest.approx(sum(confidences) / len(confidences), abs=0.01)
        changed.update(LINKS)
        found = alarms(crawl_urls(tmp_path, *urls, **settings))
        assert found.keys() == {"ConfidenceMonitor"}
        message = rf"Confidence dropped: {site} from 0\.9\d to 0\.\d\d"
        assert re.fullmatch(message, found["ConfidenceMonitor"])
        accepted = alarms(
            crawl_urls(tmp_path, *urls, **settings, NEWSCRAWL_MONITOR_CONFIDENCE=0.95)
        )
        assert accepted == {}


@pytest.mark.slow
def test_alarms_for_site_list(tmp_path: Path):
    """A site without any page is silent, until nothing of it is due."""
    spider = REPOSITORY / "newscrawl" / "spiders" / "sitelist.py"
    settings = {"NEWSCRAWL_FRONTIER_ENABLED": True, "NEWSCRAWL_STATE": "state.sqlite"}
    with SampleSites() as samples, serve_pages({}) as empty:
        arguments = {"sites": str(tmp_path / "sites.txt")}
        sites = [samples.urls["harbour-gazette"], f"{empty.url}/"]
        (tmp_path / "sites.txt").write_text("\n".join(sites), encoding="utf-8")
        site = empty.url.removeprefix("http://")
        silent = {"SilentSiteMonitor": f"Sites without articles: {site}"}
        for articles, expected in ((8, silent), (0, {})):
            crawl = run_spider(tmp_path, spider, arguments, ADDONS=ADDON, **SETTINGS, **settings)
            assert len(crawl.items) == articles
            assert alarms(crawl) == expected
