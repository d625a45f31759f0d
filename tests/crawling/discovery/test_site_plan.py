"""Frontier of a site: order of targets, budgets, duplicates."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawling.discovery import site_plan
from newscrawl.crawling.discovery.entries import Entry
from newscrawl.crawling.discovery.paging import Place, SitemapSeries
from newscrawl.crawling.discovery.period import Period
from newscrawl.crawling.discovery.site_list import Site
from newscrawl.crawling.discovery.site_plan import MAX_LISTS, SitePlan
from newscrawl.crawling.discovery.target import Budgets, Target
from newscrawl.crawling.frontier.leases import FinishedRequest
from newscrawl.crawling.urls import page_key

HOME = "http://site.example/"
LARGE = Budgets(
    articles=100, requests=1000, sitemaps=10, feeds=10, sections=10, depth=2, max_in_flight=100
)


def entry(path: str, timestamp: float | None = None) -> Entry:
    url = f"http://site.example{path}"
    return Entry(url, page_key(url), timestamp)


def frontier(budgets: Budgets = LARGE, **options: Any) -> SitePlan:
    return SitePlan(Site(HOME, **options), budgets)


def fetch(site: SitePlan) -> list[Target]:
    """Close the next targets and return them."""
    targets = []
    for ticket, target in list(site.next_targets()):
        assert site.requests.close(ticket) == target
        targets.append(target)
    return targets


def paths(targets: list[Target]) -> list[str]:
    return [target.url.removeprefix("http://site.example") for target in targets]


def test_starts_with_the_site_list():
    site = frontier(sections=(f"{HOME}a/", f"{HOME}a"), feeds=(f"{HOME}feed",))
    assert paths(fetch(site) + fetch(site)) == ["/robots.txt", "/", "/a/", "/feed"]


def test_listings_wait_for_the_listed_page_and_its_redirect():
    site = frontier(feeds=(f"{HOME}feed",), sitemaps=(f"{HOME}map.xml",))
    tickets = {target.url: ticket for ticket, target in site.next_targets()}
    assert list(tickets) == [f"{HOME}robots.txt", HOME]
    site.requests.close(tickets[HOME])
    site.add_domain("http://www.moved.example/start")
    urls = [target.url for _, target in site.next_targets()]
    assert urls == [f"{HOME}feed", f"{HOME}map.xml", "http://www.moved.example/robots.txt"]
    assert site.address.owns("http://moved.example/1")
    site.add_domain(HOME)
    assert list(site.next_targets()) == []


def test_restores_the_domain_of_a_redirected_site():
    site = frontier()
    site.add_domain("http://www.moved.example/")
    moved = site.new_sources[-1]
    again = frontier()
    again.add_source(moved.role, moved.url, depth=moved.depth, timestamp=moved.timestamp)
    assert again.address.owns("http://moved.example/1")


def test_requests_pages_at_the_host_that_a_site_redirects_to():
    site, moved = frontier(), "https://www.site.example"
    robots, home, one, two = (
        Target(role, f"{HOME}{path}")
        for role, path in (
            ("robots", "robots.txt"),
            ("section", ""),
            ("article", "1"),
            ("feed", "2"),
        )
    )
    site.address.record_origin(home, f"{moved}/")
    site.address.record_origin(one, f"{moved}/other")
    assert site.address.current_url(two) == f"{HOME}2"
    site.address.record_origin(one, f"{moved}/1")
    assert [site.address.current_url(target) for target in (two, robots)] == [
        f"{moved}/2",
        robots.url,
    ]
    site.address.record_origin(two, two.url)
    assert site.address.current_url(one) == one.url


def test_errors_of_the_server_are_no_answer():
    site = frontier()
    robots, home = fetch(site)
    site.add_article(entry("/story"))
    site.record_failure(home, "http_503")
    assert site.skip_reason == "unreachable"
    assert list(site.next_targets()) == []
    site.record_read(robots)
    assert site.skip_reason == "over_budget"


@pytest.mark.parametrize(("remembered", "reason"), [(True, "unreachable"), (False, "over_budget")])
def test_a_remembered_robots_txt_is_no_answer(*, remembered: bool, reason: str):
    site = frontier()
    robots, home = fetch(site)
    site.add_article(entry("/story"))
    site.record_read(replace(robots, is_remembered=remembered))
    site.record_failure(home, "timeout")
    assert site.skip_reason == reason


def test_feed_turns_a_section_into_an_article():
    """Once, even if it was read as a section; a link of a page or sitemap does not suffice."""
    site = frontier()
    fetch(site)
    for path in ("/early/", "/late/"):
        site.add_section(entry(path), depth=1)
    assert paths(fetch(site)) == ["/early/"]
    target = Target("section", f"{HOME}early/")
    assert site.seen.add_final_url(target.url)
    assert not site.add_article(entry("/early/"))
    assert [site.add_article(entry("/early/"), certain=True) for _ in range(2)] == [True, False]
    assert site.add_article(entry("/late/"), certain=True)
    assert not site.add_article(entry("/"), certain=True)
    assert paths(fetch(site)) == ["/early/", "/late/"]
    assert site.seen.add_final_url(target.url)
    assert fetch(site) == []


def test_articles_wait_for_discovery():
    site = frontier()
    (robots, _), (home, _) = site.next_targets()
    site.add_article(entry("/old", 1.0))
    assert list(site.next_targets()) == []
    site.requests.close(robots)
    assert list(site.next_targets()) == []
    site.requests.close(home)
    site.add_article(entry("/new", 2.0))
    site.add_article(entry("/undated"))
    assert paths(fetch(site)) == ["/new", "/old", "/undated"]


def test_reads_newest_sitemaps_as_needed():
    site = frontier(Budgets(2, 100, 10, 10, 10, 2, 10))
    fetch(site)
    site.add_sitemap(f"{HOME}1.xml", timestamp=10.0)
    site.add_sitemap(f"{HOME}2.xml", timestamp=30.0)
    site.add_sitemap(f"{HOME}3.xml", timestamp=20.0)
    ((ticket, target),) = site.next_targets()
    assert target.url == f"{HOME}2.xml"
    site.add_article(entry("/a", 29.0))
    site.add_article(entry("/b", 15.0))
    site.requests.close(ticket)
    ((ticket, target),) = site.next_targets()
    assert target.url == f"{HOME}3.xml", "it may hold something newer than /b"
    site.add_article(entry("/c", 18.0))
    site.requests.close(ticket)
    assert paths(fetch(site)) == ["/a", "/c"]


def test_replaces_failed_articles():
    site = frontier(Budgets(2, 100, 10, 10, 10, 2, 10))
    fetch(site)
    for number in range(5):
        site.add_article(entry(f"/{number}"))
    assert paths(fetch(site)) == ["/0", "/1"]
    site.requests.accepted += 1
    assert paths(fetch(site)) == ["/2"]
    site.requests.accepted += 1
    assert fetch(site) == []
    assert (site.candidate_count, site.skip_reason) == (2, "over_limit")


def test_reads_sections_only_if_candidates_are_few():
    site = frontier()
    fetch(site)
    site.add_article(entry("/a"))
    for path in ("/x/", "/y/", "/a"):
        site.add_section(entry(path), depth=1)
    site.add_section(entry("/deep/"), depth=3)
    assert paths(fetch(site)) == ["/a", "/x/"]
    assert paths(fetch(site)) == ["/y/"]
    assert fetch(site) == []


def test_skips_addresses_like_lists_in_a_directory_of_lists():
    site = frontier()
    fetch(site)
    tags = [f"/tag/river-{number}" for number in range(20)]
    others = ["/tag/2026/11/20/the-bridge-over-the-river-opens", "/author/anna"]
    for path in (*tags, *others):
        site.add_article(entry(path))
    requested = []
    for ticket, target in site.next_targets():
        site.record_kind(target, is_list=True)
        site.requests.close(ticket)
        requested.append(target)
    assert paths(requested) == [*tags[:MAX_LISTS], *others]
    assert site.seen.left_out["likely_list"] == len(tags) - MAX_LISTS


def test_language_of_the_site_list_is_the_default():
    site = frontier(language="de")
    fetch(site)
    site.add_article(entry("/a"))
    site.add_article(replace(entry("/b"), hints={"language": "en"}))
    assert [target.hints["language"] for target in fetch(site)] == ["de", "en"]


KINDS = st.sampled_from(["article", "section", "feed", "sitemap"])
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 15), st.none() | st.floats(0, 100)), max_size=40)
SMALL = st.builds(Budgets, *[st.integers(1, 6)] * 7)


@given(SMALL, STEPS, st.data())
def test_never_exceeds_budgets_or_repeats_pages(
    budgets: Budgets, steps: list[tuple[str, int, float | None]], data: Any
):
    site = frontier(budgets)
    fetched: list[Target] = []
    for step in (*steps, None):
        while targets := list(site.next_targets()):
            in_flight = [
                target for target in site.requests.in_flight.values() if target.role == "article"
            ]
            assert len(in_flight) <= budgets.max_in_flight
            for ticket, target in targets:
                fetched.append(target)
                site.requests.close(ticket)
                site.requests.accepted += target.role == "article" and data.draw(st.booleans())
        if step:
            add(site, *step)
    counts = Counter(target.role for target in fetched if not target.from_site_list)
    assert len(fetched) <= budgets.requests
    assert site.requests.accepted <= budgets.articles
    assert counts["sitemap"] <= budgets.sitemaps
    assert counts["feed"] <= budgets.feeds
    assert counts["section"] <= budgets.sections
    pages = [page_key(target.url) for target in fetched if target.role in ("article", "section")]
    assert len(pages) == len(set(pages))


def add(site: SitePlan, kind: str, number: int, timestamp: float | None) -> None:
    if kind == "article":
        site.add_article(entry(f"/{number}", timestamp))
    elif kind == "section":
        site.add_section(entry(f"/{number}"), depth=1)
    elif kind == "feed":
        site.add_feed(f"{HOME}{number}.rss")
    else:
        site.add_sitemap(f"{HOME}{number}.xml", timestamp=timestamp)


def test_pages_and_sources_are_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(site_plan, "MAX_TARGETS", 50)
    site = frontier(replace(LARGE, articles=1))
    before = len(site.new_sources)
    for number in range(100):
        site.add_feed(f"{HOME}feed/{number}")
    assert len(site.new_sources) - before == 48
    assert not site.add_article(entry("/story"), certain=True)
    assert site.seen.add_known(f"{number}" for number in range(100)) == 50
    assert site.seen.left_out["over_limit"] == 53
    large = frontier()
    assert sum(large.add_article(entry(f"/{number}")) for number in range(2000)) == 998


def test_a_series_of_sitemaps_is_searched_once_for_each_that_is_read(
    monkeypatch: pytest.MonkeyPatch,
):
    searches: list[int] = []
    search = SitemapSeries._search
    monkeypatch.setattr(
        SitemapSeries, "_search", lambda series: searches.append(1) or search(series)
    )
    period = Period.of(since="2026-10-01", until="2026-10-31")
    site = SitePlan(Site(HOME), LARGE, {}, period)
    for number in range(300):
        site.add_sitemap(f"{HOME}map-{number}.xml")
    fetch(site)
    series = site.series._series[f"{HOME}map-#.xml"]
    places: list[Place] = ["newer", "within", "older"]
    for place, sitemap in zip(places, series.targets.values(), strict=False):
        series.record(sitemap, place)
    fetch(site)
    assert not site._sitemaps, "the period is covered"
    assert len(searches) < 20


def test_resume_restores_budgets_and_domains():
    site = frontier(Budgets(3, 100, 10, 10, 1, 2, 10))
    site.resume(
        [
            FinishedRequest("section", HOME, "http://www.moved.example/", "read"),
            FinishedRequest("section", f"{HOME}a/", f"{HOME}a/", "read"),
            FinishedRequest("article", f"{HOME}1", f"{HOME}1-title", "article"),
            FinishedRequest("article", f"{HOME}2", f"{HOME}2", "failed/http_404"),
        ]
    )
    fetch(site)
    assert site.address.owns("http://moved.example/3")
    assert not site.seen.add_final_url(f"{HOME}1-title")
    site.add_section(entry("/b/"), 1)
    assert [site.add_article(entry(f"/{n}")) for n in range(1, 6)] == [False, False, *[True] * 3]
    assert [target.url for _, target in site.next_targets()] == [f"{HOME}3", f"{HOME}4"]


def test_counts_candidates_without_a_date_of_a_period():
    site = SitePlan(Site(HOME), Budgets(9, 9, 9, 9, 9, 2, 9), period=Period(0.0, 10.0))
    assert [site.add_article(entry(path, time)) for path, time in (("/a", 1.0), ("/b", None))]
    assert site.undated == 1


def test_follows_cursors_while_they_list_new_articles():
    site = frontier()
    [home] = [target for target in fetch(site) if target.role == "section"]
    site.add_pages(home, f"{HOME}?cursor=a", "undated")
    [first] = fetch(site)
    site.add_pages(first, f"{HOME}?cursor=b", "undated")
    [second] = fetch(site)
    assert paths([first, second]) == ["/?cursor=a", "/?cursor=b"]
    site.add_pages(second, f"{HOME}?cursor=c", "older")
    assert "/?cursor=c" not in paths(fetch(site))


def test_counts_indexes_of_sitemaps_that_are_too_deep():
    site = frontier()
    for depth in range(site_plan.MAX_SITEMAP_DEPTH + 2):
        site.add_sitemap(f"{HOME}{depth}.xml", depth=depth)
    assert site.seen.left_out == {"sitemap_depth": 1}


def test_tries_usual_feeds_although_the_front_page_fails():
    site = frontier()
    for target in fetch(site):
        if target.role == "robots":
            site.record_read(target)
        else:
            site.record_failure(target, "http_500")
    found: list[str] = []
    while targets := fetch(site):
        found += paths(targets)
        for target in targets:
            site.record_failure(target, "http_404")
    assert set(site_plan.USUAL_FEEDS) <= set(found)


def test_does_not_request_what_a_listing_dates_outside_of_the_period():
    site = SitePlan(Site(HOME), LARGE, period=Period(since=1000.0))
    site.exclude([entry("/2026/old-story").key])
    assert not site.add_article(entry("/2026/old-story"))
    assert site.add_article(entry("/2026/old-story", 2000.0)), "another listing dates it within"
    assert site.add_article(entry("/2026/new-story"))
