"""``newscrawl crawl`` and ``newscrawl urls``: crawls in an empty folder."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from newscrawl.spiders.url_list import MAX_LINE, MAX_LOGGED
from samples import SampleSites, expected_pages
from samples.server import write_sites_file
from tests.cli.test_extract_pages import CODE, newscrawl

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


FAST = ("-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "-s", "DOWNLOAD_DELAY=0")
PAGES = [page for page in expected_pages() if page.is_article][:8]


def urls_of(sites: SampleSites) -> list[str]:
    return [f"{sites.urls[page.site].rstrip('/')}{page.path}" for page in PAGES]


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Start ``newscrawl urls -`` with a pipe."""
    return subprocess.Popen(
        [sys.executable, "-c", CODE, "urls", "-", *FAST],
        cwd=folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def write(process: subprocess.Popen[bytes], *urls: str) -> None:
    assert process.stdin
    process.stdin.write("".join(f"{url}\n" for url in urls).encode())
    process.stdin.flush()


def wait_for(sites: SampleSites, urls: list[str], process: subprocess.Popen[bytes]) -> None:
    """Return when all *urls* have been requested."""
    paths = {page.path for page, url in zip(PAGES, urls_of(sites), strict=True) if url in urls}
    deadline = time.monotonic() + 200
    while not paths <= {request.target for request in list(sites.requests)}:
        assert process.poll() is None
        assert time.monotonic() < deadline, "the crawl waits for the end of the list"
        time.sleep(0.02)


def titles_in(folder: Path) -> list[str]:
    lines = (folder / "articles.jsonl").read_text("utf-8").splitlines()
    return sorted(json.loads(line)["title"] for line in lines)


SOME_TITLES = sorted(page.title or "" for page in PAGES)


def test_fetches_before_the_list_ends(tmp_path: Path, sites: SampleSites):
    """URLs are fetched when a pipe has them; Ctrl-C does not wait for the rest."""
    urls = urls_of(sites)
    with start(tmp_path) as process:
        write(process, *urls[:3])
        wait_for(sites, urls[:3], process)
        write(process, *urls[3:])
        wait_for(sites, urls, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=200) == 130
    assert titles_in(tmp_path) == SOME_TITLES


def test_resumes_with_lines_not_read(tmp_path: Path, sites: SampleSites):
    """A crawl that is killed before it has read its list fetches the rest in the next run."""
    urls = urls_of(sites)
    with start(tmp_path) as process:
        write(process, *urls[:3])
        wait_for(sites, urls[:3], process)
        process.kill()
    done = newscrawl(tmp_path, "urls", "-", *FAST, data="\n".join(urls).encode())
    assert done.returncode == 0, done.stderr
    assert set(titles_in(tmp_path)) >= set(SOME_TITLES[3:])
    requested = {request.target for request in sites.requests}
    assert requested >= {page.path for page in PAGES}


def test_invalid_lines(tmp_path: Path, sites: SampleSites):
    """They are skipped, counted, and the first are logged with their numbers."""
    urls = urls_of(sites)[:2]
    invalid = [
        b"hello world",
        b"http://[::1",
        b"\xff\xfe",
        b"http://a.example/\xe4",
        b"x" * 100_000,
    ]
    many = [b"nothing %d" % number for number in range(5000)]
    lines = [*(url.encode() for url in urls), *invalid, b"", b"# comment", *many, urls[0].encode()]
    data = b"\xef\xbb\xbf" + b"\r\n".join(lines)
    done = newscrawl(tmp_path, "urls", "-", *FAST, data=data)
    error = done.stderr.decode()
    assert done.returncode == 0, error
    assert len(titles_in(tmp_path)) == 2
    logged = [line for line in error.splitlines() if "Skipping -:" in line]
    assert len(logged) == MAX_LOGGED
    assert logged[0].endswith("Skipping -:3: not an http(s) URL: 'hello world'")
    assert logged[3].endswith("Skipping -:6: not UTF-8 text")
    assert logged[4].endswith(f"Skipping -:7: longer than {MAX_LINE} characters")
    assert "Skipping -:10: " in logged[5]
    assert f"Skipped {len(invalid) + len(many)} invalid lines of -" in error


def test_list_without_urls(tmp_path: Path):
    """A list without a valid URL is an error."""
    (tmp_path / "notes.txt").write_text("hello world")
    done = newscrawl(tmp_path, "urls", "notes.txt", *FAST)
    assert done.returncode == 1
    assert "notes.txt:1: not an http(s) URL: 'hello world'" in done.stderr.decode()
