"""Pages in WARC records, decoded as in a crawl, and the failures among them."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy.http import Headers, HtmlResponse
from scrapy.responsetypes import responsetypes
from w3lib.url import safe_url_string

from newscrawl.archives.archive_reader import Flaw, HeadTooLargeError, parse_headers, read_lines
from newscrawl.crawling.network.content_codings import (
    CodingError,
    TooLargeError,
    decode,
    split_codings,
)
from newscrawl.crawling.urls import registered_domain, site_key_or
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import header_charset, is_binary
from newscrawl.items import PageItem, instant
from newscrawl.text import without_controls

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from scrapy.http import Response

    from newscrawl.archives.archive_reader import ArchiveRecord

NOTES: Final = "warc-json-metadata"
"""Header with role and hints of a page (:mod:`newscrawl.archives.archive_writer`)."""

MAX_FAILURES: Final = 10_000
"""Maximum number of failures of a unit or command that are listed; others are only counted."""
_MAX_TEXT: Final = 2000
"""Maximum characters of the URL and of the message of a failure."""

_GZIP: Final = b"\x1f\x8b"
_STATUS: Final = re.compile(rb"HTTP/\S*\s+(\d{3})(?!\d)", re.IGNORECASE)

MAX_CHUNKS: Final = 100_000
"""Maximum number of chunks of a body (``Transfer-Encoding: chunked``)."""

_CHUNK_HEAD: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,40})[ \t]*(;[^\r\n]{0,1000})?\r?\n")
_CHUNK_END: Final = re.compile(rb"\r?\n")

_DIGITS_DATE: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)", re.ASCII)
_YEARS: Final = range(1990, 2100)
"""Years of the web; a WARC-Date of another year is unknown."""


class NoPageError(Exception):
    """The record has no page.

    ``reason`` is the name of the cause in the counts. With a ``message``, the record may have a
    page that could not be read: a failure.
    """

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason = reason
        self.message = message


def page_of(record: ArchiveRecord) -> PageItem:
    """Return the page in *record*; raise :class:`NoPageError`."""
    notes = _notes(record)
    # newscrawl also archives section pages, which it reads for their links.
    if notes.get("role", "article") != "article":
        raise NoPageError("other_role")
    response = _response(record)
    if not isinstance(response, HtmlResponse):
        raise NoPageError("not_html")
    if is_binary(response.body):
        raise NoPageError("binary")
    return PageItem(
        url=response.url,
        html=response.body,
        encoding=header_charset(response.headers.get("Content-Type")),
        fetched_at=time_of_capture(record.headers.get("warc-date")),
        hints=_hints(notes),
        truncated="warc-truncated" in record.headers,
    )


def _response(record: ArchiveRecord) -> Response:
    """Return the decompressed response in *record*; raise :class:`NoPageError`."""
    if not _is_web_address(record.url):
        raise NoPageError("not_http")
    if record.kind == "revisit":
        raise NoPageError("revisit")
    status, headers, body = _message(record)
    if not 200 <= status < 300:
        raise NoPageError(f"http_{status}")
    if b"chunked" in (headers.get("Transfer-Encoding") or b"").lower():
        body = _without_chunks(body)
    if len(body) > MAX_PAGE_BYTES:
        raise too_large()
    content = _decoded(headers, bytes(body))
    headers.pop("Content-Encoding", None)
    kind = responsetypes.from_args(headers=headers, url=record.url, body=content)
    return kind(record.url, status=status, headers=headers, body=content)


def _is_web_address(url: str) -> bool:
    try:
        safe_url_string(url)
    except ValueError:
        return False
    return url.startswith(("http:", "https:"))


def _message(record: ArchiveRecord) -> tuple[int, Headers, memoryview]:
    """Return status, headers and body (possibly chunked)."""
    if record.kind == "resource":
        headers = Headers({"Content-Type": record.headers.get("content-type", "")})
        return 200, headers, memoryview(record.block)
    stream = io.BytesIO(record.block)
    try:
        lines, _ = read_lines(stream)
    except HeadTooLargeError as error:
        raise NoPageError("too_large", f"the HTTP message has {error}") from None
    status = _STATUS.match(lines[0]) if lines else None
    if status is None:
        raise NoPageError("not_http")
    headers = Headers()
    for name, value in parse_headers(lines[1:]):
        headers.appendlist(name, value)
    return int(status[1]), headers, memoryview(record.block)[stream.tell() :]


def _without_chunks(body: memoryview) -> memoryview:
    """Return *body* without the heads of its chunks; what does not look like a chunk is kept.

    Some archives store decoded bodies but keep the Transfer-Encoding header.
    """
    content, place = bytearray(), 0
    for _ in range(MAX_CHUNKS):
        head = _CHUNK_HEAD.match(body, place)
        if head is None:
            return memoryview(bytes(content) + body[place:])
        end = head.end() + int(head[1], 16)
        content += body[head.end() : min(end, head.end() + MAX_PAGE_BYTES + 1)]
        if head.end() == end or end >= len(body):
            return memoryview(content)
        if len(content) > MAX_PAGE_BYTES:
            raise too_large()
        separator = _CHUNK_END.match(body, end)
        place = separator.end() if separator else end
    raise NoPageError("too_large", f"more than {MAX_CHUNKS} chunks")


def too_large() -> NoPageError:
    """Return the error for a page that is too large."""
    return NoPageError("too_large", f"the page is larger than {MAX_PAGE_BYTES} bytes")


def _decoded(headers: Headers, body: bytes) -> bytes:
    """Return *body* without its content codings; as it is if an archive stores it decoded.

    Some archives keep the Content-Encoding header of such a body.
    """
    try:
        codings, _ = split_codings(headers.getlist("Content-Encoding"))
        return decode(body, codings, MAX_PAGE_BYTES)
    except TooLargeError:
        raise too_large() from None
    except CodingError as error:
        if is_binary(body) or body.startswith(_GZIP):
            raise NoPageError("bad_coding", f"content coding: {error}") from None
        return body


def _notes(record: ArchiveRecord) -> dict[str, Any]:
    try:
        notes = json.loads(record.headers.get(NOTES, "{}"))
    except (RecursionError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _hints(notes: dict[str, Any]) -> dict[str, str]:
    hints = notes.get("hints")
    found = hints.items() if isinstance(hints, dict) else ()
    return {name: value for name, value in found if isinstance(value, str)}


def time_of_capture(text: Any) -> datetime | None:
    """Return the time of a WARC-Date or a row; None if it is invalid, or not of the web's years.

    14 digits are read as in ARC.
    """
    if isinstance(text, str) and (digits := _DIGITS_DATE.fullmatch(text)):
        text = "{}-{}-{}T{}:{}:{}".format(*digits.groups())
    moment = instant(text)
    return moment if moment and moment.year in _YEARS else None


class Failure(NamedTuple):
    """A page or a part of an archive without result."""

    #: URL of the page, "" if unknown
    url: str
    #: a reason of ``WorkerError`` or :class:`~newscrawl.archives.archive_reader.Flaw`
    reason: str
    message: str

    @classmethod
    def of(cls, url: str, reason: str, message: str) -> Failure:
        """Return a failure with texts of the archive: shortened, without control characters."""
        return cls(*(without_controls(text[:_MAX_TEXT]) for text in (url, reason, message)))


def record_pages(
    records: Iterable[ArchiveRecord | Flaw],
    counts: Counter[str],
    failed: Callable[[Failure], object],
) -> Iterator[PageItem]:
    """Yield the pages in *records*; count the other records, call *failed* with each failure."""
    for record in records:
        if isinstance(record, Flaw):
            counts[record.reason] += 1
            failed(
                Failure.of(record.url, record.reason, f"{_FLAWS[record.reason]} {record.offset}")
            )
            continue
        counts["record"] += 1
        if record.kind not in {"response", "resource", "revisit"}:
            continue  # written by the crawler
        try:
            page = page_of(record)
        except NoPageError as error:
            counts[error.reason] += 1
            if error.message:
                failed(Failure.of(record.url, error.reason, error.message))
        except Exception as error:  # noqa: BLE001  # costs this record only
            counts["failed"] += 1
            reason = "memory" if isinstance(error, MemoryError) else "error"
            failed(Failure.of(record.url, reason, f"{type(error).__name__}: {error}"))
        else:
            yield page


_READ: Final = frozenset({"record", "article"})
_FLAWS: Final = {
    "cut": "the archive is cut off at byte",
    "damaged": "a record is damaged at byte",
    "memory": "a record exceeded the memory limit at byte",
    "too_large": "a record is too large at byte",
}


def site_of(page: PageItem) -> str:
    """Return the site to whose budget the time of *page* counts; "" if it has none."""
    return registered_domain(site_key_or(page.url, ""))


def summary_line(counts: Counter[str]) -> str:
    """Return one line on extracted articles and on records that were left out, by reason."""
    reasons = [(reason, number) for reason, number in counts.most_common() if reason not in _READ]
    left_out = ", ".join(f"{number} {reason}" for reason, number in reasons)
    line = f"{counts['article']} articles in {counts['record']} records"
    return f"{line}; left out: {left_out}" if left_out else line
