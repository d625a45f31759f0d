"""Lines about pages and items, where somebody reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.helpers.crawls import crawl_pages
from tests.servers.direct_web import HTML, DirectWeb, direct_environment
from tests.servers.pages import article_page
from tests.servers.styled_web import Answer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("level", ["DEBUG", "INFO"])
def test_lines_of_pages_and_items(tmp_path: Path, level: str):
    """The log has at each level what Scrapy's own formatter would give it."""
    crawls = []
    for formatter in (
        "newscrawl.crawl.reporting.log_formatter.QuietLogFormatter",
        "scrapy.logformatter.LogFormatter",
    ):
        with DirectWeb({"127.0.0.1/": Answer(article_page(0).encode(), 200, HTML)}) as web:
            folder = tmp_path / formatter
            folder.mkdir()
            settings = {"LOG_LEVEL": level, "LOG_FORMATTER": formatter}
            crawls.append(crawl_pages(folder, [f"{web.url}/"], direct_environment(), **settings))
    told = [("Crawled (200)" in crawl.output, "Scraped from" in crawl.output) for crawl in crawls]
    assert told == [(level == "DEBUG",) * 2] * 2
    assert crawls[0].stats.get("log_count/DEBUG") == crawls[1].stats.get("log_count/DEBUG")
