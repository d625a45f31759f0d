"""Crawls by a new project of ``scrapy startproject`` with one line of settings added."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import forked_scrapy
from tests.servers import pages
from tests.servers.site import SiteServer

PAGES = 12
PAPER = {
    f"/2026/03/14/{number}-artikel.html": pages.article_page(number).encode()
    for number in range(PAGES)
}

SPIDER = """
import scrapy


class PaperSpider(scrapy.Spider):
    name = "paper"

    async def start(self):
        for number in range({pages}):
            yield scrapy.Request(f"{base}/2026/03/14/{{number}}-artikel.html")

    def parse(self, response):
        yield {{"url": response.url, "html": response.body, "mine": response.status}}
"""


def scrapy(*arguments: str, cwd: Path) -> str:
    """Return the output of a scrapy command, which must succeed."""
    run = forked_scrapy.scrapy(cwd, *arguments)
    assert run.returncode == 0, run.stderr
    return run.stdout + run.stderr


def crawl(folder: Path, line: str, *options: str) -> str:
    """Crawl the paper from a new project with *line* added to its settings; return the log."""
    with SiteServer(PAPER) as paper:
        return crawl_server(paper.url, folder, line, *options)


def crawl_server(base: str, folder: Path, line: str, *options: str) -> str:
    """Like :func:`crawl`, with the paper served at the URL *base*."""
    scrapy("startproject", "daily", cwd=folder)
    package = folder / "daily" / "daily"
    with (package / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write(f"\n{line}\n")
    spider = SPIDER.format(base=base, pages=PAGES)
    (package / "spiders" / "paper.py").write_text(spider, encoding="utf-8")
    settings_options = ["-s", "DOWNLOAD_DELAY=0", "-s", "NEWSCRAWL_WORKERS=1"]
    settings_options += ["-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1"]
    return scrapy("crawl", "paper", *settings_options, *options, cwd=folder / "daily")


def assert_all_extracted(log: str) -> None:
    """Check that all pages were extracted without errors or warnings in the log."""
    assert f"'newscrawl/extract/article_count': {PAGES}" in log, log
    assert "Traceback" not in log
    assert " ERROR: " not in log
    assert "DeprecationWarning" not in log


def titles(rows: list[dict[str, Any]]) -> set[str]:
    return {row["title"] for row in rows}


@pytest.mark.slow
def test_one_line_in_item_pipelines_is_enough(tmp_path: Path) -> None:
    """ITEM_PIPELINES alone turns the items of the project into articles."""
    feed = tmp_path / "articles.jsonl"
    line = 'ITEM_PIPELINES = {"newscrawl.pipelines.NewsExtractPipeline": 300}'
    assert_all_extracted(crawl(tmp_path, line, "-O", str(feed)))
    rows = [json.loads(row) for row in feed.read_text(encoding="utf-8").splitlines()]
    assert titles(rows) == {pages.title(number) for number in range(PAGES)}
    assert {datetime.fromisoformat(row["date"]) for row in rows} == {pages.PUBLISHED}
    assert all("Der Betreiber selbst wollte sich" in row["body"] for row in rows)


@pytest.mark.slow
def test_one_line_in_addons_is_enough(tmp_path: Path) -> None:
    """ADDONS alone fills the items of the project; a second line adds clusters."""
    feed = tmp_path / "articles.jsonl"
    lines = 'ADDONS = {"newscrawl.Addon": 500}\nNEWSCRAWL_NEARDUP_ENABLED = True\n'
    feeds = f'FEEDS = {{"{feed.as_posix()}": {{"format": "jsonlines"}}}}'
    assert_all_extracted(crawl(tmp_path, lines + feeds, "-s", "NEWSCRAWL_OUTPUT=fill"))
    rows = [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]
    assert titles(rows) == {pages.title(number) for number in range(PAGES)}
    assert {(row["mine"], row["newscrawl_status"]) for row in rows} == {(200, "article")}
    assert all(row["cluster"]["size"] >= 1 for row in rows)
    assert "html" not in rows[0]
    assert (tmp_path / "daily" / "newscrawl-neardup.sqlite").exists()
    assert {"paper", "sitelist", "urllist"} <= {*scrapy("list", cwd=tmp_path / "daily").split()}
