"""Feeds of several crawls with the same ``FEEDS``, as a scheduled crawl writes them."""

import csv
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pyarrow import parquet
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from newscrawl.exporters import FeedFileStorage, ParquetItemExporter

CRAWL = """
import datetime, sys
from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from newscrawl.items import Article

class Numbers(Spider):
    name = "numbers"
    async def start(self):
        for number in sys.argv[1:]:
            day = datetime.datetime(2026, 11, 25, 7, 45)
            url = f"https://a.example/{number}"
            yield Article(url, title=f'"{number}"\\x0b', date=day, body="One.\\n\\nTwo.", cluster={"id": None})

gzipped = {"postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"]}
process = AsyncCrawlerProcess({
    "ADDONS": {"newscrawl.Addon": 500},
    "LOG_LEVEL": "INFO",
    "NEWSCRAWL_PROGRESS_ENABLED": False,
    "FEED_EXPORT_ENCODING": "utf-8",
    "FEEDS": {
        "a.parquet": {"format": "parquet"},
        "%(name)s.parquet": {"format": "parquet"},
        "new.parquet": {"format": "parquet", "overwrite": True},
        "b-%(batch_id)d.parquet": {"format": "parquet", "batch_item_count": 2},
        "a.parquet.gz": {"format": "parquet", **gzipped},
        "a.json": {"format": "json"},
        "a.xml": {"format": "xml"},
        "a.csv": {"format": "csv", "fields": ["url", "date", "title", "body"]},
        "a.csv.gz": {"format": "csv", **gzipped},
        "a.jsonl": {"format": "jsonlines"},
        "a.jsonl.gz": {"format": "jsonlines", **gzipped},
        "t-%(time)s.jsonl": {"format": "jsonlines"},
    },
})
process.crawl(Numbers)
process.start()
"""


def crawl(folder: Path, *numbers: int) -> str:
    """Write articles with these *numbers* to all feeds in *folder*; return the log."""
    done = subprocess.run(
        [sys.executable, "-c", CRAWL, *map(str, numbers)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert " ERROR: " not in done.stderr, done.stderr
    return done.stderr


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _csv(data: bytes) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def _xml(data: bytes) -> list[dict[str, Any]]:
    return [{field.tag: field.text for field in item} for item in ET.fromstring(data)]


READERS: dict[str, Callable[[bytes], list[dict[str, Any]]]] = {
    "csv": _csv,
    "json": json.loads,
    "jsonl": lambda data: [json.loads(line) for line in data.splitlines()],
    "parquet": lambda data: parquet.read_table(io.BytesIO(data)).to_pylist(),
    "xml": _xml,
}


def numbers(path: Path) -> list[int]:
    """Return the numbers of the articles in the feed *path*."""
    form = path.name.split(".")[1]
    return [int(row["url"].rpartition("/")[2]) for row in READERS[form](_unpacked(path))]


@pytest.mark.slow
def test_feeds_of_three_crawls(tmp_path: Path):
    """Each file is readable, no article is lost; an idle crawl writes only what it replaces."""
    crawl(tmp_path, 1, 2, 3)
    log = crawl(tmp_path, 4)
    crawl(tmp_path)
    feeds = {path.name: numbers(path) for path in tmp_path.iterdir() if path.is_file()}
    timed = sorted(name for name in feeds if name.startswith("t-"))
    assert [feeds.pop(name) for name in timed] == [[1, 2, 3], [4]]
    assert feeds == {
        "a.parquet": [1, 2, 3],
        "a-2.parquet": [4],
        "numbers.parquet": [1, 2, 3],
        "numbers-2.parquet": [4],
        "new.parquet": [],
        "b-1.parquet": [1, 2],
        "b-2.parquet": [3],
        "b-1-2.parquet": [4],
        "a.parquet.gz": [1, 2, 3],
        "a-2.parquet.gz": [4],
        "a.json": [1, 2, 3],
        "a-2.json": [4],
        "a.xml": [1, 2, 3],
        "a-2.xml": [4],
        "a.csv": [1, 2, 3, 4],
        "a.csv.gz": [1, 2, 3],
        "a-2.csv.gz": [4],
        "a.jsonl": [1, 2, 3, 4],
        "a.jsonl.gz": [1, 2, 3],
        "a-2.jsonl.gz": [4],
    }
    assert "a.parquet has content, writing a-2.parquet" in log
    (item, *_) = READERS["xml"]((tmp_path / "a.xml").read_bytes())
    assert (item["date"], item["title"]) == ("2026-11-25T07:45:00", '"1"')
    assert "canonical_url" not in item
    assert b"None" not in (tmp_path / "a.xml").read_bytes()
    for name in ("a.csv", "a.csv.gz"):
        dates = {row["date"] for row in _csv(_unpacked(tmp_path / name))}
        assert dates == {"2026-11-25T07:45:00"}


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        ("jsonlines", b'{"a": 1}\n', b'{"a": 1}\n'),
        ("jsonlines", b'{"a": 1}\n{"a": "cu', b'{"a": 1}\n'),
        ("jsonlines", b'{"a": 1}\n{"a": "\xc3', b'{"a": 1}\n'),
        ("jsonlines", b'{"a": "cu', b""),
        ("jsonlines", b'{"a": 1}', b'{"a": 1}\n'),
        ("jsonlines", b"", b""),
        ("csv", b"a,b\r\n1,2\r\n", b"a,b\r\n1,2\r\n"),
        ("csv", b"a,b\r\n1,2", b"a,b\r\n1,2\r\n"),
        ("csv", b"a,b\r\n1,2\r\n3", b"a,b\r\n1,2\r\n"),
        ("csv", b'a,b\r\n1,"One.\n\nTw', b"a,b\r\n"),
        ("csv", b'a,b\r\n1,"One.\n', b"a,b\r\n"),
        ("csv", b'a,b\r\n1,"He said ""no""', b"a,b\r\n"),
        ("csv", b'a,b\r\n1,"He said "', b'a,b\r\n1,"He said "\r\n'),
        ("csv", b"a,b\n1,2\n", b"a,b\n1,2\n"),
        ("csv", b"a,b", b""),
        ("pickle", b"\x80\x04", b"\x80\x04"),
    ],
)
def test_removes_a_cut_line(tmp_path: Path, form: str, before: bytes, after: bytes):
    """A last line that was cut is no item; what follows a whole one is on a line of its own."""
    path = tmp_path / "feed"
    path.write_bytes(before)
    crawler = get_crawler()
    storage = build_from_crawler(FeedFileStorage, crawler, str(path), feed_options={"format": form})
    with storage.open(crawler) as file:
        file.write(b"next")
    assert path.read_bytes() == after + b"next"


def test_parquet_is_not_appended(tmp_path: Path):
    """The exporter refuses a file with content, also with Scrapy's own storage."""
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    with path.open("ab") as file, pytest.raises(ValueError, match="cannot be appended to"):
        ParquetItemExporter(file)
    assert path.read_bytes() == b"PAR1"
