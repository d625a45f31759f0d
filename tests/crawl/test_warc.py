"""WARC archives: writer, recovery, reader."""

from __future__ import annotations

import asyncio
import errno
import gzip
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newscrawl.crawl.output.atomic_write import PARTIAL_SUFFIX
from newscrawl.crawl.warc import archive_reader as archives
from newscrawl.crawl.warc import archive_writer as warc
from newscrawl.crawl.warc.archive_reader import ArchiveError, ArchiveRecord, Flaw, read_records
from newscrawl.crawl.warc.archive_writer import ArchiveThread, ArchiveWriter, Exchange, recover
from newscrawl.crawl.warc.captures import may_be_sheet
from newscrawl.samples import SampleSites
from newscrawl.samples.demo_crawl import write_sites_file
from tests.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

AT = datetime(2026, 11, 22, 5, 30, 0, 123456, tzinfo=UTC)


def exchange(number: int, size: int = 2000) -> Exchange:
    """Return a page of *size* incompressible bytes, with non-ASCII headers."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Ort: Zürich\r\n\r\n"
    return Exchange(
        url=f"https://site.test/{number}?q=ü",
        at=AT,
        request=f"GET /{number} HTTP/1.1\r\nHost: site.test\r\n\r\n".encode(),
        head=head.encode("latin-1"),
        body=os.urandom(size),
        ip="192.0.2.7",
        notes={"role": "article", "hints": {"title": "Straße \r\n"}},
    )


def write(folder: Path, exchanges: Sequence[Exchange], size: int = 0) -> list[Path]:
    """Return the archives of *exchanges*."""
    writer = ArchiveWriter(folder, "test", size=size, about={"software": "test"})
    for item in exchanges:
        writer.write(item)
    writer.close()
    return sorted(folder.iterdir())


def records(path: Path) -> list[ArchiveRecord]:
    """Return the records of an archive without flaws."""
    found = list(read_records(path))
    assert not [record for record in found if isinstance(record, Flaw)]
    return [record for record in found if isinstance(record, ArchiveRecord)]


def test_writes_raw_exchanges(tmp_path: Path):
    sent = [exchange(number) for number in range(3)]
    (path,) = write(tmp_path, sent)
    info, *rest = records(path)
    assert info.kind == "warcinfo"
    assert b"software: test\r\n" in info.block
    assert [record.kind for record in rest] == ["response", "request"] * 3
    for item, response, request in zip(sent, rest[::2], rest[1::2], strict=True):
        assert (response.url, response.block) == (item.url, item.head + item.body)
        assert (request.url, request.block) == (item.url, item.request)
        assert response.headers["warc-date"] == "2026-11-22T05:30:00.123456Z"
        assert response.headers["warc-ip-address"] == "192.0.2.7"
        assert request.headers["warc-concurrent-to"] == response.headers["warc-record-id"]


def test_warcio_reads_archive(tmp_path: Path):
    sent = [exchange(number) for number in range(3)]
    (path,) = write(tmp_path, sent)
    with path.open("rb") as file:
        bodies = [
            record.content_stream().read()
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        ]
    assert bodies == [item.body for item in sent]


def test_starts_new_archive_at_size(tmp_path: Path):
    paths = write(tmp_path, [exchange(number, 40_000) for number in range(7)], size=100_000)
    counts = [sum(record.kind == "response" for record in records(path)) for path in paths]
    assert counts == [3, 3, 1]
    assert {records(path)[0].kind for path in paths} == {"warcinfo"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_needs_a_file_system_with_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without locks no file is left, and the error names the cause."""
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="No locks available"):
        write(tmp_path, [exchange(1)])
    assert list(tmp_path.iterdir()) == []


def test_writes_no_empty_archive(tmp_path: Path):
    assert write(tmp_path, []) == []


def test_renames_closed_archive(tmp_path: Path):
    """An open archive has another name, and other processes do not recover it."""
    writer = ArchiveWriter(tmp_path, "test", size=0)
    writer.write(exchange(1))
    (path,) = tmp_path.iterdir()
    assert path.name.endswith(f".warc.gz{PARTIAL_SUFFIX}")
    assert recover_elsewhere(tmp_path) == ""
    assert path.exists()
    writer.close()
    assert [other.name + PARTIAL_SUFFIX for other in tmp_path.iterdir()] == [path.name]


def recover_elsewhere(folder: Path) -> str:
    """Return the paths that another process recovers."""
    script = (
        "import sys, pathlib; from newscrawl.crawl.warc.archive_writer import recover;"
        "print(*recover(pathlib.Path(sys.argv[1])), sep='\\n', end='')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout


@pytest.mark.slow
def test_recovers_archive_of_killed_crawl(tmp_path: Path):
    script = (
        "import pathlib, sys; from tests.crawl.test_warc import ArchiveWriter, exchange\n"
        "writer = ArchiveWriter(pathlib.Path(sys.argv[1]), 'test', size=0)\n"
        "for number in range(10**6):\n"
        "    writer.write(exchange(number, 300_000)); print(number, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    said = [int(line) for line in itertools.islice(process.stdout, 20)]
    process.send_signal(signal.SIGKILL)
    said += [int(line) for line in process.communicate()[0].splitlines()]
    (path,) = recover(tmp_path)
    assert list(tmp_path.iterdir()) == [path]
    responses = [record for record in records(path) if record.kind == "response"]
    assert len(responses) - len(said) in (0, 1)
    assert recover(tmp_path) == []


@pytest.mark.parametrize("partial", [b"", b"\x1f\x8b", b"\x1f\x8b\x08" + bytes(40)])
def test_removes_archive_without_records(tmp_path: Path, partial: bytes):
    (tmp_path / f"test.warc.gz{PARTIAL_SUFFIX}").write_bytes(partial)
    assert recover(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_removes_incomplete_records(tmp_path: Path):
    """On a full disk; later pages are archived."""
    resource = pytest.importorskip("resource")
    writer = ArchiveWriter(tmp_path, "test", size=0)
    writer.write(exchange(1))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError, match="large"):
            writer.write(exchange(2, 50_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    writer.write(exchange(3))
    writer.close()
    (path,) = tmp_path.iterdir()
    urls = [record.url for record in records(path) if record.kind == "response"]
    assert urls == [exchange(1).url, exchange(3).url]


def in_thread(folder: Path, exchanges: Sequence[Exchange], limit: int) -> tuple[ArchiveThread, int]:
    """Write *exchanges* at once; return the thread and the maximum of pending bytes."""

    async def run() -> tuple[ArchiveThread, int]:
        thread = ArchiveThread(folder, ArchiveWriter(folder, "test", size=0))
        await thread.open()
        max_pending = 0
        turns = asyncio.Semaphore(8)  # as CONCURRENT_REQUESTS

        async def page(item: Exchange) -> None:
            nonlocal max_pending
            async with turns:
                await thread.write(item)
                max_pending = max(max_pending, thread._pending_bytes)

        await asyncio.gather(*map(page, exchanges))
        await thread.close()
        return thread, max_pending

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warc, "MAX_PENDING_BYTES", limit)
        return asyncio.run(run())


def test_thread_limits_pending_bytes(tmp_path: Path):
    sent = [exchange(number, 100_000) for number in range(60)]
    thread, max_pending = in_thread(tmp_path, sent, 1_000_000)
    assert (thread.written, thread.failed) == (60, 0)
    assert max_pending <= 1_000_000 + 8 * 100_000
    (path,) = tmp_path.iterdir()
    assert [record.url for record in records(path) if record.kind == "response"] == [
        item.url for item in sent
    ]


def test_logs_pages_that_are_not_archived(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    folder = tmp_path / "file"
    folder.write_text("")
    thread, _ = in_thread(folder, [exchange(1), exchange(2)], 1_000_000)
    assert (thread.written, thread.failed) == (0, 2)
    assert all(record.message.startswith("Could not archive ") for record in caplog.records)
    assert len(caplog.records) == 2


@pytest.mark.slow
def test_next_crawl_recovers_archive(tmp_path: Path):
    with SampleSites() as sites:
        write_sites_file(tmp_path / "sites.txt", sites)
        options = {
            "DOWNLOAD_DELAY": 0.2,
            "NEWSCRAWL_WARC": tmp_path / "warc",
            "NEWSCRAWL_CSS_STORE": tmp_path / "sheets.sqlite",
            "STATS_CLASS": "tests.helpers.crawls.FileStatsCollector",
            "STATS_FILE": tmp_path / "stats.json",
        }
        words = [word for name, value in options.items() for word in ("-s", f"{name}={value}")]
        command = [
            *(sys.executable, "-m", "scrapy", "crawl", "sitelist"),
            *("-a", f"sites={tmp_path}/sites.txt", *words),
        ]

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                command,
                cwd=REPOSITORY,
                env={**os.environ, "SCRAPY_SETTINGS_MODULE": "newscrawl.settings.demo"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        process = start()
        while sum(path.stat().st_size for path in tmp_path.glob("warc/*")) < 20_000:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
        process.wait()
        (partial,) = (tmp_path / "warc").iterdir()
        assert partial.name.endswith(PARTIAL_SUFFIX)
        assert start().wait(timeout=200) == 0
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["newscrawl/warc/recovered_count"] == 1
    # The robots.txt that the middleware and the spider use is archived once.
    received = stats["response_received_count"] - stats["robotstxt/response_count"]
    assert stats["newscrawl/warc/response_count"] == received
    first, second = sorted((tmp_path / "warc").iterdir())
    assert first.name + PARTIAL_SUFFIX == partial.name
    pages = [sum(record.kind == "response" for record in records(path)) for path in (first, second)]
    assert pages[0] > 3
    assert pages[1] == stats["newscrawl/warc/response_count"]


# --- Reading ---


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
        member = archives.zlib.decompressobj(31)
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


def test_continues_after_each_damage(whole: bytes, scratch: Path):
    ends = member_ends(whole)
    damaged = bytearray(whole)
    for number in (3, 4, 9):
        middle = (ends[number - 1] + ends[number]) // 2
        damaged[middle : middle + 9] = bytes(9)
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
        assert sum(isinstance(record, ArchiveRecord) for record in found) == (3 if packed else 2), (
            lie
        )


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


def test_leaves_out_records_that_are_not_selected(scratch: Path, whole: bytes):
    scratch.write_bytes(whole)
    found = list(read_records(scratch, lambda head: b"site.test/3?" in head))
    expected = [record for record in records(scratch) if "/3?" in record.url]
    assert found == expected
    assert len(found) == 2  # request and response


def test_reads_unselected_records_that_share_a_member(scratch: Path, whole: bytes):
    scratch.write_bytes(gzip.compress(gzip.decompress(whole)))
    found = list(read_records(scratch, lambda _: False))
    assert found == records(scratch)
    assert len(found) == 17


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        ("200 OK", "text/html", False),
        ("200 OK", "Text/CSS; charset=utf-8", True),
        ("301 Moved", "text/html", True),
        ("404 Not Found", "text/html", False),
    ],
)
def test_recognises_sheets_and_redirects_by_their_head(status: str, kind: str, expected: bool):
    warc_head = b"WARC/1.0\r\nWARC-Type: response\r\n\r\n"
    http_head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n".encode()
    assert may_be_sheet(warc_head + http_head + b"<p>text/css</p>") is expected
    assert may_be_sheet(warc_head + http_head[:-4])
