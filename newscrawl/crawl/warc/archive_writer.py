"""Writing WARC archives: what a crawl sent and received, as it was received (ISO 28500, WARC/1.1).

Each record is a gzip member of its own, written by one call: whatever stops the process, the file
holds whole records and at most one that is cut, which :func:`recover` takes off.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import io
import json
import logging
import os
import secrets
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newscrawl import clock
from newscrawl.crawl.output.atomic_write import PARTIAL_SUFFIX, publish
from newscrawl.crawl.warc.archive_reader import whole_length

# Windows itself refuses to rename a file that is open.
_WINDOWS: Final = sys.platform == "win32"
if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

logger = logging.getLogger(__name__)

SUFFIX: Final = ".warc.gz"

NOTES: Final = "WARC-JSON-Metadata"
"""Header of a response in which the crawl notes what it knows of the page."""

MOST_WAITING: Final = 32 * 2**20
"""Bytes of responses that may wait to be written before downloads wait for them."""

_VERSION: Final = "WARC/1.1"
# Level 9, warcio's, takes twice the time for the same size.
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response."""

    url: str
    #: when the response had arrived (aware)
    at: datetime
    #: request line, headers and body, as sent
    request: bytes
    #: status line and headers with the empty line
    head: bytes
    #: the body as it came, content encodings included
    body: bytes
    ip: str | None = None
    #: why the body is not all of it: a value of WARC-Truncated
    truncated: str | None = None
    #: what the crawl knows of the page; JSON values
    notes: Mapping[str, Any] = field(default_factory=dict)


class ArchiveWriter:
    """Writes exchanges to archives in *folder*, a new one whenever *size* bytes are reached (0: never).

    *prefix* begins their names; *about* describes the crawl in each of them. An archive has its
    final name once it is closed and on disk.
    """

    def __init__(
        self, folder: Path, prefix: str, *, size: int, about: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._prefix = prefix
        self._size = size
        self._about = about or {}
        self._count = 0
        self._path = folder
        self._file: io.FileIO | None = None

    def write(self, exchange: Exchange) -> None:
        """Add the records of *exchange*; raise ``OSError``, with none of them added."""
        self._append(b"".join(_members(exchange)))

    def close(self) -> None:
        """Finish the open archive."""
        if self._file is None:
            return
        file, self._file = self._file, None
        _finish(file, self._path)

    def _append(self, data: bytes) -> None:
        file = self._file or self._open()
        whole = file.tell()
        try:
            _write_all(file, data)
        except OSError:
            file.seek(whole)
            file.truncate()
            raise
        if 0 < self._size <= file.tell():
            self.close()

    def _open(self) -> io.FileIO:
        self._folder.mkdir(parents=True, exist_ok=True)
        now = f"{clock.now():%Y%m%d%H%M%S}"
        # Crawls of the same name may share the folder.
        name = f"{self._prefix}-{now}-{self._count:05}-{secrets.token_hex(3)}{SUFFIX}"
        self._count += 1
        path = self._folder / name
        # Unbuffered: what is written outlives the process.
        file = io.FileIO(_open_path(path), "x+")
        if not (_lock(file) and os.fstat(file.fileno()).st_nlink):
            file.close()  # another crawl has just taken it for one that was left
            return self._open()
        _write_all(file, _info(name, self._about))
        self._path, self._file = path, file
        return file


def _open_path(path: Path) -> Path:
    """Return where the archive *path* is while it is being written."""
    return path.with_name(path.name + PARTIAL_SUFFIX)


def _finish(file: io.FileIO, path: Path) -> None:
    """Close the archive and give it its name: under its lock, except on Windows."""
    with file:
        os.fsync(file.fileno())
        if not _WINDOWS:
            publish(_open_path(path), path)
    if _WINDOWS:
        publish(_open_path(path), path)


def recover(folder: Path) -> list[Path]:
    """Finish the archives in *folder* that a crash left open, at their last whole record.

    Those that a running crawl is writing stay as they are. Returns the paths of the finished ones.
    """
    recovered = (_recover(path) for path in sorted(folder.glob(f"*{SUFFIX}{PARTIAL_SUFFIX}")))
    return [path for path in recovered if path]


def _recover(left: Path) -> Path | None:
    path = left.with_name(left.name.removesuffix(PARTIAL_SUFFIX))
    try:
        file = io.FileIO(left, "r+")
        if not _lock(file):
            file.close()
            return None
        length = whole_length(left)
    except FileNotFoundError:  # another crawl was faster
        return None
    file.truncate(length)
    _finish(file, path)
    if not length:
        path.unlink()
        return None
    return path


def _lock(file: io.FileIO) -> bool:
    """Return whether no other process is writing *file*, and keep it from doing so."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def _write_all(file: io.FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _members(exchange: Exchange) -> tuple[bytes, bytes]:
    """Return the response and the request, each as a gzip member."""
    response_id, request_id = _record_id(), _record_id()
    common = {"WARC-Target-URI": exchange.url, "WARC-Date": _instant(exchange.at)}
    if exchange.ip:
        common["WARC-IP-Address"] = exchange.ip
    response = {**common, "WARC-Payload-Digest": _digest(exchange.body)}
    if exchange.truncated:
        response["WARC-Truncated"] = exchange.truncated
    if exchange.notes:
        response[NOTES] = json.dumps(exchange.notes)
    request = {
        **common,
        "WARC-Concurrent-To": response_id,
        "WARC-Payload-Digest": _digest(exchange.request.partition(b"\r\n\r\n")[2]),
    }
    block = exchange.head + exchange.body
    http = "application/http; msgtype="
    return (
        _member("response", response_id, response, block, f"{http}response"),
        _member("request", request_id, request, exchange.request, f"{http}request"),
    )


def _info(name: str, about: Mapping[str, str]) -> bytes:
    """Return the record that opens the archive *name*."""
    fields = {
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        **about,
    }
    block = "".join(f"{key}: {value}\r\n" for key, value in fields.items()).encode()
    headers = {"WARC-Date": _instant(clock.now()), "WARC-Filename": name}
    return _member("warcinfo", _record_id(), headers, block, "application/warc-fields")


def _member(
    kind: str, record_id: str, headers: Mapping[str, str], block: bytes, content_type: str
) -> bytes:
    first = [("WARC-Type", kind), ("WARC-Record-ID", record_id)]
    known = StatusAndHeaders("", [*first, *headers.items()], protocol=_VERSION)
    # Without parsed HTTP headers, which warcio would rewrite: the block stays as it is.
    record = ArcWarcRecord("warc", kind, known, io.BytesIO(block), None, content_type, len(block))
    record.rec_headers.add_header("WARC-Block-Digest", _digest(block))
    written = io.BytesIO()
    WARCWriter(written, gzip=False, warc_version=_VERSION).write_record(record)
    return gzip.compress(written.getvalue(), _LEVEL, mtime=0)


def _record_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _digest(data: bytes) -> str:
    # SHA-1 in base 32 is what archives are deduplicated by; nothing here is a secret.
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    return f"sha1:{base64.b32encode(digest).decode()}"


class ArchiveThread:
    """An :class:`ArchiveWriter` in a thread of its own."""

    def __init__(self, folder: Path, writer: ArchiveWriter) -> None:
        self._folder = folder
        self._writer = writer
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="warc")
        self._waiting = 0
        #: exchanges that are in an archive, and those that could not be written
        self.written = self.failed = 0

    async def open(self) -> list[Path]:
        """Recover what a crash left; return the paths of archives that were finished so."""
        finished: list[Path] = await self._run(recover, self._folder)
        return finished

    async def write(self, exchange: Exchange) -> None:
        """Have *exchange* written; wait for that only where too much waits already."""
        size = len(exchange.body)
        self._waiting += size
        writing = self._run(self._writer.write, exchange)
        writing.add_done_callback(partial(self._settle, exchange.url, size))
        if self._waiting > MOST_WAITING:
            await asyncio.wait([writing])

    def _settle(self, url: str, size: int, writing: asyncio.Future[None]) -> None:
        self._waiting -= size
        if error := writing.exception():
            self.failed += 1
            logger.error("Not archived: %s: %s", url, error)
        else:
            self.written += 1

    async def close(self) -> None:
        """Write what waits and finish the archive."""
        try:
            await self._run(self._writer.close)
        finally:
            self._thread.shutdown(wait=False)

    def _run(self, function: Any, *args: Any) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._thread, function, *args)
