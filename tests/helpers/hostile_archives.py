"""Archives of articles with a hostile record between them, in each form of archive."""

import gzip
import zlib
from collections.abc import Callable, Iterable
from typing import Final

from newscrawl.archives.archive_reader import MAX_HEAD_LINES, MAX_HEAD_SIZE
from newscrawl.archives.captures import MAX_CHUNKS
from newscrawl.document.document import MAX_PAGE_BYTES
from tests.extraction.test_extraction import PAGE

URL: Final = "https://evil.test/x"
GOOD: Final = [f"https://site{number}.test/story-{number}" for number in range(4)]
FORMS: Final = ("members", "one member", "plain")

_HEAD: Final = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-11-22T10:00:00Z\r\n"
_TYPE: Final = b"Content-Type: text/html; charset=utf-8\r\n"


def message(*headers: bytes, body: bytes = PAGE.encode(), end: bytes = b"\r\n") -> bytes:
    """Return an HTTP message."""
    return b"HTTP/1.1 200 OK\r\n" + _TYPE + b"".join(headers) + end + body


def record(url: str = URL, *headers: bytes, block: bytes | None = None) -> bytes:
    """Return a record of *block*; with a Content-Length in *headers*, without the right one."""
    block = message() if block is None else block
    extra = b"".join(headers)
    if b"content-length" not in extra.lower():
        extra += b"Content-Length: %d\r\n" % len(block)
    head = _HEAD + b"WARC-Target-URI: " + url.encode() + b"\r\n" + extra + b"\r\n"
    return head + block + b"\r\n\r\n"


def _length(value: str) -> Callable[[], bytes]:
    return lambda: record(URL, f"Content-Length: {value}\r\n".encode())


def _encoded(codings: bytes, body: bytes) -> bytes:
    return record(block=message(b"Content-Encoding: " + codings + b"\r\n", body=body))


def _chunks(data: bytes) -> bytes:
    return record(block=message(b"Transfer-Encoding: chunked\r\n", body=data))


def _stacked(times: int) -> bytes:
    body = PAGE.encode()
    for _ in range(times):
        body = gzip.compress(body, mtime=0)
    return _encoded(b", ".join([b"gzip"] * times), body)


_LONG: Final = b"a" * (MAX_HEAD_SIZE + 1)
_MANY: Final = b"a: b\r\n" * (MAX_HEAD_LINES + 1)
_MORE: Final = bytes(MAX_PAGE_BYTES + 1)

#: name -> record, and the reason of its failure
RECORDS: Final[dict[str, tuple[Callable[[], bytes], str]]] = {
    "length of 5,000 digits": (_length("9" * 5000), "damaged"),
    "length of 5,000 zeros": (_length("0" * 5000 + "5"), "damaged"),
    "negative length": (_length("-5"), "damaged"),
    "signed length": (_length("+5"), "damaged"),
    "length with underscore": (_length("1_000"), "damaged"),
    "length in Arabic digits": (_length("٣٠٠"), "damaged"),
    "empty length": (_length(""), "damaged"),
    "hexadecimal length": (_length("0x10"), "damaged"),
    "two lengths": (_length("5\r\nContent-Length: 6"), "damaged"),
    "length below the block": (_length("5"), "damaged"),
    "length above the rest": (_length("60000000"), "damaged"),
    "length above the limit": (_length("9" * 15), "too_large"),
    "no length": (lambda: record().replace(b"Content-Length", b"X"), "damaged"),
    "unknown version": (lambda: b"WARC/9" + record()[6:], "damaged"),
    "long header": (lambda: record(URL, b"X: " + _LONG + b"\r\n"), "too_large"),
    "long URL": (lambda: record(f"{URL}?{_LONG.decode()}"), "too_large"),
    "long first line": (lambda: record().replace(b"1.0\r", b"1.0" + _LONG + b"\r", 1), "too_large"),
    "many headers": (lambda: record(URL, _MANY), "too_large"),
    "many folded lines": (lambda: record(URL, b"X: a\r\n" + b" b\r\n" * 2000), "too_large"),
    "many HTTP headers": (lambda: record(block=message(_MANY)), "too_large"),
    "long HTTP header": (lambda: record(block=message(_LONG)), "too_large"),
    "HTTP headers without end": (lambda: record(block=message(_MANY, end=b"")), "too_large"),
    "folded HTTP header": (lambda: record(block=message(b"X: a\r\n" + b" b\n" * 2000)), "too_large"),
    "many chunks": (lambda: _chunks(b"1\r\na\r\n" * (MAX_CHUNKS + 1)), "too_large"),
    "large chunk": (lambda: _chunks(b"%x\r\n" % len(_MORE) + _MORE + b"\r\n0\r\n"), "too_large"),
    "large page": (lambda: record(block=message(body=_MORE)), "too_large"),
    "gzip bomb": (lambda: _encoded(b"gzip", gzip.compress(_MORE)), "too_large"),
    "gzip bomb of members": (lambda: _encoded(b"gzip", gzip.compress(_MORE[:4000]) * 9999), "bad_coding"),
    "three codings": (lambda: _stacked(3), "bad_coding"),
    "150 codings": (lambda: _encoded(b",".join([b"gzip"] * 150), gzip.compress(b"")), "bad_coding"),
}  # fmt: skip


def archive(form: str, hostile: Iterable[bytes]) -> bytes:
    """Return an archive of *form*: records of good pages, and *hostile* ones in the middle."""
    good = [record(url) for url in GOOD]
    records = [*good[:2], *hostile, *good[2:]]
    if form == "members":
        return b"".join(gzip.compress(each, mtime=0) for each in records)
    plain = b"".join(records)
    return gzip.compress(plain, mtime=0) if form == "one member" else plain


def suffix(form: str) -> str:
    """Return the file name suffix of archives of *form*."""
    return ".warc" if form == "plain" else ".warc.gz"


def bomb(start: bytes, unit: bytes, times: int, end: bytes = b"") -> bytes:
    """Return a gzip member of *start*, *times* *unit*, and *end*."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(start), *(packer.compress(unit) for _ in range(times))]
    return b"".join([*parts, packer.compress(end), packer.flush()])


def bombs(megabytes: int, *names: str) -> dict[str, bytes]:
    """Return gzip members that unpack to *megabytes* of headers: of *names*, or all."""
    head = _HEAD + b"WARC-Target-URI: " + URL.encode() + b"\r\n"
    pieces = {
        "many lines": (head, b"a: b\r\n" * 2**17),
        "one line": (head + b"X: ", b"a" * 2**20),
        "empty lines": (b"", b"\r\n" * 2**19),
        "folded lines": (head + b"X: a\r\n", b" b\r\n" * 2**18),
    }
    return {name: bomb(*pieces[name], megabytes) for name in names or pieces}
