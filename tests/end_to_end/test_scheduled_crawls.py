"""Consecutive crawls: an emitted article is not refetched unless it has changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import pytest

from newscrawl.crawl.reporting.outcomes import site_counts
from newscrawl.samples import SampleSites
from tests.helpers.crawls import Crawl, crawl_sites
from tests.helpers.scheduled_crawls import Hour, crawl_hours
from tests.servers.newsroom import Newsroom, NewsServer, Story

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

BUSY = ("bote.example", "kurier.example", "anzeiger.example", "flunker.example")
"""Sites that publish a story each hour, until the evening."""
QUIET = "stille.example"
TROUBLED = "panne.example"
LATE, BROKEN, GONE, NEVER = range(1000, 1004)
"""Stories of the troubled site: 503 for an hour, 500 for ever, gone later, gone from the start."""


def newsrooms(last: int) -> list[Newsroom]:
    """Return sites of all habits; they publish from hour 0 to hour *last*."""
    numbers = count()

    def stories() -> tuple[Story, ...]:
        return tuple(
            Story(next(numbers), hour, updates=(hour + 2,) if hour % 2 == 0 else ())
            for hour in range(last + 1)
        )

    bote, kurier, anzeiger, flunker = BUSY
    troubled = (
        Story(LATE, 0, trouble={0: 503}),
        Story(BROKEN, 0, trouble=dict.fromkeys(range(100), 500)),
        Story(GONE, 0, gone=1),
        Story(NEVER, 0, gone=0),
    )
    return [
        Newsroom(bote, "news", stories(), etags=True),
        Newsroom(kurier, "rss", stories(), dates=True),
        Newsroom(anzeiger, "section", stories()),
        Newsroom(flunker, "sitemap", stories(), lies=True),
        Newsroom(QUIET, "rss", (Story(next(numbers), 0),), etags=True),
        Newsroom(TROUBLED, "sitemap", troubled),
    ]


@dataclass(frozen=True)
class Day:
    """Crawls in a row, and what the server saw of them."""

    server: NewsServer
    crawls: list[Hour]
    log: str
    #: hours with a crawl of their own; the last crawl repeats the last of them
    hours: int

    @cached_property
    def put_out(self) -> dict[str, list[tuple[int, dict[str, Any]]]]:
        """URL -> crawls and items."""
        found = defaultdict(list)
        for number, crawl in enumerate(self.crawls):
            for item in crawl.items:
                found[item["url"]].append((number, item))
        return found

    def fetches(self, host: str, target: str) -> list[tuple[int, int]]:
        """Return hour and status of each request for *target* that is the spider's own."""
        return [
            (line.hour, line.status)
            for line in self.server.lines
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
            for _, item in self.put_out[room.url[:-1] + story.path]
        ]


@pytest.fixture(scope="module", params=[6, 24], ids=["morning", "day"])
def day(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Day:
    """Crawl the newsrooms each hour, and in the last hour twice."""
    hours: int = request.param
    with NewsServer(newsrooms(last=hours // 2 - 1)) as server:
        asked = [*range(hours), hours - 1]
        crawls, log = crawl_hours(tmp_path_factory.mktemp("day"), server, asked)
    return Day(server, crawls, log, hours)


def test_every_crawl_finishes(day: Day):
    """By itself, and without an error."""
    assert {crawl.stats["finish_reason"] for crawl in day.crawls} == {"finished"}
    assert "ERROR" not in day.log, day.log
    assert "Traceback" not in day.log


def test_emits_each_article_and_each_update_once(day: Day):
    """Of every story exactly one item, and one more, flagged, where its text has changed."""
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
    """In the crawl of the hour of their publication: busy sites are asked in each."""
    late = [
        (room.host, story.published, number)
        for room, story in day.stories(*BUSY)
        for number, item in day.put_out[room.url[:-1] + story.path]
        if not item["flags"] and number != story.published
    ]
    assert late == []


@pytest.mark.parametrize("host", BUSY[:2])
def test_sends_conditional_requests(day: Day, host: str):
    """With an ETag or a date, a page is sent once for each version, and 304 answers the rest."""
    for room, story in day.stories(host):
        statuses = Counter(status for _, status in day.fetches(room.host, story.path))
        assert statuses[200] == 1 + len(story.updates)
        assert statuses[304] >= 1 or story.published > day.hours - 3


def test_fetches_pages_with_wrong_dates_once(day: Day):
    """A sitemap that calls everything new is believed once, then articles go by their schedule."""
    for room, story in day.stories("flunker.example"):
        # 0, 1, 3, 7 and 15 hours after publication; 0, 1, 3, 4, 6, 10 and 18 with the update.
        assert len(day.fetches(room.host, story.path)) <= (7 if story.updates else 5)


def test_ignores_updates_after_the_revisit_window(day: Day):
    """A page is not requested again a day later."""
    for room, story in day.stories(*BUSY):
        hours = [hour for hour, _ in day.fetches(room.host, story.path)]
        assert max(hours) - story.published <= 24


def test_polls_silent_feeds_less_often(day: Day):
    """A feed that brings news is asked each hour, one that does not at growing intervals."""
    busy = [hour for hour, _ in day.fetches("kurier.example", "/feed.xml")]
    quiet = [hour for hour, _ in day.fetches(QUIET, "/feed.xml")]
    published = range(day.hours // 2)
    assert busy[: len(published)] == list(published)
    gaps = [after - before for before, after in pairwise(quiet)]
    assert gaps == sorted(gaps)
    if day.hours == 24:
        assert gaps[-1] >= 4
        assert sum(hour >= 12 for hour in quiet) <= 3
        assert sum(hour >= 12 for hour in busy) < 12, "it falls silent in the evening, too"


def test_retries_a_failed_page_in_the_next_crawl(day: Day):
    """503 in hour 0, an article in hour 1."""
    room, story = next((r, s) for r, s in day.stories(TROUBLED) if s.number == LATE)
    assert day.fetches(room.host, story.path)[:2] == [(0, 503), (1, 200)]
    assert [number for number, _ in day.put_out[room.url[:-1] + story.path]] == [1]


def test_gives_up_on_a_page_that_keeps_failing(day: Day):
    """At growing intervals, five times in all."""
    room, story = next((r, s) for r, s in day.stories(TROUBLED) if s.number == BROKEN)
    asked = [hour for hour, _ in day.fetches(room.host, story.path)]
    assert asked == [0, 1, 2, 4, 8][: len(asked)]
    assert len(asked) == (5 if day.hours == 24 else 4)


def test_does_not_retry_a_page_that_is_gone(day: Day):
    """Both for pages that were emitted before and pages that never existed."""
    stories = {story.number: (room, story) for room, story in day.stories(TROUBLED)}
    room, story = stories[GONE]
    assert day.versions(room, story) == [(0, False)]
    assert day.fetches(room.host, story.path) == [(0, 200), (1, 410)]
    room, story = stories[NEVER]
    assert day.fetches(room.host, story.path) == [(0, 410)]


def test_repeated_crawl_fetches_no_article(day: Day):
    """The last crawl repeats the one before."""
    again = day.crawls[-1]
    assert again.items == []
    assert again.stats.get("newscrawl/extract/article_count", 0) == 0
    assert sum(again.counts(host)["fetched"] for host in day.server.rooms) == 0


def test_skip_reasons_add_up(day: Day):
    """On each site and in each crawl, every candidate ended in one way."""
    for crawl in day.crawls:
        for host in day.server.rooms:
            counts = crawl.counts(host)
            ended = counts["fetched"] + counts["unchanged/article"]
            ended += sum(
                n for name, n in counts.items() if name.startswith(("failed/", "skipped/"))
            )
            assert counts["discovered"] == ended, (crawl.hour, host, counts)
            dropped = sum(n for name, n in counts.items() if name.startswith("dropped/"))
            assert counts["fetched"] == counts["article"] + dropped, (crawl.hour, host, counts)


def totals(crawl: Crawl) -> Counter[str]:
    return sum(site_counts(crawl.stats).values(), Counter[str]())


def test_second_crawl_of_the_samples_emits_nothing(tmp_path: Path):
    """The second crawl requests no page, and its last line gives the reason."""
    with SampleSites() as sites:
        first = crawl_sites(tmp_path, sites.urls.values(), {}, NEWSCRAWL_MAX_AGE=0)
        asked = len(sites.requests)
        second = crawl_sites(tmp_path, sites.urls.values(), {}, NEWSCRAWL_MAX_AGE=0)
        again = [request.target for request in list(sites.requests)[asked:]]
    assert len(first.items) > 20
    assert second.returncode == 0
    assert second.items == []
    assert again == []
    assert totals(second)["fetched"] == 0
    assert "Nothing new. From former crawls: sources not due: " in second.output
    assert "next source due" in second.output


def test_second_crawl_polls_sources_that_are_due(tmp_path: Path):
    """Where listings are read at once again, they name known articles alone."""
    options = {"NEWSCRAWL_MAX_AGE": 0, "NEWSCRAWL_POLL_MIN": 0, "NEWSCRAWL_POLL_MAX": 0}
    with SampleSites() as sites:
        first = crawl_sites(tmp_path, sites.urls.values(), {}, **options)
        second = crawl_sites(tmp_path, sites.urls.values(), {}, **options)
    assert second.items == []
    assert totals(second)["fetched"] == 0
    assert totals(second)["known"] >= len(first.items)
    assert "articles known" in second.output


def test_all_again_refetches_every_article(tmp_path: Path):
    """NEWSCRAWL_ONLY_NEW=False is the first crawl each time."""
    with SampleSites() as sites:
        crawls = [
            crawl_sites(
                tmp_path, sites.urls.values(), {}, NEWSCRAWL_MAX_AGE=0, NEWSCRAWL_ONLY_NEW=False
            )
            for _ in range(2)
        ]
    urls = [sorted(item["url"] for item in crawl.items) for crawl in crawls]
    assert urls[0] == urls[1]
    assert len(urls[0]) > 20
