"""Crawls of a period: as many requests as it has stories."""

import asyncio
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from newscrawl.crawling.discovery.paging import ListingPages, Sample, SitemapSeries, search_stories
from newscrawl.crawling.discovery.period import Period, sitemap_spans
from newscrawl.crawling.discovery.sitemaps import read_sitemap
from newscrawl.crawling.discovery.target import Target
from tests.helpers.crawls import Crawl
from tests.servers.pages import paragraphs
from tests.servers.site import Answer, SiteServer, html

STORIES = 20
MONTHS = [f"{year}-{month:02}" for year in (2023, 2024, 2025) for month in range(1, 13)]
WANTED = "2024-03"


def xml(root: str, entries: list[tuple[str, str]]) -> Answer:
    name = "sitemap" if root == "sitemapindex" else "url"
    items = "".join(
        f"<{name}><loc>{url}</loc>{f'<lastmod>{day}</lastmod>' if day else ''}</{name}>"
        for url, day in entries
    )
    body = f"<{root}>{items}</{root}>".encode()
    return Answer(body, headers={"Content-Type": "application/xml"})


def fill(web: SiteServer, *, names: str, lastmod: str, dated: bool) -> None:
    """Add a site of 36 months; *names* of its sitemaps, *lastmod*: of which level is right."""
    sitemaps = []
    for number, month in enumerate(MONTHS):
        year, _, mm = month.partition("-")
        stories = []
        for day in range(1, STORIES + 1):
            date = f"{month}-{day:02}"
            folder = f"/{year}/{mm}" if dated else "/news"
            path = f"{folder}/story-of-the-town-number-{number}{day:02}.html"
            head = f'<meta property="article:published_time" content="{date}T10:00:00Z">'
            text = "".join(f"<p>{line}</p>" for line in paragraphs(day))
            body = f"<article><h1>Story {number}{day} of the town</h1>{text}</article>"
            web.put(
                f"127.0.0.1{path}", html(f"<html><head>{head}</head><body>{body}</body></html>")
            )
            # One story in ten was changed years later.
            changed = "2026-01-05" if day % 10 == 0 else date
            listed = {"none": "", "today": f"2026-11-20T10:{day:02}:00Z"}.get(lastmod, changed)
            stories.append((web.url + path, listed))
        path = names.format(year=year, month=mm, number=number + 1)
        web.put(f"127.0.0.1{path}", xml("urlset", stories))
        last = {"all": f"{month}-28", "pages": "2026-11-20"}.get(lastmod, "")
        sitemaps.append((web.url + path, last))
    web.put("127.0.0.1/sitemap.xml", xml("sitemapindex", sitemaps))
    web.put("127.0.0.1/", html("<p>A town"))


def crawl_month(folder: Path, web: SiteServer, **settings: object) -> Crawl:
    """Crawl the site of *web* for the wanted month."""
    period = {"NEWSCRAWL_SINCE": f"{WANTED}-01", "NEWSCRAWL_UNTIL": f"{WANTED}-31"}
    return web.crawl(folder, **period, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "lastmod", "dated", "max_sitemaps"),
    [
        ("/sitemap-{year}-{month}.xml", "none", False, 1),
        ("/post-sitemap_{year}{month}.xml", "pages", False, 1),
        ("/{year}/{month}/sitemap.xml", "all", True, 1),
        ("/sitemap-{number}.xml", "all", False, 5),
        ("/sitemap-{number}.xml", "pages", True, 9),
        ("/sitemap-{number}.xml", "none", True, 9),
        ("/sitemap-{number}.xml", "none", False, 9),
        ("/sitemap-{number}.xml", "today", False, 9),
    ],
)
def test_period_of_a_site(
    tmp_path: Path, names: str, lastmod: str, *, dated: bool, max_sitemaps: int
):
    with SiteServer() as web:
        fill(web, names=names, lastmod=lastmod, dated=dated)
        crawl = crawl_month(tmp_path, web, NEWSCRAWL_SITE_LIMIT=200)
        requests = web.request_counts()
    found = {item["date"][:10] for item in crawl.items}
    assert found == {f"{WANTED}-{day:02}" for day in range(1, STORIES + 1)}
    pages = [url for url in requests if url.endswith(".html")]
    sitemaps = [url for url in requests if "sitemap" in url and not url.endswith("1/sitemap.xml")]
    # Of undated sitemaps, three samples of each.
    assert len(pages) <= STORIES + 22 + 12 * (max_sitemaps > 1)
    assert len(sitemaps) <= max_sitemaps


@pytest.mark.parametrize(
    ("paths", "spans"),
    [
        (["sitemap-2024-03.xml", "sitemap-2024-12.xml"], ["2024-03-01", "2024-12-01"]),
        (["sitemap-2024-03.xml", "sitemap-2024-13.xml"], ["2024-01-01", "2024-01-01"]),
        (["map?yyyy=2024&mm=03&dd=07"], ["2024-03-07"]),
        (["sitemap_20240307.xml.gz", "sitemap.xml"], ["2024-03-07", None]),
        (["sitemap-2024.xml", "sitemap-120245.xml"], ["2024-01-01", None]),
    ],
)
def test_dates_in_names_of_sitemaps(paths: list[str], spans: list[str | None]):
    found = sitemap_spans([f"https://paper2024.example/{path}" for path in paths])
    begins = [Period.of(f"{day}T00:00:00Z", None).since if day else None for day in spans]
    assert [span and span[0] // 259_200 for span in found] == [b and b // 259_200 for b in begins]


def test_sitemaps_of_other_months_are_left_out():
    paths = [f"sitemap-{month}.xml" for month in MONTHS]
    locs = "".join(f"<sitemap><loc>/{path}</loc></sitemap>" for path in paths)
    found = read_sitemap(
        f"<sitemapindex>{locs}</sitemapindex>".encode(),
        url="https://paper.example/",
        domains=["paper.example"],
        since="2024-02-29T00:00:00+00:00",
        until="2024-04-02T00:00:00+00:00",
    )
    assert [entry.url[-11:-4] for entry in found.entries] == ["2024-03"]
    assert found.left_out == {"too_old": 14, "too_new": 21}


@pytest.mark.slow
@pytest.mark.parametrize("archive", ["/{}/{}/", "/archive/?year={}&month={}"])
def test_archive_pages_of_a_site_without_sitemaps(tmp_path: Path, archive: str):
    addresses = {month: archive.format(*month.split("-")) for month in MONTHS}
    with SiteServer() as web:
        web.put("127.0.0.1/", html("<p>News <a href='/archive/'>Archive</a>"))
        months = "".join(f"<a href='{path}'>{month}</a> " for month, path in addresses.items())
        web.put("127.0.0.1/archive/", html(months if "?" in archive else "<p>None"))
        for number, month in enumerate(MONTHS):
            links = ""
            for day in range(1, 11):
                path = f"/news/a-story-of-the-town-number-{number}{day:02}.html"
                links += f"<p><a href='{path}'>A story of the town number {number}{day}</a></p>"
                date = f"<meta property='article:published_time' content='{month}-{day:02}T10:00Z'>"
                text = "".join(f"<p>{line}</p>" for line in paragraphs(number * 40 + day))
                web.put(f"127.0.0.1{path}", html(f"<head>{date}</head><h1>Story {day}</h1>{text}"))
            web.put(f"127.0.0.1{addresses[month]}", html(f"<h1>{month}</h1>{links}"))
        crawl = crawl_month(tmp_path, web)
    assert len(crawl.items) == 10
    assert {item["date"][:7] for item in crawl.items} == {WANTED}
    assert sum("story" in url for url in web.requested) == 10


@pytest.mark.parametrize(
    ("following", "third"),
    [
        ("https://a.example/news/?cat=12&page=2", "https://a.example/news/?cat=12&page=3"),
        ("https://a.example/news?page=1", "https://a.example/news?page=2"),
        ("https://a2.example/2024/12/page/2/", "https://a2.example/2024/12/page/3/"),
        ("https://a.example/list?start=20", "https://a.example/list?start=40"),
        ("https://a.example/news/older-2.html", "https://a.example/news/older-3.html"),
        ("https://a2.example/2024/04/", None),
    ],
)
def test_pages_of_a_listing(following: str, third: str | None):
    pages = ListingPages.of(following)
    assert (pages and (pages.url(2), pages.url(3))) == (third and (following, third))


@pytest.mark.parametrize("first", [2, 5, 40, 250])
def test_finds_the_pages_of_a_period_in_few_requests(first: int):
    """Pages *first* to *first* + 3 of 300 list its articles."""
    pages = ListingPages.of("/news?page=2")
    assert pages
    read, number = [], 1
    while number:
        place = "newer" if number < first else "older" if number > first + 3 else "within"
        pages.record(number, place)
        read.append(number)
        number = pages.next_number() or 0
    assert {*range(first, first + 4)} <= set(read)
    assert len(read) == len(set(read)) <= 22


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("first", [0, 1, 30, 97])
def test_finds_the_sitemaps_of_a_period_in_few_requests(first: int, *, newest_first: bool):
    """Sitemaps *first* to *first* + 2 of 100 list its articles; every seventh is unknown."""
    sitemaps = [Target("sitemap", f"https://a.example/sitemap-{n}.xml") for n in range(100)]
    series, read = SitemapSeries({sitemap.key: sitemap for sitemap in sitemaps}), []
    while target := series.next_target():
        number = sitemaps.index(target)
        before, after = ("newer", "older") if newest_first else ("older", "newer")
        place = before if number < first else after if number > first + 2 else "within"
        series.record(target, "undated" if number % 7 == 5 and place != "within" else place)
        read.append(number)
    assert {*range(first, first + 3)} <= set(read)
    assert len(read) == len(set(read)) <= 16


def search(times: list[float | None], begin: float, end: float) -> tuple[set[int] | None, int]:
    """Return the stories of the period from *begin* to *end* that a search finds, and its requests.

    Times are in days; a page may have none.
    """
    read = []

    async def read_sample(number: int) -> Sample | None:
        read.append(number)
        time = times[number]
        if time is None:
            return None
        reason = "too_old" if time < begin else "too_new" if time > end else None
        return Sample(time * 86_400, reason)

    reasons = asyncio.run(search_stories(len(times), 7, read_sample))
    found = reasons and {number for number, reason in enumerate(reasons) if reason is None}
    assert reasons is None or len(reasons) == len(times)
    return found, len(read)


@given(
    st.integers(21, 3000),
    st.integers(0, 1000),
    st.integers(0, 400),
    st.sets(st.integers(0, 300).map(lambda n: n * 10 + 1)),
    st.integers(0, 4),
    st.booleans(),
)
@example(21, 0, 96, set(), 2, False)
def test_finds_the_undated_stories_of_a_period_in_few_requests(
    size: int, begin: int, length: int, faults: set[int], first: int, newest_first: bool
):
    """The pages at *faults*, and the *first* ones, have no date."""
    times: list[float | None] = [number * 1000 / size for number in range(size)]
    wanted = {n for n, time in enumerate(times) if time and begin <= time <= begin + length}
    if newest_first:
        times.reverse()
        wanted = {size - 1 - number for number in wanted}
    times = [None if n in faults or n < first else time for n, time in enumerate(times)]
    wanted -= set(range(first))
    found, requests = search(times, begin, begin + length)
    assert found is not None
    assert found >= wanted
    assert len(found - wanted) <= 10
    assert requests <= 60


def test_stories_in_no_order_are_not_searched():
    searches = []
    for seed in range(100):
        times: list[float | None] = [float(number) for number in range(400)]
        Random(seed).shuffle(times)
        searches.append(search(times, 100, 130))
    assert sum(found is None for found, _ in searches) >= 98
    assert max(requests for _, requests in searches) <= 30


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/?page={}", "/news/page/{}/"])
def test_pages_of_a_listing_without_archives(tmp_path: Path, path: str):
    """A site without sitemaps whose only way to former months are numbered pages."""
    pages = [f"{month}-{day:02}" for month in reversed(MONTHS) for day in (28, 8)]
    with SiteServer() as web:
        web.put("127.0.0.1/", html("<p><a href='/news/'>News</a>"))
        for number, day in enumerate(pages, 1):
            links = ""
            for n in range(5):
                story = f"/{day.replace('-', '/')}/a-story-of-the-town-{number}{n}.html"
                links += f"<h2><a href='{story}'>A story of the town with a number {n}</a></h2>"
                date = f"<meta property='article:published_time' content='{day}T10:00Z'>"
                text = "".join(f"<p>{line}</p>" for line in paragraphs(number * 5 + n))
                if WANTED in day:
                    web.put(f"127.0.0.1{story}", html(f"<head>{date}</head><h1>S</h1>{text}"))
            links += f"<p><a href='{path.format(number + 1)}'>{number + 1}</a></p>"
            first = "/" if path.startswith("/?") else "/news/"
            web.put(f"127.0.0.1{path.format(number) if number > 1 else first}", html(links))
        crawl = crawl_month(tmp_path, web)
    assert len(crawl.items) == 10
    assert {item["date"][:7] for item in crawl.items} == {WANTED}
    assert sum("story" in url for url in web.requested) == 10
    assert sum("page" in url for url in web.requested) <= 14
