"""Items of a spider filled from their responses."""

import json
from pathlib import Path

import pytest
import requests
import web_poet
from scrapy.http import HtmlResponse

import newscrawl
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


URL = "http://tagesbote.test/2026/03/14/1-muehle.html"
TEXT = pages.article_page(1, meta_charset=None)
HTML = TEXT.encode("cp1252")
TYPE = "text/html; charset=windows-1252"


def check(article: newscrawl.Article, url: str = URL) -> None:
    assert (article.url, article.title) == (url, pages.title(1))
    assert set(pages.paragraphs(1)) <= set(article.body.split("\n\n"))


def test_reads_scrapy_response():
    response = HtmlResponse(URL, body=HTML, headers={"Content-Type": TYPE})
    check(newscrawl.from_response(response))
    named = newscrawl.from_response(response, method="nce")
    assert named.evidence["body"].source == "nce"


def test_reads_declared_encoding():
    """One letter is too little to detect the encoding."""
    html = b"<html><body><h1>The caf\x8e is open</h1>" + b"<p>It was closed for a year.</p>" * 9
    headers = {"Content-Type": "text/html; charset=macintosh"}
    response = HtmlResponse(URL, body=html, headers=headers)
    assert newscrawl.from_response(response).title == "The café is open"
    assert newscrawl.from_response(response, encoding=None).title != "The café is open"


def test_reads_web_poet_response():
    check(newscrawl.from_response(web_poet.HttpResponse(URL, HTML, headers={"Content-Type": TYPE})))


def test_reads_requests_response():
    with SiteServer({"/1.html": TEXT.encode()}) as server:
        response = requests.get(f"{server.url}/1.html", timeout=30)
    check(newscrawl.from_response(response), response.url)


def test_rejects_other_documents():
    with pytest.raises(newscrawl.DocumentError):
        newscrawl.from_response(HtmlResponse(URL, body=b"%PDF-1.7"))
