"""Consecutive crawls: an emitted article is not refetched unless it has changed."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from newscrawl.crawling.site_stats import site_counts
from samples import SampleSites
from tests.helpers.crawls import Crawl, crawl_sites
from tests.helpers.scheduled_crawls import HourlyCrawl, crawl_hours
from tests.servers.newsroom import Listing, Newsroom, NewsServer, Story

pytestmark = pytest.mark.slow

BUSY = ("bote.example", "kurier.example", "anzeiger.example", "flunker.example")
"""Sites that publish a story each hour during the first half of the day."""
QUIET = "stille.example"
FAULTY = "panne.example"
HOURS = 24
LATE, BROKEN, GONE, GONE_AT_ONCE = range(1000, 1004)
"""Stories of the faulty site: 503 in hour 0, always 500, gone from hour 1, gone from the start."""


def newsrooms(last: int) -> list[Newsroom]:
    """Return sites with all listings and validators that publish from hour 0 to hour *last*."""
    numbers = count()

    def stories() -> tuple[Story, ...]:
        return tuple(
            Story(next(numbers), hour, updates=(hour + 2,) if hour % 2 == 0 else ())
            for hour in range(last + 1)
        )

    bote, kurier, anzeiger, flunker = BUSY
    faulty_stories = (
        Story(LATE, 0, errors={0: 503}),
        Story(BROKEN, 0, errors=dict.fromkeys(range(100), 500)),
        Story(GONE, 0, gone=1),
        Story(GONE_AT_ONCE, 0, gone=0),
    )
    return [
        Newsroom(bote, "news", stories(), etags=True),
        Newsroom(kurier, "rss", stories(), dates=True),
        Newsroom(anzeiger, "section", stories()),
        Newsroom(flunker, "sitemap", stories(), wrong_lastmod=True),
        Newsroom(QUIET, "rss", (Story(next(numbers), 0),), etags=True),
        Newsroom(FAULTY, "sitemap", faulty_stories),
    ]


@dataclass(frozen=True)
class Day:
    """Hourly crawls, with the requests to the server."""

    server: NewsServer
    crawls: list[HourlyCrawl]
    log: str

    @cached_property
    def emitted(self) -> dict[str, list[tuple[int, dict[str, Any]]]]:
        """URL -> number of the crawl and item."""
        found = defaultdict(list)
        for number, crawl in enumerate(self.crawls):
            for item in crawl.items:
                found[item["url"]].append((number, item))
        return found

    def fetches(self, host: str, target: str) -> list[tuple[int, int]]:
        """Return hour and status of each request for *target*."""
        return [
            (line.hour, line.status)
            for line in self.server.requests
            if (line.host, line.target) == (host, target)
        ]

    def stories(self, *hosts: str) -> Iterator[tuple[Newsroom, Story]]:
        """Yield the stories of *hosts*."""
        for host in hosts:
            for story in self.server.rooms[host].stories:
                yield self.server.rooms[host], story

    def versions(self, room: Newsroom, story: Story) -> list[tuple[int, bool]]:
        """Return the emitted versions of *story*, and whether each is an update."""
        return [
            (item["body"].count("Nachtrag"), "updated" in item["flags"])
            for _, item in self.emitted[room.url[:-1] + story.path]
        ]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    """Crawl the newsrooms every hour, in the last hour twice."""
    # The first visit after that of publication is seven to ten hours later.
    with NewsServer(newsrooms(last=HOURS // 2 - 1)) as server:
        schedule = [*range(HOURS), HOURS - 1]
        folder = tmp_path_factory.mktemp("day")
        crawls, log = crawl_hours(folder, server, schedule, NEWSCRAWL_DELETED=True)
    return Day(server, crawls, log)


def test_every_crawl_finishes(day: Day):
    """Each crawl ends with the reason "finished" and without errors."""
    assert {crawl.stats["finish_reason"] for crawl in day.crawls} == {"finished"}
    assert "ERROR" not in day.log, day.log
    assert "Traceback" not in day.log


def test_emits_each_article_and_each_update_once(day: Day):
    """Each story has one item, and a second one flagged as updated if its text has changed."""
    expected = {
        (room.host, story.number): [(0, False), *([(1, True)] if story.updates else [])]
        for room, story in day.stories(*BUSY, QUIET)
    }
    found = {
        (room.host, story.number): day.versions(room, story)
        for room, story in day.stories(*BUSY, QUIET)
    }
    assert found == expected


def test_emits_articles_in_the_hour_they_are_listed(day: Day):
    """Articles of busy sites are emitted in the hour of their publication."""
    late = [
        (room.host, story.published, number)
        for room, story in day.stories(*BUSY)
        for number, item in day.emitted[room.url[:-1] + story.path]
        if not item["flags"] and number != story.published
    ]
    assert late == []


@pytest.mark.parametrize("host", BUSY[:2])
def test_sends_conditional_requests(day: Day, host: str):
    """With an ETag or Last-Modified, each version is sent once; other answers are 304."""
    for room, story in day.stories(host):
        statuses = Counter(status for _, status in day.fetches(room.host, story.path))
        assert statuses[200] == 1 + len(story.updates)
        assert statuses[304] >= 1 or story.updates or story.published > HOURS - 16


def test_fetches_pages_with_wrong_dates_once(day: Day):
    """Wrong lastmod dates are ignored: articles are revisited on their schedule."""
    for room, story in day.stories("flunker.example"):
        # At the first wrong date and after about 8, 14 and 24 hours, sooner after the update.
        assert len(day.fetches(room.host, story.path)) <= (7 if story.updates else 5)


@pytest.mark.parametrize("listing", ["news", "rss", "sitemap"])
def test_ignores_updates_after_the_revisit_window(tmp_path: Path, listing: Listing):
    """A page is revisited within the window after its publication, not later."""
    room = Newsroom("bote.example", listing, (Story(1, 0, updates=(2, 9)), Story(2, 9)))
    with NewsServer([room]) as server:
        crawls, _ = crawl_hours(tmp_path, server, range(0, 15, 2), NEWSCRAWL_UPDATE_WINDOW=6)
    story = room.stories[0]
    fetched = [line.hour for line in server.requests if line.target == story.path]
    assert 2 <= max(fetched) <= 6
    emitted = [item["url"] for crawl in crawls for item in crawl.items]
    assert emitted.count(room.url[:-1] + story.path) == 2, "the update of hour 9 is ignored"


def test_polls_silent_feeds_less_often(day: Day):
    """An active feed is polled each hour, a silent one at growing intervals."""
    busy = [hour for hour, _ in day.fetches("kurier.example", "/feed.xml")]
    quiet = [hour for hour, _ in day.fetches(QUIET, "/feed.xml")]
    published = range(len(list(day.stories("kurier.example"))))
    assert busy[: len(published)] == list(published)
    gaps = [after - before for before, after in pairwise(quiet)]
    assert gaps == sorted(gaps)
    assert gaps[-1] >= 4
    assert sum(hour >= 12 for hour in quiet) <= 4
    assert sum(hour >= 12 for hour in busy) < 12, "it is silent in the evening"


def test_retries_a_failed_page_in_the_next_crawl(day: Day):
    """A page with 503 in hour 0 is an article in hour 1."""
    room, story = next((r, s) for r, s in day.stories(FAULTY) if s.number == LATE)
    assert day.fetches(room.host, story.path)[:2] == [(0, 503), (1, 200)]
    assert [number for number, _ in day.emitted[room.url[:-1] + story.path]] == [1]


def test_gives_up_on_a_page_that_keeps_failing(day: Day):
    """It is requested five times, at growing intervals."""
    room, story = next((r, s) for r, s in day.stories(FAULTY) if s.number == BROKEN)
    hours = [hour for hour, _ in day.fetches(room.host, story.path)]
    assert hours == [0, 1, 2, 4, 8]


def test_does_not_retry_a_page_that_is_gone(day: Day):
    """A page with 410 is not requested again; if it was emitted before, an item says so."""
    stories = {story.number: (room, story) for room, story in day.stories(FAULTY)}
    room, story = stories[GONE]
    items = day.emitted[room.url[:-1] + story.path]
    flags = [(number, item["flags"], bool(item["body"])) for number, item in items]
    assert flags == [(0, [], True), (7, ["deleted"], False)]
    assert day.fetches(room.host, story.path) == [(0, 200), (7, 410)]
    room, story = stories[GONE_AT_ONCE]
    assert day.fetches(room.host, story.path) == [(0, 410)]


def test_repeated_crawl_fetches_no_article(day: Day):
    """The second crawl of the last hour fetches no article."""
    last = day.crawls[-1]
    assert last.items == []
    assert last.stats.get("newscrawl/extract/article_count", 0) == 0
    assert sum(last.counts(host)["fetched"] for host in day.server.rooms) == 0


def test_skip_reasons_add_up(day: Day):
    """On each site and in each crawl, every candidate has one outcome."""
    for crawl in day.crawls:
        for host in day.server.rooms:
            counts = crawl.counts(host)
            outcomes = counts["fetched"] + counts["unchanged/article"]
            outcomes += sum(
                n for name, n in counts.items() if name.startswith(("failed/", "skipped/"))
            )
            assert counts["discovered"] == outcomes, (crawl.hour, host, counts)
            dropped = sum(n for name, n in counts.items() if name.startswith("dropped/"))
            assert counts["fetched"] == counts["article"] + dropped, (crawl.hour, host, counts)


def totals(crawl: Crawl) -> Counter[str]:
    return sum(site_counts(crawl.stats).values(), Counter[str]())


def test_second_crawl_of_the_samples_emits_nothing(tmp_path: Path):
    """The second crawl requests no page, and its last line gives the reason."""
    with SampleSites() as sites:
        first = crawl_sites(tmp_path, sites.urls.values(), {}, NEWSCRAWL_MAX_AGE=0)
        requests = len(sites.requests)
        second = crawl_sites(tmp_path, sites.urls.values(), {}, NEWSCRAWL_MAX_AGE=0)
        repeated = [request.target for request in list(sites.requests)[requests:]]
    assert len(first.items) > 20
    assert second.returncode == 0
    assert second.items == []
    assert repeated == []
    assert totals(second)["fetched"] == 0
    assert "Nothing is due before 20" in second.output


MORNING = 8
WRONG = (2, 3)
"""Hours with a wrong clock."""


def newsroom_of_each_listing() -> list[Newsroom]:
    """Return a site for each kind of listing, with a story each hour."""
    listings = ("news", "rss", "section", "sitemap")
    return [
        Newsroom(
            f"{listing}.example",
            listing,
            tuple(Story(100 * number + hour, hour) for hour in range(MORNING)),
            etags=number % 2 == 0,
        )
        for number, listing in enumerate(listings)
    ]


@pytest.mark.parametrize("days", [2, 400, -2, -400])
def test_nothing_is_lost(tmp_path: Path, days: int):
    with NewsServer(newsroom_of_each_listing()) as server:
        skew = dict.fromkeys(WRONG, days)
        crawls, log = crawl_hours(tmp_path, server, range(MORNING), skew, NEWSCRAWL_MAX_AGE=30)
    assert {crawl.stats["finish_reason"] for crawl in crawls} == {"finished"}
    assert "Traceback" not in log
    emitted = Counter(item["url"] for crawl in crawls for item in crawl.items)
    stories = {
        room.url[:-1] + story.path: story
        for room in server.rooms.values()
        for story in room.stories
    }
    assert emitted == dict.fromkeys(stories, 1)
    assert "system clock" in log
    first_right = max(WRONG) + 1
    for crawl in crawls[first_right:]:
        found = {item["url"] for item in crawl.items}
        new = {url for url, story in stories.items() if story.published == crawl.hour}
        assert new <= found, f"hour {crawl.hour}"


def test_week_without_crawls(tmp_path: Path):
    """What was published meanwhile and is still listed is found, nothing again."""
    week = 7 * 24
    published = (0, 1, week - 40, week - 1, week, week + 1)
    rooms = [
        replace(room, stories=tuple(Story(100 * n + k, hour) for k, hour in enumerate(published)))
        for n, room in enumerate(newsroom_of_each_listing())
    ]
    with NewsServer(rooms) as server:
        hours = (0, 1, 2, week, week + 1)
        crawls, log = crawl_hours(tmp_path, server, hours, NEWSCRAWL_MAX_AGE=30)
    assert "Traceback" not in log
    emitted = Counter(item["url"] for crawl in crawls for item in crawl.items)
    assert emitted == {room.url[:-1] + story.path: 1 for room in rooms for story in room.stories}
    assert {item["url"] for item in crawls[-1].items} == {
        room.url[:-1] + story.path for room in rooms for story in room.stories[-1:]
    }
