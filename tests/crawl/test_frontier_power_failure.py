"""The file of a crawl as a power failure leaves it: at each of its commits, and torn in between."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.test_frontier_crawl import TreeCrawl
from tests.servers.tree_site import TreeSite

if TYPE_CHECKING:
    from collections.abc import Iterator

WAL_HEADER, FRAME_HEADER = 32, 24

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Disk:
    """The files of a killed crawl: the database and its write-ahead log."""

    database: bytes
    log: bytes

    @classmethod
    def of(cls, crawl: TreeCrawl) -> Disk:
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
        """Write the files as they are where all of the log beyond *length* bytes is lost."""
        file = folder / ".scrapy" / "state.sqlite"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.database)
        Path(f"{file}-wal").write_bytes(self.log[:length])
        return file


@dataclass(frozen=True)
class Pages:
    """What a file knows, by the numbers of pages."""

    pending: set[int]
    ended: set[int]
    read: set[int]
    items: list[int]

    @classmethod
    def of(cls, file: Path) -> Pages:
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
    """Return a crawl of 300 pages that was killed at the 150th."""
    with TreeSite(300) as site:
        crawl = TreeCrawl(tmp_path / "killed", site, options={"NEWSCRAWL_CHECKPOINT": 0.001})
        crawl.folder.mkdir()
        assert crawl.kill_at(150), crawl.output
        yield crawl


def test_each_commit_is_whole(crawl: TreeCrawl, tmp_path: Path):
    """A page is done with its item and its links, and a link is there with a page that is done."""
    disk = Disk.of(crawl)
    ends = list(disk.commits())
    assert len(ends) > 10
    chance = random.Random(1)
    for end, following in pairwise(ends):
        torn = chance.randrange(end, following)
        found = Pages.of(disk.put(tmp_path / "copy", torn))
        assert found == Pages.of(disk.put(tmp_path / "copy", end)), "a torn commit is none"
        assert sorted(found.items) == sorted(n for n in found.read if n % 100 != 3)
        links = {link for n in found.read for link in crawl.site.links(n)}
        assert links <= found.pending | found.ended
        assert found.pending <= links | {0}
    print(f"{len(ends)} commits")  # noqa: T201


@pytest.mark.parametrize("seed", [1, 2])
def test_resumed_after_a_power_failure(crawl: TreeCrawl, tmp_path: Path, seed: int):
    """From wherever the log breaks off, the crawl finds every page, and has its item once."""
    disk, chance = Disk.of(crawl), random.Random(seed)
    first = next(disk.commits())
    resumed = TreeCrawl(tmp_path / "resumed", crawl.site)
    disk.put(resumed.folder, chance.randrange(first, len(disk.log)))
    resumed.finish()
    resumed.assert_complete()
