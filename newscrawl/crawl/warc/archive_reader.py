"""Reading WARC archives, ours and others' (ISO 28500): plain, or gzipped record by record.

Every library gives the records of an archive that was cut off and says nothing of the rest.
Here a record comes only when its end was seen, that of its gzip member with its checksum
included, and what is wrong comes as a :class:`Flaw` in its place; reading goes on behind it where
a next record can be found.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warcio.statusandheaders import StatusAndHeaders

MOST_BYTES: Final = 64 * 2**20
"""A larger record (a film, say) is passed over unread: no page is that large."""

_CHUNK: Final = 64 * 2**10
_GZIP: Final = b"\x1f\x8b\x08"
_WARC: Final = b"WARC/"
_END: Final = b"\r\n\r\n"
_LINE: Final = 64 * 2**10

_parser = StatusAndHeadersParser(["WARC/1.1", "WARC/1.0", "WARC/0.18", "WARC/0.17"])


class ArchiveError(ValueError):
    """The file is no WARC archive."""


class _CutError(Exception):
    """The archive ends within a record."""


class _DamageError(Exception):
    """A record is not what its headers or its checksum say."""


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A record, whole."""

    #: ``response``, ``request``, ``metadata``, ``revisit``, ...
    kind: str
    #: the WARC headers; names in lower case, the first where there are several
    headers: dict[str, str]
    block: bytes

    @property
    def url(self) -> str:
        """Return what was fetched, "" where that makes no sense."""
        return self.headers.get("warc-target-uri", "").strip("<>")


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is in a record's place."""

    #: ``cut`` (the file ends within), ``damaged``, ``too_large`` (no damage: it was passed over)
    reason: str
    #: place in the file of the gzip member, or of the record in a plain archive
    offset: int
    #: of the record, where known
    url: str = ""


def read_records(path: Path) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of the archive at *path*, in its order.

    Raises ``OSError``, and :class:`ArchiveError` for a file that is none.
    """
    with path.open("rb") as file:
        start = file.read(len(_WARC))
        if start == _WARC:
            yield from _read_plain(file)
        elif start.startswith(_GZIP) and not _at_end(file, _next_member(file, 0)):
            for _, record in read_members(file):
                yield record
        else:
            raise ArchiveError(f"{path}: {'not a WARC archive' if start else 'empty'}")


def _read_plain(file: io.BufferedReader) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of an archive that is not compressed; nothing tells where a next one is."""
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


def read_members(file: io.BufferedReader) -> Iterator[tuple[int, ArchiveRecord | Flaw]]:
    """Yield the records of a gzipped archive, each with the place where its member starts."""
    offset = 0
    while not _at_end(file, offset):
        member = _Member(file, offset)
        try:
            for record in _records(io.BufferedReader(member, _CHUNK), offset):
                yield offset, record
            offset = member.end()
        except (_CutError, _DamageError, zlib.error) as error:
            yield offset, Flaw("cut" if isinstance(error, _CutError) else "damaged", offset)
            offset = _next_member(file, offset + 1)


def whole_length(path: Path) -> int:
    """Return how many bytes of a gzipped archive are whole records, from its start."""
    with path.open("rb") as file:
        for offset, record in read_members(file):
            if isinstance(record, Flaw) and record.reason != "too_large":
                return offset
        return file.seek(0, io.SEEK_END)


class _Member(io.RawIOBase):
    """The content of the gzip member at *offset*, checksum verified at its end."""

    def __init__(self, file: IO[bytes], offset: int) -> None:
        super().__init__()
        self._file = file
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 16)
        file.seek(offset)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # BufferedReader's
        """Fill *buffer*, or as much of it as is there; raise ``zlib.error`` for damage."""
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
        """Return where in the file the member ends, once it was read."""
        return self._file.tell() - len(self._zlib.unused_data)


def _records(stream: io.BufferedReader, offset: int) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of *stream*, which ends behind one, or raise what is wrong with one."""
    while (headers := _read_headers(stream)) is not None:
        block = _read_block(stream, headers)
        if stream.read(len(_END)) != _END:
            raise _CutError if _ended(stream) else _DamageError
        stream.peek(1)  # verifies the checksum where the member ends here
        kind = headers.get("warc-type", "")
        if block is None:
            yield Flaw("too_large", offset, headers.get("warc-target-uri", ""))
        else:
            yield ArchiveRecord(kind, headers, block)


def _read_headers(stream: io.BufferedReader) -> dict[str, str] | None:
    """Return the WARC headers of the next record, None at the end of *stream*."""
    line = stream.readline(_LINE)
    while line and not line.strip():
        line = stream.readline(_LINE)
    if not line:
        return None
    try:
        parsed: StatusAndHeaders = _parser.parse(stream, line)
    except StatusAndHeadersParserException as error:
        raise _CutError if _ended(stream) else _DamageError from error
    return {name.lower(): value for name, value in reversed(parsed.headers)}


def _read_block(stream: io.BufferedReader, headers: dict[str, str]) -> bytes | None:
    """Return the block of the record with *headers*, None for a block that is too large."""
    stated = headers.get("content-length", "")
    if not (stated.isascii() and stated.isdecimal()):
        raise _CutError if _ended(stream) else _DamageError
    length = int(stated)
    if length > MOST_BYTES:
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
    """Return whether a plain archive is over; in a gzip member only its own end tells of a cut."""
    return isinstance(stream.raw, io.FileIO) and not stream.peek(1)


def _at_end(file: IO[bytes], offset: int) -> bool:
    file.seek(offset)
    return not file.read(1)


def _is_record(file: IO[bytes], offset: int) -> bool:
    """Return whether the gzip member at *offset* holds a record."""
    try:
        return _Member(file, offset).read(len(_WARC)) == _WARC
    except (_CutError, zlib.error):
        return False


def _next_member(file: IO[bytes], offset: int) -> int:
    """Return where the next record's member starts at or behind *offset*, or the file's end."""
    while True:
        file.seek(offset)
        chunk = file.read(_CHUNK)
        if len(chunk) < len(_GZIP):
            return offset + len(chunk)
        place = chunk.find(_GZIP)
        if place < 0:
            offset += len(chunk) - len(_GZIP) + 1
        elif _is_record(file, offset + place):
            return offset + place
        else:
            offset += place + 1
