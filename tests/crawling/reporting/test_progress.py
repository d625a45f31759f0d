"""The table at the end of a crawl."""

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from newscrawl.crawling.reporting.progress import Progress


class OwnSpider(Spider):
    """A spider of a project with the add-on."""

    name = "own"


def test_other_spiders_have_no_table(capsys: pytest.CaptureFixture[str]):
    """They count neither discovered nor fetched pages: the table would show noughts."""
    crawler = get_crawler(OwnSpider)
    crawler.spider = crawler._create_spider()
    crawler._apply_settings()
    assert crawler.stats is not None
    crawler.stats.set_value("newscrawl/site/a.example/article_count", 1)
    Progress(crawler).report()
    assert capsys.readouterr().err == ""
