"""Fault cases of content codings."""

import gzip
import sys
import zlib
from functools import cache

import brotli

from tests.servers.faulty_pages import ANY, ARTICLE, MIB, Case, Visit
from tests.servers.pages import article_page
from tests.servers.site import HTML, Answer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from collections.abc import Callable

ENCODING = ("failed/encoding",)
#: a gzip member and a zstd frame without content
EMPTY_MEMBER = gzip.compress(b"", mtime=0)
EMPTY_FRAME = zstd.compress(b"")


def page() -> bytes:
    """Return the article of the faulty URL."""
    return article_page(1).encode()


def _case(
    description: str, codings: str, make: Callable[[], bytes], *outcomes: str, **headers: str
) -> Case:
    """Return the case of an article URL whose body by *make* has the *codings*."""

    def reply(visit: Visit) -> Answer | None:
        if not visit.is_faulty_page:
            return None
        return Answer(make(), headers=HTML | {"Content-Encoding": codings} | headers)

    return Case(description, reply, outcomes or ENCODING)


@cache
def padded(codings: int, zeros: int) -> bytes:
    """Return the page compressed *codings* times, with *zeros* zero bytes after the first streams.

    With one coding, they follow its stream.
    """
    body = gzip.compress(page(), mtime=0) + bytes(zeros)
    for _ in range(codings - 2):
        body = gzip.compress(body, mtime=0) + bytes(zeros)
    return gzip.compress(body, mtime=0) if codings > 1 else body


def raw_deflate(data: bytes) -> bytes:
    """Return *data* in the deflate format without the header of zlib."""
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


@cache
def tables(size: int) -> bytes:
    """Return a gzip stream of *size* bytes of deflate blocks, each with its own Huffman tables."""
    stream = zlib.compressobj(9, wbits=-zlib.MAX_WBITS, strategy=zlib.Z_DEFAULT_STRATEGY)
    text = bytes(range(32, 127)) * 3
    block = stream.compress(text) + stream.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(7) + block * (size // len(block)) + b"\x03\x00"


@cache
def _brotli_bomb() -> bytes:
    stream = brotli.Compressor(quality=5)
    block = bytes(MIB)
    return b"".join([*(stream.process(block) for _ in range(64)), stream.finish()])


@cache
def _wide_zstd() -> bytes:
    """Return a zstd stream for which the decoder needs a window of 128 MB."""
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    stream = zstd.ZstdCompressor(options=options)
    return b"".join([*(stream.compress(bytes(MIB)) for _ in range(16)), stream.flush()])


CODINGS: dict[str, Case] = {
    "codings-3": _case("three codings", "gzip, gzip, gzip", lambda: padded(3, 0)),
    "codings-150": _case(
        "150 codings, each padded with 1 MB of zeros",
        ", ".join(["gzip"] * 150),
        lambda: padded(150, MIB),
    ),
    "codings-2-padded": _case(
        "two codings, each padded with 9 MB of zeros",
        "gzip, gzip",
        lambda: padded(2, 9 * MIB),
        *ARTICLE,
        *ENCODING,
    ),
    "codings-5000": _case("5,000 codings in one header", ",".join(["br"] * 5_000), page),
    "gzip-padded": _case(
        "9 MB of zeros after the stream", "gzip", lambda: padded(1, 9 * MIB), *ARTICLE
    ),
    "gzip-members": _case(
        "4 MB of empty members",
        "gzip",
        lambda: gzip.compress(page()) + EMPTY_MEMBER * (4 * MIB // len(EMPTY_MEMBER)),
        *ANY,
    ),
    "gzip-members-twice": _case(
        "9 MB of empty members in 20 KB",
        "gzip, gzip",
        lambda: gzip.compress(
            gzip.compress(page()) + EMPTY_MEMBER * (9 * MIB // len(EMPTY_MEMBER))
        ),
        *ANY,
    ),
    "gzip-halves": _case(
        "the page in two members",
        "gzip",
        lambda: gzip.compress(page()[:3000]) + gzip.compress(page()[3000:]),
        *ARTICLE,
    ),
    "gzip-tables": _case("4 MB of Huffman tables", "gzip", lambda: tables(4 * MIB), *ANY),
    "gzip-checksum": _case(
        "a wrong checksum", "gzip", lambda: gzip.compress(page())[:-8] + bytes(8), *ARTICLE
    ),
    "deflate-raw": _case(
        "without the header of zlib", "deflate", lambda: raw_deflate(page()), *ARTICLE
    ),
    "deflate-zlib": _case(
        "with the header of zlib", "deflate", lambda: zlib.compress(page()), *ARTICLE
    ),
    "br-bomb": _case("few bytes that decompress to 64 MB", "br", _brotli_bomb, "failed/too_large"),
    "zstd-frames": _case(
        "2 MB of empty frames",
        "zstd",
        lambda: EMPTY_FRAME * (2 * MIB // len(EMPTY_FRAME)),
        *ENCODING,
    ),
    "zstd-window": _case("a window of 128 MB", "zstd", _wide_zstd, *ENCODING, "failed/too_large"),
    "br-gzip": _case(
        "brotli in gzip", "br, gzip", lambda: gzip.compress(brotli.compress(page())), *ARTICLE
    ),
    "coding-unknown": _case(
        "an unknown coding with an escape sequence", "x\x1b[31m-own", page, *ANY
    ),
    "coding-identity": _case("the coding identity", "identity", page, *ARTICLE),
}
