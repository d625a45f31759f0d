"""Reader of WARC archives: damage, archives of other tools, selection."""

import gzip
import io
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newscrawl.archives import archive_reader as archives
from newscrawl.archives.archive_reader import ArchiveError, ArchiveRecord, Flaw, read_records
from tests.archives.test_warc import exchange, records, write


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an archive of eight pages."""
    folder = tmp_path_factory.mktemp("whole")
    (path,) = write(folder, [exchange(number, 300) for number in range(8)])
    return path.read_bytes()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a path for damaged archives."""
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
    """Return the number of the record at *place*."""
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
    """Return an archive of three pages written by warcio."""
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
