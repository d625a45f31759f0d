"""``scrapy crawl sitelist`` on small sites: redirects, errors, limits, feeds, sitemaps."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from newscrawl.crawling.site_stats import site_counts
from newscrawl.document.document import COMPILED
from tests.conftest import REPOSITORY
from tests.helpers.crawls import Crawl, crawl_sites, run_scrapy, total
from tests.servers import pages
from tests.servers.site import Answer, SiteServer, html, page, redirect, text, xml

pytestmark = pytest.mark.slow


def crawl_site(
    folder: Path, site: str, answers: Mapping[str, Answer], **settings: object
) -> tuple[Crawl, SiteServer]:
    """Crawl the host *site* with *answers* by path."""
    with SiteServer(answers) as web:
        settings = {"NEWSCRAWL_MAX_AGE": 0, **settings}
        crawl = crawl_sites(folder, [f"http://{site}/"], web.proxy_environment(), **settings)
    return crawl, web


def front(*links: str, head: str = "") -> Answer:
    """Return a page of *links*, each a URL, a space and the text."""
    items = "".join(f"<li><a href='{url}'>{text}</a></li>" for url, _, text in map(_split, links))
    return html(f"<head>{head}</head><body><ul>{items}</ul></body>")


def _split(link: str) -> tuple[str, str, str]:
    return link.partition(" ")


def sitemap(host: str, *entries: str) -> Answer:
    """Return a sitemap of *entries*, each a path, a space and the date of modification."""
    urls = "".join(
        f"<url><loc>http://{host}{path}</loc><lastmod>{date}</lastmod></url>"
        for path, _, date in map(_split, entries)
    )
    return xml(f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{urls}</urlset>")


def index(host: str, *entries: str) -> Answer:
    """Return a sitemap index of *entries* as in :func:`sitemap`."""
    maps = "".join(
        f"<sitemap><loc>http://{host}{path}</loc><lastmod>{date}</lastmod></sitemap>"
        for path, _, date in map(_split, entries)
    )
    return xml(f"<sitemapindex>{maps}</sitemapindex>")


def outcomes(crawl: Crawl, site: str) -> Counter[str]:
    return site_counts(crawl.stats).get(site, Counter())


def assert_balanced(counts: Counter[str]) -> None:
    """Check that every candidate and every fetched page has one outcome."""
    total_outcomes = counts["fetched"] + total(counts, "failed") + total(counts, "skipped")
    assert counts["discovered"] == total_outcomes
    assert counts["fetched"] == counts["article"] + total(counts, "dropped")


def story(day: int) -> str:
    return f"/2026/03/{day:02}/a-story-about-the-town.html"


FAULTS = "faults.example"
AGE = 30  # days, the default


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> tuple[Crawl, SiteServer]:
    """Crawl a site whose sitemap lists pages with different faults."""
    answers = {
        "/robots.txt": text(
            f"User-agent: *\nDisallow: /secret\nSitemap: http://{FAULTS}/map.xml\n"
        ),
        "/": front(),
        "/ok": page(1),
        "/moved": redirect("/target", 301),
        "/target": page(2),
        "/moved-too": redirect("/target", 301),
        "/loop": redirect("/loop", 301),
        "/ping": redirect("/pong", 301),
        "/pong": redirect("/ping", 301),
        "/away": redirect("http://other.example/story", 301),
        "other.example/story": page(4),
        "/error": html("Sorry", 500),
        "/paper": Answer(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}),
        "/huge": html("x" * 200_000),
        "/list": front(f"{story(1)} A story that only a list on this site leads to"),
        story(1): page(3),
    }
    paths = ("/ok", "/moved", "/moved-too", "/loop", "/ping", "/away", "/error", "/paper", "/gone")
    paths += ("/huge", "/secret/story", "/list")
    answers["/map.xml"] = sitemap(FAULTS, *paths, "/ok?utm_source=map", "/ok/#top")
    folder = tmp_path_factory.mktemp("faults")
    return crawl_site(
        folder, FAULTS, answers, DOWNLOAD_MAXSIZE=100_000, RETRY_TIMES=1, NEWSCRAWL_MAX_AGE=AGE
    )


def test_each_page_has_one_outcome(faults: tuple[Crawl, SiteServer]):
    """Failures are counted by reason, redirect loops included, in the stats and in the table."""
    crawl, _ = faults
    counts = outcomes(crawl, FAULTS)
    assert crawl.returncode == 0, crawl.output
    assert [line for line in crawl.errors() if "larger than" not in line] == [], crawl.output
    assert crawl.stats["newscrawl/extract/compiled"] is COMPILED
    (row,) = (line for line in crawl.output.splitlines() if line.startswith(f"│ {FAULTS}"))
    assert [cell.strip() for cell in row.split("│")[1:5]] == [FAULTS, "13", "4", "3"]
    assert "1 not_article" in row
    assert counts == Counter(
        {
            "discovered": 13,
            "fetched": 4,
            "article": 3,
            "dropped/not_article": 1,
            "failed/duplicate": 1,
            "failed/redirects": 2,
            "failed/other_site": 1,
            "failed/http_500": 1,
            "failed/not_html": 1,
            "failed/http_404": 1,
            "failed/too_large": 1,
            "failed/robots": 1,
        }
    )
    assert_balanced(counts)


def test_each_page_is_fetched_once(faults: tuple[Crawl, SiteServer]):
    """Only transient failures and redirect targets are requested twice."""
    _, web = faults
    requests = Counter(web.paths)
    assert requests["/error"] == 2
    assert requests["/target"] == 2
    assert requests["/secret/story"] == 0
    assert {path for path, number in requests.items() if number > 1} <= {
        "/error", "/target", "/loop", "/ping", "/pong"
    }  # fmt: skip


def test_fetches_newest_first_up_to_the_limit(tmp_path: Path):
    """Only the sitemap with the newest pages is read; pages are fetched newest first."""
    site = "days.example"
    answers = {
        "/robots.txt": text(f"Sitemap: http://{site}/index.xml"),
        "/": front("/politik/ Politik"),
        "/index.xml": index(site, "/old.xml 2026-02-28", "/new.xml 2026-03-31"),
        "/old.xml": sitemap(site, "/old 2026-02-20"),
        "/new.xml": sitemap(site, *(f"{story(day)} 2026-03-{day:02}" for day in range(1, 29))),
        **{story(day): page(day) for day in range(1, 29)},
    }
    crawl, web = crawl_site(tmp_path, site, answers, NEWSCRAWL_SITE_LIMIT=5)
    assert web.paths[-5:] == [story(day) for day in (28, 27, 26, 25, 24)]
    assert "/old.xml" not in web.paths
    assert "/politik/" not in web.paths, "sections are read only if candidates are missing"
    counts = outcomes(crawl, site)
    assert counts["article"] == 5
    assert counts["skipped/over_limit"] == 5  # candidates are twice the limit
    assert_balanced(counts)


def test_skips_old_entries(tmp_path: Path):
    """NEWSCRAWL_MAX_AGE applies to sitemaps and to their entries."""
    site, today = "old.example", datetime.now(UTC).date()
    answers = {
        "/robots.txt": text(f"Sitemap: http://{site}/index.xml"),
        "/": front(),
        "/index.xml": index(site, "/2001.xml 2001-12-31", f"/new.xml {today}"),
        "/new.xml": sitemap(site, f"{story(1)} {today}", "/old 2001-01-01"),
        story(1): page(1),
    }
    crawl, web = crawl_site(tmp_path, site, answers, NEWSCRAWL_MAX_AGE=AGE)
    assert "/2001.xml" not in web.paths
    assert "/old" not in web.paths
    assert outcomes(crawl, site)["left_out/too_old"] == 2
    assert outcomes(crawl, site)["article"] == 1


def test_discovers_by_feeds_sections_and_links(tmp_path: Path):
    """Articles are found in the feed of the home page and in sections up to a maximum depth."""
    site = "links.example"
    feed_link = "<link rel='alternate' type='application/rss+xml' href='/feed.xml'>"
    item = f"<item><title>Aus dem Feed</title><link>http://{site}/feed-story</link></item>"
    answers = {
        "/": front("/politik/ Politik", "/login Login", head=feed_link),
        "/feed.xml": xml(f"<rss version='2.0'><channel>{item}</channel></rss>"),
        "/feed-story": page(1),
        "/politik/": front("/politik/archiv/ Archiv", f"{story(2)} Eine Geschichte aus der Stadt"),
        story(2): page(2),
        "/politik/archiv/": front(f"{story(3)} Eine ältere Geschichte aus der Stadt", "/a/ A"),
        story(3): page(3),
        "/a/": front(f"{story(4)} Zu tief im Archiv für diesen Crawl"),
        story(4): page(4),
    }
    crawl, web = crawl_site(tmp_path, site, answers, NEWSCRAWL_MAX_AGE=AGE)
    fetched = set(web.paths)
    assert {"/feed-story", story(2), story(3)} <= fetched
    assert not {"/login", "/a/", story(4)} & fetched
    assert {item["title"] for item in crawl.items} >= {pages.title(1), pages.title(2)}
    # Pages from sections may be lists; these are extracted by the task that decides that.
    assert (len(crawl.items), crawl.stats["tasks/extract_page"]) == (3, 1)
    assert outcomes(crawl, site)["discovery_failed/http_404"] >= 1, "/sitemap.xml, which is guessed"
    assert_balanced(outcomes(crawl, site))


def feed(host: str, *paths: str) -> Answer:
    items = "".join(f"<item><link>http://{host}{path}</link></item>" for path in paths)
    return xml(f"<rss version='2.0'><channel><title>N</title>{items}</channel></rss>")


def test_reads_the_lists_of_a_site_that_moved(tmp_path: Path):
    """Feed and sitemaps may list the new domain, in any order and in later crawls."""
    old, new = "moved.example", "www.new-home.example"
    site_list = tmp_path / "sites.jsonl"
    site_list.write_text(json.dumps({"url": f"http://{old}/", "feeds": [f"http://{old}/feed.xml"]}))
    answers = {
        f"{old}/": redirect(f"http://{new}/", 301),
        f"{old}/feed.xml": feed(new, story(1)),
        f"{new}/": html("<p>Text.</p>", ETag='"1"'),
        f"{new}/robots.txt": text(f"Sitemap: http://{new}/map.xml"),
        f"{new}/map.xml": sitemap(new, f"{story(2)} 2026-03-02"),
        **{f"{new}{story(day)}": page(day) for day in (1, 2, 3)},
    }
    with SiteServer(answers) as web:
        for days in ([1, 2], [3]):
            crawl = run_scrapy(
                tmp_path,
                ["crawl", "sitelist", "-a", f"sites={site_list}"],
                web.proxy_environment(),
                {"NEWSCRAWL_MAX_AGE": 0, "NEWSCRAWL_POLL_MIN": 0, "NEWSCRAWL_POLL_MAX": 0},
            )
            urls = {item["url"] for item in crawl.items}
            assert urls == {f"http://{new}{story(day)}" for day in days}, crawl.output
            web.put(f"{new}/", Answer(b"", 304, {}))
            web.put(f"{old}/feed.xml", feed(new, story(1), story(3)))
    assert outcomes(crawl, old)["not_modified/section"] == 1


@pytest.mark.parametrize("evidence", ["feed", "page", "none"])
def test_finds_articles_with_section_like_urls(tmp_path: Path, evidence: str):
    """They are articles if a feed lists them or their structured data says so."""
    site, path = "short.example", "/against-the-storm/"
    link = "<link rel='alternate' type='application/rss+xml' href='/feed.xml'>"
    data = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
    answers = {
        f"{site}/": front(f"{path} Storm", "/news/ News", head=link * (evidence == "feed")),
        f"{site}/news/": front(f"{path} Storm"),
        f"{site}/feed.xml": feed(site, path),
        f"{site}{path}": page(1, data * (evidence == "page")),
    }
    with SiteServer(answers) as web:
        for first in (True, False):
            crawl = crawl_sites(
                tmp_path, [f"http://{site}/"], web.proxy_environment(), NEWSCRAWL_MAX_AGE=0,
                NEWSCRAWL_POLL_MIN=0, NEWSCRAWL_POLL_MAX=0,
            )  # fmt: skip
            assert len(crawl.items) == (first and evidence != "none"), crawl.output
            assert_balanced(outcomes(crawl, site))
            assert crawl.errors() == []
    assert web.paths.count(path) == (2 if evidence == "none" else 1)


def many_stories(site: str) -> dict[str, Answer]:
    return {
        "/robots.txt": text(f"Sitemap: http://{site}/map.xml"),
        "/": front(),
        "/map.xml": sitemap(site, *(f"{story(day)} 2026-03-{day:02}" for day in range(1, 29))),
        **{story(day): page(day) for day in range(1, 29)},
    }


def test_counts_requests_that_a_middleware_swallows(tmp_path: Path):
    """A request that a middleware drops silently is counted as lost; the crawl continues."""
    site = "swallowed.example"
    long_url = f"http://{site}{story(1)}"
    answers = many_stories(site) | {"/map.xml": sitemap(site, story(1), "/short", "/brief")}
    answers |= {"/short": page(2), "/brief": page(3)}
    crawl, _ = crawl_site(tmp_path, site, answers, URLLENGTH_LIMIT=len(long_url) - 1)
    assert outcomes(crawl, site) == Counter(
        {"discovered": 3, "fetched": 2, "article": 2, "failed/lost": 1}
    )


def test_stopped_crawl_accounts_for_every_request(tmp_path: Path):
    """A stopped crawl counts its pending requests as skipped."""
    site = "stopped.example"
    crawl, _ = crawl_site(tmp_path, site, many_stories(site), CLOSESPIDER_ITEMCOUNT=3)
    counts = outcomes(crawl, site)
    assert counts["discovered"] == 28
    assert counts["skipped/stopped"] >= 12  # some pages were in flight
    assert_balanced(counts)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_progress_keeps_standard_output_clean():
    """Progress and table go to the terminal, the feed alone to standard output."""
    site = "terminal.example"
    with SiteServer(many_stories(site)) as web:
        reading_end, writing_end = os.openpty()
        command = ["-m", "scrapy", "crawl", "sitelist", "-O", "-:jsonlines"]
        command += ["-a", f"site=http://{site}/", "-a", "limit=2", "-s", "NEWSCRAWL_STATE="]
        crawl = subprocess.Popen(
            [sys.executable, *command, "-s", "NEWSCRAWL_MAX_AGE=0", "-s", "DOWNLOAD_DELAY=0.2"],
            cwd=REPOSITORY,
            env={**web.proxy_environment(), "TERM": "xterm", "COLUMNS": "120"},
            stdout=subprocess.PIPE,
            stderr=writing_end,
        )
        os.close(writing_end)
        terminal = read_terminal(reading_end)
        feed, _ = crawl.communicate(timeout=200)
    assert crawl.returncode == 0
    titles = [json.loads(line)["title"] for line in feed.splitlines()]
    assert titles == [pages.title(28), pages.title(27)], terminal
    assert "sites: 1, discovered: 4" in terminal
    assert "│ terminal.example │" in terminal


def read_terminal(descriptor: int) -> str:
    """Return the output to a pseudo-terminal until its last writer closes it."""
    output = b""
    with suppress(OSError), os.fdopen(descriptor, "rb", buffering=0) as terminal:
        while data := terminal.read(65536):
            output += data
    return output.decode(errors="replace")
