"""Items of a spider filled from their responses."""

import json
from pathlib import Path

import pytest

from tests.helpers.foreign_projects import ADDON, run_spider
from tests.servers import pages
from tests.servers.site import SiteServer

SPIDER = """
import scrapy

class NewsItem(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    body = scrapy.Field()
    date = scrapy.Field()
    newscrawl_status = scrapy.Field()

class OldSpider(scrapy.Spider):
    name = "old"

    async def start(self):
        yield scrapy.Request(f"{self.base}/index.html", self.parse_index)

    def parse_index(self, response):
        for number in range(4):
            url = f"{self.base}/{number}.html?utm_source=front"
            yield {"url": "http://[" if number else url, "title": None, "teaser": number}
            yield scrapy.Request(url, self.parse_article)
        yield scrapy.Request(f"{self.base}/data", self.parse_article)

    def parse_article(self, response):
        yield NewsItem(url=response.url.removeprefix(self.base), title=None)
        yield NewsItem(title="Mine")

class NoTitle:
    def process_item(self, item):
        if item["title"]:
            item["title"] += " (checked)"
        return item
"""
INDEX = b"<html><body>" + b"<p><a href=/a>A headline that leads elsewhere</a></p>" * 80
SITE = {"/index.html": INDEX} | {
    f"/{n}.html?utm_source=front": pages.article_page(n).encode() for n in range(3)
}
SITE["/3.html?utm_source=front"] = b""
SITE["/data"] = b"%PDF-1.7 \0" * 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{}, {"ADDONS": ADDON}, {"ADDONS": ADDON, "NEWSCRAWL_FRONTIER_ENABLED": True}]
)
def test_fills_items_without_html_field(tmp_path: Path, settings: dict[str, object]):
    """Once for each response, in a worker, before the pipelines of the project."""
    with SiteServer(SITE) as server:
        crawl = run_spider(
            tmp_path,
            SPIDER,
            {"base": server.url},
            EXTENSIONS={"tests.helpers.foreign_projects.DocumentMeter": 0},
            ITEM_PIPELINES={"spider.NoTitle": 10},
            SPIDER_MIDDLEWARES={"newscrawl.integrations.FillMiddleware": 900},
            **settings,
        )
    assert crawl.returncode == 0, crawl.output
    assert "Traceback" not in crawl.output
    teasers = [item for item in crawl.items if "teaser" in item]
    assert [item.keys() for item in teasers] == [{"url", "title", "teaser"}] * 4
    items = [item for item in crawl.items if "teaser" not in item]
    done = [item for item in items if item["newscrawl_status"] == "article"]
    assert len(done) == 6
    assert {item["title"] for item in done} == {
        "Mine (checked)",
        *(f"{pages.title(number)} (checked)" for number in range(3)),
    }
    assert all("Der Betreiber selbst" in item["body"] for item in done)
    failed = [item for item in items if item not in done]
    assert [item["newscrawl_status"] for item in failed] == ["failed/document"] * 4
    assert crawl.stats["newscrawl/extract/article_count"] == 3
    assert crawl.stats["reactor/read"] == 0
    json.dumps(crawl.items)
