import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extraction.test_extraction import PAGE, TITLE
from tests.helpers.forked_scrapy import run_command
from tests.servers.site import Answer, SiteServer, text


@pytest.fixture
def web() -> Iterator[SiteServer]:
    with SiteServer() as served:
        yield served


def scrapy_extract(folder: Path, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in *folder*, which is outside of any project."""
    return run_command("scrapy", folder, "extract", *args)


@pytest.mark.parametrize(("minimum", "message"), [("0.1", b""), ("1", b"no article (not_article)")])
def test_obeys_minimum_confidence(tmp_path: Path, minimum: str, message: bytes):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    ran = scrapy_extract(tmp_path, "page.html", "-s", f"NEWSCRAWL_KEEP=article:{minimum}")
    assert message in ran.stderr
    assert bool(ran.stderr) == bool(message)


def test_downloads_url(tmp_path: Path, web: SiteServer):
    """The charset of the header is used; robots.txt may be missing."""
    page = PAGE.replace("Ada Meyer", "Ada Müller").encode("cp1252")
    web.put("/page.html", Answer(page, headers={"Content-Type": "text/html; charset=cp1252"}))
    ran = scrapy_extract(tmp_path, f"{web.url}/page.html")
    article = json.loads(ran.stdout)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (article["url"], article["authors"]) == (f"{web.url}/page.html", ["Ada Müller"])


@pytest.mark.slow
def test_prints_errors(tmp_path: Path, web: SiteServer):
    """One line on standard error, no output, exit code 1."""
    web.put("/robots.txt", text("User-agent: *\nDisallow: /private/\n"))
    web.put("/large.html", PAGE.encode())
    (tmp_path / "empty.html").write_bytes(b"")
    for args, message in (
        (["missing.html"], b"No such file"),
        (["empty.html"], b"empty"),
        ([f"{web.url}/missing.html"], b"HTTP status 404"),
        ([f"{web.url}/private/page.html"], b"robots.txt"),
        (["http://127.0.0.1:9/", "-s", "RETRY_ENABLED=False"], b"refused"),
        ([f"{web.url}/large.html", "-s", "DOWNLOAD_MAXSIZE=100"], b"100"),
    ):
        ran = scrapy_extract(tmp_path, *args)
        assert (ran.returncode, ran.stdout) == (1, b""), args
        assert message in ran.stderr, args
        assert ran.stderr.count(b"\n") == 1, args


def test_ignores_pipelines_and_feeds_of_the_project(tmp_path: Path, web: SiteServer):
    web.put("/page.html", PAGE.encode())
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs\n")
    (tmp_path / "theirs.py").write_text(
        'BOT_NAME = "theirs"\nLOG_LEVEL = "ERROR"\nITEM_PIPELINES = {"missing.Pipeline": 1}\n'
        'FEEDS = {"items.json": {"format": "json"}}\n'
    )
    ran = scrapy_extract(tmp_path, f"{web.url}/page.html")
    assert json.loads(ran.stdout)["title"] == TITLE
    assert not (tmp_path / "items.json").exists()
