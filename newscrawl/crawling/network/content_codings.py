"""Content codings of HTTP (RFC 9110, section 8.4.1), decoded within limits.

deflate is read by ISA-L, in half the time of zlib. gzip is not read by ``gzip.GzipFile``, which skips
padding byte by byte.
"""

from __future__ import annotations

import base64
import re
import sys
from typing import TYPE_CHECKING, Any, Final, cast

import brotli
from isal import isal_zlib

from newscrawl.document.encoding import is_binary

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

MAX_CODINGS: Final = 2
"""Maximum number of codings of a body."""
MAX_MEMBERS: Final = 10_000
"""Maximum number of members of a gzip stream and of frames of a zstd stream."""
GZIP: Final = b"\x1f\x8b\x08"
_MAX_GZIP: Final = 2
"""First bytes of a gzip stream."""
INFLATE_ERROR: Final = cast("type[Exception]", isal_zlib.error)
"""Error of a damaged deflate stream; of a wrong type in the stubs of isal."""

# A window of 8 MB at most (RFC 9659).
_ZSTD_OPTIONS: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 23}
_PADDING: Final = re.compile(rb"\0*")
_CHUNK: Final = 64 * 1024


class CodingError(Exception):
    """A body cannot be decoded: it is damaged, or has too many codings, members or frames."""


class TooLargeError(Exception):
    """A decoded body is larger than allowed."""


def split_codings(headers: Sequence[bytes]) -> tuple[list[str], list[str]]:
    """Return the codings of ``Content-Encoding`` *headers* to decode, last one first, and the rest.

    These are the codings before and including an unknown one. Raises :class:`CodingError` if there
    are more than :data:`MAX_CODINGS`.
    """
    names = b",".join(headers).decode("latin-1").lower().split(",")
    rest = [name for name in map(str.strip, names) if name not in ("", "identity")]
    if len(rest) > MAX_CODINGS:
        raise CodingError(f"{len(rest)} codings")
    known: list[str] = []
    while rest and rest[-1] in _DECODERS:
        known.append(rest.pop())
    return known, rest


def decode(data: bytes, codings: Sequence[str], max_size: int, *, cut: bool = False) -> bytes:
    """Return *data* decoded from *codings* in turn, each to at most *max_size* bytes.

    Raises :class:`CodingError`, and :class:`TooLargeError` unless *cut*: then the result is the
    start of the body, up to *max_size* or the damage. The end of a stream may be missing, and
    checksums of gzip are not verified, as in browsers.
    """
    for coding in codings:
        chunks: list[bytes] = []
        size = 0
        try:
            for chunk in _DECODERS[coding](data):
                chunks.append(chunk)
                size += len(chunk)
                if size > max_size:
                    break
        except CodingError:
            if not cut:
                raise
        if size > max_size and not cut:
            raise TooLargeError
        data = b"".join(chunks)[:max_size]
    return data


def unpacked(data: bytes, max_size: int) -> bytes:
    """Return a gzip file that was sent as it is, unpacked up to *max_size* bytes; other *data* itself."""
    for _ in range(_MAX_GZIP):  # some servers compress compressed files
        if data.startswith(GZIP):
            data = decode(data, ["gzip"], max_size, cut=True)
    return data


def decode_in_worker(
    data: bytes, *, codings: Sequence[str], max_size: int, cut: bool
) -> dict[str, Any]:
    """Return the ``body`` of :func:`decode` in base64, or the ``error`` or ``too_large``."""
    try:
        body = decode(data, codings, max_size, cut=cut)
    except TooLargeError:
        return {"too_large": True}
    except CodingError as error:
        return {"error": str(error)}
    return {"body": base64.b64encode(body).decode()}


class _Chunks:
    """The parts of *data* from *position* on.

    They are small at first, since a decoder copies the rest of a part after a short stream.
    """

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self.position = position
        self._size = 1024

    def next(self) -> bytes:
        chunk = self._data[self.position : self.position + self._size]
        self.position += len(chunk)
        self._size = min(2 * self._size, _CHUNK)
        return chunk


def _gunzip(data: bytes) -> Iterator[bytes]:
    if not data.startswith(GZIP) and not is_binary(data):  # labelled so by mistake
        yield data
        return
    start = _header_end(data, 0)
    for _ in range(MAX_MEMBERS):
        end = yield from _inflate(data, start, -isal_zlib.MAX_WBITS)
        # After the checksum and the length there may be zeros, and another member.
        padding = _PADDING.match(data, end + 8)
        next_member = padding.end() if padding else len(data)
        if not data.startswith(GZIP, next_member):
            return
        start = _header_end(data, next_member)
    raise CodingError(f"more than {MAX_MEMBERS} members")


def _header_end(data: bytes, start: int) -> int:
    """Return the end of the gzip header at *start* (RFC 1952)."""
    if not data.startswith(GZIP, start):
        raise CodingError("not gzip")
    flags = data[start + 3] if len(data) > start + 3 else 0
    end = start + 10
    if flags & 4:
        end += 2 + int.from_bytes(data[end : end + 2], "little")
    for flag in (8, 16):  # name, comment
        if flags & flag:
            end = data.find(b"\0", end) + 1 or len(data)
    return end + (2 if flags & 2 else 0)


def _inflate(data: bytes, start: int, window: int) -> Generator[bytes, None, int]:
    """Yield the content of the deflate stream at *start*; return its end."""
    stream = isal_zlib.decompressobj(window)
    chunks = _Chunks(data, start)
    try:
        while not stream.eof and (packed := stream.unconsumed_tail or chunks.next()):
            yield stream.decompress(packed, _CHUNK)
    except INFLATE_ERROR as error:
        raise CodingError(str(error)) from error
    return chunks.position - len(stream.unused_data)


def _undeflate(data: bytes) -> Iterator[bytes]:
    # Some servers send it without the header of zlib (RFC 1950, section 2.2).
    has_header = data[:1] and data[0] & 15 == 8 and int.from_bytes(data[:2]) % 31 == 0
    yield from _inflate(data, 0, isal_zlib.MAX_WBITS if has_header else -isal_zlib.MAX_WBITS)


def _unbrotli(data: bytes) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    try:
        chunk = stream.process(data, output_buffer_limit=_CHUNK)
        while chunk:
            yield chunk
            chunk = stream.process(b"", output_buffer_limit=_CHUNK)
    except brotli.error as error:
        raise CodingError(str(error)) from error


def _unzstd(data: bytes) -> Iterator[bytes]:
    start = 0
    for _ in range(MAX_MEMBERS):
        stream = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
        chunks = _Chunks(data, start)
        try:
            while not stream.eof:
                packed = chunks.next() if stream.needs_input else b""
                if stream.needs_input and not packed:
                    return
                yield stream.decompress(packed, _CHUNK)
        except zstd.ZstdError as error:
            raise CodingError(str(error)) from error
        start = chunks.position - len(stream.unused_data)
        if start == len(data):
            return
    raise CodingError(f"more than {MAX_MEMBERS} frames")


_DECODERS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "br": _unbrotli,
    "deflate": _undeflate,
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "zstd": _unzstd,
}
