"""A wrong system clock and a week without crawls lose nothing and silence no site."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.scheduled_crawls import crawl_hours
from tests.servers.newsroom import Newsroom, NewsServer, Story

pytestmark = pytest.mark.slow

HOURS = 8
WRONG = (2, 3)
"""Hours with a wrong clock."""


def newsrooms() -> list[Newsroom]:
    """Return a site for each kind of listing, with a story each hour."""
    listings = ("news", "rss", "section", "sitemap")
    return [
        Newsroom(
            f"{listing}.example",
            listing,
            tuple(Story(100 * number + hour, hour) for hour in range(HOURS)),
            etags=number % 2 == 0,
        )
        for number, listing in enumerate(listings)
    ]


@pytest.mark.parametrize("days", [2, 400, -2, -400])
def test_nothing_is_lost(tmp_path: Path, days: int):
    with NewsServer(newsrooms()) as server:
        skew = dict.fromkeys(WRONG, days)
        crawls, log = crawl_hours(tmp_path, server, range(HOURS), skew, NEWSCRAWL_MAX_AGE=30)
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
        for n, room in enumerate(newsrooms())
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
