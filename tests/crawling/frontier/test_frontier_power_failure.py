"""Crash consistency: the state file as after a power failure, at each commit and in between."""

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.end_to_end.test_frontier_crawl import TreeCrawl
from tests.servers.tree_site import TreeSite

WAL_HEADER, FRAME_HEADER = 32, 24

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Disk:
    """Database and write-ahead log of a killed crawl."""

    database: bytes
    log: bytes

    @classmethod
    def of(cls, crawl: TreeCrawl) -> "Disk":
        file = crawl.folder / ".scrapy" / "state.sqlite"
        return cls(file.read_bytes(), Path(f"{file}-wal").read_bytes())

    def commits(self) -> Iterator[int]:
        """Yield the length of the log after each commit (https://sqlite.org/fileformat2.html)."""
        page, salt = int.from_bytes(self.log[8:12], "big"), self.log[16:24]
        frame = FRAME_HEADER + page
        for start in range(WAL_HEADER, len(self.log) - frame + 1, frame):
            if self.log[start + 8 : start + 16] != salt:
                return  # of an older log
            if any(self.log[start + 4 : start + 8]):
                yield start + frame

    def put(self, folder: Path, length: int) -> Path:
        """Write the files with the log truncated to *length* bytes."""
        file = folder / ".scrapy" / "state.sqlite"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.database)
        Path(f"{file}-wal").write_bytes(self.log[:length])
        return file


@dataclass(frozen=True)
class Pages:
    """Page numbers by state, read from a state file."""

    pending: set[int]
    ended: set[int]
    read: set[int]
    items: list[int]

    @classmethod
    def of(cls, file: Path) -> "Pages":
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
            if not {"request", "outbox"} <= tables:
                return cls(set(), set(), set(), [])
            query = "SELECT request FROM request WHERE request IS NOT NULL"
            pending = {number(json.loads(text)["url"]) for (text,) in connection.execute(query)}
            ended = dict(connection.execute("SELECT url, outcome FROM outcome"))
            query = "SELECT item FROM outbox"
            items = [json.loads(text)["n"] for (text,) in connection.execute(query)]
        read = {url for url, outcome in ended.items() if not outcome.startswith("failed/")}
        return cls(pending, {*map(number, ended)}, {*map(number, read)}, items)


def number(url: str) -> int:
    return int(url.rpartition("/")[2])


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[TreeCrawl]:
    """Return a crawl of 300 pages, killed at page 150."""
    with TreeSite(300) as site:
        crawl = TreeCrawl(tmp_path / "killed", site, options={"NEWSCRAWL_CHECKPOINT": 0.001})
        crawl.folder.mkdir()
        assert crawl.kill_at(150), crawl.output
        yield crawl


def test_commits_are_consistent(crawl: TreeCrawl, tmp_path: Path):
    """A finished page has its item and its links, and a link has a finished parent."""
    disk = Disk.of(crawl)
    ends = list(disk.commits())
    assert len(ends) > 10
    rng = random.Random(1)
    for end, following in pairwise(ends):
        torn = rng.randrange(end, following)
        found = Pages.of(disk.put(tmp_path / "copy", torn))
        assert found == Pages.of(disk.put(tmp_path / "copy", end)), "a torn commit is ignored"
        assert sorted(found.items) == sorted(n for n in found.read if n % 100 != 3)
        links = {link for n in found.read for link in crawl.site.links(n)}
        assert links <= found.pending | found.ended
        assert found.pending <= links | {0}
    print(f"{len(ends)} commits")  # noqa: T201


@pytest.mark.parametrize("seed", [1, 2])
def test_resumes_after_a_power_failure(crawl: TreeCrawl, tmp_path: Path, seed: int):
    disk, rng = Disk.of(crawl), random.Random(seed)
    first = next(disk.commits())
    resumed = TreeCrawl(tmp_path / "resumed", crawl.site)
    disk.put(resumed.folder, rng.randrange(first, len(disk.log)))
    resumed.finish()
    resumed.assert_complete()
