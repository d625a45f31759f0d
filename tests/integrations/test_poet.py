"""Articles as dependencies of callbacks and page objects, with scrapy-poet."""

from pathlib import Path

import pytest

from tests.helpers.foreign_projects import ADDON, require_package, run_spider
from tests.servers import pages
from tests.servers.site import SiteServer

SPIDER = '''
import newscrawl
import scrapy
from scrapy_poet import DummyResponse
from web_poet import ItemPage, field, handle_urls
from zyte_common_items import Article, ArticlePage, AutoArticlePage


@handle_urls("NETLOC/2.html")
class EditedPage(AutoArticlePage):
    """One field by a selector, the others by newscrawl."""

    @field
    def headline(self):
        return f"Edited: {self.article.headline}"


@handle_urls("NETLOC/local/")
class LocalPage(ArticlePage):
    """A section by selectors only."""

    @field
    def headline(self):
        return self.css("h1::text").get()


class PoetSpider(scrapy.Spider):
    name = "poet"

    async def start(self):
        yield scrapy.Request(f"{self.base}/1.html", self.parse_item)
        yield scrapy.Request(f"{self.base}/2.html", self.parse_edited)
        yield scrapy.Request(f"{self.base}/5.html", self.parse_page)
        yield scrapy.Request(f"{self.base}/3.html", self.parse_own)
        yield scrapy.Request(f"{self.base}/local/4.html", self.parse_local)
        yield scrapy.Request(f"{self.base}/empty.html", self.parse_failed, errback=self.failed)

    async def parse_item(self, response: DummyResponse, article: Article):
        yield {"name": "item", **_row(article)}

    async def parse_edited(self, response, article: Article):
        yield {"name": "edited", **_row(article)}

    async def parse_page(self, response, page: AutoArticlePage):
        yield {"name": "page", **_row(await page.to_item())}

    async def parse_own(self, response, article: newscrawl.Article):
        yield {"name": "own", "title": article.title, "kind": article.kind}

    async def parse_local(self, response, article: Article):
        yield {"name": "local", **_row(article)}

    async def parse_failed(self, response, article: Article):
        yield {"name": "never"}

    def failed(self, failure):
        yield {"name": "failed", "title": failure.getErrorMessage()}


def _row(article):
    assert type(article) is Article
    return {"title": article.headline, "date": article.datePublished, "body": article.articleBody}
'''
SITE = {f"/{number}.html": pages.article_page(number).encode() for number in (1, 2, 3, 5)}
SITE |= {"/local/4.html": pages.article_page(4).encode(), "/empty.html": b""}


@pytest.fixture(autouse=True)
def _poet() -> None:
    require_package("scrapy_poet", "poet")


@pytest.mark.slow
@pytest.mark.parametrize("addons", [{}, ADDON])
def test_provides_articles(tmp_path: Path, addons: dict[str, int]):
    """To callbacks and to page objects; page objects of the project take precedence."""
    with SiteServer(SITE) as server:
        crawl = run_spider(
            tmp_path,
            SPIDER.replace("NETLOC", server.url.removeprefix("http://")),
            {"base": server.url},
            ADDONS={"scrapy_poet.Addon": 300, **addons},
            EXTENSIONS={"tests.helpers.foreign_projects.DocumentMeter": 0},
            SCRAPY_POET_PROVIDERS={"newscrawl.integrations.poet.ArticleProvider": 500},
        )
    assert crawl.returncode == 0, crawl.output
    rows = {item.pop("name"): item for item in crawl.items}
    assert rows.keys() == {"item", "edited", "page", "own", "local", "failed"}, crawl.output
    assert rows["item"]["title"] == pages.title(1)
    assert rows["item"]["date"] == "2026-03-14T09:30:00+01:00"
    assert pages.paragraphs(1)[0] in rows["item"]["body"]
    assert rows["edited"]["title"] == f"Edited: {pages.title(2)}"
    assert pages.paragraphs(2)[0] in rows["edited"]["body"]
    assert rows["page"]["title"] == pages.title(5)
    assert rows["own"] == {"title": pages.title(3), "kind": "article"}
    assert rows["local"] == {"title": pages.title(4), "date": None, "body": None}
    assert "failed (document)" in rows["failed"]["title"]
    assert crawl.stats["newscrawl/extract/article_count"] == 4
    assert crawl.stats["reactor/read"] == 0
