import json
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

from tests.extraction.test_extraction import PAGE, TITLE
from tests.helpers.forked_scrapy import run_command


class _Handler(SimpleHTTPRequestHandler):
    extensions_map: ClassVar[dict[str, str]] = {
        ".html": "text/html; charset=windows-1252",
        ".txt": "text/plain",
    }

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """Serve ``tmp_path/www``; yield its root URL."""
    folder = tmp_path / "www"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def scrapy_extract(folder: Path, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in *folder*, which is outside of any project."""
    return run_command("scrapy", folder, "extract", *args)


@pytest.mark.parametrize(("minimum", "message"), [("0.1", b""), ("1", b"no article (not_article)")])
def test_obeys_minimum_confidence(tmp_path: Path, minimum: str, message: bytes):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    ran = scrapy_extract(tmp_path, "page.html", "-s", f"NEWSCRAWL_KEEP=article:{minimum}")
    assert message in ran.stderr
    assert bool(ran.stderr) == bool(message)


def test_downloads_url(tmp_path: Path, site: str):
    """The charset of the header is used; robots.txt may be missing."""
    page = PAGE.replace("Ada Meyer", "Ada Müller")
    (tmp_path / "www" / "page.html").write_text(page, encoding="cp1252")
    ran = scrapy_extract(tmp_path, f"{site}/page.html")
    article = json.loads(ran.stdout)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (article["url"], article["authors"]) == (f"{site}/page.html", ["Ada Müller"])


@pytest.mark.slow
def test_prints_errors(tmp_path: Path, site: str):
    """One line on standard error, no output, exit code 1."""
    www = tmp_path / "www"
    (www / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    (www / "large.html").write_text(PAGE)
    (tmp_path / "empty.html").write_bytes(b"")
    for args, message in (
        (["missing.html"], b"No such file"),
        (["empty.html"], b"empty"),
        ([f"{site}/missing.html"], b"HTTP status 404"),
        ([f"{site}/private/page.html"], b"robots.txt"),
        (["http://127.0.0.1:9/", "-s", "RETRY_ENABLED=False"], b"refused"),
        ([f"{site}/large.html", "-s", "DOWNLOAD_MAXSIZE=100"], b"100"),
    ):
        ran = scrapy_extract(tmp_path, *args)
        assert (ran.returncode, ran.stdout) == (1, b""), args
        assert message in ran.stderr, args
        assert ran.stderr.count(b"\n") == 1, args


def test_ignores_pipelines_and_feeds_of_the_project(tmp_path: Path, site: str):
    (tmp_path / "www" / "page.html").write_text(PAGE)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs\n")
    (tmp_path / "theirs.py").write_text(
        'BOT_NAME = "theirs"\nLOG_LEVEL = "ERROR"\nITEM_PIPELINES = {"missing.Pipeline": 1}\n'
        'FEEDS = {"items.json": {"format": "json"}}\n'
    )
    ran = scrapy_extract(tmp_path, f"{site}/page.html")
    assert json.loads(ran.stdout)["title"] == TITLE
    assert not (tmp_path / "items.json").exists()
