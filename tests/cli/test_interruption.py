"""Ctrl-C at any moment: one line, exit code 130, no traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from newscrawl.cli.exit_codes import interruption
from samples import expected_pages
from tests.helpers.forked_scrapy import ForkedScrapy
from tests.servers.site import HANG, SiteServer, link, page

START = "from newscrawl.cli import start; start()"
INTERRUPT_IMPORT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == {name!r}:
            for _ in range({times}):
                os.kill(os.getpid(), signal.SIGINT)
from newscrawl.cli import start
sys.meta_path.insert(0, Interrupt())
start()
"""
NETWORK = ["-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "-s", "DOWNLOAD_TIMEOUT=5"]


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("click", "crawl"),
        ("scrapy", "crawl"),
        ("scrapy.crawler", "urls"),
        ("newscrawl.workers.pool", "crawl"),
        ("scrapy.core.downloader.handlers.http11", "urls"),
        ("newscrawl.cli.extract_pages", "extract"),
    ],
)
def test_during_imports(tmp_path: Path, name: str, command: str, times: int):
    """Also in those of a crawl that is starting, and twice."""
    (tmp_path / "list.txt").write_text("http://127.0.0.1:9/\n", encoding="utf-8")
    code = INTERRUPT_IMPORT.format(name=name, times=times)
    done = subprocess.run(
        [sys.executable, "-c", code, command, "list.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.stderr.splitlines()[-1:] == [interruption(f"newscrawl {command}").strip()]
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr
    assert done.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_during_a_request(tmp_path: Path, times: int):
    """While one page and one style sheet hang; the next run fetches the page again."""
    sheet = "http://127.0.0.1:{port}/hang.css"
    with SiteServer({"127.0.0.1/hang.html": HANG, "127.0.0.1/hang.css": HANG}) as web:
        web.put("127.0.0.1/1.html", page(1, link(sheet.format(port=web.port))))
        listed = f"{web.url}/1.html\n{web.url}/hang.html\n"
        (tmp_path / "urls.txt").write_text(listed, encoding="utf-8")
        for _ in range(2):
            web.received.clear()
            process = ForkedScrapy(
                ["urls", "urls.txt", *NETWORK],
                tmp_path,
                os.environ,
                tmp_path / "log.txt",
                program="newscrawl",
            )
            while "127.0.0.1/hang.html" not in web.requested and process.poll() is None:
                time.sleep(0.05)
            for _ in range(times):
                process.send_signal(signal.SIGINT)
                time.sleep(0.2)
            status, error = process.wait(200), process.log_path.read_text(encoding="utf-8")
            assert error.splitlines()[-1] == "newscrawl urls: interrupted; run again to resume"
            assert "Traceback" not in error
            assert "Error" not in error
            assert status == 130


@pytest.mark.parametrize(
    "wait",
    [
        """
from newscrawl.workers.pool import WorkerPool
calls = iter(range(9))
async def call(*args, **options):
    if next(calls) == 1:
        os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(9)
WorkerPool.call = call
""",
        """
from newscrawl.cli.extract_pages import Extraction
def write(*_):
    os.kill(os.getpid(), signal.SIGINT)
Extraction.write = write
""",
    ],
    ids=["in a page's task", "in the command's task"],
)
def test_in_a_task(tmp_path: Path, wait: str):
    """A task of the event loop that Ctrl-C ends is no error of its own, nor are other pages."""
    source = next(page.file for page in expected_pages() if page.is_article).read_bytes()
    for number in range(9):
        (tmp_path / f"{number}.html").write_bytes(source)
    code = f"import asyncio, os, signal\n{wait}\n{START}"
    command = [sys.executable, "-c", code, "extract", ".", "--jobs", "2", "-o", "articles.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "newscrawl extract: interrupted")


SLOW_END = """
import asyncio, os, signal
from scrapy.extensions.feedexport import FeedExporter
close = FeedExporter.close_spider
async def close_late(exporter, spider):
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(1)
    await close(exporter, spider)
FeedExporter.close_spider = close_late
"""


@pytest.mark.slow
def test_during_the_end_of_a_crawl(tmp_path: Path):
    """A signal does not cut short what the crawl writes at its end."""
    with SiteServer() as web:
        web.put("127.0.0.1/1.html", page(1))
        (tmp_path / "urls.txt").write_text(f"{web.url}/1.html\n", encoding="utf-8")
        options = ["-O", "articles.json", "-s", "NEWSCRAWL_SEGMENTS=segments", *NETWORK]
        done = subprocess.run(
            [sys.executable, "-c", SLOW_END + START, "urls", "urls.txt", *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    assert len(json.loads((tmp_path / "articles.json").read_text(encoding="utf-8"))) == 1
    assert len(list((tmp_path / "segments").glob("**/*.jsonl"))) == 1


@pytest.mark.slow
def test_during_extraction(tmp_path: Path):
    """The feed has whole lines."""
    (tmp_path / "pages").mkdir()
    source = next(page.file for page in expected_pages() if page.is_article).read_bytes()
    for number in range(300):
        (tmp_path / "pages" / f"{number}.html").write_bytes(source)
    command = ["extract", "pages", "-o", "articles.jsonl"]
    log = tmp_path / "log.txt"
    process = ForkedScrapy(command, tmp_path, os.environ, log, program="newscrawl")
    feed = tmp_path / "articles.jsonl"
    while not (feed.exists() and feed.stat().st_size) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(200) == 130
    assert log.read_text(encoding="utf-8").strip() == "newscrawl extract: interrupted"
    assert feed.read_bytes().endswith(b"}\n")
