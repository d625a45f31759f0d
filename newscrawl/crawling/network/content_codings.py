"""Content codings of HTTP (RFC 9110, section 8.4.1), decoded within limits.

deflate is read by ISA-L, in half the time of zlib. gzip is not read by ``gzip.GzipFile``, which
skips padding byte by byte. Each decoder is called once for a stream, with the size to stop at.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

import brotli
from isal import isal_zlib

from newscrawl.document.encoding import is_binary

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_CODINGS: Final = 2
"""Maximum number of codings of a body."""
MAX_COPIED: Final = 2**28
"""Bytes that the members of a gzip stream may cost: the rest of the stream is copied after each."""
GZIP: Final = b"\x1f\x8b\x08"
_MAX_GZIP: Final = 2
"""First bytes of a gzip stream."""
INFLATE_ERROR: Final = cast("type[Exception]", isal_zlib.error)
"""Error of a damaged deflate stream; of a wrong type in the stubs of isal."""

# A window of 8 MB at most (RFC 9659).
_ZSTD_OPTIONS: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 23}
_TRAILER: Final = 8  # bytes of the checksum and the length


class CodingError(Exception):
    """A body cannot be decoded: it is damaged, or has too many codings or members."""


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

    Raises :class:`CodingError`, and :class:`TooLargeError` unless *cut*. The end of a stream may be
    missing, and checksums of gzip are not verified, as in browsers.
    """
    for coding in codings:
        try:
            data = _DECODERS[coding](data, max_size + 1)
        except _ERRORS as error:
            raise CodingError(str(error)) from error
        if len(data) > max_size and not cut:
            raise TooLargeError
        data = data[:max_size]
    return data


def unpacked(data: bytes, max_size: int) -> bytes:
    """Return a gzip file that was sent as it is, unpacked up to *max_size*; other *data* itself."""
    with suppress(CodingError):
        for _ in range(_MAX_GZIP):  # some servers compress compressed files
            if data.startswith(GZIP):
                data = decode(data, ["gzip"], max_size, cut=True)
    return data


def _gunzip(data: bytes, size: int) -> bytes:
    if not data.startswith(GZIP) and not is_binary(data):  # labelled so by mistake
        return data
    decoded, copied = b"", 0
    while copied <= MAX_COPIED:
        stream = isal_zlib.decompressobj(isal_zlib.MAX_WBITS + 16)
        decoded += stream.decompress(data[:-_TRAILER], size - len(decoded))
        if len(decoded) < size:  # 0 would be no limit
            with suppress(INFLATE_ERROR):  # a wrong checksum
                decoded += stream.decompress(data[-_TRAILER:], size - len(decoded))
        copied += len(data)
        data = stream.unused_data.lstrip(b"\0")
        if len(decoded) == size or not data.startswith(GZIP):
            return decoded
    raise CodingError("too many members")


def _inflate(data: bytes, size: int) -> bytes:
    # Some servers send it without the header of zlib (RFC 1950, section 2.2).
    has_header = data[:1] and data[0] & 15 == 8 and int.from_bytes(data[:2]) % 31 == 0
    stream = isal_zlib.decompressobj(isal_zlib.MAX_WBITS if has_header else -isal_zlib.MAX_WBITS)
    return stream.decompress(data, size)


def _unbrotli(data: bytes, size: int) -> bytes:
    decoded: bytes = brotli.Decompressor().process(data, output_buffer_limit=size)
    return decoded


def _unzstd(data: bytes, size: int) -> bytes:
    stream = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
    decoded = stream.decompress(data, size)
    if stream.unused_data:
        raise CodingError("more than one frame")
    return decoded


_ERRORS: Final = (INFLATE_ERROR, brotli.error, zstd.ZstdError)
_DECODERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "br": _unbrotli,
    "deflate": _inflate,
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "zstd": _unzstd,
}
