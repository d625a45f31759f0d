"""Feeds that cannot be written: what they lack is written by the next crawl, once."""

import csv
import gzip
import io
import json
import marshal
import pickle
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from newscrawl.sqlite import checksum
from tests.conftest import REPOSITORY
from tests.helpers.forked_scrapy import ForkedScrapy
from tests.helpers.small_disk import small_disk

SPIDER = REPOSITORY / "tests/spiders/feed_spider.py"
SMALL, LARGE = 4_000, 10_000_000
GZIP = {"postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"]}
FILTER = {"item_filter": "tests.spiders.feed_spider.OddNumbers"}


class Folder:
    """The folder of several crawls with the same feeds, and with *room* bytes for a file."""

    def __init__(self, path: Path, feeds: dict[str, dict[str, Any]], **settings: object) -> None:
        self.path = path
        self.settings = {"FEEDS": json.dumps(feeds), **settings}
        self.log = ""

    def start(self, pages: int, room: int, *arguments: str) -> ForkedScrapy:
        """Start a crawl of *pages* articles."""
        (self.path / "room").write_text(str(room))
        options = [x for name, value in self.settings.items() for x in ("-s", f"{name}={value}")]
        words = ["runspider", str(SPIDER), "-a", f"pages={pages}", *arguments, *options]
        environment = {"PATH": "", "PYTHONWARNINGS": "default"}
        return ForkedScrapy(words, self.path, environment, self.path / "crawl.log")

    def crawl(self, pages: int, room: int, *arguments: str) -> int:
        """Return the exit code of a crawl, after a check of its log."""
        code = self.start(pages, room, *arguments).wait(100)
        self.log = (self.path / "crawl.log").read_text()
        assert "Traceback" not in self.log, self.log
        assert "Exception ignored" not in self.log, self.log
        assert "never" not in self.log, self.log
        return code

    def numbers(self, pattern: str) -> list[int]:
        """Return the sorted numbers of the articles in the files of a feed."""
        found = []
        for path in self.path.glob(pattern):
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" and data else data
            form = path.name.split(".")[1]
            rows = READERS[form](data) if data else []
            found += [int(row["url"].rpartition("/")[2]) for row in rows]
        return sorted(found)


def _loaded(load: Callable[[Any], Any], data: bytes) -> list[Any]:
    file, items = io.BytesIO(data), []
    while file.tell() < len(data):
        items.append(load(file))
    return items


READERS: dict[str, Callable[[bytes], list[dict[str, Any]]]] = {
    "csv": lambda data: list(csv.DictReader(io.StringIO(data.decode(), newline=""))),
    "json": json.loads,
    "jsonl": lambda data: [json.loads(line) for line in data.splitlines()],
    "marshal": lambda data: _loaded(marshal.load, data),
    "parquet": lambda data: parquet.read_table(io.BytesIO(data)).to_pylist(),
    "pickle": lambda data: _loaded(pickle.load, data),
}


@pytest.mark.slow
def test_each_feed_has_each_article_once(tmp_path: Path):
    """Of many feeds some fail, twice: the others go on, and get nothing twice."""
    folder = Folder(
        tmp_path,
        {
            "good.jsonl": {"format": "jsonlines"},
            "good.parquet": {"format": "parquet"},
            "small:a.jsonl": {"format": "jsonlines"},
            "small:b.csv": {"format": "csv", "fields": ["url", "title", "body"]},
            "small:c.parquet": {"format": "parquet", "item_export_kwargs": {"group_rows": 2}},
            "small:d.json": {"format": "json"},
            "small:e.jsonl.gz": {"format": "jsonlines", **GZIP},
            "small:f.pickle": {"format": "pickle"},
            "small:g.jsonl": {"format": "jsonlines", **FILTER},
            "small:h-%(batch_id)d.jsonl": {"format": "jsonlines", "batch_item_count": 5},
            "upload:j.jsonl": {"format": "jsonlines"},
            "third.jsonl": {"format": "third"},
            "third.csv": {"format": "csv", "fields": ["url"], **FILTER},
            "all.marshal": {"format": "marshal"},
        },
    )
    assert folder.crawl(20, SMALL) == 1
    lines = [line for line in folder.log.splitlines() if "Could not write the feed" in line]
    assert len(lines) == 9, lines
    assert "Could not write the feed small:a.jsonl (No space left on device)" in folder.log
    assert "Could not write the feed upload:j.jsonl (ConnectionError" in folder.log
    assert "Could not export https://site.test/3 to the feed third.jsonl: TypeError" in folder.log
    assert "the feed third.jsonl lacks items: 7 kept (TypeError" in folder.log
    assert "'finish_reason': 'finished'" in folder.log
    assert folder.crawl(0, SMALL) == 1
    assert folder.crawl(0, LARGE) == 0
    every, odd = list(range(20)), list(range(1, 20, 2))
    names = ["good.jsonl", "good.parquet", "a.jsonl", "b.csv", "c*.parquet", "d*.json", "e*.gz"]
    for pattern in [*names, "f.pickle", "all.marshal", "h-*.jsonl", "j.jsonl", "third.jsonl"]:
        assert folder.numbers(pattern) == every, pattern
    for pattern in ("g.jsonl", "third.csv"):
        assert folder.numbers(pattern) == odd, pattern


@pytest.mark.slow
def test_crawl_closes_when_no_feed_can_be_written(tmp_path: Path):
    """The crawl says so at once, is resumed once there is room, and loses no item."""
    feeds = {"small:a.jsonl": {"format": "jsonlines"}, "small:b.json": {"format": "json"}}
    folder = Folder(tmp_path, feeds, DOWNLOAD_DELAY=0.02)
    assert folder.crawl(60, SMALL, "-a", "items=1") == 1
    assert "'finish_reason': 'newscrawl_feed_failed'" in folder.log
    assert len(folder.numbers("a.jsonl")) < 60
    assert folder.crawl(60, SMALL, "-a", "items=1") == 1  # opens no site
    assert "downloader/request_count" not in folder.log
    assert folder.crawl(60, LARGE, "-a", "items=1") == 0
    assert folder.numbers("a.jsonl") == folder.numbers("b*.json") == list(range(60))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonlines", "parquet"])
def test_crawl_without_state(tmp_path: Path, form: str):
    """Items are lost, which the exit code and the log say; the file has whole ones."""
    feeds = {"small:a.jsonl": {"format": form}}
    settings = {"NEWSCRAWL_FRONTIER_ENABLED": False, "NEWSCRAWL_STATE": "", "JOBDIR": "job"}
    folder = Folder(tmp_path, feeds, **settings)
    assert folder.crawl(20, SMALL) == 1
    assert "JOBDIR without NEWSCRAWL_STATE: feeds that fail lose items" in folder.log
    assert "the feed small:a.jsonl lacks items: " in folder.log.splitlines()[-1]
    assert " lost (No space left on device)" in folder.log.splitlines()[-1]
    assert folder.numbers("a.jsonl") == list(range(len(folder.numbers("a.jsonl"))))


@pytest.mark.slow
def test_killed_crawl(tmp_path: Path):
    """Lines are there once; documents, which a kill leaves unreadable, are written as a whole."""
    feeds = {"a.jsonl": {"format": "jsonlines"}, "b.parquet": {"format": "parquet"}}
    folder = Folder(tmp_path, feeds, DOWNLOAD_DELAY=0.02)
    process = folder.start(60, LARGE)
    while process.poll() is None and len(folder.numbers("a.jsonl")) < 9:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    (tmp_path / "b.parquet").unlink()
    assert folder.crawl(60, LARGE) == 0
    assert folder.numbers("a.jsonl") == folder.numbers("b.parquet") == list(range(60))
    # As if it had been killed before the commit that follows 59 lines and a part of the last one.
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    end = sum(map(len, lines[:57]))
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines)[:-9])
    with closing(sqlite3.connect(tmp_path / ".scrapy/state.sqlite")) as state:
        assert state.execute("SELECT count(*) FROM undelivered").fetchone() == (0,)
        for line in lines[57:]:
            row = ("a.jsonl", line.decode(), checksum(line.decode()))
            state.execute("INSERT INTO undelivered VALUES (NULL, ?, 1, ?, ?)", row)
        path = str(tmp_path / "a.jsonl")
        value = json.dumps(["a.jsonl", end])
        sql = "INSERT OR REPLACE INTO memory VALUES (?, 'feed_end', ?, 9e999)"
        state.execute(sql, (path, value))
        state.commit()
    assert folder.crawl(0, LARGE) == 0
    assert folder.numbers("a.jsonl") == list(range(60))


@pytest.mark.slow
def test_state_that_cannot_be_written(tmp_path: Path):
    """The feeds have no item whose request is pending, so that the next crawl adds each once."""
    feeds = {"a.jsonl": {"format": "jsonlines"}, "b.parquet": {"format": "parquet"}}
    folder = Folder(tmp_path, feeds, DOWNLOAD_DELAY=0.01)
    with small_disk(tmp_path / ".scrapy", kilobytes=250) as resize:
        assert folder.crawl(150, LARGE) == 1
        assert "'finish_reason': 'newscrawl_state_failed'" in folder.log
        assert 0 < len(folder.numbers("a.jsonl")) < 150
        resize(20_000)
        assert folder.crawl(150, LARGE) == 0
    assert folder.numbers("a.jsonl") == folder.numbers("b.parquet") == list(range(150))
