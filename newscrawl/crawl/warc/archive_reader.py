"""Reader of WARC archives (ISO 28500), uncompressed or with one gzip member per record.

Other libraries do not report that an archive is truncated. This reader yields a record only if it
is complete, including the checksum of its gzip member, and otherwise a :class:`Flaw`. It then
continues with the next record that it finds.
"""

from __future__ import annotations

import io
import re
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, cast

from isal import isal_zlib
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from warcio.statusandheaders import StatusAndHeaders

MAX_RECORD_SIZE: Final = 64 * 2**20
"""Size in bytes above which a record (a video, for example) is skipped."""

_InflateError: Final = cast("type[Exception]", isal_zlib.error)  # of a wrong type in its stubs
_CHUNK: Final = 64 * 2**10
_GZIP: Final = b"\x1f\x8b\x08"
_WARC: Final = b"WARC/"
_END: Final = b"\r\n\r\n"
_MAX_LINE: Final = 64 * 2**10
_HEAD: Final = 4096
_CONTENT_LENGTH: Final = re.compile(rb"\ncontent-length:[ \t]*(\d+)[ \t]*\r", re.IGNORECASE)

_parser = StatusAndHeadersParser(["WARC/1.1", "WARC/1.0", "WARC/0.18", "WARC/0.17"])


class ArchiveError(ValueError):
    """The file is not a WARC archive."""


class _CutError(Exception):
    """The archive ends within a record."""


class _DamageError(Exception):
    """A record contradicts its headers or its checksum."""


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A complete record."""

    #: ``response``, ``request``, ``metadata``, ``revisit``, ...
    kind: str
    #: WARC headers, with names in lower case; the first value of repeated headers
    headers: dict[str, str]
    block: bytes

    @property
    def url(self) -> str:
        """The fetched URL, "" if the record has none."""
        return self.headers.get("warc-target-uri", "").strip("<>")


@dataclass(frozen=True, slots=True)
class Flaw:
    """A record that could not be read."""

    #: ``cut`` (the file ends within it), ``damaged`` or ``too_large`` (skipped)
    reason: str
    #: offset of the gzip member, or of the record in an uncompressed archive
    offset: int
    #: URL of the record, if known
    url: str = ""


def read_records(
    path: Path, select: Callable[[bytes], bool] | None = None
) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of the archive at *path* in file order.

    *select* gets the first bytes of a record. Those that it does not select may be left out: in a
    gzipped archive, they are not decompressed then. Raises ``OSError``, and :class:`ArchiveError`
    if the file is not a WARC archive.
    """
    with path.open("rb") as file:
        start = file.read(len(_WARC))
        if start == _WARC:
            yield from _read_plain(file)
        elif start.startswith(_GZIP) and not _at_end(file, next_member(file, 0)):
            for _, record in read_members(file, select=select):
                yield record
        else:
            raise ArchiveError(f"{path}: {'not a WARC archive' if start else 'empty'}")


def _read_plain(file: io.BufferedReader) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of an uncompressed archive up to the first flaw."""
    file.seek(0)
    offset = 0
    try:
        for record in _records(file, 0):
            yield record
            offset = file.tell()
    except _CutError:
        yield Flaw("cut", offset)
    except _DamageError:
        yield Flaw("damaged", offset)


def read_members(
    file: IO[bytes],
    offset: int = 0,
    end: int | None = None,
    *,
    select: Callable[[bytes], bool] | None = None,
) -> Generator[tuple[int, ArchiveRecord | Flaw], None, int]:
    """Yield the records of a gzipped archive with the offsets of their members.

    Reads the members that start at *offset*, which must be the start of a member, and from there up
    to *end*. Returns the offset of the next member, or of the end of the file.
    """
    while (end is None or offset < end) and not _at_end(file, offset):
        if select and (following := _end_of_unselected(file, offset, select)):
            offset = following
            continue
        member = _Member(file, offset)
        try:
            for record in _records(io.BufferedReader(member, _CHUNK), offset):
                yield offset, record
            offset = member.end()
        except (_CutError, _DamageError, _InflateError) as error:
            yield offset, Flaw("cut" if isinstance(error, _CutError) else "damaged", offset)
            offset = next_member(file, offset + 1)
    return offset


def complete_length(path: Path) -> int:
    """Return the length in bytes of the complete records at the start of a gzipped archive."""
    with path.open("rb") as file:
        for offset, record in read_members(file):
            if isinstance(record, Flaw) and record.reason != "too_large":
                return offset
        return file.seek(0, io.SEEK_END)


class _Member(io.RawIOBase):
    """Decompressed content of the gzip member at *offset*; verifies the checksum at its end."""

    def __init__(self, file: IO[bytes], offset: int) -> None:
        super().__init__()
        self._file = file
        self._zlib = isal_zlib.decompressobj(isal_zlib.MAX_WBITS | 16)
        file.seek(offset)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # BufferedReader's
        """Read up to ``len(buffer)`` bytes into *buffer*; raise ``isal_zlib.error`` if damaged."""
        while not self._zlib.eof:
            packed = self._zlib.unconsumed_tail or self._file.read(_CHUNK)
            data = self._zlib.decompress(packed, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
            if not packed:
                raise _CutError
        return 0

    def end(self) -> int:
        """Return the offset at which the member ends, after it was read."""
        return self._file.tell() - len(self._zlib.unused_data)


def _end_of_unselected(file: IO[bytes], offset: int, select: Callable[[bytes], bool]) -> int | None:
    """Return the end of the member at *offset* if it is one record that *select* does not select.

    Nothing but its start is decompressed: the last four bytes of a member are its length.
    """
    try:
        head = _Member(file, offset).read(_HEAD) or b""
    except (_CutError, _InflateError):
        return None
    headers, end, _ = head.partition(_END)
    length = _CONTENT_LENGTH.search(headers + end)
    if length is None or select(head):
        return None
    following = next_member(file, offset + 1)
    file.seek(following - 4)
    size = len(headers) + int(length[1]) + 2 * len(_END)
    return following if int.from_bytes(file.read(4), "little") == size % 2**32 else None


def _records(stream: io.BufferedReader, offset: int) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of *stream*; raise ``_CutError`` or ``_DamageError`` for a bad record."""
    while (headers := _read_headers(stream)) is not None:
        block = _read_block(stream, headers)
        if stream.read(len(_END)) != _END:
            raise _CutError if _ended(stream) else _DamageError
        stream.peek(1)  # verifies the checksum if the member ends here
        kind = headers.get("warc-type", "")
        if block is None:
            yield Flaw("too_large", offset, headers.get("warc-target-uri", ""))
        else:
            yield ArchiveRecord(kind, headers, block)


def _read_headers(stream: io.BufferedReader) -> dict[str, str] | None:
    """Return the WARC headers of the next record, None at the end of *stream*."""
    line = stream.readline(_MAX_LINE)
    while line and not line.strip():
        line = stream.readline(_MAX_LINE)
    if not line:
        return None
    try:
        parsed: StatusAndHeaders = _parser.parse(stream, line)
    except StatusAndHeadersParserException as error:
        raise _CutError if _ended(stream) else _DamageError from error
    return {name.lower(): value for name, value in reversed(parsed.headers)}


def _read_block(stream: io.BufferedReader, headers: dict[str, str]) -> bytes | None:
    """Return the block of the record with *headers*, None if it is too large."""
    stated = headers.get("content-length", "")
    if not (stated.isascii() and stated.isdecimal()):
        raise _CutError if _ended(stream) else _DamageError
    length = int(stated)
    if length > MAX_RECORD_SIZE:
        while length and (skipped := stream.read(min(length, _CHUNK))):
            length -= len(skipped)
        block = None
    else:
        block = stream.read(length)
        length -= len(block)
    if length:
        raise _CutError if isinstance(stream.raw, io.FileIO) else _DamageError
    return block


def _ended(stream: io.BufferedReader) -> bool:
    """Return whether *stream* is an uncompressed archive at its end.

    Members detect truncation themselves.
    """
    return isinstance(stream.raw, io.FileIO) and not stream.peek(1)


def _at_end(file: IO[bytes], offset: int) -> bool:
    file.seek(offset)
    return not file.read(1)


def _is_record(file: IO[bytes], offset: int) -> bool:
    """Return whether the gzip member at *offset* holds a record."""
    file.seek(offset)
    # zlib, because ISA-L decompresses ahead and so rejects members that are damaged further on
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        return member.decompress(file.read(_CHUNK), len(_WARC)) == _WARC
    except zlib.error:
        return False


def next_member(file: IO[bytes], offset: int, end: int | None = None) -> int:
    """Return the offset of the first member with a record from *offset* on, or of the file's end.

    Looks for members that start before *end*, if given; without one, the result is *end* or more.
    The body of a page may contain such a member: only reading the one before it shows that.
    """
    while end is None or offset < end:
        file.seek(offset)
        chunk = file.read(_CHUNK)
        if len(chunk) < len(_GZIP):
            return offset + len(chunk)
        found = chunk.find(_GZIP)
        if found < 0:
            offset += len(chunk) - len(_GZIP) + 1
        elif _is_record(file, offset + found):
            return offset + found
        else:
            offset += found + 1
    return offset
