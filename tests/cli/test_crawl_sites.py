"""``newscrawl crawl`` and ``newscrawl urls``: crawls in an empty folder."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import SampleSites, expected_pages
from samples.server import write_sites_file
from tests.cli.test_extract_pages import newscrawl

pytestmark = pytest.mark.slow

OPTIONS = (
    "-s",
    "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1",
    "-s",
    "NEWSCRAWL_MAX_AGE=0",
    "-s",
    "DOWNLOAD_DELAY=0",
)
TITLES = sorted(page.title or "" for page in expected_pages() if page.is_article)


@pytest.fixture
def sites() -> Iterator[SampleSites]:
    with SampleSites() as served:
        yield served


def titles(feed: Path) -> list[str]:
    return sorted(json.loads(line)["title"] for line in feed.read_text("utf-8").splitlines())


def test_crawls_new_articles_only(tmp_path: Path, sites: SampleSites):
    """A list and a URL; the second crawl keeps the file and finds nothing new; -O replaces it."""
    write_sites_file(tmp_path / "sites.txt", sites)
    listed = (tmp_path / "sites.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "sites.txt").write_text("\n".join(listed[1:]), encoding="utf-8")
    command = ("crawl", "sites.txt", listed[0], *OPTIONS)
    done = newscrawl(tmp_path, *command)
    error = done.stderr.decode()
    assert (done.returncode, done.stdout) == (0, b""), error
    assert titles(tmp_path / "articles.jsonl") == TITLES
    assert "│ articles │" in error.replace("┃", "│")
    assert f"newscrawl crawl: {len(TITLES)} articles written to articles.jsonl" in error
    assert "Traceback" not in error
    assert "'finish_reason'" not in error  # Scrapy's stats
    assert "INFO" not in error

    done = newscrawl(tmp_path, *command, "-s", "LOG_FILE=crawl.log")
    assert done.returncode == 0
    assert "Nothing is due before " in done.stderr.decode()
    assert titles(tmp_path / "articles.jsonl") == TITLES
    assert "'finish_reason': 'finished'" in (tmp_path / "crawl.log").read_text(encoding="utf-8")

    done = newscrawl(tmp_path, *command, "-O", "articles.jsonl")
    assert done.returncode == 0
    assert titles(tmp_path / "articles.jsonl") == []


def test_names_the_files(tmp_path: Path, sites: SampleSites):
    """The closing line has the names with their times; a crawl without new articles has no file."""
    command = ("crawl", *sites.urls.values(), *OPTIONS, "-o", "a-%(time)s.parquet")
    done = newscrawl(tmp_path, *command)
    (feed,) = tmp_path.glob("a-*.parquet")
    line = f"newscrawl crawl: {len(TITLES)} articles written to {feed.name}\n"
    assert done.stderr.decode().endswith(line)
    done = newscrawl(tmp_path, *command)
    assert done.stderr.decode().endswith("newscrawl crawl: 0 articles written\n")
    assert list(tmp_path.glob("*.parquet")) == [feed]


@pytest.mark.parametrize(
    ("feed", "line"),
    [
        ("ftp://u:secret@127.0.0.1:9/a.jsonl", "9 kept (Connection refused)"),
        ("sites/a.jsonl", "(File exists)"),
    ],
)
def test_articles_without_a_file(tmp_path: Path, sites: SampleSites, feed: str, line: str):
    """A feed that cannot be written is a failure, although the crawl ends."""
    (tmp_path / "sites").write_text("a file, not a folder", encoding="utf-8")
    done = newscrawl(tmp_path, "crawl", next(iter(sites.urls.values())), *OPTIONS, "-O", feed)
    assert done.returncode == 1
    log = done.stderr.decode()
    assert re.search(r"exit code 1: the feed \S+a\.jsonl lacks items: \d kept", log)
    assert log.endswith(f"{line}\n")
    assert "secret" not in log


def test_site_without_articles(tmp_path: Path):
    """Exit code 1: the site cannot be fetched."""
    done = newscrawl(tmp_path, "crawl", "http://127.0.0.1:9/", *OPTIONS, "-s", "RETRY_ENABLED=0")
    assert done.returncode == 1
    assert "discovery failed: " in done.stderr.decode()


def test_appends_to_csv(tmp_path: Path, sites: SampleSites):
    """The header is written once."""
    for url in list(sites.urls.values())[:2]:
        done = newscrawl(tmp_path, "crawl", url, *OPTIONS, "-a", "limit=2", "-o", "articles.csv")
        assert done.returncode == 0, done.stderr
    text = (tmp_path / "articles.csv").read_text(encoding="utf-8")
    assert text.count("canonical_url,") == 1
    assert text.startswith("url,")


def test_fetches_list_of_urls(tmp_path: Path, sites: SampleSites):
    """Comments and repeated URLs are left out, failures counted; a second run fetches all again."""
    pages = [page for page in expected_pages() if page.is_article][:3]
    urls = [f"{sites.urls[page.site].rstrip('/')}{page.path}" for page in pages]
    missing = f"{sites.urls[pages[0].site]}missing.html"
    listed = "\n".join(["# articles", *urls, "", urls[0], missing])
    for runs in (1, 2):
        done = newscrawl(tmp_path, "urls", "-", *OPTIONS, data=listed.encode())
        assert done.returncode == 0, done.stderr
        expected = sorted(page.title or "" for page in pages * runs)
        assert titles(tmp_path / "articles.jsonl") == expected
    assert "failed: 1 http_404" in done.stderr.decode()


def test_filters(tmp_path: Path, sites: SampleSites):
    """Excluded articles are not in the feed; the table counts them by their reasons."""
    wanted = [
        page
        for page in expected_pages()
        if page.is_article and page.date and str(page.date) >= "2026-11-18"
    ]
    done = newscrawl(tmp_path, "crawl", *sites.urls.values(), *OPTIONS, "--since", "2026-11-18")
    assert done.returncode == 0
    assert titles(tmp_path / "articles.jsonl") == sorted(page.title or "" for page in wanted)
    assert 0 < len(wanted) < len(TITLES)
    assert " too_old" in done.stderr.decode()
    command = ("urls", "-", *OPTIONS, "--languages", "de", "--keywords", "Orgel,Orgelbauer")
    pages = [page for page in expected_pages() if page.is_article]
    urls = "\n".join(f"{sites.urls[page.site].rstrip('/')}{page.path}" for page in pages)
    done = newscrawl(tmp_path, *command, "-O", "organ.jsonl", data=urls.encode())
    assert done.returncode == 0
    assert 0 < len(titles(tmp_path / "organ.jsonl")) < len(TITLES)
    assert " language" in done.stderr.decode()
    assert " keyword" in done.stderr.decode()
