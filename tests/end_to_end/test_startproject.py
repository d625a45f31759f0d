"""A project as ``scrapy startproject`` makes it, with one line of ours, crawls a real server."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet

from tests.servers import pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 12

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


class Paper(BaseHTTPRequestHandler):
    """Answers with the article that the URL's number names."""

    def do_GET(self) -> None:
        if not self.path.startswith("/2026/"):
            self.send_error(404)
            return
        body = pages.article_page(int(self.path.split("/")[-1].split("-")[0])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Be quiet."""


@contextmanager
def served() -> Iterator[str]:
    """Yield the address of a server of the paper."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Paper)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def scrapy(*arguments: str, cwd: Path) -> str:
    """Return what a scrapy command, which must succeed, wrote to standard error."""
    run = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stderr


def crawl(folder: Path, line: str, *options: str) -> str:
    """Crawl the paper from a new project with *line* added to its settings; return the log."""
    with served() as base:
        return crawl_server(base, folder, line, *options)


def crawl_server(base: str, folder: Path, line: str, *options: str) -> str:
    """Do the same with the paper that is served at *base*."""
    scrapy("startproject", "daily", cwd=folder)
    package = folder / "daily" / "daily"
    with (package / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write(f"\n{line}\n")
    spider = SPIDER.format(base=base, pages=PAGES)
    (package / "spiders" / "paper.py").write_text(spider, encoding="utf-8")
    fast = ["-s", "DOWNLOAD_DELAY=0", "-s", "NEWSCRAWL_WORKERS=1"]
    fast += ["-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1"]
    return scrapy("crawl", "paper", *fast, *options, cwd=folder / "daily")


def assert_healthy(log: str) -> None:
    assert f"'newscrawl/extract/article_count': {PAGES}" in log, log
    assert "Traceback" not in log
    assert " ERROR: " not in log
    assert "DeprecationWarning" not in log


def titles(rows: list[dict[str, Any]]) -> set[str]:
    return {row["title"] for row in rows}


@pytest.mark.slow
def test_one_line_in_item_pipelines_is_enough(tmp_path: Path) -> None:
    """ITEM_PIPELINES alone turns the project's own items into articles."""
    feed = tmp_path / "articles.jsonl"
    line = 'ITEM_PIPELINES = {"newscrawl.pipelines.NewsExtractPipeline": 300}'
    assert_healthy(crawl(tmp_path, line, "-O", str(feed)))
    rows = [json.loads(row) for row in feed.read_text(encoding="utf-8").splitlines()]
    assert titles(rows) == {pages.title(number) for number in range(PAGES)}
    assert {datetime.fromisoformat(row["date"]) for row in rows} == {pages.PUBLISHED}
    assert all("Der Betreiber selbst wollte sich" in row["body"] for row in rows)


@pytest.mark.slow
def test_one_line_in_addons_is_enough(tmp_path: Path) -> None:
    """ADDONS alone does the same, and knows Parquet; here the items are filled."""
    feed = tmp_path / "articles.parquet"
    lines = 'ADDONS = {"newscrawl.Addon": 500}\n'
    feeds = f'FEEDS = {{"{feed.as_posix()}": {{"format": "parquet"}}}}'
    assert_healthy(crawl(tmp_path, lines + feeds, "-s", "NEWSCRAWL_OUTPUT=fill"))
    rows = parquet.read_table(feed).to_pylist()
    assert titles(rows) == {pages.title(number) for number in range(PAGES)}
    assert {(row["mine"], row["newscrawl_status"]) for row in rows} == {(200, "article")}
    assert "html" not in rows[0]
