"""Crawls for different queries in one state: each gives what it gives in a new one."""

import json
import random
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from newscrawl.crawling.output.segments import read_segments
from tests.helpers.scheduled_crawls import HourlyCrawl, crawl_hours, crawl_steps, start_steps
from tests.servers.newsroom import Newsroom, NewsServer, Story, instant

pytestmark = pytest.mark.slow

NOW = 12
"""Hour of the crawls, up to which each site publishes a story an hour."""


def since(hour: int) -> str:
    return instant(hour).isoformat()


QUERIES: dict[str, Mapping[str, object]] = {
    "all": {},
    "morning": {"NEWSCRAWL_SINCE": since(1), "NEWSCRAWL_UNTIL": since(4)},
    "noon": {"NEWSCRAWL_SINCE": since(5), "NEWSCRAWL_UNTIL": since(8)},
    "longer": {"NEWSCRAWL_SINCE": since(1), "NEWSCRAWL_UNTIL": since(8)},
    "since": {"NEWSCRAWL_SINCE": since(9)},
    "age": {"NEWSCRAWL_SINCE": "5h"},
    "bridge": {"NEWSCRAWL_KEYWORDS": ["Brücke"]},
    "library": {"NEWSCRAWL_KEYWORDS": ["Bücherei"]},
    "section": {"NEWSCRAWL_INCLUDE": [r"story-\d*[05]-of"]},
    "without": {"NEWSCRAWL_EXCLUDE": [r"story-\d*[05]-of"]},
    "newest": {"NEWSCRAWL_SITE_LIMIT": 3},
    "raw": {"NEWSCRAWL_WARC": "raw"},
}


@pytest.fixture(scope="module")
def server() -> Iterator[NewsServer]:
    stories = [
        tuple(
            Story(20 * site + hour, hour, gone=6 if hour == 6 else NOW + 9)
            for hour in range(NOW + 1)
        )
        for site in range(3)
    ]
    rooms = [
        Newsroom("bote.example", "news", stories[0], etags=True),
        Newsroom("kurier.example", "rss", stories[1], dates=True),
        Newsroom("anzeiger.example", "section", stories[2]),
    ]
    with NewsServer(rooms) as running:
        yield running


def in_folder(folder: Path, query: Mapping[str, object], output: str) -> dict[str, object]:
    """Return *query* with its files in *folder*."""
    feed = {str(folder / f"{output}.jsonl"): {"format": "jsonlines"}}
    raw = {"NEWSCRAWL_WARC": str(folder / "raw")} if "NEWSCRAWL_WARC" in query else {}
    return {**query, **raw, "FEEDS": feed}


def urls(crawl: HourlyCrawl) -> list[str]:
    return sorted(item["url"] for item in crawl.items)


@pytest.fixture(scope="module")
def answers(
    server: NewsServer, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[list[str], int]]:
    """The articles that each query gives in a new state, and the number of its requests."""
    found = {}
    for name, query in QUERIES.items():
        folder = tmp_path_factory.mktemp(name)
        (crawl,), _ = crawl_steps(folder, server, [(NOW, in_folder(folder, query, name))])
        found[name] = urls(crawl), crawl.stats["downloader/request_count"]
    return found


def test_new_states_answer_differently(answers: dict[str, tuple[list[str], int]]):
    assert len({tuple(found) for found, _ in answers.values()}) == len(QUERIES) - 1, "raw is all"
    assert all(found for found, _ in answers.values())


@settings(max_examples=2, phases=[Phase.generate])  # shrinking an order takes minutes
@given(order=st.permutations(list(QUERIES)))
def test_each_query_is_answered_in_a_used_state(
    server: NewsServer,
    answers: dict[str, tuple[list[str], int]],
    tmp_path_factory: pytest.TempPathFactory,
    order: list[str],
):
    folder = tmp_path_factory.mktemp("used")
    steps = [(NOW, in_folder(folder, QUERIES[name], name)) for name in order]
    # An hour later, without new stories, the outputs have all answers.
    later = [(NOW + 1, query) for _, query in steps]
    crawls, _ = crawl_steps(folder, server, [*steps, *later])
    for name, crawl in zip(order, crawls, strict=False):
        found, requests = answers[name]
        assert urls(crawl) == found, name
        assert crawl.stats["downloader/request_count"] <= requests, name
    used = sum(crawl.stats["downloader/request_count"] for crawl in crawls[: len(order)])
    assert used < sum(requests for _, requests in answers.values()), "pages gone, or of other days"
    again = dict(zip(order, crawls[len(order) :], strict=True))
    assert urls(again.pop("newest")), "those that the limit left out"
    assert {name: found for name, crawl in again.items() if (found := urls(crawl))} == {}


def test_an_output_has_each_article_once(
    server: NewsServer, answers: dict[str, tuple[list[str], int]], tmp_path: Path
):
    queries = {name: query for name, query in QUERIES.items() if name != "raw"}  # another output
    steps = [(NOW, in_folder(tmp_path, query, "articles")) for query in queries.values()]
    crawls, _ = crawl_steps(tmp_path, server, steps)
    assert sorted(url for crawl in crawls for url in urls(crawl)) == answers["all"][0]


def test_another_query_between_two_scheduled_crawls_changes_nothing(
    server: NewsServer, tmp_path_factory: pytest.TempPathFactory
):
    hours = range(0, NOW, 2)
    alone, _ = crawl_hours(tmp_path_factory.mktemp("alone"), server, hours)
    folder = tmp_path_factory.mktemp("both")
    topic = in_folder(folder, QUERIES["bridge"], "topic")
    both, _ = crawl_steps(
        folder, server, [step for hour in hours for step in ((hour, {}), (hour, topic))]
    )
    for before, crawl in zip(alone, both[::2], strict=True):
        assert urls(crawl) == urls(before)
        assert [item["flags"] for item in crawl.items] == [item["flags"] for item in before.items]
    topics = [url for crawl in both[1::2] for url in urls(crawl)]
    assert topics
    assert len(topics) == len(set(topics))


def kill_crawls(
    folder: Path, server: NewsServer, steps: list[Mapping[str, object]], moment: random.Random
) -> None:
    """Start the crawls of *steps*, a minute apart, and kill each after some requests."""
    for minute, step in enumerate(steps):
        last = len(server.requests) + moment.randrange(45)
        ahead = {NOW: minute / 1440}
        crawl = start_steps(folder, server, [(NOW, step)], ahead, NEWSCRAWL_CHECKPOINT=0.05)
        while crawl.poll() is None and len(server.requests) < last:
            time.sleep(0.002)
        time.sleep(moment.random() / 10)
        crawl.kill()
        crawl.wait()


@pytest.mark.parametrize("output", ["segments", "feeds", "one folder"])
@pytest.mark.parametrize("seed", range(3))
def test_kills_of_two_queries_in_turn(
    server: NewsServer,
    answers: dict[str, tuple[list[str], int]],
    tmp_path: Path,
    output: str,
    seed: int,
):
    """The crawls that are killed, and those that follow, give what new states give."""
    moment, kills = random.Random(seed), 8
    steps: dict[str, dict[str, object]] = {}
    for name in moment.sample(["all", "noon", "longer", "since", "bridge", "section"], 2):
        folder = tmp_path / ("segments" if output == "one folder" else name)
        segments = {"NEWSCRAWL_SEGMENTS": str(folder), "NEWSCRAWL_SEGMENT_ITEMS": 3, "FEEDS": {}}
        feed = in_folder(tmp_path, QUERIES[name], name)
        steps[name] = feed if output == "feeds" else {**QUERIES[name], **segments}
    kill_crawls(tmp_path, server, moment.choices(list(steps.values()), k=kills), moment)
    last = [(NOW, step) for step in steps.values()]
    crawl_steps(tmp_path, server, last, {NOW: kills / 1440})
    expected = {name: answers[name][0] for name in steps}
    if output == "one folder":
        found = sorted(item["url"] for item in read_segments(tmp_path / "segments"))
        assert found == sorted(set().union(*expected.values()))
        return
    for name, urls_of_query in expected.items():
        lines = (tmp_path / f"{name}.jsonl").read_text().splitlines() if output == "feeds" else ()
        items = map(json.loads, lines) if lines else read_segments(tmp_path / name)
        assert sorted(item["url"] for item in items) == urls_of_query, name
