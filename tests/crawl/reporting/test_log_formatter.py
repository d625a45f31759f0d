"""Messages about pages and items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.helpers.crawls import crawl_pages
from tests.servers.direct_web import HTML, DirectWeb, direct_environment
from tests.servers.pages import article_page
from tests.servers.styled_web import Answer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("level", ["DEBUG", "INFO"])
def test_logs_same_lines_as_scrapy(tmp_path: Path, level: str):
    """At each level the log is that of Scrapy's own formatter."""
    crawls = []
    for formatter in (
        "newscrawl.crawl.reporting.logs.QuietLogFormatter",
        "scrapy.logformatter.LogFormatter",
    ):
        with DirectWeb({"127.0.0.1/": Answer(article_page(0).encode(), 200, HTML)}) as web:
            folder = tmp_path / formatter
            folder.mkdir()
            settings = {"LOG_LEVEL": level, "LOG_FORMATTER": formatter}
            crawls.append(crawl_pages(folder, [f"{web.url}/"], direct_environment(), **settings))
    logged = [("Crawled (200)" in crawl.output, "Scraped from" in crawl.output) for crawl in crawls]
    assert logged == [(level == "DEBUG",) * 2] * 2, crawls[0].output
    assert crawls[0].stats.get("log_count/DEBUG") == crawls[1].stats.get("log_count/DEBUG")
