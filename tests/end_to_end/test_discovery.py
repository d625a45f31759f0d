"""Articles that are listed without being fetched, and crawls of a part of them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_extract_pages import CODE, newscrawl
from tests.servers.pages import article_page
from tests.servers.site import SiteServer, html, redirect, text, xml

pytestmark = pytest.mark.slow

HOST = "127.0.0.1"
SECTIONS = ("politics", "sport")
STORIES = [f"/{s}/2026/11/{10 + n}/a-story-of-the-day-{n}.html" for n in range(6) for s in SECTIONS]


@pytest.fixture
def web() -> Iterator[SiteServer]:
    """A feed with the first stories, a sitemap with all, one link on the front page."""
    with SiteServer() as served:
        url = served.url
        items = "".join(
            f"<item><link>{url}{path}</link><title>Title {path[-6]}</title>"
            f"<pubDate>{path.split('/')[4]} Nov 2026 08:30:00 GMT</pubDate></item>"
            for path in STORIES[:4]
        )
        locs = "".join(
            f"<url><loc>{url}{path}</loc><lastmod>2026-11-20</lastmod></url>" for path in STORIES
        )
        feed = f"<rss version='2.0'><channel>{items}</channel></rss>"
        sitemap = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{locs}</urlset>"
        alternate = "<link rel=alternate type='application/rss+xml' href=/feed>"
        link = (
            "<a href='/sport/2026/11/19/an-own-story-of-the-page.html'>A story of the page only</a>"
        )
        served.put(f"{HOST}/", html(f"{alternate}<p>{link}</p>"))
        served.put(f"{HOST}/feed", xml(feed))
        served.put(f"{HOST}/sitemap.xml", xml(sitemap))
        for number, path in enumerate(STORIES):
            served.put(f"{HOST}{path}", html(article_page(number)))
        yield served


def run(
    folder: Path, command: str, web: SiteServer, *options: str
) -> tuple[int, list[dict[str, Any]]]:
    given = ("NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "DOWNLOAD_DELAY=0", "NEWSCRAWL_MAX_AGE=0")
    settings = (word for value in given for word in ("-s", value))
    done = newscrawl(folder, command, web.url, "-O", "out.jsonl", *options, *settings)
    text = (folder / "out.jsonl").read_text(encoding="utf-8")
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, [json.loads(line) for line in text.splitlines()]


def stories(web: SiteServer) -> list[str]:
    return [url.partition("/")[2] for url in web.requested if "/2026/" in url]


def test_lists_articles_without_fetching_them(tmp_path: Path, web: SiteServer):
    code, found = run(tmp_path, "discover", web)
    assert code == 0
    assert stories(web) == []
    assert len(found) == len(STORIES) + 1
    by_path = {item["url"].removeprefix(web.url): item for item in found}
    assert by_path[STORIES[0]] == {
        "url": f"{web.url}{STORIES[0]}",
        "title": f"Title {STORIES[0][-6]}",
        "date": "2026-11-10T08:30:00+00:00",
        "changed": None,
        "source": f"{web.url}/feed",
        "site": web.site,
    }
    listed = by_path[STORIES[-1]]
    assert (listed["title"], listed["date"]) == (None, "2026-11-15")
    assert listed["changed"].startswith("2026-11-20")
    assert listed["source"] == f"{web.url}/sitemap.xml"
    linked = by_path["/sport/2026/11/19/an-own-story-of-the-page.html"]
    assert (linked["title"], linked["source"]) == ("A story of the page only", f"{web.url}/")

    assert len(run(tmp_path, "discover", web, "--limit", "3")[1]) == 3
    assert len(run(tmp_path, "discover", web, "--include", "/politics/")[1]) == 6
    assert newscrawl(tmp_path, "discover", web.url, "--include", "(").returncode == 2


def test_lists_articles_after_a_lost_request(tmp_path: Path, web: SiteServer):
    """A sitemap that a middleware drops holds the articles up until the spider is idle."""
    lost = f"{web.url}/sitemap-{'x' * 300}.xml"
    web.put(f"{HOST}/robots.txt", text(f"Sitemap: {lost}\nSitemap: {web.url}/sitemap.xml\n"))
    _, found = run(tmp_path, "discover", web, "-s", "URLLENGTH_LIMIT=300")
    assert len(found) == len({item["url"] for item in found}) == len(STORIES) + 1


@pytest.mark.parametrize("gone", ["stdout", "stderr"])
def test_reader_that_has_gone(tmp_path: Path, web: SiteServer, gone: str):
    """As in ``newscrawl discover SITE | head -1``: the command ends, without a traceback."""
    reading, writing = os.pipe()
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, gone: writing}
    given = ("NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "DOWNLOAD_DELAY=0", "NEWSCRAWL_MAX_AGE=0")
    words = [word for value in given for word in ("-s", value)]
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "discover", web.url, *words], cwd=tmp_path, **streams
    )
    for end in (reading, writing):
        os.close(end)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert b"Traceback" not in (errors or b"")
    if gone == "stderr":
        assert len(printed.splitlines()) == len(STORIES) + 1


def test_limit_ends_the_crawl_and_the_next_one_continues(tmp_path: Path, web: SiteServer):
    """A page without article does not count; no page in progress is lost."""
    web.put(f"{HOST}{STORIES[-1]}", html("<p>Nothing.</p>"))
    code, first = run(tmp_path, "crawl", web, "--limit", "5")
    assert (code, len(first)) == (0, 5)
    assert 5 <= len(stories(web)) <= 7
    _, second = run(tmp_path, "crawl", web)
    urls = [item["url"] for item in (*first, *second)]
    assert sorted(urls) == sorted(f"{web.url}{path}" for path in STORIES[:-1])


def test_patterns_of_the_crawl_and_of_the_site(tmp_path: Path, web: SiteServer):
    web.put(f"{HOST}{STORIES[0]}", redirect(STORIES[1]))
    _, found = run(tmp_path, "crawl", web, "--include", "/politics/", "--exclude", "-5[.]html")
    assert {item["url"].removeprefix(web.url) for item in found} == set(STORIES[2:10:2])
    assert all(path.startswith("politics") for path in stories(web)[1:] if "day-0" not in path)

    sites = tmp_path / "sites.json"
    sites.write_text(
        json.dumps([{"url": web.url, "include": ["/sport/"], "exclude": ["day-[0-3]"]}])
    )
    given = ("-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1", "-s", "NEWSCRAWL_INCLUDE=/politics/")
    done = newscrawl(tmp_path, "discover", str(sites), *given, "-s", "NEWSCRAWL_MAX_AGE=0")
    listed = [json.loads(line)["url"].removeprefix(web.url) for line in done.stdout.splitlines()]
    assert {path for path in listed if "own-story" not in path} == set(STORIES[9::2])


def test_page_of_links_as_sitemap(tmp_path: Path):
    """A site names a page for people as its sitemap."""
    paths = [f"/news/2026/11/2{n}/a-long-story-of-day-number-{n}" for n in range(3)]
    with SiteServer() as web:
        web.put("127.0.0.1/", html("<p>Nothing</p>"))
        web.put("127.0.0.1/robots.txt", text(f"Sitemap: {web.url}/sitemap.html\n"))
        links = "".join(f"<li><a href='{path}'>A long story of a day</a>" for path in paths)
        web.put("127.0.0.1/sitemap.html", html(f"<h1>All pages</h1><ul>{links}</ul>"))
        for number, path in enumerate(paths):
            web.put(f"127.0.0.1{path}", html(article_page(number)))
        crawl = web.crawl(tmp_path)
    assert sorted(item["url"].removeprefix(web.url) for item in crawl.items) == paths
