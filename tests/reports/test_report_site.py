"""The static site of a report in Chromium, and what it reads."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from newscrawl.crawling.crawl_store import CrawlStore
from newscrawl.crawling.site_stats import DroppedPage, SiteCounts
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
            record.counts = SiteCounts({**counts, f"failed/{HOSTILE}": 1})
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
            assert box["width"] > 250
            assert box["height"] > 100
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        assert messages == []


def test_first_crawl(tmp_path: Path):
    """One crawl has no plots, and the pages say so."""
    write_report(records()[:1], [], tmp_path)
    for path in [tmp_path / "index.html", *(tmp_path / "sites").iterdir()]:
        text = path.read_text(encoding="utf-8")
        assert "Plots begin with the second crawl." in text
        assert "<svg" not in text


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
        page.get_by_role("button", name="Dark theme").click()
        assert page.get_by_role("button", name="Light theme").is_visible()
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
@pytest.mark.parametrize("scheme", SCHEMES)
def test_cut_tables_have_a_shadow(report: Path, scheme: str):
    """On a phone, at the edges behind which there is more; on a desktop, nowhere."""

    def shadows(page: Page) -> list[bool]:
        box = table.bounding_box()
        edges = [
            page.screenshot(clip={"x": x, "y": box["y"] + 5, "width": 6, "height": 20})
            for x in (box["x"], box["x"] + box["width"] / 2, box["x"] + box["width"] - 6)
        ]
        return [edge != edges[1] for edge in edges[::2]]

    for width, expected in ((PHONE, [[False, True], [True, False]]), (DESKTOP, [[False] * 2] * 2)):
        with browse(report / "index.html", scheme=scheme, width=width) as (page, _):
            table = page.get_by_role("region", name="Table of sites")
            table.scroll_into_view_if_needed()
            table.locator("table").evaluate("table => { table.style.visibility = 'hidden'; }")
            found = [shadows(page)]
            table.evaluate("region => { region.scrollLeft = region.scrollWidth; }")
            found.append(shadows(page))
            assert found == expected


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


async def test_inputs_without_a_crawl(tmp_path: Path):
    """A feed and a database without a record are errors that name the file."""
    feed = tmp_path / "feed.jsonl"
    feed.write_text('{"url": "https://a.example/1"}')
    with pytest.raises(ReportError, match=r"feed\.jsonl: file is not a database"):
        read_crawls(str(feed))
    state = tmp_path / "state.sqlite"
    store = CrawlStore(state)
    store.open()
    await store.close()
    with pytest.raises(ReportError, match=r"state\.sqlite: no crawl is recorded"):
        read_crawls(str(state))


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("{tmp}/none.sqlite", "-o", "{tmp}/report"), 2, "does not exist"),
        (("{tmp}/state.sqlite",), 2, "Missing option '-o'"),
        (("{tmp}/state.sqlite", "-o", "{tmp}/report", "-s", "x"), 2, "expected NAME=VALUE"),
        (("{tmp}/state.sqlite", "-o", "{tmp}/report", "--metrics", "{tmp}"), 2, "is a directory"),
    ],
)
def test_errors_take_one_line(tmp_path: Path, args: tuple[str, ...], code: int, message: str):
    """Wrong usage ends with 2."""
    (tmp_path / "state.sqlite").touch()
    done = run_report(*(arg.replace("{tmp}", str(tmp_path)) for arg in args))
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert message in done.stderr
