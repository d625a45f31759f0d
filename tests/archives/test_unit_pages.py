"""Division of files into units, and the pages of each."""

import gzip
import json
import re
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from scrapy.settings import Settings

from newscrawl.archives import captures
from newscrawl.archives.captures import Failure
from newscrawl.archives.jobs import Job, misread
from newscrawl.archives.output_folder import UnitRecord
from newscrawl.archives.sources import Unit, UnknownSourceError, cc_news, plan
from newscrawl.archives.unit_pages import RowFields, UnitPages
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.items import PageItem
from newscrawl.pipeline_options import PipelineOptions
from tests.archives.test_archives import Archive
from tests.conftest import run_python
from tests.extraction.test_extraction import PAGE

HTML = b"<p>A page."
URLS = [f"https://one.test/{number}" for number in range(30)]


def read(*units: Unit, **settings: Any) -> tuple[list[PageItem], Counter[str], list[Failure]]:
    fields = RowFields.of(PipelineOptions.read(Settings(settings)))
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    pages = [page for unit in units for page in UnitPages(unit, fields, counts, failures.append)]
    return pages, counts, failures


def urls(*units: Unit, **settings: Any) -> list[str]:
    return [page.url for page in read(*units, **settings)[0]]


def archive(path: Path, bodies: dict[str, bytes]) -> Path:
    made = Archive()
    for url, body in bodies.items():
        made.add(body, url=url)
    path.write_bytes(made.data())
    return path


@pytest.mark.parametrize("split", [1, 100, 333, 1000, 10_000])
def test_units_of_archive_have_each_record_once(tmp_path: Path, split: int):
    path = archive(tmp_path / "a.warc.gz", dict.fromkeys(URLS, HTML))
    units = plan([str(path)], split)
    assert len(units) == max(1, -(-path.stat().st_size // split))
    assert urls(*units) == URLS


@pytest.mark.parametrize("compress", [True, False])
def test_reads_archives_without_members_per_record(tmp_path: Path, compress: bool):
    """An uncompressed archive is one unit; the first unit of a single gzip member reads all."""
    data = gzip.decompress(archive(tmp_path / "a.gz", dict.fromkeys(URLS, HTML)).read_bytes())
    path = tmp_path / ("b.warc.gz" if compress else "b.warc")
    path.write_bytes(gzip.compress(data) if compress else data)
    units = plan([str(path)], 500)
    assert (len(units) > 1) == compress
    assert urls(*units) == URLS


def test_record_that_raises_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = archive(tmp_path / "a.warc.gz", dict.fromkeys(URLS[:3], HTML))
    read_page = captures.page_of

    def page_of(record: Any) -> PageItem:
        if record.url == URLS[1]:
            raise RuntimeError("a bug")
        return read_page(record)

    monkeypatch.setattr(captures, "page_of", page_of)
    pages, counts, failures = read(Unit(str(path)))
    assert [page.url for page in pages] == [URLS[0], URLS[2]]
    assert failures == [(URLS[1], "error", "RuntimeError: a bug")]
    assert counts == {"record": 3, "failed": 1}


def outcome(unit: Unit) -> tuple[list[str], UnitRecord]:
    fields = RowFields.of(PipelineOptions.read(Settings()))
    pages = UnitPages(unit, fields, Counter(), list[Any]().append)
    found = [page.url for page in pages]
    return found, UnitRecord(unit.name, pages.first, pages.next)


def test_repairs_units_that_start_within_a_page(tmp_path: Path):
    """A record in the body of a page is not read as one of the archive."""
    forged = Archive().add(HTML, url="https://bank.test/forged").data()
    bodies = {URLS[0]: HTML, URLS[1]: b"<p>A page." * 300 + forged * 20, URLS[2]: HTML}
    # Stored, not compressed: the members in the body are visible in the file.
    members = [
        gzip.compress(gzip.decompress(Archive().add(body, url=url).data()), 0)
        for url, body in bodies.items()
    ]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(members))
    units = plan([str(path)], 700)
    found = {unit.name: outcome(unit) for unit in units}
    assert "https://bank.test/forged" in [url for urls, _ in found.values() for url in urls]
    while wrong := misread(units, {name: record for name, (_, record) in found.items()}):
        found.update((unit.name, outcome(unit)) for unit in wrong)
    assert [url for unit in units for url in found[unit.name][0]] == URLS[:3]


def test_units_of_lines_have_each_page_once(tmp_path: Path):
    path = tmp_path / "pages.jsonl"
    lines = [json.dumps({"url": url, "html": "<p>" + "ä" * (n * 7)}) for n, url in enumerate(URLS)]
    path.write_text("\n".join([*lines[:9], "", "  ", *lines[9:]]), encoding="utf-8")
    for split in (1, 64, 500, 10_000):
        assert urls(*plan([str(path)], split)) == URLS
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    (unit,) = plan([str(packed)], 64)
    assert urls(unit) == URLS


def test_reads_rows_of_pages(tmp_path: Path):
    """Columns have the names of the settings; rows without page are counted."""
    at = datetime(2026, 1, 2, 3, tzinfo=UTC)
    rows = [
        {"url": URLS[0], "page": HTML, "encoding": "cp1252", "fetched_at": at},
        {"url": URLS[1], "page": b"\xff\xd8\xff" + bytes(100), "encoding": None, "fetched_at": at},
        {"url": "mailto:a@b", "page": HTML, "encoding": None, "fetched_at": at},
        {"url": URLS[3], "page": None, "encoding": None, "fetched_at": at},
        {"url": URLS[4], "page": b" " * (MAX_PAGE_BYTES + 1), "encoding": None, "fetched_at": at},
        {"url": URLS[5], "page": HTML, "encoding": None, "fetched_at": None},
    ]
    path = tmp_path / "pages.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
    units = plan([str(path)], 1)
    assert [(unit.start, unit.end) for unit in units] == [(0, 1), (1, 2), (2, None)]
    pages, counts, _ = read(*units, NEWSCRAWL_FIELDS={"html": "page"})
    assert pages == [PageItem(URLS[0], HTML, "cp1252", at), PageItem(URLS[5], HTML, None, None)]
    assert counts == {"record": 6, "binary": 1, "invalid_row": 2, "too_large": 1}


def test_counts_invalid_and_cut_lines(tmp_path: Path):
    path = tmp_path / "pages.jsonl.gz"
    lines = [*(json.dumps({"url": url, "html": "<p>"}) + "\n" for url in URLS), "[1]\n", "{\n"]
    path.write_bytes(gzip.compress("".join(lines).encode(), 0)[:-60])
    pages, _, failures = read(Unit(str(path)))
    assert [page.url for page in pages] == URLS[: len(pages)]
    assert len(pages) > 20
    assert [failure.reason for failure in failures] == ["cut"]
    path.write_bytes(gzip.compress("".join(lines).encode()))
    assert read(Unit(str(path)))[1] == {"record": 32, "invalid_row": 2}


def test_finds_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Folders give their archives and tables; names keep the order of files and offsets."""
    for name in ("b.warc.gz", "a.warc", "sub/c.jsonl", "sub/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 25)
    names = [unit.path.removeprefix(f"{tmp_path}/") for unit in plan([str(tmp_path)], 10)]
    assert names == ["a.warc", *["b.warc.gz"] * 3, *["sub/c.jsonl"] * 3]
    monkeypatch.chdir(tmp_path)
    (unit,) = plan(["a.warc", "*.warc"], 10)
    assert unit.path == str(tmp_path / "a.warc")
    parts = plan(["b.warc.gz"], 10)
    assert sorted(parts, key=lambda unit: unit.name) == parts
    with pytest.raises(UnknownSourceError, match=r"notes\.txt"):
        plan(["sub/notes.txt"], 10)
    with pytest.raises(UnknownSourceError, match="no files"):
        plan(["*.jsonl"], 10)


def test_lists_cc_news(tmp_path: Path):
    """Archives are chosen by the time in their names, over the ends of months."""
    for month, days in (("10", ("30", "31")), ("11", ("01", "02"))):
        folder = tmp_path / "crawl-data/CC-NEWS/2026" / month
        folder.mkdir(parents=True)
        paths = [
            f"crawl-data/CC-NEWS/2026/{month}/CC-NEWS-2026{month}{day}120000-0000{n}.warc.gz\n"
            for day in days
            for n in range(2)
        ]
        (folder / "warc.paths.gz").write_bytes(gzip.compress("".join(paths).encode()))
    found = cc_news(date(2026, 10, 31), date(2026, 11, 1), str(tmp_path))
    assert [path.rpartition("CC-NEWS-")[2][:-8] for path in found] == [
        f"2026{day}120000-0000{n}" for day in ("1031", "1101") for n in range(2)
    ]
    assert all(path.startswith(f"{tmp_path}/crawl-data/") for path in found)
    with pytest.raises(UnknownSourceError, match="2027-01-01"):
        cc_news(date(2027, 1, 1), date(2027, 1, 1), str(tmp_path))


def test_accepts_registered_domains():
    urls = (
        "https://www.one.co.uk/a", "https://news.one.co.uk:8080/b", "https://two.co.uk/c",
        "http://[x/d",
    )  # fmt: skip
    pages = [PageItem(url, b"<p>") for url in urls]
    assert list(map(captures.site_of, pages)) == ["one.co.uk", "one.co.uk", "two.co.uk", ""]


URL = "https://evil.test/x"
GOOD = [f"https://site{number}.test/{number}" for number in range(4)]
PARAGRAPH = "<p>A page."

LINES = {
    "deep": b'{"url": "' + URL.encode() + b'", "html": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "digits": b'{"url": "' + URL.encode() + b'", "html": ' + b"9" * 5000 + b"}",
    "no object": b"[1]",
    "no JSON": b"{",
    "number": json.dumps({"url": URL, "html": 5}).encode(),
    "list": json.dumps({"url": URL, "html": [PARAGRAPH]}).encode(),
    "object": json.dumps({"url": URL, "html": {"a": PARAGRAPH}}).encode(),
    "number as URL": json.dumps({"url": 5, "html": PARAGRAPH}).encode(),
    "long URL": json.dumps({"url": f"{URL}?{'a' * 2**20}", "html": PARAGRAPH}).encode(),
    "surrogate in URL": b'{"url": "http://\\ud800/", "html": "<p>"}',
    "other scheme": json.dumps({"url": "javascript:a", "html": PARAGRAPH}).encode(),
    "long page": json.dumps({"url": URL, "html": "a" * (MAX_PAGE_BYTES + 1)}).encode(),
    "long line": b'{"a": "' + b"a" * (3 * MAX_PAGE_BYTES) + b'"}',
    "bytes": b"\xff\x00\x1b[2J" * 9,
}


def line(url: str) -> bytes:
    return json.dumps({"url": url, "html": PARAGRAPH}).encode()


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
    "list": pa.array([[PARAGRAPH]]),
    "object": pa.array([{"a": PARAGRAPH}]),
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
    columns = {"url": [URL], "html": [PARAGRAPH], "encoding": column, "fetched_at": column}
    parquet.write_table(pa.table(columns), path)
    ((page,), _, failures) = read(Unit(str(path)))
    assert (page.url, page.fetched_at) == (URL, None)
    assert not failures


def test_columns_of_the_same_name_are_left_out(tmp_path: Path):
    columns = [pa.array([URL]), pa.array([PARAGRAPH]), pa.array(["a"]), pa.array(["b"])]
    path = tmp_path / "pages.parquet"
    parquet.write_table(pa.table(columns, names=["url", "html", "encoding", "encoding"]), path)
    ((page,), _, _) = read(Unit(str(path)))
    assert page.url == URL


def test_damaged_row_group_is_one_failure(tmp_path: Path):
    path = tmp_path / "pages.parquet"
    urls = [f"https://site.test/{number}" for number in range(300)]
    whole = pa.table({"url": urls, "html": [PARAGRAPH * 50 + url for url in urls]})
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
            html = "a" * (400 * 2**20) if url == URL else PARAGRAPH
            writer.write_table(pa.table({"url": [url], "html": [html]}, schema))
    output = run_python(READ, str(path), timeout=100)
    assert output.startswith(str(GOOD[:2]))
    assert len(re.findall("Failure", output)) == 1
    assert "memory" in output
