"""Hostile rows of page tables: each is one failure, and the others are read."""

import gzip
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from newscrawl.archives.captures import Failure
from newscrawl.archives.jobs import Job
from newscrawl.archives.sources import Unit
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.items import PageItem
from tests.archives.test_unit_pages import read
from tests.conftest import REPOSITORY
from tests.extraction.test_extraction import PAGE

URL = "https://evil.test/x"
GOOD = [f"https://site{number}.test/{number}" for number in range(4)]
HTML = "<p>A page."

LINES = {
    "deep": b'{"url": "' + URL.encode() + b'", "html": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "digits": b'{"url": "' + URL.encode() + b'", "html": ' + b"9" * 5000 + b"}",
    "no object": b"[1]",
    "no JSON": b"{",
    "number": json.dumps({"url": URL, "html": 5}).encode(),
    "list": json.dumps({"url": URL, "html": [HTML]}).encode(),
    "object": json.dumps({"url": URL, "html": {"a": HTML}}).encode(),
    "number as URL": json.dumps({"url": 5, "html": HTML}).encode(),
    "long URL": json.dumps({"url": f"{URL}?{'a' * 2**20}", "html": HTML}).encode(),
    "surrogate in URL": b'{"url": "http://\\ud800/", "html": "<p>"}',
    "other scheme": json.dumps({"url": "javascript:a", "html": HTML}).encode(),
    "long page": json.dumps({"url": URL, "html": "a" * (MAX_PAGE_BYTES + 1)}).encode(),
    "long line": b'{"a": "' + b"a" * (3 * MAX_PAGE_BYTES) + b'"}',
    "bytes": b"\xff\x00\x1b[2J" * 9,
}


def line(url: str) -> bytes:
    return json.dumps({"url": url, "html": HTML}).encode()


def check(unit: Unit, count: int = 1) -> tuple[list[PageItem], list[Failure]]:
    """Return pages and failures of *unit*, which has the good pages and *count* hostile rows."""
    pages, counts, failures = read(unit)
    assert [page.url for page in pages] == GOOD
    assert counts["record"] == len(GOOD) + count
    assert len(failures) == sum(counts.values()) - counts["record"] == count
    assert all(len(failure.url) <= 2000 for failure in failures)
    return pages, failures


@pytest.mark.parametrize("name", LINES)
def test_hostile_line_is_one_failure(tmp_path: Path, name: str):
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"\n".join([*map(line, GOOD[:2]), LINES[name], *map(line, GOOD[2:])]))
    _, (failure,) = check(Unit(str(path)))
    assert failure.reason in {"invalid_row", "too_large"}
    assert failure.message.startswith(f"line at byte {2 * len(line(GOOD[0])) + 2}: ")


def test_control_characters_of_urls_are_removed(tmp_path: Path):
    path = tmp_path / "pages.jsonl"
    path.write_bytes(line("https://site.test/\x1b]0;x\x07\x9b"))
    ((page,), _, _) = read(Unit(str(path)))
    assert page.url == "https://site.test/]0;x"


@pytest.mark.parametrize(
    ("packed", "reason"),
    [
        (gzip.compress(b"\n".join(map(line, GOOD)) + b"\n", 0)[:-9], "cut"),
        (gzip.compress(b"\n".join(map(line, GOOD)) + b"\n")[:-8] + bytes(8), "damaged"),
    ],
    ids=["cut", "damaged"],
)
def test_damaged_gzip_is_one_failure(tmp_path: Path, packed: bytes, reason: str):
    path = tmp_path / "pages.jsonl.gz"
    path.write_bytes(packed)
    pages, counts, failures = read(Unit(str(path)))
    assert [page.url for page in pages] == GOOD[: len(pages)]
    assert [failure.reason for failure in failures] == [reason]
    assert counts[reason] == 1


COLUMNS: dict[str, Any] = {
    "number": pa.array([5]),
    "list": pa.array([[HTML]]),
    "object": pa.array([{"a": HTML}]),
    "out of range": pa.array([2**62], pa.timestamp("ms")),
    "nanoseconds": pa.array([1], pa.timestamp("ns", "Nowhere/Town")),
    "no UTF-8": pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")),
    "large": pa.array(["a" * (MAX_PAGE_BYTES + 1)]),
    "large bytes": pa.array([bytes(MAX_PAGE_BYTES + 1)]),
    "large list": pa.array([["a"] * 2**20]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_value_of_another_type_is_one_failure(tmp_path: Path, name: str):
    """Tables of such a column have no good pages: these are in another file."""
    column = COLUMNS[name]
    path = tmp_path / "pages.parquet"
    parquet.write_table(pa.table({"url": [URL], "html": column, "encoding": column}), path)
    pages, counts, failures = read(Unit(str(path)))
    assert not pages
    ((url, reason, message),) = failures
    assert (url, reason) == (
        URL,
        "too_large" if name in {"large", "large bytes"} else "invalid_row",
    )
    assert message.startswith("row 1 of row group 0: ")
    assert counts == {"record": 1, reason: 1}


@pytest.mark.parametrize("name", COLUMNS)
def test_other_columns_may_have_any_type(tmp_path: Path, name: str):
    column = COLUMNS[name]
    path = tmp_path / "pages.parquet"
    columns = {"url": [URL], "html": [HTML], "encoding": column, "fetched_at": column}
    parquet.write_table(pa.table(columns), path)
    ((page,), _, failures) = read(Unit(str(path)))
    assert (page.url, page.fetched_at) == (URL, None)
    assert not failures


def test_columns_of_the_same_name_are_left_out(tmp_path: Path):
    columns = [pa.array([URL]), pa.array([HTML]), pa.array(["a"]), pa.array(["b"])]
    path = tmp_path / "pages.parquet"
    parquet.write_table(pa.table(columns, names=["url", "html", "encoding", "encoding"]), path)
    ((page,), _, _) = read(Unit(str(path)))
    assert page.url == URL


def test_damaged_row_group_is_one_failure(tmp_path: Path):
    path = tmp_path / "pages.parquet"
    urls = [f"https://site.test/{number}" for number in range(300)]
    whole = pa.table({"url": urls, "html": [HTML * 50 + url for url in urls]})
    parquet.write_table(whole, path, row_group_size=100, compression="zstd", use_dictionary=False)
    chunk = parquet.read_metadata(path).row_group(1).column(1)
    data = bytearray(path.read_bytes())
    start = chunk.data_page_offset
    data[start : start + 9] = b"\xff" * 9
    path.write_bytes(data)
    pages, counts, failures = read(Unit(str(path)))
    assert [page.url for page in pages] == urls[:100] + urls[200:]
    ((url, reason, message),) = failures
    assert (url, reason) == ("", "damaged")
    assert message.startswith("row group 1 from row 1 on: ")
    assert counts == {"record": 200, "damaged": 1}


def test_impossible_times_are_unknown(tmp_path: Path):
    """Also in the tables of articles, whose days are in UTC."""
    times = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "20260102030405", 5, "x"]
    rows = [
        {"url": f"https://site.test/{number}", "html": PAGE, "fetched_at": at}
        for number, at in enumerate(times)
    ]
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [page.fetched_at for page in read(Unit(str(path)))[0]] == [
        None, None, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), None, None,
    ]  # fmt: skip


@pytest.mark.slow
def test_lists_a_limited_number_of_failures(tmp_path: Path):
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"x\n" * 12_000 + b'{"url": "https://a.test/b", "html": "<p>"}\n' + b"x\n" * 9)
    summary = Job(str(tmp_path / "out")).run([str(path)], map)
    assert summary["unfinished"] == 0
    assert summary["counts"]["invalid_row"] == 12_009
    rows = parquet.read_table(tmp_path / "out" / "failures.parquet").num_rows
    assert rows == 10_000


READ = """
import re, sys
from pathlib import Path
from newscrawl.workers.child import limit_memory
from newscrawl.archives.sources import Unit
from tests.archives.test_unit_pages import read
import pyarrow.parquet
limit_memory(300)
pages, counts, failures = read(Unit(sys.argv[1]))
print([page.url for page in pages], failures)
"""


@pytest.mark.slow
def test_page_beyond_the_memory_limit_is_one_failure(tmp_path: Path):
    """A value of 400 MB, in 40 KB; the other row groups are read."""
    path = tmp_path / "pages.parquet"
    schema = pa.schema([("url", pa.string()), ("html", pa.string())])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for url in (GOOD[0], URL, GOOD[1]):
            html = "a" * (400 * 2**20) if url == URL else HTML
            writer.write_table(pa.table({"url": [url], "html": [html]}, schema))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert done.stdout.startswith(str(GOOD[:2]))
    assert len(re.findall("Failure", done.stdout)) == 1
    assert "memory" in done.stdout
