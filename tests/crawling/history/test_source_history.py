"""Source history: when feeds, sitemaps and sections are due."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from newscrawl import clock
from newscrawl.crawling.discovery.site_plan import SitePlan
from newscrawl.crawling.discovery.target import KnownSource, Target
from newscrawl.crawling.history.change_rates import HOUR
from newscrawl.crawling.history.conditional_requests import conditional_headers
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.history.page_history import ClassifiedEntries
from newscrawl.crawling.urls import page_key
from tests.helpers.crawl_history import (
    HOME,
    NOON,
    SITE,
    FakeClock,
    Opening,
    emit,
    entry,
    frontier,
    listed_as_due,
    opened,
    response,
    restored_frontier,
)

pytestmark = pytest.mark.usefixtures("fake_clock")


async def test_does_not_read_a_section_that_was_an_article(crawl: Opening):
    section = entry("news/a")
    async with crawl() as state:
        site = await restored_frontier(state)
        for listed in (section, entry("news")):
            site.add_section(listed, 1)
        state._record_new_sources(site)
        await listed_as_due(state, section)
        await emit(state, section, "Text")
    async with crawl() as state:
        rows = (await state.load(SITE, limit=10)).sources
        assert {row.key for row in rows if row.role == "section"} == {
            page_key(HOME),
            page_key(f"{HOME}news"),
        }


def closed(site: SitePlan) -> Iterator[Target]:
    """Close all targets of *site*; yield each."""
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.requests.close(ticket)
            yield wanted


def fetched(site: SitePlan) -> list[str]:
    """Close all targets of *site*; return their paths."""
    return [wanted.url.removeprefix(HOME) for wanted in closed(site)]


async def poll(state: CrawlState, site: SitePlan, *, new: int = 0, **headers: str) -> list[str]:
    """Record a listing with *new* pages for all targets of *site*; return their paths."""
    found = []
    for wanted in closed(site):
        at = clock.now().timestamp()
        listed = [entry(f"{wanted.role}/{n}/{at}") for n in range(new)]
        entries = ClassifiedEntries(listed, known=["old"])
        state.record_listing(site, wanted, response(wanted.url, **headers), entries)
        found.append(wanted.url.removeprefix(HOME))
    return found


async def test_skips_sources_that_are_not_due(crawl: Opening, fake_clock: FakeClock):
    async with crawl() as state:
        site = await restored_frontier(state)
        site.add_feed(f"{HOME}feed")
        assert await poll(state, site, ETag='"1"') == ["robots.txt", "", "feed"]
    async with crawl() as state:
        site = await restored_frontier(state)
        assert await poll(state, site) == []
        assert site.not_due == {"robots": 1, "section": 1, "feed": 1}
        assert state.next_due is not None
    fake_clock.forward(4)
    async with crawl() as state:
        site = await restored_frontier(state)
        targets = list(closed(site))
        assert [wanted.url for wanted in targets] == [f"{HOME}feed", HOME]
        assert {conditional_headers(wanted.history)["If-None-Match"] for wanted in targets} == {
            '"1"'
        }


async def test_polls_sources_with_news_more_often(state_file: Path, fake_clock: FakeClock):
    polls: dict[int, int] = {0: 0, 1: 0}
    for new in polls:
        async with opened(state_file.with_name(f"{new}.sqlite")) as state:
            for _ in range(48):
                polls[new] += "" in await poll(state, await restored_frontier(state), new=new)
                fake_clock.forward(0.5)
    assert polls[1] > 40
    assert polls[0] < 12


async def test_later_lister_of_an_article_gets_credit_too(state_file: Path, fake_clock: FakeClock):
    """A page that lists what the feed has listed before is polled as well, less often."""
    polls: Counter[str] = Counter()
    async with opened(state_file) as state:
        for hour in range(72):
            site = await restored_frontier(state)
            site.add_feed(f"{HOME}feed")
            page = [entry(f"{n}", NOON + timedelta(hours=n)) for n in range(hour - 15, hour + 1)]
            while targets := list(site.next_targets()):
                for ticket, wanted in targets:
                    site.requests.close(ticket)
                    since = wanted.history.get("fetched_at")
                    entries = await state.pages.classify(page, SITE, since=since)
                    state.record_listing(site, wanted, response(wanted.url), entries)
                    polls[wanted.role] += hour >= 48
            fake_clock.forward(1)
    assert polls["feed"] == 24
    assert 3 <= polls["section"] <= 8


async def test_counts_a_listing_that_rolled_over(state_file: Path, fake_clock: FakeClock):
    """All its entries are new: others may have been missed, and it is polled soon."""
    async with opened(state_file) as state:
        for rolled_over in (False, True):
            site = await restored_frontier(state)
            (_, (_, wanted)) = site.next_targets()
            listed = [entry(f"{number}/{fake_clock.now}") for number in range(3)]
            entries = await state.pages.classify(listed, SITE)
            answer = response(HOME)
            found = state.record_listing(site, wanted, answer, entries, pause=8 * HOUR)
            assert found is rolled_over
            fake_clock.forward(8)
        [(due,)] = await state._store.read("SELECT next_due FROM source WHERE role = 'section'")
        assert due < fake_clock.now.timestamp() - 7 * HOUR


@pytest.mark.parametrize(
    ("pause", "headers", "hours"),
    [
        (5 * HOUR, {}, 4.5),
        (0, {"Cache-Control": "public, max-age=36000", "Age": "3600"}, 8.1),
        (0, {"Cache-Control": "max-age=9000000"}, 10.8),
        (0, {"Cache-Control": "no-cache, max-age=36000"}, 3.1),
        (0, {"Cache-Control": "s-maxage=36000"}, 3.1),
    ],
)
async def test_polls_when_the_site_permits(
    state_file: Path, pause: float, headers: dict[str, str], hours: float
):
    async with opened(state_file) as state:
        site = await restored_frontier(state)
        _, (_, home) = site.next_targets()
        answer = response(HOME, **headers)
        state.record_listing(site, home, answer, ClassifiedEntries(), pause=pause)
        [(due,)] = await state._store.read("SELECT next_due FROM source WHERE role = 'section'")
    assert (due - NOON.timestamp()) / HOUR == pytest.approx(hours, abs=0.05)


async def test_source_failures_back_off(crawl: Opening, fake_clock: FakeClock):
    tries = []
    for hour in range(48):
        async with crawl() as state:
            site = await restored_frontier(state)
            site.add_feed(f"{HOME}feed")
            for ticket, wanted in list(site.next_targets()):
                site.requests.close(ticket)
                if wanted.role == "feed":
                    tries.append(hour)
                state.record_failure(site, wanted, None, "timeout")
        fake_clock.forward(1)
    gaps = [after - before for before, after in pairwise(tries)]
    assert gaps == sorted(gaps)
    assert 4 <= len(tries) <= 8


async def fail(state: CrawlState, site: SitePlan, reason: str) -> list[str]:
    """Fail all targets of *site*; return their paths."""
    found = []
    for wanted in closed(site):
        state.record_failure(site, wanted, None, reason)
        found.append(wanted.url.removeprefix(HOME))
    return found


async def test_requests_little_of_a_site_without_an_answer(crawl: Opening):
    """Only the site list; when it answers again, everything that failed is due."""
    async with crawl() as state:
        site = await restored_frontier(state)
        site.add_feed(f"{HOME}feed")
        site.add_sitemap(f"{HOME}map.xml")
        site.add_article(entry("news/a"))
        assert await fail(state, site, "timeout") == ["robots.txt", "", "feed"]
        assert site.skip_reason == "unreachable"
    async with crawl() as state:
        assert await fail(state, await restored_frontier(state), "dns") == [""]
    async with crawl() as state:
        assert await poll(state, await restored_frontier(state)) == [
            "",
            "robots.txt",
            "feed",
            "map.xml",
        ]


async def test_all_due(crawl: Opening):
    async with crawl() as state:
        await poll(state, await restored_frontier(state))
    async with crawl(NEWSCRAWL_ALL_DUE=True) as state:
        assert {"robots.txt", ""} <= set(await poll(state, await restored_frontier(state)))


def test_sitemap_changed_according_to_its_index_is_due():
    history = {"fetched_at": NOON.timestamp()}
    known = {("sitemap", page_key(f"{HOME}map.xml")): KnownSource(due=False, history=history)}
    before, after = NOON.timestamp() - 1, NOON.timestamp() + 1
    for timestamp, is_due in ((None, False), (before, False), (after, True)):
        site = frontier(known)
        site.add_sitemap(f"{HOME}map.xml", timestamp=timestamp)
        assert ("map.xml" in fetched(site)) is is_due


def test_does_not_read_sections_if_listings_are_long_enough():
    for listed, is_read in ((9, True), (10, False)):
        for due in (True, False):
            history = {"fetched_at": NOON.timestamp(), "listed": listed}
            site = frontier({("feed", page_key(f"{HOME}feed")): KnownSource(due, history)})
            site.add_feed(f"{HOME}feed")
            for _, wanted in list(site.next_targets()):
                site.requests.close(next(iter(site.requests.in_flight)))
                if wanted.role == "feed":
                    site.seen.add_known(str(n) for n in range(listed))
            site.add_section(entry("news/"), 1)
            assert ("news/" in fetched(site)) is is_read


def test_revisits_come_last_and_do_not_count():
    site = frontier()
    fetched(site)
    history = {"hash": "00" * 16}
    for number in range(3):
        site.add_article(replace(entry(f"old/{number}", NOON), history=history))
    for number in range(12):
        site.add_article(entry(f"new/{number}"))
    first = []
    while targets := list(site.next_targets()):
        for ticket, wanted in targets:
            site.requests.close(ticket)
            site.requests.accepted += not wanted.is_revisit
            first.append(wanted.url.removeprefix(HOME))
    assert first == [f"new/{n}" for n in range(10)] + [f"old/{n}" for n in range(3)]
    assert site.candidate_count == 2
