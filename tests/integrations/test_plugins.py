"""Scrapy's JOBDIR and HTTPCACHE, scrapy-playwright and scrapy-zyte-api together with the add-on."""

from collections import Counter
from pathlib import Path

import pytest
from scrapy.addons import AddonManager
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from newscrawl.addon import HTTP_HANDLER
from newscrawl.crawling.network.page_rendering import find_chromium
from newscrawl.lab.corpora import chromium
from samples import SampleSites, expected_pages
from tests.conftest import skip_missing
from tests.helpers.foreign_projects import ADDON, require_package, run_spider
from tests.servers import pages
from tests.servers.site import SiteServer

SPIDER = """
import scrapy

class PluginSpider(scrapy.Spider):
    name = "plugins"
    meta = ""

    async def start(self):
        for url in self.urls.split(","):
            yield scrapy.Request(url, meta={name: True for name in self.meta.split(",") if name})

    def parse(self, response):
        yield {"url": response.url, "html": response.body}
"""
OWN_SPIDER = """
from newscrawl.spiders.sitelist import SitelistSpider

class OwnSpider(SitelistSpider):
    name = "own"
"""
SITE = {f"/{number}.html": pages.article_page(number).encode() for number in range(8)}
FRONT_PAGE = "".join(
    f'<p><a href="/{number}.html">{pages.title(number)}</a></p>' for number in range(8)
)
TITLES = {pages.title(number) for number in range(8)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spider", "frontier", "limit"),
    [(SPIDER, False, 5), (OWN_SPIDER, False, 10), (OWN_SPIDER, True, 10)],
)
def test_jobdir(tmp_path: Path, spider: str, frontier: bool, limit: int):
    """Scrapy's scheduler resumes from JOBDIR; LeaseScheduler from its state, and says so."""
    settings: dict[str, object] = {"JOBDIR": "job%20", "CONCURRENT_REQUESTS": 1}
    settings["NEWSCRAWL_FRONTIER_ENABLED"] = frontier
    titles: list[str] = []
    with SiteServer(SITE | {"/": FRONT_PAGE.encode()}) as server:
        arguments = {
            "urls": ",".join(f"{server.url}{path}" for path in SITE),
            "site": f"{server.url}/",
        }
        del arguments["site" if spider == SPIDER else "urls"]
        for stop in (limit, 0):
            crawl = run_spider(
                tmp_path, spider, arguments, ADDONS=ADDON, CLOSESPIDER_PAGECOUNT=stop, **settings
            )
            assert crawl.errors() == [], crawl.output
            assert ("replaces the scheduler of JOBDIR (job%20)" in crawl.output) == frontier
            titles += [item["title"] for item in crawl.items]
            assert bool(stop) == (0 < len(titles) < len(TITLES))
    assert sorted(titles) == sorted(TITLES)
    stories = Counter(path for path in server.paths if path in SITE)
    assert stories == dict.fromkeys(SITE, 1)


@pytest.mark.slow
def test_httpcache(tmp_path: Path):
    """The second crawl requests nothing: pages, style sheets and robots.txt are in the cache."""
    articles = [page for page in expected_pages("harbour-gazette") if page.is_article]
    with SampleSites() as sites:
        base = sites.urls["harbour-gazette"].rstrip("/")
        arguments = {"urls": ",".join(f"{base}{page.path}" for page in articles)}
        results = []
        for _ in range(2):
            crawl = run_spider(tmp_path, SPIDER, arguments, ADDONS=ADDON, HTTPCACHE_ENABLED=True)
            assert crawl.errors() == [], crawl.output
            assert crawl.stats["newscrawl/css/complete_page_count"] == len(articles)
            results.append({item["url"]: item["body"] for item in crawl.items})
            requested = len(sites.requests)
            results.append(requested)
    bodies = {f"{base}{page.path}": page.body for page in articles}
    assert results == [bodies, results[1], bodies, results[1]]
    assert results[1] > len(articles)


SCRIPTED = """<!DOCTYPE html><html><head><title>Der Tagesbote</title></head><body><div id="app"></div>
<script>document.documentElement.innerHTML = {page!r}</script></body></html>"""


@pytest.mark.slow
@pytest.mark.parametrize("rendered", [False, True])
def test_playwright(tmp_path: Path, rendered: bool):
    """A page whose article is written by a script, rendered by Chromium."""
    require_package("scrapy_playwright")
    if reason := chromium.missing():
        skip_missing(reason)
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    launch = {"executable_path": find_chromium(), "args": ["--no-sandbox"]}
    with SiteServer({"/1.html": SCRIPTED.format(page=pages.article_page(1)).encode()}) as server:
        crawl = run_spider(
            tmp_path,
            SPIDER,
            {"urls": f"{server.url}/1.html", "meta": "playwright" if rendered else ""},
            ADDONS=ADDON,
            DOWNLOAD_HANDLERS={"http": handler, "https": handler},
            PLAYWRIGHT_LAUNCH_OPTIONS=launch,
        )
    assert crawl.returncode == 0, crawl.output
    assert crawl.errors() == [], crawl.output
    assert [item["title"] for item in crawl.items] == [pages.title(1)] * rendered
    if rendered:
        assert set(pages.paragraphs(1)) <= set(crawl.items[0]["body"].split("\n\n"))


@pytest.mark.slow
def test_zyte_api(tmp_path: Path):
    """Without transparent mode, other requests do not use the API; nothing leaves this machine."""
    require_package("scrapy_zyte_api")
    addons = {**ADDON, "scrapy_zyte_api.Addon": 600}
    settings = Settings({"ADDONS": addons, "TWISTED_REACTOR_ENABLED": True})
    AddonManager(get_crawler()).load_settings(settings)
    assert settings["ZYTE_API_FALLBACK_HTTP_HANDLER"] == HTTP_HANDLER
    with SiteServer(SITE) as server:
        crawl = run_spider(
            tmp_path,
            SPIDER,
            {"urls": ",".join(f"{server.url}{path}" for path in SITE)},
            ADDONS=addons,
            ZYTE_API_KEY="unused",
            ZYTE_API_TRANSPARENT_MODE=False,
        )
    assert crawl.returncode == 0, crawl.output
    assert crawl.errors() == [], crawl.output
    assert {item["title"] for item in crawl.items} == TITLES
    assert not crawl.stats.get("scrapy-zyte-api/processed")
