"""Hostile records of archives: each is one failure, and the rest of the archive is read."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from newscrawl.archives.archive_reader import (
    MAX_HEAD_SIZE,
    ArchiveError,
    ArchiveRecord,
    read_records,
)
from newscrawl.archives.captures import Failure, NoPageError, page_of, record_pages
from newscrawl.items import PageItem
from tests.conftest import REPOSITORY
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
def test_all_hostile_records_in_one_archive(tmp_path: Path, form: str):
    path = tmp_path / f"archive{suffix(form)}"
    between = [f"https://site.test/{number}" for number in range(len(RECORDS))]
    made = zip(RECORDS.values(), between, strict=True)
    path.write_bytes(
        archive(form, [part for (make, _), url in made for part in (make(), record(url))])
    )
    found, _, failures = pages(path)
    assert [page.url for page in found] == [*GOOD[:2], *between, *GOOD[2:]]
    assert [failure.reason for failure in failures] == [reason for _, reason in RECORDS.values()]


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


def test_status_has_three_digits():
    for status in ("2" * 5000, "٢٠٠", "-20", "20"):
        block = f"HTTP/1.1 {status} OK\r\n\r\n".encode()
        with pytest.raises(NoPageError, match="not_http"):
            page_of(ArchiveRecord("response", {"warc-target-uri": URL}, block))


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
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return json.loads(done.stdout)


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
