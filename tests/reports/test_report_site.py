"""The static site of a report in Chromium, and what it reads."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from newscrawl.crawling.crawl_store import CrawlStore
from newscrawl.crawling.site_stats import DroppedPage
from newscrawl.reports.crawl_records import CrawlRecord, ReportError, read_crawls
from newscrawl.reports.drift import find_alarms
from newscrawl.reports.report_site import write_report
from tests.helpers.browser import (
    DESKTOP,
    PHONE,
    SCHEMES,
    browse,
    low_contrasts,
    needs_chromium,
    overflow,
    tab_stops,
)
from tests.reports.test_drift import DAY, crawls
from tests.reports.test_redesign import run_report

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "</td></title><script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{7*7}}"


def records() -> list[CrawlRecord]:
    """Return five crawls of four sites; the last one of site-3 has hostile articles."""
    found = crawls(
        1,
        sites=4,
        change=lambda a: a._replace(authors=0, title=HOSTILE, url=f"javascript:alert({a.length})"),
    )
    for number, crawl in enumerate(found):
        crawl.started = 1_795_300_000 + number * DAY
        crawl.ended, crawl.reason = crawl.started + 333, "finished"
        for site, record in crawl.sites.items():
            counts = {"discovered": 40, "fetched": 15, "article": 12, "dropped/too_short": 2}
            record.counts = Counter({**counts, f"failed/{HOSTILE}": 1})
            record.dropped = [DroppedPage(site, "index", 0.93, f"javascript:alert(3)//{HOSTILE}")]
            record.articles = [
                a._replace(kind="article", cluster="c1" if k < 2 else f"{site}{k}")
                for k, a in enumerate(record.articles)
            ]
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    found = records()
    found[-1].sites[HOSTILE] = found[-1].sites["site-1.example"]
    write_report(found, find_alarms(found), folder)
    return folder


def page_of(report: Path, site: str) -> Path:
    (page,) = (report / "sites").glob(f"{site.replace('.', '-')}-????????.html")
    return page


@needs_chromium
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["index", "site"])
def test_layout(report: Path, name: str, scheme: str, width: int):
    """Light and dark, wide and narrow: no error, nothing overflows, text has enough contrast."""
    path = report / "index.html" if name == "index" else page_of(report, "site-3.example")
    with browse(path, scheme=scheme, width=width) as (page, messages):
        assert low_contrasts(page) == []
        assert overflow(page) == 0
        plots = page.get_by_role("img")
        assert plots.count() == (2 if name == "index" else 5)
        for plot in plots.all():
            box = plot.bounding_box()
            assert box is not None
            assert box["width"] > 250
            assert box["height"] > 100
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        assert messages == []


@pytest.mark.slow
@needs_chromium
def test_everything_from_pages_is_escaped(report: Path):
    """Titles, URLs, sites and reasons are shown as text; links lead to web addresses only."""
    for path in [report / "index.html", *sorted((report / "sites").iterdir())]:
        with browse(path) as (page, messages):
            assert page.evaluate("document.scripts.length") == 1
            assert page.locator("img").count() == 0
            links = page.evaluate("[...document.links].map(link => link.protocol)")
            assert set(links) <= {"file:", "https:", "http:"}
            assert "49" not in page.title()
            assert messages == []
    with browse(report / "index.html") as (page, _):
        assert page.get_by_text(HOSTILE).count() > 10


@needs_chromium
def test_controls(report: Path):
    """Theme, sections, filters, sorting, clusters and links between the pages work."""
    with browse(report / "index.html") as (page, messages):
        theme = page.get_by_role("button", name="Dark theme")
        theme.click()
        assert theme.get_attribute("aria-pressed") == "true"
        for link in page.get_by_role("navigation").get_by_role("link").all():
            link.click()
            target = page.evaluate("location.hash.slice(1)")
            assert page.locator(f"#{target}").is_visible()
        sites = page.locator("#sites-table tbody tr")
        page.get_by_label("Filter sites").fill("SITE-2")
        assert [row.is_visible() for row in sites.all()].count(True) == 1
        assert page.locator("#sites-table-count").inner_text() == "1 of 5"
        page.get_by_label("Filter sites").fill("")
        page.get_by_label("Filter articles").fill("onerror")
        assert page.locator("#articles-table-count").inner_text() == "24 of 60"
        page.get_by_label("Filter articles").fill("")
        for table in page.locator("table[data-sortable]").all():
            for place, head in enumerate(table.locator("thead th").all()):
                head.get_by_role("button").click()
                assert head.get_attribute("aria-sort") == "descending"
                cells = table.locator(f"tbody tr > :nth-child({place + 1})").all_inner_texts()
                assert cells == sorted(cells, key=_key, reverse=True)
                head.get_by_role("button").click()
                assert head.get_attribute("aria-sort") == "ascending"
        cluster = page.locator("details").first
        cluster.locator("summary").click()
        assert cluster.get_by_role("listitem").first.is_visible()
        page.locator("#alarms").get_by_role("link", name="site-3.example").first.click()
        assert page.locator("h1").inner_text() == "site-3.example"
        page.get_by_role("link", name="All sites").click()
        assert page.locator("h1").inner_text().startswith("Crawl of ")
        assert messages == []


def _key(text: str) -> Any:
    try:
        return (1, float(text.split(maxsplit=1)[0]), "")
    except (IndexError, ValueError):
        return (0, 0.0, text.strip().lower())


@needs_chromium
def test_keyboard_and_screen_reader(report: Path):
    """Tab reaches all controls with a visible focus; landmarks, tables and plots have names."""
    with browse(report / "index.html") as (page, _):
        stops = tab_stops(page, limit=30)
        assert stops[:2] == ["Skip to the report", "Dark theme"]
        assert not [stop for stop in stops if stop.startswith("no outline")]
        tree = page.locator("body").aria_snapshot()
        for line in (
            "- banner:",
            '- navigation "Sections":',
            "- main:",
            '- region "Alarms":',
            '- region "Table of sites":',
            '- columnheader "Dropped"',
            '- searchbox "Filter sites"',
            'img "Articles by crawl: 21 Nov 22:32: 48, ',
        ):
            assert line in tree, tree


def article(url: str, hour: int, **fields: Any) -> dict[str, Any]:
    return {
        "url": url,
        "title": "Title",
        "body": "Text " * 50,
        "authors": ["A. Author"],
        "date": "2026-11-20",
        "fetched_at": f"2026-11-20T{hour:02}:00:00+00:00",
        "evidence": {"body": {"source": "blocks", "confidence": 0.9}},
        **fields,
    }


def test_feeds(tmp_path: Path):
    """Feeds are split at gaps of an hour; rows that are not articles are skipped."""
    lines = [article("https://a.example/1", 1), article("https://b.example/1", 1)]
    lines += [article("https://a.example/2", 5, evidence="no JSON", authors=None, date="soon")]
    text = "\n".join([*map(json.dumps, lines), "[1]", '{"title": "no URL"}', '{"url": '])
    feed = tmp_path / "articles.jsonl.gz"
    feed.write_bytes(gzip.compress(text.encode()))
    first, last = read_crawls([str(feed)])
    assert sorted(first.sites) == ["a.example", "b.example"]
    (known,), (unknown,) = first.sites["a.example"].articles, last.sites["a.example"].articles
    assert (known.confidence, known.length, known.authors, known.published) == (
        0.9,
        250,
        1,
        "2026-11-20",
    )
    assert (unknown.confidence, unknown.authors, unknown.published) == (None, 0, None)
    other = tmp_path / "second.jsonl"
    other.write_text(json.dumps(article("https://a.example/3", 1)))
    assert len(read_crawls([str(feed), str(other)])) == 3


def test_inputs_without_a_crawl(tmp_path: Path):
    """A feed without articles and a database without a record are errors that name the file."""
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(ReportError, match=r"empty\.jsonl: no crawl is recorded"):
        read_crawls([str(empty)])
    state = tmp_path / "state.sqlite"
    import asyncio

    async def create() -> None:
        store = CrawlStore(state)
        store.open()
        await store.close()

    asyncio.run(create())
    with pytest.raises(ReportError, match=r"state\.sqlite: no crawl is recorded"):
        read_crawls([str(state)])


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("{tmp}/none.jsonl", "-o", "{tmp}/report"), 1, "No such file"),
        (("{tmp}/feed.jsonl",), 2, "Missing option '-o'"),
        (("{tmp}/feed.jsonl", "-o", "{tmp}/report", "-s", "x"), 2, "expected NAME=VALUE"),
    ],
)
def test_errors_take_one_line(tmp_path: Path, args: tuple[str, ...], code: int, message: str):
    """Wrong usage ends with 2, other failures with 1."""
    done = run_report(*(arg.replace("{tmp}", str(tmp_path)) for arg in args))
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert message in done.stderr


def test_report_of_a_feed(tmp_path: Path):
    """One crawl without alarms: exit code 0, counts are not invented."""
    feed = tmp_path / "articles.jsonl"
    feed.write_text(json.dumps(article("https://a.example/1", 1)))
    done = run_report(feed, "-o", tmp_path / "report")
    assert (done.returncode, done.stderr) == (0, f"Wrote {tmp_path}/report/index.html\n")
    index = (tmp_path / "report/index.html").read_text(encoding="utf-8")
    assert "there is no earlier crawl to compare with" in index
    assert '<td class="number">–</td>' in index
