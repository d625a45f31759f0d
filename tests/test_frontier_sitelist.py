"""The site list, killed and resumed: the articles of the sample sites, each of them once."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from newscrawl.crawl.segments import read_segments
from newscrawl.items import Article
from newscrawl.samples import SampleSites
from newscrawl.samples.demo import write_sites_file
from newscrawl.samples.expected import check_outcome
from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

AT_ONCE = 15
"""Pages in flight or within one checkpoint, at the most."""

MOST = 3
"""Kills of one crawl."""

pytestmark = pytest.mark.slow


def start(folder: Path, sites: SampleSites) -> subprocess.Popen[bytes]:
    """Start a crawl of *sites* with its files in *folder*, or start it again."""
    write_sites_file(folder / "sites.txt", sites)
    given = {
        "NEWSCRAWL_CHECKPOINT": 0.1,
        "NEWSCRAWL_STATE": folder / "state.sqlite",
        "NEWSCRAWL_SEGMENTS": folder / "segments",
        "NEWSCRAWL_NEARDUP_INDEX": folder / "near-duplicates.sqlite",
        "NEWSCRAWL_CSS_STORE": folder / "sheets.sqlite",
    }
    options = [word for item in given.items() for word in ("-s", "{}={}".format(*item))]
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
    """Kill a crawl when the sites have answered *requests* more; False if it ended before."""
    process, before = start(folder, sites), len(sites.requests)
    while process.poll() is None and len(sites.requests) < before + requests:
        time.sleep(0.002)
    if process.poll() is not None:
        return False
    process.kill()
    process.wait()
    return True


def pages_asked(sites: SampleSites) -> Counter[tuple[str, str]]:
    """Return how often each page was asked for."""
    return Counter(
        (request.site, request.target)
        for request in sites.requests
        if ".css" not in request.target and request.target != "/robots.txt"
    )


@pytest.mark.parametrize("seed", [3, 12])
def test_killed(tmp_path: Path, seed: int):
    """After kills at random points the articles are those of a crawl that was left alone."""
    points, kills = random.Random(seed), 0
    with SampleSites() as sites:
        while kill_at(points.randrange(1, 35) if kills < MOST else 10_000, tmp_path, sites):
            kills += 1
        log = (tmp_path / "log.txt").read_text()
        assert "Spider closed (finished)" in log, log
        asked, urls = pages_asked(sites), sites.urls
        articles = list(read_segments(tmp_path / "segments"))
        outcome = check_outcome([Article.from_dict(item) for item in articles], urls)
    assert outcome.complete, outcome.lines()
    assert len({item["url"] for item in articles}) == len(articles)
    print(f"{kills} kills: {asked.total() - len(asked)} of {len(asked)} pages fetched again")  # noqa: T201
    assert asked.total() - len(asked) <= kills * AT_ONCE
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as connection:
        ended = connection.execute("SELECT url, outcome FROM outcome WHERE role != 'robots'")
        outcomes = dict(ended.fetchall())
    assert Counter(outcomes.values())["article"] == len(articles)
    fetched = {url for url, how in outcomes.items() if how != "failed/robots"}
    assert fetched == {urljoin(urls[site], target) for site, target in asked}
