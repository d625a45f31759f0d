"""Crawls by a new project of ``scrapy startproject`` with one line of settings added."""

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


class PaperHandler(BaseHTTPRequestHandler):
    """Sends the article whose number is in the URL."""

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
        """Log nothing."""


@contextmanager
def serve_paper() -> Iterator[str]:
    """Serve articles; yield the URL of the server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), PaperHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def scrapy(*arguments: str, cwd: Path) -> str:
    """Return the standard error of a scrapy command, which must succeed."""
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
    with serve_paper() as base:
        return crawl_server(base, folder, line, *options)


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
    """ADDONS alone fills the items of the project and enables the Parquet format."""
    feed = tmp_path / "articles.parquet"
    lines = 'ADDONS = {"newscrawl.Addon": 500}\n'
    feeds = f'FEEDS = {{"{feed.as_posix()}": {{"format": "parquet"}}}}'
    assert_all_extracted(crawl(tmp_path, lines + feeds, "-s", "NEWSCRAWL_OUTPUT=fill"))
    rows = parquet.read_table(feed).to_pylist()
    assert titles(rows) == {pages.title(number) for number in range(PAGES)}
    assert {(row["mine"], row["newscrawl_status"]) for row in rows} == {(200, "article")}
    assert "html" not in rows[0]
