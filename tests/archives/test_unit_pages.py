"""Division of files into units, and the pages of each."""

import gzip
import json
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
from newscrawl.archives.jobs import misread
from newscrawl.archives.output_folder import UnitRecord
from newscrawl.archives.sources import Unit, UnknownSourceError, cc_news, plan
from newscrawl.archives.unit_pages import RowFields, UnitPages
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.items import PageItem
from newscrawl.pipeline_options import PipelineOptions
from tests.archives.test_archives import Archive

HTML = b"<p>A page."
URLS = [f"https://one.test/{number}" for number in range(30)]


def read(*units: Unit, **settings: Any) -> tuple[list[PageItem], Counter[str], list[Failure]]:
    """Return the pages, counts and failures of *units*."""
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
        "https://www.one.co.uk/a",
        "https://news.one.co.uk:8080/b",
        "https://two.co.uk/c",
        "http://[x/d",
    )
    pages = [PageItem(url, b"<p>") for url in urls]
    assert list(map(captures.site_of, pages)) == ["one.co.uk", "one.co.uk", "two.co.uk", ""]
