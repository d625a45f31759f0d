"""Inputs of the fuzzer: mutated files of the repository and generated texts.

An own mutator instead of Hypothesis: most faults need a real page of 20 to 200 KB with one change,
which Hypothesis draws and shrinks byte by byte. Not atheris: it needs clang and instruments
Python only.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from functools import cache
from typing import TYPE_CHECKING

import brotli

from benchmarks.fuzz_grammars import GRAMMARS
from tests.conftest import REPOSITORY

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

MAX_SIZE = 200_000
_FOLDERS = ("samples", "tests/pages")
_SUFFIXES = {
    "page": ("html",),
    "links": ("html",),
    "sitemap": ("xml", "atom", "txt"),
    "feed": ("xml", "atom"),
    "robots": ("txt",),
    "css": ("css",),
}
_CHARSETS = (
    "utf-8", "utf-16", "utf-16le", "latin1", "windows-1251", "gb18030", "big5", "shift_jis",
    "euc-jp", "iso-2022-jp", "koi8-r", "x-user-defined", "punycode", "hex", "utf-7", "nonsense",
)  # fmt: skip
_EVIL = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b[2J", b"\xc2\x9b",
    b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"&#x1F600;",
    b"&#0;", b"&#xD800;", b"&#99999999999;", b"<svg><style><a title='</style>'>", b"<math><mi>",
    b"<template>", b"<plaintext>", b"<table><p>", b"<script>", b"</script >", b"<style>", b"<frameset>",
    b"<base href='//[::1'>", b"<base href='http://a:99999999/'>", b"<a href='http://[::1'>x</a>",
    b"<meta http-equiv=refresh content='0;url=http://['>", b"<time datetime='99999-99-99T99:99'>",
    b"<time datetime='0001-01-01'>1 January 0001</time>", b"<time datetime='9999-12-31T23:59:59-14:00'>",
    b"<script type=application/ld+json>[[[[{\"@graph\":{}}]]]]</script>",
    b"<script type=application/ld+json>{\"@type\":[],\"headline\":{\"@value\":1e999},\"datePublished\":-1e300}</script>",
    (b"<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"@id\":\"a\",\"author\":{\"@id\":\"a\"},"
    b"\"image\":[null,{}],\"keywords\":{},\"articleBody\":[],\"isAccessibleForFree\":[]}</script>"),
    b"31 February 2026", b"29.02.2025 25:61", b"2026-11-16T12:00:00+99:99", b"\xd9\xa3\xd9\xa1/\xd9\xa1\xd9\xa2",
    b"<pubDate>Mon, 99 Foo 20266 99:99:99 +9999</pubDate>", b"<lastmod>9999-99-99</lastmod>",
    b"<loc>http://news.example:0x/</loc>", b"@import url(", b"@media (((", b"\\", b"\\110000 ", b":not(:not(",
    b":has(+:nth-child(9999999999999999999n-1))", b"calc(1px/0*1e999)", b"var(--a,var(--a))", b"/*", b"*/",
    b"!important", b"{", b"}", b"\"", b"'", b"<", b">", b"\r\n", b"\t" * 50, b"=" * 50, b"User-agent: *\nDisallow: /*$*$*",
    b"Crawl-delay: 1e999", b"\xe2\x80\xae", b"\xef\xbf\xbf", b"\xf0\x9f\x91\xa9\xe2\x80\x8d",
)  # fmt: skip


@cache
def seeds(kind: str) -> tuple[bytes, ...]:
    """Return the files of the repository of this kind."""
    if kind == "warc":
        return tuple(map(_archive, (seeds("page")[:3], seeds("page")[3:6], seeds("css")[:2])))
    if kind == "coding":
        pages = [page[:20_000] for page in seeds("page")[:4]]
        return tuple(encode(page) for page in pages for encode in _ENCODERS)
    paths = sorted(
        path
        for folder in _FOLDERS
        for suffix in _SUFFIXES[kind]
        for path in (REPOSITORY / folder).rglob(f"*.{suffix}")
    )
    return tuple(path.read_bytes()[:MAX_SIZE] for path in paths)


def _archive(pages: Sequence[bytes]) -> bytes:
    members = []
    for number, page in enumerate(pages):
        http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
        head = (
            f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
            f"WARC-Target-URI: https://news.example/{number}\r\nWARC-Date: 2026-05-04T00:00:00Z\r\n"
            f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
        )
        members.append(gzip.compress(head.encode() + http + b"\r\n\r\n", mtime=0))
    return b"".join(members)


def _raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


_ENCODERS: tuple[Callable[[bytes], bytes], ...] = (
    gzip.compress, gzip.compress, zlib.compress, _raw_deflate, brotli.compress, zstd.compress,
)  # fmt: skip


def _stacked(rng: random.Random) -> bytes:
    """Return members, empty ones and padding, repeated and encoded again: a few KB of many MB."""
    data = rng.choice(seeds("page"))[: rng.choice((0, 10, 5000))]
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        encode = rng.choice(_ENCODERS)
        unit = rng.choice((encode(data), encode(b""), bytes(9), encode(data) + bytes(99)))
        data = encode(data) + unit * min(rng.choice((0, 1, 10, 20_000)), 2**22 // len(unit))
        data += bytes(rng.choice((0, 1, 2**20)))
    return data


_NAMES = (
    b"WARC-Type", b"WARC-Target-URI", b"WARC-Date", b"Content-Length", b"content-length", b"Content-Type",
    b"WARC-JSON-Metadata", b"WARC-Truncated", b"Transfer-Encoding", b"Content-Encoding", b"Location", b"", b"X",
)  # fmt: skip
_FIELDS = (
    b"response", b"resource", b"revisit", b"https://news.example/1", b"<https://news.example/2>", b"dns:a",
    b"2026-05-04T00:00:00Z", b"20260504000000", b"0001-01-01T00:00:00+14:00", b"5", b"-5", b"+5", b"1_0", b"0x9",
    b"\xd9\xa3", b"9" * 17, b"9" * 5000, b"70000000", b"", b"chunked", b"gzip, gzip", b"gzip", b"br", b"text/html",
    b"text/css", b"[" * 9999, b'{"role":"article","hints":{"date":[1]}}', b"\x1b]0;a\x07", b"a\n b\n\tc", b"\0",
)  # fmt: skip
_STARTS = (
    b"WARC/1.0",
    b"WARC/1.1",
    b"WARC/1.1",
    b"WARC/9.9",
    b"warc/1.0",
    b"HTTP/1.1 200 OK",
    b"filedesc://a",
    b"",
)
_BODIES = (
    b"<p>Text</p>",
    b"5\r\n<p>ab\r\n0\r\n\r\n",
    b"FFFFFFFFFFFFFFFF\r\n<p>",
    b"\x1f\x8b\x08",
    b"\0" * 99,
)


def hostile_archive(rng: random.Random) -> bytes:
    """Return an archive of records with random heads, some of them of 16 MB."""
    records = [_hostile_record(rng) for _ in range(rng.choice((1, 2, 3, 9)))]
    form = rng.randrange(3)
    if form == 0:
        return b"".join(gzip.compress(record, mtime=0) for record in records)
    data = b"".join(records)
    return gzip.compress(data, mtime=0) if form == 1 else data[: 100 * MAX_SIZE]


def _hostile_record(rng: random.Random) -> bytes:
    http = _hostile_head(rng, rng.choice((b"HTTP/1.1 200 OK", b"HTTP/1.1 302 Found", b"")), ())
    block = http + rng.choice(_BODIES) * rng.choice((1, 1, 99, 9999))
    length = b"Content-Length: %d" % len(block)
    start = rng.choice(_STARTS) if rng.random() < 0.3 else b"WARC/1.0"
    usual = (b"WARC-Type: response", b"WARC-Target-URI: https://news.example/3")
    head = _hostile_head(rng, start, (*usual, length) if rng.random() < 0.7 else usual)
    return head + block + rng.choice((b"\r\n\r\n", b"\r\n\r\n", b"\n\n", b""))


def _hostile_head(rng: random.Random, start: bytes, usual: Sequence[bytes]) -> bytes:
    lines = [start, *usual]
    for _ in range(rng.choice((0, 0, 1, 3))):
        line = rng.choice(_NAMES) + rng.choice((b": ", b":", b" ", b"")) + rng.choice(_FIELDS)
        times = rng.choice((1, 1, 1, 1, 2000, 2**24 // (len(line) + 2)))
        joint = rng.choice((b"\r\n", b"\r\n", b"\r\n ", b""))
        lines.insert(rng.randrange(1, len(lines) + 1), line + (joint + line) * (times - 1))
    return b"\r\n".join(lines) + rng.choice((b"\r\n\r\n", b"\r\n\r\n", b"\n\n", b"\r\n", b""))


def make_input(rng: random.Random, kind: str) -> bytes:
    """Return a mutated file, or a text of the grammar of *kind*."""
    if kind == "archive":
        return hostile_archive(rng)
    data = rng.choice(seeds(kind))
    if kind == "coding" and rng.random() < 0.5:
        return _stacked(rng)
    if kind in GRAMMARS and rng.random() < 0.3:
        data = GRAMMARS[kind](rng).encode("utf-8", "surrogatepass")
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 10))):
        data = rng.choice(_MUTATIONS)(rng, data, kind)[:MAX_SIZE]
    return data


def _flip(rng: random.Random, data: bytes, _kind: str) -> bytes:
    changed = bytearray(data or b"a")
    for _ in range(rng.choice((1, 2, 10, 100))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, _kind: str) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + data[end:] if rng.random() < 0.7 else data[: max(1, start)]


def _repeat(rng: random.Random, data: bytes, _kind: str) -> bytes:
    start, end = _range(rng, data)
    end = min(end, start + 2000)
    times = rng.choice((2, 3, 10, 100, 2000))
    return data[:start] + data[start:end] * times + data[end:]


def _splice(rng: random.Random, data: bytes, kind: str) -> bytes:
    other = rng.choice(seeds(kind))
    start, end = _range(rng, other)
    place = rng.randrange(len(data) + 1)
    return data[:place] + other[start:end] + data[place:]


def _insert(rng: random.Random, data: bytes, _kind: str) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_EVIL) * rng.choice((1, 1, 1, 5, 1000)) + data[place:]


def _charset(rng: random.Random, data: bytes, _kind: str) -> bytes:
    name = rng.choice(_CHARSETS)
    return f"<meta charset={name}>".encode() + data if rng.random() < 0.5 else _encoded(data, name)


def _encoded(data: bytes, name: str) -> bytes:
    try:
        return data.decode("utf-8", "replace").encode(name, "replace")
    except (LookupError, TypeError, ValueError):
        return data


def _number(rng: random.Random, data: bytes, _kind: str) -> bytes:
    places = [n for n in range(0, len(data), 7) if data[n : n + 1].isdigit()]
    if not places:
        return data
    place = rng.choice(places)
    number = rng.choice((b"-1", b"0", b"99999999999999999999", b"1e999", b"\xd9\xa3", b"NaN"))
    return data[:place] + number + data[place + 1 :]


def _range(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + int(2 ** rng.uniform(0, 16)))


_MUTATIONS: tuple[Callable[[random.Random, bytes, str], bytes], ...] = (
    _flip, _cut, _repeat, _splice, _insert, _insert, _charset, _number,
)  # fmt: skip
