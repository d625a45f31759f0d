"""Crawl of the sample sites, killed and resumed: each article is emitted once.

Pages that had an outcome in the state, or were scraped a checkpoint before the kill, must not be
refetched. Other pages were in flight and may be; ``test_frontier_crawl`` limits their number.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from newscrawl.crawl.output.segments import read_segments
from newscrawl.items import Article
from newscrawl.samples import SampleSites
from newscrawl.samples.demo_crawl import write_sites_file
from newscrawl.samples.expected import check_outcome
from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

CHECKPOINT = 0.1
"""``NEWSCRAWL_CHECKPOINT``, seconds."""

COMMIT = 0.75
"""Seconds that a commit takes on a busy machine."""

MAX_KILLS = 3

pytestmark = pytest.mark.slow


def start(folder: Path, sites: SampleSites) -> subprocess.Popen[bytes]:
    """Start or resume a crawl of *sites* with its files in *folder*."""
    write_sites_file(folder / "sites.txt", sites)
    settings = {
        "NEWSCRAWL_CHECKPOINT": CHECKPOINT,
        "LOG_LEVEL": "DEBUG",
        "LOG_FORMAT": "%(created)f %(message)s",
        "NEWSCRAWL_STATE": folder / "state.sqlite",
        "NEWSCRAWL_SEGMENTS": folder / "segments",
        "NEWSCRAWL_NEARDUP_INDEX": folder / "near-duplicates.sqlite",
        "NEWSCRAWL_CSS_STORE": folder / "sheets.sqlite",
    }
    options = [word for item in settings.items() for word in ("-s", "{}={}".format(*item))]
    with (folder / "log.txt").open("wb") as log:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "scrapy",
                "crawl",
                "sitelist",
                "-a",
                "sites=sites.txt",
                *options,
            ],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(REPOSITORY),
                "SCRAPY_SETTINGS_MODULE": "newscrawl.settings.demo",
            },
            stdout=log,
            stderr=log,
        )


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


def scraped(folder: Path, before: float) -> set[str]:
    """Return the URLs that the log has as scraped *before* this time."""
    lines = re.finditer(r"^([\d.]+) Scraped from <200 (\S+)>", log_of(folder), re.MULTILINE)
    return {line[2] for line in lines if float(line[1]) < before}


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


@pytest.mark.parametrize("seed", [3, 12])
def test_killed(tmp_path: Path, seed: int):
    """After kills at random points the articles are complete and emitted once."""
    points, kills = random.Random(seed), 0
    #: page that must not be refetched -> its requests so far
    final: dict[str, int] = {}
    with SampleSites() as sites:
        while kill_at(points.randrange(1, 35) if kills < MAX_KILLS else 10_000, tmp_path, sites):
            kills += 1
            requests = page_requests(sites)
            done = {
                *recorded_outcomes(tmp_path),
                *scraped(tmp_path, time.time() - CHECKPOINT - COMMIT),
            }
            final = {url: requests[url] for url in done} | final
        assert "Spider closed (finished)" in log_of(tmp_path), log_of(tmp_path)
        requests, urls = page_requests(sites), sites.urls
        articles = list(read_segments(tmp_path / "segments"))
        outcome = check_outcome([Article.from_dict(item) for item in articles], urls)
    assert outcome.complete, outcome.lines()
    assert len({item["url"] for item in articles}) == len(articles)
    print(f"{kills} kills: {requests.total() - len(requests)} of {len(requests)} pages refetched")  # noqa: T201
    assert kills == MAX_KILLS
    assert {url: requests[url] for url in final} == final
    outcomes = recorded_outcomes(tmp_path)
    assert Counter(outcomes.values())["article"] == len(articles)
    assert {url for url, name in outcomes.items() if name != "failed/robots"} == set(requests)
