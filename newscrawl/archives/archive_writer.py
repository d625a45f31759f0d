"""Writer of WARC archives with the requests and raw responses of a crawl (ISO 28500, WARC/1.1).

Each record is a gzip member written by one call, so after a crash at most the last record is
incomplete. :func:`recover` removes it.
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
from newscrawl.archives.archive_reader import complete_length
from newscrawl.crawling.output.atomic_write import PARTIAL_SUFFIX, publish

# Windows does not rename open files.
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
"""Header of a response record with the role and hints of the page (JSON)."""

MAX_PENDING_BYTES: Final = 32 * 2**20
"""Bytes of unwritten responses above which downloads wait for the writer."""

_VERSION: Final = "WARC/1.1"
_SPECIFICATION: Final = (
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
)
# Level 9, the default of warcio, takes twice the time for about the same size.
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response."""

    url: str
    #: time at which the response was received (aware)
    at: datetime
    #: request line, headers and body, as sent
    request: bytes
    #: status line and headers, including the empty line
    head: bytes
    #: the body as received, before decompression
    body: bytes
    ip: str | None = None
    #: value of WARC-Truncated for an incomplete body
    truncated: str | None = None
    #: role and hints of the page, as JSON values
    notes: Mapping[str, Any] = field(default_factory=dict)


class ArchiveWriter:
    """Writes exchanges to archives in *folder*, and starts a new one after *size* bytes (0: never).

    Archive names start with *prefix*; *about* is the content of their ``warcinfo`` record. An
    archive gets its final name when it is closed and fsynced.
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
        """Add the records of *exchange*, or none of them if it raises ``OSError``."""
        file = self._file or self._open()
        start = file.tell()
        try:
            _write_all(file, b"".join(_members(exchange)))
        except OSError:
            file.seek(start)
            file.truncate()
            raise
        if 0 < self._size <= file.tell():
            self.close()

    def close(self) -> None:
        """Finish the open archive."""
        if self._file is None:
            return
        file, self._file = self._file, None
        _finish(file, self._path)

    def _open(self) -> io.FileIO:
        self._folder.mkdir(parents=True, exist_ok=True)
        now = f"{clock.now():%Y%m%d%H%M%S}"
        # The random part is for crawls of the same spider that share the folder.
        name = f"{self._prefix}-{now}-{self._count:05}-{secrets.token_hex(3)}{SUFFIX}"
        self._count += 1
        path = self._folder / name
        # Unbuffered, so that written records survive a crash of the process.
        file = io.FileIO(_open_path(path), "x+")
        try:
            locked = _lock(file)
        except OSError:
            file.close()
            _open_path(path).unlink()
            raise
        if not (locked and os.fstat(file.fileno()).st_nlink):
            file.close()  # another crawl recovered it before it was locked
            return self._open()
        _write_all(file, _info(name, self._about))
        self._path, self._file = path, file
        return file


def _open_path(path: Path) -> Path:
    """Return the path of the archive *path* while it is being written."""
    return path.with_name(path.name + PARTIAL_SUFFIX)


def _finish(file: io.FileIO, path: Path) -> None:
    """Close the archive and rename it to *path*, under its lock except on Windows."""
    with file:
        os.fsync(file.fileno())
        if not _WINDOWS:
            publish(_open_path(path), path)
    if _WINDOWS:
        publish(_open_path(path), path)


def recover(folder: Path) -> list[Path]:
    """Finish the archives in *folder* that a crash left open, after their last complete record.

    Archives of running crawls are skipped. Returns the paths of the finished archives.
    """
    recovered = (_recover(path) for path in sorted(folder.glob(f"*{SUFFIX}{PARTIAL_SUFFIX}")))
    return [path for path in recovered if path]


def _recover(unfinished: Path) -> Path | None:
    path = unfinished.with_name(unfinished.name.removesuffix(PARTIAL_SUFFIX))
    try:
        file = io.FileIO(unfinished, "r+")
        if not _lock(file):
            file.close()
            return None
        length = complete_length(unfinished)
    except FileNotFoundError:  # recovered by another crawl
        return None
    file.truncate(length)
    _finish(file, path)
    if not length:
        path.unlink()
        return None
    return path


def _lock(file: io.FileIO) -> bool:
    """Lock *file*; return False if another process has locked it. Always True on Windows.

    Raises ``OSError`` if the file system has no locks.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _write_all(file: io.FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _members(exchange: Exchange) -> tuple[bytes, bytes]:
    """Return the records of response and request, each as a gzip member."""
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
    """Return the ``warcinfo`` record of the archive *name*."""
    fields = {
        "format": "WARC File Format 1.1",
        "conformsTo": _SPECIFICATION,
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
    # Without parsed HTTP headers, which warcio would rewrite.
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
    # The usual digest of WARC archives, used for deduplication.
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    return f"sha1:{base64.b32encode(digest).decode()}"


class ArchiveThread:
    """Runs an :class:`ArchiveWriter` in a thread."""

    def __init__(self, folder: Path, writer: ArchiveWriter) -> None:
        self._folder = folder
        self._writer = writer
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="warc")
        self._pending_bytes = 0
        #: numbers of exchanges
        self.written = self.failed = 0

    async def open(self) -> list[Path]:
        """Recover the archives of crashed crawls; return their paths."""
        recovered: list[Path] = await self._run(recover, self._folder)
        return recovered

    async def write(self, exchange: Exchange) -> None:
        """Queue *exchange*; wait until it is written if too many bytes are pending."""
        size = len(exchange.body)
        self._pending_bytes += size
        writing = self._run(self._writer.write, exchange)
        writing.add_done_callback(partial(self._finish, exchange.url, size))
        if self._pending_bytes > MAX_PENDING_BYTES:
            await asyncio.wait([writing])

    def _finish(self, url: str, size: int, writing: asyncio.Future[None]) -> None:
        self._pending_bytes -= size
        if error := writing.exception():
            self.failed += 1
            logger.error("Could not archive %s: %s", url, error)
        else:
            self.written += 1

    async def close(self) -> None:
        """Write all pending exchanges and finish the archive."""
        try:
            await self._run(self._writer.close)
        finally:
            self._thread.shutdown(wait=False)

    def _run(self, function: Any, *args: Any) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._thread, function, *args)
