"""Reader of WARC archives: damage, archives of other tools, selection."""

import gzip
import io
import json
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newscrawl.archives import archive_reader as archives
from newscrawl.archives.archive_reader import (
    MAX_HEAD_SIZE,
    ArchiveError,
    ArchiveRecord,
    Flaw,
    read_records,
)
from newscrawl.archives.captures import Failure, record_pages
from newscrawl.items import PageItem
from tests.archives.test_warc import exchange, records, write
from tests.conftest import run_python
from tests.extraction.test_extraction import PAGE
from tests.helpers.hostile_archives import (
    FORMS,
    GOOD,
    RECORDS,
    URL,
    archive,
    bombs,
    message,
    record,
    suffix,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    (path,) = write(folder, [exchange(number, 300) for number in range(8)])
    return path.read_bytes()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch") / "archive.warc.gz"


def member_ends(archive: bytes) -> list[int]:
    """Return the offsets at which gzip members end."""
    ends, rest = [], archive
    while rest:
        member = zlib.decompressobj(31)
        member.decompress(rest)
        rest = member.unused_data
        ends.append(len(archive) - len(rest))
    return ends


@settings(max_examples=150)
@given(data=st.data())
@pytest.mark.parametrize("packed", [True, False])
def test_reports_truncation_at_any_byte(
    whole: bytes, scratch: Path, packed: bool, data: st.DataObject
):
    """Except between two records."""
    archive = whole if packed else gzip.decompress(whole)
    ends = member_ends(whole)
    if not packed:
        starts = [0, *ends]
        ends = [len(gzip.decompress(whole[:end])) for end in starts[1:]]
    cut = data.draw(st.integers(150, len(archive)))  # the start must be that of an archive
    scratch.write_bytes(archive[:cut])
    *found, last = read_records(scratch)
    if cut in ends:
        assert isinstance(last, ArchiveRecord)
        found.append(last)
    else:
        assert isinstance(last, Flaw)
        assert last.reason == "cut"
        assert last.offset == max([0, *(end for end in ends if end < cut)])
    assert len(found) == sum(end <= cut for end in ends)
    assert all(isinstance(record, ArchiveRecord) for record in found)


@settings(max_examples=150)
@given(data=st.data())
def test_damage_at_any_byte_loses_one_record(whole: bytes, scratch: Path, data: st.DataObject):
    place = data.draw(st.integers(40, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] ^= data.draw(st.integers(1, 255))
    scratch.write_bytes(whole)
    before = [record for record in read_records(scratch) if isinstance(record, ArchiveRecord)]
    scratch.write_bytes(damaged)
    found = list(read_records(scratch))
    flaws = [record for record in found if isinstance(record, Flaw)]
    kept = [record for record in found if isinstance(record, ArchiveRecord)]
    if not flaws:  # an unused byte of the gzip header: time or system
        assert kept == before
        return
    assert len(flaws) == 1
    assert kept == [record for number, record in enumerate(before) if number != lost(whole, place)]


def lost(archive: bytes, place: int) -> int:
    return sum(end <= place for end in member_ends(archive))


@pytest.mark.parametrize("percent", range(45, 95, 5))
def test_continues_after_each_damage(whole: bytes, scratch: Path, percent: int):
    ends = member_ends(whole)
    damaged = bytearray(whole)
    for number in (3, 4, 9):
        place = ends[number - 1] + (ends[number] - ends[number - 1]) * percent // 100
        damaged[place : place + 9] = bytes(9)
    scratch.write_bytes(damaged)
    found = list(read_records(scratch))
    offsets = [record.offset for record in found if isinstance(record, Flaw)]
    assert offsets == [ends[2], ends[3], ends[8]]
    assert len(found) == len(ends)


def foreign(**options: bool) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, **options)
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "other"}))
    for number in range(3):
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        writer.write_record(
            writer.create_warc_record(
                f"<http://other.test/{number}>",
                "response",
                payload=io.BytesIO(b"page %d" % number),
                length=6,
                http_headers=head,
            )
        )
    return out.getvalue()


@pytest.mark.parametrize(
    "archive",
    [
        foreign(gzip=True),
        foreign(gzip=False),
        gzip.compress(foreign(gzip=False)),
        foreign(gzip=False).replace(b"WARC/1.0\r\n", b"\r\n\r\nWARC/1.0\r\n", 2)[4:],
    ],
    ids=["records", "plain", "one member", "blank lines"],
)
def test_reads_archives_of_other_tools(scratch: Path, archive: bytes):
    scratch.write_bytes(archive)
    pages = [record for record in records(scratch) if record.kind == "response"]
    assert [record.url for record in pages] == [
        f"http://other.test/{number}" for number in range(3)
    ]
    assert [record.block[-6:] for record in pages] == [b"page 0", b"page 1", b"page 2"]


@pytest.mark.parametrize("packed", [True, False])
def test_reports_wrong_content_length(scratch: Path, packed: bool):
    plain = foreign(gzip=False)
    records = [b"WARC/1.0" + part for part in plain.split(b"WARC/1.0")[1:]]
    for lie in (
        b"Content-Length: 5\r\n",
        b"Content-Length: 5000\r\n",
        b"Content-Length: x\r\n",
        b"",
    ):
        start = records[2].index(b"Content-Length")
        end = records[2].index(b"\n", start) + 1
        changed = [*records[:2], records[2][:start] + lie + records[2][end:], records[3]]
        scratch.write_bytes(b"".join(gzip.compress(part) if packed else part for part in changed))
        found = list(read_records(scratch))
        assert sum(isinstance(record, Flaw) for record in found) == 1, lie
        assert sum(isinstance(record, ArchiveRecord) for record in found) == 3, lie


def test_skips_large_record(scratch: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archives, "MAX_RECORD_SIZE", 100)
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    for number, size in enumerate((10, 1000, 20)):
        writer.write_record(
            writer.create_warc_record(
                f"http://a.test/{number}",
                "resource",
                payload=io.BytesIO(bytes(size)),
                length=size,
                warc_content_type="video/mp4",
            )
        )
    scratch.write_bytes(out.getvalue())
    first, film, last = read_records(scratch)
    assert isinstance(film, Flaw)
    assert (film.reason, film.url) == ("too_large", "http://a.test/1")
    assert isinstance(first, ArchiveRecord)
    assert isinstance(last, ArchiveRecord)
    assert len(last.block) == 20


@pytest.mark.parametrize("data", [b"", b"<html>", gzip.compress(b"<p>", mtime=0), b"\x1f\x8b\x08"])
def test_rejects_other_files(scratch: Path, data: bytes):
    scratch.write_bytes(data)
    with pytest.raises(ArchiveError, match=r"archive\.warc\.gz: (empty|not a WARC)"):
        list(read_records(scratch))


MAX_MEMORY = 400


def pages(path: Path) -> tuple[list[PageItem], Counter[str], list[Failure]]:
    """Return the pages, counts and failures of the archive at *path*."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    return list(record_pages(read_records(path), counts, failures.append)), counts, failures


def only_page(path: Path, data: bytes) -> PageItem:
    path.write_bytes(gzip.compress(data))
    (found,), _, failures = pages(path)
    assert not failures
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RECORDS)
def test_hostile_record_is_one_failure(tmp_path: Path, name: str, form: str):
    make, reason = RECORDS[name]
    path = tmp_path / f"archive{suffix(form)}"
    path.write_bytes(archive(form, [make()]))
    found, counts, failures = pages(path)
    assert [page.url for page in found] == GOOD
    assert [failure.reason for failure in failures] == [reason]
    assert counts[reason] == 1
    (failure,) = failures
    assert failure.url or " at byte " in failure.message
    assert len(failure.url) <= 2000


@pytest.mark.parametrize("form", FORMS)
def test_hostile_record_at_the_start(tmp_path: Path, form: str):
    path = tmp_path / f"archive{suffix(form)}"
    first = record(URL, b"Content-Length: 999999\r\n")
    whole = gzip.decompress(archive("one member", []))
    members = gzip.compress(first) + archive("members", [])
    plain = first + whole
    path.write_bytes({"members": members, "one member": gzip.compress(plain), "plain": plain}[form])
    found, _, failures = pages(path)
    assert [page.url for page in found] == GOOD
    assert [(failure.url, failure.reason) for failure in failures] == [(URL, "damaged")]


@pytest.mark.parametrize(
    "data",
    [
        record()[:-4],
        record()[:-2],
        record(URL, b"Content-Length: %d\r\n" % len(message()) * 2),
        record(URL, b"Content-Length:\t%d \r\n" % len(message())),
        record(f"<{URL}>"),
        record(f" {URL} "),
        record("https://evil.\x1b\x9b\x00test/x"),
        record(URL, b"X: " + b"a" * (MAX_HEAD_SIZE - 500) + b"\r\n"),
        record(URL, b"WARC-JSON-Metadata: " + b"[" * 30_000 + b"\r\n"),
        record(block=message(b"Transfer-Encoding: chunked\r\n", body=b"F" * 20 + b"\r\n" + PAGE.encode())),
        record(block=message(b"Transfer-Encoding: chunked\r\n")),
    ],
)  # fmt: skip
def test_reads_odd_records(tmp_path: Path, data: bytes):
    """A member without the last separator is complete; control characters are removed."""
    found = only_page(tmp_path / "a.warc.gz", data)
    assert (found.url, found.html) == (URL, PAGE.encode())


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("20240505080000", "2024-05-05T08:00:00+00:00"),
        ("2024-05-05T08:00:00.123456789Z", "2024-05-05T08:00:00.123456+00:00"),
        ("2024-05-05T08:00:00+02:00", "2024-05-05T08:00:00+02:00"),
        ("20241305080000", None),
        ("٢٠٢٤٠٥٠٥٠٨٠٠٠٠", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_date_is_read_or_unknown(tmp_path: Path, date: str, expected: str | None):
    data = record().replace(b"2026-11-22T10:00:00Z", date.encode())
    at = only_page(tmp_path / "a.warc.gz", data).fetched_at
    assert (at.isoformat() if at else None) == expected


def test_skips_empty_members(tmp_path: Path):
    empty = gzip.compress(b"")
    path = tmp_path / "a.warc.gz"
    path.write_bytes(empty * 3 + archive("members", []) + empty * 1000)
    found, _, failures = pages(path)
    assert [page.url for page in found] == GOOD
    assert not failures


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"filedesc://a.arc 0.0.0.0 20050101 text/plain 76\n1 0\n", "an ARC archive"),
        (gzip.compress(b"filedesc://a.arc 0.0.0.0 20050101 text/plain 76\n"), "an ARC archive"),
        (b"\x28\xb5\x2f\xfd" + bytes(100), "Zstandard"),
    ],
    ids=["arc", "gzip", "zstd"],
)
def test_names_other_archives(tmp_path: Path, data: bytes, message: str):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=message):
        list(read_records(path))


READ = """
import json, re, sys
from collections import Counter
from pathlib import Path
from newscrawl.archives.captures import record_pages
from newscrawl.archives.archive_reader import read_records
counts = Counter()
pages = [page.url for page in record_pages(read_records(Path(sys.argv[1])), counts, lambda _: None)]
peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
print(json.dumps([pages, counts, int(peak) // 1024]))
"""


def read_apart(path: Path) -> Any:
    """Read the archive at *path* in another process; return the pages, counts and peak memory."""
    return json.loads(run_python(READ, str(path), timeout=300))


@pytest.mark.slow
@pytest.mark.parametrize("name", bombs(0))
def test_memory_is_bounded(tmp_path: Path, name: str):
    """A member of 500 MB of headers."""
    member, good = bombs(500, name)[name], [gzip.compress(record(url)) for url in GOOD]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join([*good[:2], member, *good[2:]]))
    found, counts, peak = read_apart(path)
    assert found == GOOD
    assert counts.get("damaged", 0) + counts.get("too_large", 0) == 1
    assert peak < MAX_MEMORY


@pytest.mark.slow
def test_memory_of_large_records_is_bounded(tmp_path: Path):
    """In a single member: blocks are searched again for the next record."""
    large = [record(block=message(body=bytes(size * 2**20))) for size in (60, 200)]
    lengths = [60_000_000] * 20 + [10**9, 10**15]
    wrong = [record(URL, b"Content-Length: %d\r\n" % length) for length in lengths]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(archive("one member", [*wrong, *large]))
    found, counts, peak = read_apart(path)
    assert found == GOOD
    assert counts == {"record": 5, "damaged": 20, "too_large": 4}
    assert peak < MAX_MEMORY
