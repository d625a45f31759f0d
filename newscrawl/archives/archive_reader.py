"""Reader of WARC archives (ISO 28500), uncompressed or with one gzip member per record.

Other libraries do not report that an archive is truncated. This reader yields a record only if it
is complete, including the checksum of its gzip member, and otherwise a :class:`Flaw`. It then
continues with the next record that it finds. A hostile record costs a limited amount of memory, and
time in proportion to its size.
"""

from __future__ import annotations

import io
import re
import sys
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Final

from isal import isal_zlib

from newscrawl.crawling.network.content_codings import GZIP, INFLATE_ERROR
from newscrawl.text import without_controls

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

MAX_RECORD_SIZE: Final = 64 * 2**20
"""Size in bytes above which a record (a video, for example) is skipped."""

MAX_HEAD_SIZE: Final = 64 * 2**10
"""Maximum bytes of the head of a record or an HTTP message: a first line and headers."""

MAX_HEAD_LINES: Final = 1000
"""Maximum lines of a head."""

_CHUNK: Final = 64 * 2**10
_MAX_READ: Final = 2**20
"""Bytes of a member that are kept after they were read."""
_WARC: Final = b"WARC/"
_END: Final = b"\r\n\r\n"
_HEAD: Final = 4096
_VERSION: Final = re.compile(rb"WARC/(0\.1[78]|1\.[01])\s*", re.IGNORECASE)
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_START: Final = re.compile(rb"(?<=\n)WARC/\d\.\d{1,2}\r?\n")
_OVERLAP: Final = 12
_HEAD_END: Final = re.compile(rb"[^\r\n]\r*\n(?:\r*\n|(?=WARC/\d\.\d{1,2}\r?\n))")
_OTHER_FORMATS: Final = {
    b"filedesc:": "an ARC archive; convert it with warcio recompress",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard; decompress it with zstd -d",
}
"""Start of a file, and its format."""


class ArchiveError(ValueError):
    """The file is not a WARC archive."""


class HeadTooLargeError(Exception):
    """A head exceeds a limit; ``lines`` are those before."""

    def __init__(self, lines: list[bytes]) -> None:
        super().__init__(f"more than {MAX_HEAD_SIZE} bytes or {MAX_HEAD_LINES} lines of headers")
        self.lines = lines


class _CutError(Exception):
    """The archive ends within a record."""


class _DamageError(Exception):
    """A gzip member is damaged."""


class _BadRecordError(Exception):
    """A record contradicts its headers, or exceeds a limit."""

    def __init__(self, reason: str, url: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.url = url


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
        return _url(self.headers)


@dataclass(frozen=True, slots=True)
class Flaw:
    """A record that could not be read."""

    #: ``cut`` (the file ends within it), ``damaged``, ``too_large`` (skipped) or ``memory``
    #: (reading it exceeded the memory limit)
    reason: str
    #: offset of the gzip member, or of the record in an uncompressed archive
    offset: int
    #: URL of the record, if known
    url: str = ""


def read_records(path: Path) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of the archive at *path* in file order.

    Raises ``OSError``, and :class:`ArchiveError` if the file is not a WARC archive.
    """
    with path.open("rb") as file:
        start = file.read(len(_WARC))
        if start == _WARC:
            file.seek(0)
            yield from _read(_PlainFile(file))
        elif start.startswith(GZIP) and not _at_end(file, next_member(file, 0)):
            for _, record in read_members(file):
                yield record
        else:
            raise ArchiveError(f"{path}: {_other_format(file)}")


def _other_format(file: IO[bytes]) -> str:
    """Return the format of a file that has no WARC record."""
    file.seek(0)
    start = file.read(_HEAD)
    if start.startswith(GZIP):
        start = _unpacked(start, _HEAD)
    elif not start:
        return "empty"
    known = (name for magic, name in _OTHER_FORMATS.items() if start.startswith(magic))
    return next(known, "not a WARC archive")


def read_members(
    file: IO[bytes], offset: int = 0, end: int | None = None
) -> Generator[tuple[int, ArchiveRecord | Flaw], None, int]:
    """Yield the records of a gzipped archive with the offsets of their members.

    Reads the members that start at *offset*, which must be the start of a member, and from there up
    to *end*. Returns the offset of the next member, or of the end of the file.
    """
    while (end is None or offset < end) and not _at_end(file, offset):
        member = _Member(file, offset)
        last: ArchiveRecord | Flaw | None = None
        try:
            for last in _read(member):
                yield offset, last
            offset = member.end()
        except (_CutError, _DamageError, _BadRecordError, MemoryError) as error:
            if not isinstance(last, Flaw):  # one for the bad record and the end of its member
                yield offset, _flaw(error, offset)
            offset = next_member(file, offset + 1)
    return offset


def _flaw(error: Exception, offset: int) -> Flaw:
    if isinstance(error, _BadRecordError):
        return Flaw(error.reason, offset, error.url)
    if isinstance(error, MemoryError):
        return Flaw("memory", offset)
    return Flaw("cut" if isinstance(error, _CutError) else "damaged", offset)


def _read(content: _Content) -> Iterator[ArchiveRecord | Flaw]:
    """Yield the records of *content*.

    Raises the error of a bad record of an archive with a member per record: what follows in its
    member belongs to the page.
    """
    several = False
    while True:
        offset = content.offset
        try:
            record = _read_record(content)
        except (_BadRecordError, MemoryError) as error:
            if not (several or content.is_whole_file()):
                raise
            content.skip_to_start()
            flaw = _flaw(error, offset)
            is_cut = flaw.reason == "cut" and not content.ahead(1)
            yield flaw if flaw.reason != "cut" or is_cut else replace(flaw, reason="damaged")
            continue
        if record is None:
            return
        several = True
        yield record


def _read_record(content: _Content) -> ArchiveRecord | None:
    """Return the next record of *content*, None at its end; after an error nothing is skipped."""
    headers, start = _read_headers(content)
    if not headers:
        return None
    url, length = _url(headers), int(headers["content-length"])
    end = start + length
    if length > MAX_RECORD_SIZE:
        raise _BadRecordError("too_large", url)
    is_complete = content.ahead(end) == end
    ahead = content.ahead(end + len(_END) + 1)
    is_last = ahead <= end + len(_END)
    if is_last:
        content.verify()
    if not is_complete:
        raise _BadRecordError(content.incomplete, url)
    separator = content.part(end, min(ahead, end + len(_END)))
    if separator != _END:
        is_cut = is_last and not separator.strip(_END)
        # Some crawlers do not write one at the end of a member.
        if not is_cut or content.incomplete == "cut":
            raise _BadRecordError("cut" if is_cut else "damaged", url)
    block = content.part(start, end)
    content.skip(end + len(separator))
    return ArchiveRecord(headers.get("warc-type", ""), headers, block)


def _read_headers(content: _Content) -> tuple[dict[str, str], int]:
    """Return the WARC headers of the next record and their size; none at the end of *content*."""
    head = content.head()
    is_last = content.ahead(len(head) + 1) == len(head)
    try:
        lines, is_complete = read_lines(io.BytesIO(head))
    except HeadTooLargeError as error:
        raise _BadRecordError("too_large", _url(dict(_headers(error.lines)))) from None
    if is_last and not is_complete:
        content.verify()
    if not lines:
        return {}, 0
    pairs = _headers(lines)
    headers = dict(pairs)
    lengths = {value for name, value in pairs if name == "content-length"}
    is_valid = len(lengths) == 1 and all(map(_LENGTH.fullmatch, lengths))
    if not (is_complete and is_valid and _VERSION.fullmatch(lines[0])):
        reason = "damaged" if is_complete or not is_last else content.incomplete
        raise _BadRecordError(reason, _url(headers))
    return headers, len(head)


def _headers(lines: list[bytes]) -> list[tuple[str, str]]:
    """Return the headers with names in lower case, the first of repeated ones last."""
    return [(name.lower(), value) for name, value in reversed(parse_headers(lines))]


def _url(headers: dict[str, str]) -> str:
    return headers.get("warc-target-uri", "").strip("<> ")


def read_lines(stream: IO[bytes]) -> tuple[list[bytes], bool]:
    """Return the lines of *stream* up to an empty one, and whether there is one.

    Empty lines before the first line are skipped. Raises :class:`HeadTooLargeError`.
    """
    lines: list[bytes] = []
    room = MAX_HEAD_SIZE
    for _ in range(MAX_HEAD_LINES + 1):
        line = stream.readline(room + 1)
        room -= len(line)
        if room < 0:
            break
        if not line.endswith(b"\n"):  # the end of the stream
            return [*lines, line] if line else lines, False
        if text := line.rstrip(b"\r\n"):
            lines.append(text)
        elif lines:
            return lines, True
    raise HeadTooLargeError(lines)


def parse_headers(lines: list[bytes]) -> list[tuple[str, str]]:
    """Return names and values of the headers in *lines*, without control characters.

    Lines without a name are left out.
    """
    headers: list[tuple[str, str]] = []
    is_header = False
    for line in lines:
        text = _decode(line)
        if text[:1] in {" ", "\t"}:  # continues the header before
            if is_header:
                name, value = headers[-1]
                headers[-1] = name, f"{value} {text.strip()}"
            continue
        name, colon, value = text.partition(":")
        is_header = bool(colon)
        if is_header:
            headers.append((name.rstrip(), value.strip()))
    return headers


def _decode(line: bytes) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("latin-1")
    return without_controls(text.replace("\t", " "))


def complete_length(path: Path) -> int:
    """Return the length in bytes of the complete members at the start of a gzipped archive."""
    with path.open("rb") as file:
        offset = 0
        while not _at_end(file, offset):
            member = _Member(file, offset)
            member.skip(sys.maxsize)
            if not member.is_intact():
                break
            offset = member.end()
        return offset


class _Content(ABC):
    """Content with records, which is read ahead as far as needed."""

    #: reason of a record whose end is missing
    incomplete = "damaged"

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._window = bytearray()
        self._place = 0
        self._dropped = 0
        self._ended = False
        self._failure: type[Exception] | None = None

    @property
    @abstractmethod
    def offset(self) -> int:
        """Offset of the next record in the file, or of its gzip member."""

    @abstractmethod
    def is_whole_file(self) -> bool:
        """Return whether the file has no records after this content."""

    @abstractmethod
    def _more(self, size: int) -> bytes:
        """Return the next bytes, about *size*; set ``_ended`` if there are none."""

    def verify(self) -> None:
        """Raise ``_CutError`` or ``_DamageError`` if there is more that cannot be read."""
        if self._failure:
            raise self._failure

    def ahead(self, size: int) -> int:
        """Return the number of bytes ahead, up to *size*."""
        while (wanted := self._place + size - len(self._window)) > 0 and not self._ended:
            self._window += self._more(max(wanted, _HEAD))
        return min(size, len(self._window) - self._place)

    def part(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* to *end*, which are ahead."""
        return bytes(memoryview(self._window)[self._place + start : self._place + end])

    def head(self) -> bytes:
        """Return the head ahead: up to an empty line, the next start of a record, or the limit."""
        size = 0
        for limit in (_HEAD, MAX_HEAD_SIZE + 1):
            size = self.ahead(limit)
            found = _HEAD_END.search(self._window, self._place, self._place + size)
            if found:
                size = found.end() - self._place
                break
        return self.part(0, size)

    def skip(self, size: int) -> None:
        """Skip *size* bytes, fewer at the end."""
        while size and (part := self.ahead(min(size, _CHUNK))):
            self._place += part
            size -= part
            if self._place > max(_MAX_READ, len(self._window) // 2):
                del self._window[: self._place]
                self._dropped += self._place
                self._place = 0

    def skip_to_start(self) -> None:
        """Skip to the next start of a record, at least a byte."""
        self.skip(1)
        while True:
            found = _START.search(self._window, self._place)
            start = found.start() if found else None
            del found  # The window cannot be changed otherwise.
            if start is not None:
                self._place = start
                return
            ahead = len(self._window) - self._place
            self.skip(max(0, ahead - _OVERLAP))
            if self.ahead(_OVERLAP + _CHUNK) <= _OVERLAP:
                self.skip(_OVERLAP)
                return


class _PlainFile(_Content):
    """An uncompressed archive."""

    incomplete = "cut"

    @property
    def offset(self) -> int:
        """Number of bytes that were read."""
        return self._dropped + self._place

    def is_whole_file(self) -> bool:
        """Return True."""
        return True

    def _more(self, size: int) -> bytes:
        data = self._file.read(size)
        self._ended = not data
        return data


class _Member(_Content):
    """The gzip member at *offset*."""

    def __init__(self, file: IO[bytes], offset: int) -> None:
        super().__init__(file)
        self._offset = offset
        self._is_only = False if offset else None
        self._zlib = isal_zlib.decompressobj(isal_zlib.MAX_WBITS | 16)
        file.seek(offset)

    @property
    def offset(self) -> int:
        """Offset of the member."""
        return self._offset

    def is_whole_file(self) -> bool:
        """Return whether the file has no other member with a record."""
        if self._is_only is None:
            position = self._file.tell()
            self._is_only = _at_end(self._file, next_member(self._file, 1))
            self._file.seek(position)
        return self._is_only

    def _more(self, size: int) -> bytes:
        if self._window:  # zlib copies its input at each step
            size = max(size, _CHUNK)
        while not self._zlib.eof:
            packed = self._zlib.unconsumed_tail or self._file.read(_CHUNK)
            try:
                data = self._zlib.decompress(packed, size)
            except INFLATE_ERROR:
                self._failure = _DamageError
                break
            if data:
                return data
            if not packed:
                self._failure = _CutError
                break
        self._ended = True
        return b""

    def is_intact(self) -> bool:
        """Return whether all that was read is complete and undamaged."""
        return self._failure is None

    def end(self) -> int:
        """Return the offset at which the member ends, after it was read."""
        return self._file.tell() - len(self._zlib.unused_data)


def _at_end(file: IO[bytes], offset: int) -> bool:
    file.seek(offset)
    return not file.read(1)


def _unpacked(packed: bytes, size: int) -> bytes:
    """Return the first *size* bytes of a gzip member, empty if it is damaged."""
    # zlib, because ISA-L decompresses ahead and so rejects members that are damaged further on
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, size)
    except zlib.error:
        return b""


def next_member(file: IO[bytes], offset: int, end: int | None = None) -> int:
    """Return the offset of the first member with a record from *offset* on, or of the file's end.

    Looks for members that start before *end*, if given; without one, the result is *end* or more.
    The body of a page may contain such a member: only reading the one before it shows that.
    """
    while end is None or offset < end:
        file.seek(offset)
        chunk = file.read(_CHUNK + _HEAD)
        if len(chunk) < len(GZIP):
            return offset + len(chunk)
        found = chunk.find(GZIP, 0, _CHUNK)
        while found >= 0 and _unpacked(chunk[found : found + _HEAD], len(_WARC)) != _WARC:
            found = chunk.find(GZIP, found + 1, _CHUNK)
        if found >= 0:
            return offset + found
        offset += min(len(chunk), _CHUNK) - len(GZIP) + 1
    return offset
