"""What a site has left to fetch: order, budgets, and no URL twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from newscrawl.crawl.discovery.site_frontier import SiteFrontier
from newscrawl.crawl.discovery.site_list import Site
from newscrawl.crawl.discovery.target import Budgets, Target
from newscrawl.crawl.discovery.urls import page_key
from newscrawl.crawl.frontier.lease import Ended

HOME = "http://site.example/"
AMPLE = Budgets(
    articles=100, requests=1000, sitemaps=10, feeds=10, sections=10, depth=2, window=100
)


def entry(path: str, when: float | None = None) -> dict[str, Any]:
    url = f"http://site.example{path}"
    return {"url": url, "key": page_key(url), "when": when, "hints": {}}


def frontier(budgets: Budgets = AMPLE, **options: Any) -> SiteFrontier:
    return SiteFrontier(Site(HOME, **options), budgets)


def fetch(site: SiteFrontier) -> list[Target]:
    """Answer what the site asks for next, with nothing in the answers; return the targets."""
    targets = []
    for ticket, target in list(site.next_targets()):
        assert site.close(ticket) == target
        targets.append(target)
    return targets


def paths(targets: list[Target]) -> list[str]:
    return [target.url.removeprefix("http://site.example") for target in targets]


def test_what_is_given_comes_first():
    """robots.txt, the listed page, and what the list gives, each once."""
    site = frontier(sections=(f"{HOME}a/", f"{HOME}a"), feeds=(f"{HOME}feed",))
    assert paths(fetch(site) + fetch(site)) == ["/robots.txt", "/", "/a/", "/feed"]


def test_lists_wait_for_the_listed_page():
    """It may have moved to another domain, whose pages are the site's then; so may a section."""
    site = frontier(feeds=(f"{HOME}feed",), sitemaps=(f"{HOME}map.xml",))
    tickets = {target.url: ticket for ticket, target in site.next_targets()}
    assert list(tickets) == [f"{HOME}robots.txt", HOME]
    site.close(tickets[HOME])
    site.move("http://www.moved.example/start")
    asked = [target.url for _, target in site.next_targets()]
    assert asked == [f"{HOME}feed", f"{HOME}map.xml", "http://www.moved.example/robots.txt"]
    assert site.owns("http://moved.example/1")
    site.move(HOME)
    assert list(site.next_targets()) == []


def test_a_former_crawl_knows_where_the_site_has_moved():
    """By the robots.txt there, whether or not the listed page is read again."""
    site = frontier()
    site.move("http://www.moved.example/")
    moved = site.found[-1]
    again = frontier()
    again.add_source(moved.role, moved.url, depth=moved.depth, when=moved.when)
    assert again.owns("http://moved.example/1")


def test_a_section_that_a_feed_names_is_an_article():
    """Once, and before it is read as a section where there is time; a sitemap's word is not enough."""
    site = frontier()
    fetch(site)
    for path in ("/early/", "/late/"):
        site.add_section(entry(path), depth=1)
    assert paths(fetch(site)) == ["/early/"]
    target = Target("section", f"{HOME}early/")
    assert site.arrived(target, target.url)
    assert not site.add_article(entry("/early/"))
    assert [site.add_article(entry("/early/"), certain=True) for _ in range(2)] == [True, False]
    assert site.add_article(entry("/late/"), certain=True)
    assert not site.add_article(entry("/"), certain=True), "the listed page"
    assert paths(fetch(site)) == ["/early/", "/late/"]
    assert site.arrived(target, target.url)
    assert fetch(site) == []


def test_articles_wait_for_discovery():
    """Nothing is fetched while a listing is on its way that may name something newer."""
    site = frontier()
    (robots, _), (home, _) = site.next_targets()
    site.add_article(entry("/old", 1.0))
    assert list(site.next_targets()) == []
    site.close(robots)
    assert list(site.next_targets()) == []
    site.close(home)
    site.add_article(entry("/new", 2.0))
    site.add_article(entry("/undated"))
    assert paths(fetch(site)) == ["/new", "/old", "/undated"]


def test_sitemaps_newest_first_and_no_more_than_needed():
    """The second sitemap is left where the first gave enough that is newer."""
    site = frontier(Budgets(2, 100, 10, 10, 10, 2, 10))
    fetch(site)
    site.add_sitemap(f"{HOME}1.xml", when=10.0)
    site.add_sitemap(f"{HOME}2.xml", when=30.0)
    site.add_sitemap(f"{HOME}3.xml", when=20.0)
    ((ticket, target),) = site.next_targets()
    assert target.url == f"{HOME}2.xml"
    site.add_article(entry("/a", 29.0))
    site.add_article(entry("/b", 15.0))
    site.close(ticket)
    ((ticket, target),) = site.next_targets()
    assert target.url == f"{HOME}3.xml", "it may hold something newer than /b"
    site.add_article(entry("/c", 18.0))
    site.close(ticket)
    assert paths(fetch(site)) == ["/a", "/c"]


def test_failed_articles_are_replaced():
    """The limit counts pages that were taken."""
    site = frontier(Budgets(2, 100, 10, 10, 10, 2, 10))
    fetch(site)
    for number in range(5):
        site.add_article(entry(f"/{number}"))
    assert paths(fetch(site)) == ["/0", "/1"]
    site.taken += 1
    assert paths(fetch(site)) == ["/2"]
    site.taken += 1
    assert fetch(site) == []
    assert (site.waiting, site.end) == (2, "over_limit")


def test_sections_only_where_candidates_are_short():
    """One at a time, not too deep, and never a page that was an article already."""
    site = frontier()
    fetch(site)
    site.add_article(entry("/a"))
    for path in ("/x/", "/y/", "/a"):
        site.add_section(entry(path), depth=1)
    site.add_section(entry("/deep/"), depth=3)
    assert paths(fetch(site)) == ["/a", "/x/"]
    assert paths(fetch(site)) == ["/y/"]
    assert fetch(site) == []


def test_language_of_the_list_is_a_hint():
    """What the page's own listing says goes before it."""
    site = frontier(language="de")
    fetch(site)
    site.add_article(entry("/a"))
    site.add_article(entry("/b") | {"hints": {"language": "en"}})
    assert [target.hints["language"] for target in fetch(site)] == ["de", "en"]


KINDS = st.sampled_from(["article", "section", "feed", "sitemap"])
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 15), st.none() | st.floats(0, 100)), max_size=40)
SMALL = st.builds(Budgets, *[st.integers(1, 6)] * 7)


@given(SMALL, STEPS, st.data())
def test_budgets_hold(budgets: Budgets, steps: list[tuple[str, int, float | None]], data: Any):
    """Whatever is found in whatever order, no budget is overrun and nothing is fetched twice."""
    site = frontier(budgets)
    fetched: list[Target] = []
    for step in (*steps, None):
        while asked := list(site.next_targets()):
            in_flight = [target for target in site.open.values() if target.role == "article"]
            assert len(in_flight) <= budgets.window
            for ticket, target in asked:
                fetched.append(target)
                site.close(ticket)
                site.taken += target.role == "article" and data.draw(st.booleans())
        if step:
            add(site, *step)
    found = Counter(target.role for target in fetched if not target.given)
    assert len(fetched) <= budgets.requests
    assert site.taken <= budgets.articles
    assert found["sitemap"] <= budgets.sitemaps
    assert found["feed"] <= budgets.feeds
    assert found["section"] <= budgets.sections
    pages = [page_key(target.url) for target in fetched if target.role in ("article", "section")]
    assert len(pages) == len(set(pages))


def add(site: SiteFrontier, kind: str, number: int, when: float | None) -> None:
    if kind == "article":
        site.add_article(entry(f"/{number}", when))
    elif kind == "section":
        site.add_section(entry(f"/{number}"), depth=1)
    elif kind == "feed":
        site.add_feed(f"{HOME}{number}.rss")
    else:
        site.add_sitemap(f"{HOME}{number}.xml", when=when)


def test_an_interrupted_crawl_keeps_its_budgets():
    """What has ended is not fetched again and counts; what the listed page led to is the site's."""
    site = frontier(Budgets(3, 100, 10, 10, 1, 2, 10))
    site.resume(
        [
            Ended("section", HOME, "http://www.moved.example/", "read"),
            Ended("section", f"{HOME}a/", f"{HOME}a/", "read"),
            Ended("article", f"{HOME}1", f"{HOME}1-title", "article"),
            Ended("article", f"{HOME}2", f"{HOME}2", "failed/http_404"),
        ]
    )
    fetch(site)
    assert site.owns("http://moved.example/3")
    assert not site.arrived(Target("article", f"{HOME}1"), f"{HOME}1-title")
    site.add_section(entry("/b/"), 1)
    assert [site.add_article(entry(f"/{n}")) for n in range(1, 6)] == [False, False, *[True] * 3]
    assert [target.url for _, target in site.next_targets()] == [f"{HOME}3", f"{HOME}4"]
