"""The server of the sample sites and the comparison with the expected articles."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from newscrawl.crawling.discovery.site_list import load_sites
from newscrawl.items import Article
from newscrawl.samples import SITE_NAMES, ExpectedPage, SampleSites, expected_pages
from newscrawl.samples.__main__ import main
from newscrawl.samples.expected import check_outcome
from newscrawl.samples.server import write_sites_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ARTICLES = [page for page in expected_pages() if page.is_article]
LEGACY = {
    "/2026/11/17/library-roof-appeal.html": "windows-1252",
    "/articles/20261117a.html": "Shift_JIS",
}


@pytest.fixture(scope="module")
def sites() -> Iterator[SampleSites]:
    with SampleSites() as served:
        yield served


def fetch(url: str, target: str, method: str = "GET") -> tuple[int, str, bytes]:
    """Return status, content type and content; *target* is not normalised."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(method, target)
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read()
    finally:
        connection.close()


def label(page: ExpectedPage) -> str:
    return f"{page.site}{page.path}"


@pytest.mark.parametrize("page", expected_pages(), ids=label)
def test_serves_each_expected_page(sites: SampleSites, page: ExpectedPage):
    """Each page of expected.jsonl exists and is sent with its charset."""
    status, content_type, content = fetch(sites.urls[page.site], page.path)
    assert status == 200
    assert content_type == f"text/html; charset={LEGACY.get(page.path, 'utf-8')}"
    text = content.decode(LEGACY.get(page.path, "utf-8"))
    assert page.title is None or page.title in text
    assert "{{" not in text


def test_every_page_is_expected_or_disallowed():
    """Every page is in expected.jsonl or in a folder that robots.txt disallows."""
    expected = {page.file for page in expected_pages()}
    unexpected = {
        file.relative_to(page.file.parents[len(page.path.split("/")) - 2]).parts[0]
        for page in expected_pages()
        if page.path == "/"
        for file in page.file.parent.rglob("*.html")
        if file not in expected
    }
    assert unexpected == {"print", "drafts", "intern", "members"}


def test_absolute_urls_carry_the_port(sites: SampleSites):
    """URLs in robots.txt, sitemaps and feeds have the port of this server."""
    base = sites.urls["harbour-gazette"]
    assert f"Sitemap: {base}sitemap-index.xml" in fetch(base, "/robots.txt")[2].decode()
    assert f"<loc>{base}sitemap-news.xml" in fetch(base, "/sitemap-index.xml")[2].decode()
    news = fetch(base, "/sitemap-news.xml")
    assert news[1] == "application/xml"
    assert f"<loc>{base}2026/11/20/ferry-terminal-vote.html" in news[2].decode()
    assert f"<link>{base}2026/" in fetch(base, "/rss.xml")[2].decode()
    atom = fetch(sites.urls["tageblick"], "/feed.atom")
    assert atom[1] == "application/atom+xml"
    assert f'xml:base="{sites.urls["tageblick"]}"' in atom[2].decode()


@pytest.mark.parametrize(
    "target",
    [
        "/nothing.html",
        "/town",
        "/../expected.jsonl",
        "/%2e%2e/expected.jsonl",
        "//etc/passwd",
        "/..\\expected.jsonl",
        "/index.html/../../expected.jsonl",
    ],
)
def test_serves_nothing_else(sites: SampleSites, target: str):
    """Paths outside of www are 404."""
    assert fetch(sites.urls["harbour-gazette"], target)[0] == 404


def test_answers_head_requests_and_queries(sites: SampleSites):
    """HEAD has no content; a query string is ignored."""
    status, _, content = fetch(sites.urls["minato"], "/", "HEAD")
    assert (status, content) == (200, b"")
    assert fetch(sites.urls["tageblick"], "/assets/theme.css?v=4")[1] == "text/css; charset=utf-8"


def test_records_requests(sites: SampleSites):
    fetch(sites.urls["minato"], "/members/login.html?x=1")
    last = sites.requests[-1]
    assert (last.site, last.target, last.status) == ("minato", "/members/login.html?x=1", 200)


def test_idle_connections_do_not_block(sites: SampleSites):
    """Clients that send nothing do not use up the server's threads."""
    host, port = urlsplit(sites.urls["minato"]).netloc.split(":")
    idle = [socket.create_connection((host, int(port)), timeout=60) for _ in range(4)]
    try:
        assert fetch(sites.urls["minato"], "/")[0] == 200
    finally:
        for connection in idle:
            connection.close()


def test_uses_consecutive_ports_and_frees_them():
    """Ports are consecutive, a port in use is an error, and closing frees all ports."""
    for base in range(28700, 29700, 10):
        with suppress(OSError), SampleSites(base) as served:
            ports = [urlsplit(served.urls[name]).port for name in SITE_NAMES]
            with pytest.raises(OSError, match="in use"):
                SampleSites(base + 2).__enter__()
            break
    assert ports == [base, base + 1, base + 2]
    with SampleSites(base) as again:
        assert fetch(again.urls["minato"], "/")[0] == 200


def test_reports_a_taken_port(sites: SampleSites, capsys: pytest.CaptureFixture[str]):
    """The command prints the reason instead of a traceback."""
    port = urlsplit(sites.urls["minato"]).port
    assert main(["--port", str(port)]) == 1
    assert "Cannot serve the sample sites" in capsys.readouterr().err


def test_sites_file_is_a_site_list(sites: SampleSites, tmp_path: Path):
    """A file of the URLs can be passed as -a sites=."""
    write_sites_file(tmp_path / "sites.txt", sites)
    assert [site.url for site in load_sites(tmp_path / "sites.txt")] == list(sites.urls.values())


def test_all_sites_carry_the_wire_story():
    """The story is on all three sites, each time in different words."""
    stories = [page for page in ARTICLES if "shore" in page.body.lower() and "Vossen" in page.body]
    assert {page.site for page in stories} == set(SITE_NAMES)
    assert len({page.title for page in stories}) == len({page.body for page in stories}) == 3


def test_comparison_names_each_difference():
    """Missing, wrong and surplus articles are each reported."""
    urls = dict.fromkeys(SITE_NAMES, "http://x/") | {"minato": "http://m/"}
    page = next(page for page in ARTICLES if page.site == "minato")
    right = Article(url=f"http://m{page.path}", title=page.title, date=page.date, body=page.body)
    wrong = Article.from_dict(json.loads(json.dumps(right.to_dict())))
    wrong.title, wrong.date, wrong.body = "x", date(2020, 1, 1), page.body + "余"

    outcome = check_outcome([right], urls)
    assert sum(not check.faults() for check in outcome.checks) == 1
    assert not outcome.complete
    lines = check_outcome([wrong, wrong], urls).lines()
    assert any("title 'x'" in line for line in lines)
    assert any("date 2020-01-01" in line for line in lines)
    assert any("extra words '余'" in line for line in lines)
    assert lines[-1] == f"unexpected item: http://m{page.path}"
