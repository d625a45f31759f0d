"""``newscrawl urls`` reads its list while it crawls."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from newscrawl.spiders.url_list import MAX_LINE, MAX_LOGGED
from samples import SampleSites, expected_pages
from tests.cli.test_extract_pages import CODE, newscrawl

pytestmark = pytest.mark.slow

OPTIONS = ("-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "-s", "DOWNLOAD_DELAY=0")
PAGES = [page for page in expected_pages() if page.is_article][:8]


@pytest.fixture
def sites() -> Iterator[SampleSites]:
    with SampleSites() as served:
        yield served


def urls_of(sites: SampleSites) -> list[str]:
    return [f"{sites.urls[page.site].rstrip('/')}{page.path}" for page in PAGES]


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Start ``newscrawl urls -`` with a pipe."""
    return subprocess.Popen(
        [sys.executable, "-c", CODE, "urls", "-", *OPTIONS],
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


def titles(folder: Path) -> list[str]:
    lines = (folder / "articles.jsonl").read_text("utf-8").splitlines()
    return sorted(json.loads(line)["title"] for line in lines)


EXPECTED = sorted(page.title or "" for page in PAGES)


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
    assert titles(tmp_path) == EXPECTED


def test_resumes_with_lines_not_read(tmp_path: Path, sites: SampleSites):
    """A crawl that is killed before it has read its list fetches the rest in the next run."""
    urls = urls_of(sites)
    with start(tmp_path) as process:
        write(process, *urls[:3])
        wait_for(sites, urls[:3], process)
        process.kill()
    done = newscrawl(tmp_path, "urls", "-", *OPTIONS, data="\n".join(urls).encode())
    assert done.returncode == 0, done.stderr
    assert set(titles(tmp_path)) >= set(EXPECTED[3:])
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
    done = newscrawl(tmp_path, "urls", "-", *OPTIONS, data=data)
    error = done.stderr.decode()
    assert done.returncode == 0, error
    assert len(titles(tmp_path)) == 2
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
    done = newscrawl(tmp_path, "urls", "notes.txt", *OPTIONS)
    assert done.returncode == 1
    assert "notes.txt:1: not an http(s) URL: 'hello world'" in done.stderr.decode()
