"""Crawl of the sample sites, killed and resumed: each article is emitted once.

Pages that had an outcome in the state must not be refetched. Other pages were in flight and may be;
``test_frontier_crawl`` limits their number.
"""

import os
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from urllib.parse import urljoin

import pytest

from newscrawl.crawling.output.segments import read_segments
from newscrawl.items import Article
from samples import SampleSites
from samples.expected import check_outcome
from samples.server import write_sites_file
from tests.helpers.forked_scrapy import ForkedScrapy

CHECKPOINT = 0.1
"""``NEWSCRAWL_CHECKPOINT``, seconds."""


def start(folder: Path, sites: SampleSites) -> ForkedScrapy:
    """Start or resume a crawl of *sites* with its files in *folder*."""
    write_sites_file(folder / "sites.txt", sites)
    settings = {
        "NEWSCRAWL_CHECKPOINT": CHECKPOINT,
        "NEWSCRAWL_STATE": folder / "state.sqlite",
        "NEWSCRAWL_SEGMENTS": folder / "segments",
        "NEWSCRAWL_NEARDUP_INDEX": folder / "near-duplicates.sqlite",
        "NEWSCRAWL_CSS_STORE": folder / "sheets",
    }
    options = [word for item in settings.items() for word in ("-s", "{}={}".format(*item))]
    words = ["crawl", "sitelist", "-a", "sites=sites.txt", *options]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "samples.settings"}
    return ForkedScrapy(words, folder, environment, folder / "log.txt")


def kill_at(requests: int, folder: Path, sites: SampleSites) -> bool:
    """Kill a crawl after *requests* more requests; False if it ended before."""
    process, before = start(folder, sites), len(sites.requests)
    while process.poll() is None and len(sites.requests) < before + requests:
        time.sleep(0.002)
    if process.poll() is not None:
        return False
    process.kill()
    process.wait()
    return True


def recorded_outcomes(folder: Path) -> dict[str, str]:
    """Return the outcomes in the state of the crawl in *folder*, by URL."""
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        query = "SELECT url, outcome FROM outcome WHERE role != 'robots'"
        return dict(connection.execute(query).fetchall())


def log_of(folder: Path) -> str:
    """Return the log of the last process."""
    return (folder / "log.txt").read_text()


def page_requests(sites: SampleSites) -> Counter[str]:
    """Return the number of requests for each page, by URL."""
    return Counter(
        urljoin(sites.urls[request.site], request.target)
        for request in sites.requests
        if ".css" not in request.target and request.target != "/robots.txt"
    )


#: numbers of requests, together less than the crawl needs
@pytest.mark.parametrize(
    "points",
    [
        [20],
        pytest.param([16, 9, 24], marks=pytest.mark.slow),
        pytest.param([2, 31, 9], marks=pytest.mark.slow),
    ],
)
def test_killed(tmp_path: Path, points: list[int]):
    """After kills the articles are complete and emitted once."""
    kills = 0
    #: page that must not be refetched -> its requests so far
    final: dict[str, int] = {}
    with SampleSites() as sites:
        while kill_at([*points, 10_000][kills], tmp_path, sites):
            kills += 1
            requests = page_requests(sites)
            final = {url: requests[url] for url in recorded_outcomes(tmp_path)} | final
        assert "Spider closed (finished)" in log_of(tmp_path), log_of(tmp_path)
        requests, urls = page_requests(sites), sites.urls
        articles = list(read_segments(tmp_path / "segments"))
        outcome = check_outcome([Article.from_dict(item) for item in articles], urls)
    assert outcome.complete, outcome.lines()
    assert len({item["url"] for item in articles}) == len(articles)
    assert kills == len(points)
    assert {url: requests[url] for url in final} == final
    outcomes = recorded_outcomes(tmp_path)
    assert Counter(outcomes.values())["article"] == len(articles)
    assert {url for url, name in outcomes.items() if name != "failed/robots"} == set(requests)
