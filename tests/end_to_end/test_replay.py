"""The replay server of recorded sites."""

from __future__ import annotations

import gzip
import json
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import feedparser
import pytest
from scrapy.utils.sitemap import Sitemap

from tests.servers import LoggedRequest
from tests.servers.replay import DISCOVERIES, ReplayServer, Site, load_pages, make_sites

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message
    from pathlib import Path


def fetch(server: ReplayServer, url: str, **headers: str) -> tuple[int, Message, bytes]:
    """Return status, headers and body of a request with the server as proxy."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"http": server.url, "https": server.url}),
        urllib.request.HTTPSHandler(context=ssl._create_unverified_context()),
    )
    request = urllib.request.Request(url, headers=headers)
    try:
        with opener.open(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def listed_urls(server: ReplayServer, site: Site) -> set[str]:
    """Return the URLs in the sitemaps or feed of *site*, read by independent parsers."""
    if site.discovery in {"rss", "atom"}:
        entries = feedparser.parse(fetch(server, f"{site.url}feed.xml")[2]).entries
        return {entry.link for entry in entries}
    if site.discovery == "news":
        entries = Sitemap(fetch(server, f"{site.url}news-sitemap.xml")[2])
        return {entry["loc"] for entry in entries}
    assert site.discovery == "sitemap"
    urls = set()
    for child in Sitemap(fetch(server, f"{site.url}sitemap.xml")[2]):
        body = fetch(server, child["loc"])[2]
        body = gzip.decompress(body) if child["loc"].endswith(".gz") else body
        urls |= {entry["loc"] for entry in Sitemap(body)}
    return urls


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small generated corpus."""
    folder = tmp_path_factory.mktemp("corpora")
    pages = folder / "tiny" / "pages"
    pages.mkdir(parents=True)
    rows = []
    for number in range(60):
        html = (
            f'<html lang="de-AT"><head><meta charset="utf-8"><title>Seite {number}</title></head>'
            f"<body><h1>Seite {number}</h1><p>Öl & Gas.</p></body></html>"
        )
        (pages / f"p{number}.html.gz").write_bytes(gzip.compress(html.encode()))
        rows.append(
            {
                "id": f"p{number}",
                "url": f"https://site{number % 20}.example/20{20 + number % 3}/seite/{number}?a=1&b=ü#x",
                "site": f"site{number % 20}.example",
                "title": f"Seite <{number}>",
                "date": f"20{20 + number % 3}-05-03",
                "body": "Öl & Gas.",
            }
        )
    truth = "\n".join(json.dumps(row) for row in rows)
    (folder / "tiny" / "truth.jsonl").write_text(truth, encoding="utf-8")
    return folder


@pytest.fixture
def server(corpora: Path) -> Iterator[ReplayServer]:
    """Serve the small corpus."""
    with ReplayServer(make_sites(load_pages(corpora, "tiny"))) as running:
        yield running


def test_recorded_sites_cover_every_discovery_method(server: ReplayServer):
    """All five discovery methods occur among twenty hosts."""
    assert {site.discovery for site in server.sites.values()} == set(DISCOVERIES)


def test_serves_pages_byte_for_byte(server: ReplayServer):
    """The bytes of each page arrive unchanged, with any compression and transfer coding."""
    for site in server.sites.values():
        for page in site.pages:
            status, headers, body = fetch(server, page.url)
            assert (status, body) == (200, page.html())
            assert headers.get_content_type() == "text/html"


def test_serves_https_pages_over_http(server: ReplayServer):
    """An https URL gets the same page through a TLS tunnel."""
    for page in next(iter(server.sites.values())).pages:
        assert fetch(server, page.url.replace("http:", "https:"))[2] == page.html()
        assert server.log[-1] == LoggedRequest(page.host, page.target, 200)


def test_some_hosts_compress_responses(server: ReplayServer):
    """Some hosts send gzip to clients that accept it."""
    encodings = set()
    for site in server.sites.values():
        _, headers, body = fetch(server, site.pages[0].url, **{"Accept-Encoding": "gzip"})
        encodings.add(headers["Content-Encoding"])
        assert (gzip.decompress(body) if site.gzips else body) == site.pages[0].html()
    assert encodings == {None, "gzip"}


def test_some_hosts_send_a_charset(server: ReplayServer):
    """The Content-Type has the charset of the meta tag or none."""
    charsets = {
        fetch(server, site.pages[0].url)[1].get_content_charset() for site in server.sites.values()
    }
    assert charsets == {None, "utf-8"}


def test_sitemaps_and_feeds_list_every_page(server: ReplayServer):
    """Independent parsers read the URLs of all pages."""
    for site in server.sites.values():
        if site.discovery != "section":
            assert listed_urls(server, site) == {page.url for page in site.pages}


def test_news_sitemaps_have_news_fields(server: ReplayServer):
    """A news sitemap has publication date, title and language."""
    site = next(s for s in server.sites.values() if s.discovery == "news")
    body = fetch(server, f"{site.url}news-sitemap.xml")[2].decode()
    assert "<news:language>de</news:language>" in body
    for page in site.pages:
        assert page.date.isoformat() in body
        assert page.title.replace("<", "&lt;").replace(">", "&gt;") in body


def test_section_sites_link_every_page(server: ReplayServer):
    """The front page and the section page link all pages."""
    site = next(s for s in server.sites.values() if s.discovery == "section")
    front, section = (fetch(server, site.url + path)[2].decode() for path in ("", "world/"))
    assert 'href="/world/"' in front
    for page in site.pages:
        assert page.target.replace("&", "&amp;") in front + section


def test_records_every_request(server: ReplayServer):
    """The log has pages, missing pages and unknown hosts with their status."""
    site = next(iter(server.sites.values()))
    page = site.pages[0]
    for url in (page.url, f"{site.url}tag/weather", "http://unknown.example/"):
        fetch(server, url)
    assert server.log == [
        LoggedRequest(site.host, page.target, 200),
        LoggedRequest(site.host, "/tag/weather", 404),
        LoggedRequest("unknown.example", "/", 404),
    ]
    assert server.page_of(site.host, page.target) == page
    assert server.page_of(site.host, "/tag/weather") is None


def test_picks_sites_evenly(corpora: Path):
    """A limited number of sites is spread over the corpus, with all pages of each."""
    pages = load_pages(corpora, "tiny")
    assert len(make_sites(pages)) == 20
    picked = make_sites(pages, 7)
    assert len({site.host for site in picked}) == 7
    assert all(len(site.pages) == 3 for site in picked)


@pytest.mark.corpus
def test_loads_the_corpora(corpus_dir: Path):
    """Pages of the corpora are served unchanged, and their listings can be parsed."""
    pages = load_pages(corpus_dir, "news212", "fundus")
    assert len(pages) > 670
    assert len(make_sites(pages)) > 370
    with ReplayServer(make_sites(pages, 40)) as server:
        for site in server.sites.values():
            for page in site.pages:
                assert fetch(server, page.url)[2] == page.html()
            if site.discovery != "section":
                assert listed_urls(server, site) == {page.url for page in site.pages}
