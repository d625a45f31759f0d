"""Stories on several pages, crawled and extracted by their URL."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.test_extract_pages import newscrawl
from tests.extraction.test_story_pages import page, pager
from tests.servers.pages import article_page, paragraphs
from tests.servers.site import SiteServer, html, text, xml

# Stories of four days ago are not visited again.
DAYS = [f"{datetime.now(UTC) - timedelta(days=age):%Y/%m/%d}" for age in (1, 2)]
HOST, PATH = "127.0.0.1", f"/news/{DAYS[0]}/a-long-story-of-the-day"


@pytest.mark.slow
def test_joins_pages_within_the_rules_of_the_crawl(tmp_path: Path):
    body = [*paragraphs(0)[:2], *paragraphs(1)[2:4], *paragraphs(2)[4:6]]
    with SiteServer() as web:
        web.put(f"{HOST}/", html(f"<h2><a href='{PATH}'>A long story of the day on pages</a></h2>"))
        for number in range(3):
            query = f"?page={number + 1}" if number else ""
            web.put(f"{HOST}{PATH}{query}", html(page(number, pager(number + 1, 3))))
        crawl = web.crawl(tmp_path)
        [item] = crawl.items
        assert (item["pages"], item["next_pages"]) == (3, [])
        assert item["body"].split("\n\n") == body
        again = web.crawl(tmp_path, NEWSCRAWL_ALL_DUE=True)
        assert again.items == []

        command = ("extract", f"{web.url}{PATH}", "-s", "NEWSCRAWL_ALLOWED_ADDRESSES=127.0.0.1")
        done = newscrawl(tmp_path, *command, "-s", "DOWNLOAD_DELAY=0")
        assert json.loads(done.stdout)["body"].split("\n\n") == body

        web.put(f"{HOST}/robots.txt", text("User-agent: *\nDisallow: /*page=3\n"))
        done = newscrawl(tmp_path, *command, "-s", "DOWNLOAD_DELAY=0")
        article = json.loads(done.stdout)
        assert (article["pages"], article["next_pages"]) == (2, [f"{web.url}{PATH}?page=3"])
        assert b"further page of a story not read" in done.stderr


@pytest.mark.slow
def test_further_pages_of_sitemaps_and_of_revisits(tmp_path: Path):
    """Pages of a story that a sitemap lists are no articles; a story is not shortened later."""
    text_of = [paragraph for n in range(3) for paragraph in paragraphs(n)[2 * n : 2 * n + 2]]
    other, twin = f"/news/{DAYS[1]}/another-story-of-a-day", f"{PATH}-2"
    paths = [f"{PATH}?page=3", other, f"{PATH}?page=2", PATH, twin]
    with SiteServer() as web:
        locs = "".join(f"<url><loc>{web.url}{path}</loc></url>" for path in paths)
        web.put(f"{HOST}/sitemap.xml", xml(f"<urlset>{locs}</urlset>"))
        web.put(f"{HOST}/", html("<p>Nothing</p>"))
        for number in range(3):
            query = f"?page={number + 1}" if number else ""
            web.put(f"{HOST}{PATH}{query}", html(page(number, pager(number + 1, 3))))
        for number, path in enumerate((other, twin), 5):
            web.put(f"{HOST}{path}", html(article_page(number)))
        window = {"NEWSCRAWL_UPDATE_WINDOW": 10**6}
        first = web.crawl(tmp_path, **window)
        by_path = {item["url"].removeprefix(web.url): item for item in first.items}
        assert sorted(by_path) == sorted([PATH, other, twin])
        assert by_path[PATH]["body"].split("\n\n") == text_of
        assert len([url for url in web.requested if "page=" in url]) == 2

        web.put(f"{HOST}{PATH}?page=2", html("<p>Try again later.</p>", status=503))
        due = {**window, "NEWSCRAWL_ALL_DUE": True, "RETRY_ENABLED": False}
        before = len(web.requested)
        assert web.crawl(tmp_path, **due).items == []
        assert f"{HOST}{PATH}?page=2" in web.requested[before:]
        web.put(f"{HOST}{PATH}?page=2", html(page(1, pager(2, 3)).replace("Kritik", "Tadel")))
        [updated] = web.crawl(tmp_path, **due).items
        assert (updated["pages"], updated["flags"]) == (3, ["updated"])
