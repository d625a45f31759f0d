"""Writer of WARC archives, and recovery after a stopped crawl."""

import asyncio
import errno
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from newscrawl.archives import archive_writer as warc
from newscrawl.archives.archive_reader import ArchiveRecord, Flaw, read_records
from newscrawl.archives.archive_writer import ArchiveThread, ArchiveWriter, Exchange, recover
from newscrawl.crawling.output.atomic_write import PARTIAL_SUFFIX
from samples import SampleSites
from samples.server import write_sites_file
from tests.conftest import REPOSITORY, run_python
from tests.helpers.forked_scrapy import ForkedScrapy

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
    writer = ArchiveWriter(folder, "test", size=size, about={"software": "test"})
    for item in exchanges:
        writer.write(item)
    writer.close()
    return sorted(folder.iterdir())


def records(path: Path) -> list[ArchiveRecord]:
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
    script = (
        "import sys, pathlib; from newscrawl.archives.archive_writer import recover;"
        "print(*recover(pathlib.Path(sys.argv[1])), sep='\\n', end='')"
    )
    return run_python(script, str(folder))


@pytest.mark.slow
def test_recovers_archive_of_killed_crawl(tmp_path: Path):
    script = (
        "import pathlib, sys; from tests.archives.test_warc import ArchiveWriter, exchange\n"
        "writer = ArchiveWriter(pathlib.Path(sys.argv[1]), 'test', size=0)\n"
        "for number in range(10**6):\n"
        "    writer.write(exchange(number, 300_000)); print(number, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], cwd=REPOSITORY, stdout=subprocess.PIPE
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
            "NEWSCRAWL_CSS_STORE": tmp_path / "sheets",
            "STATS_CLASS": "tests.helpers.crawls.FileStatsCollector",
            "STATS_FILE": tmp_path / "stats.json",
        }
        words = [word for name, value in options.items() for word in ("-s", f"{name}={value}")]
        command = ["crawl", "sitelist", "-a", f"sites={tmp_path}/sites.txt", *words]
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "samples.settings"}

        def start() -> ForkedScrapy:
            return ForkedScrapy(command, REPOSITORY, environment, tmp_path / "crawl.log")

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
