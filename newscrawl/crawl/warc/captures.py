"""Pages and style sheets in WARC records, decoded as in a crawl."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers, HtmlResponse
from scrapy.responsetypes import responsetypes
from w3lib.url import safe_url_string
from warcio.bufferedreaders import ChunkedDataReader
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

from newscrawl import clock
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import header_charset, is_binary

if TYPE_CHECKING:
    from scrapy.http import Response

    from newscrawl.crawl.warc.archive_reader import ArchiveRecord

NOTES: Final = "warc-json-metadata"
"""Header with role and hints of a page (:mod:`newscrawl.crawl.warc.archive_writer`)."""

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_SHEET_OR_REDIRECT: Final = re.compile(rb"text/css|HTTP/\S*\s+3", re.IGNORECASE)

_http = StatusAndHeadersParser(["HTTP/"])


class NoPageError(Exception):
    """The record has no page; ``reason`` is the name of the cause in the counts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Capture:
    """A page or style sheet as received, after decompression."""

    url: str
    body: bytes
    #: charset of the Content-Type header
    encoding: str | None
    #: time at which it was received (aware), None if unknown
    at: datetime | None
    #: values of the feed or sitemap entry of the page
    hints: dict[str, str] = field(default_factory=dict)
    #: whether the archive marks the body as incomplete
    truncated: bool = False


def is_server_message(record: ArchiveRecord) -> bool:
    """Return whether *record* was sent by a server, not written by the crawler."""
    return record.kind in {"response", "resource", "revisit"}


def page_of(record: ArchiveRecord) -> Capture:
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
    return _capture(record, response, notes.get("hints") or {})


def may_be_sheet(head: bytes) -> bool:
    """Return whether the record that starts with *head* may be a style sheet or a redirect."""
    warc, _, rest = head.partition(b"\r\n\r\n")
    http, end, _ = rest.partition(b"\r\n\r\n")
    return not end or bool(_SHEET_OR_REDIRECT.search(warc) or _SHEET_OR_REDIRECT.search(http))


def sheet_of(record: ArchiveRecord) -> Capture | None:
    """Return the style sheet in *record*, None if it has none."""
    try:
        response = _response(record, content_type=b"text/css")
    except NoPageError:
        return None
    return _capture(record, response, {})


def redirect_target(record: ArchiveRecord) -> str | None:
    """Return the URL that *record* redirects to, None if it is not a redirect."""
    if record.kind != "response":
        return None
    try:
        status, headers, _ = _message(record)
    except NoPageError:
        return None
    location = headers.get("Location") if status in _REDIRECTS else None
    try:
        return urljoin(record.url, location.decode("latin-1")) if location else None
    except ValueError:
        return None


def _capture(record: ArchiveRecord, response: Response, hints: dict[str, str]) -> Capture:
    at = _instant(record.headers.get("warc-date", ""))
    return Capture(
        url=response.url,
        body=response.body,
        encoding=header_charset(response.headers.get("Content-Type")),
        at=at,
        hints=hints,
        truncated="warc-truncated" in record.headers,
    )


def _response(record: ArchiveRecord, content_type: bytes = b"") -> Response:
    """Return the decompressed response in *record*.

    Raises :class:`NoPageError`, also if its Content-Type does not start with *content_type*.
    """
    if not _is_web_address(record.url):
        raise NoPageError("not_http")
    if record.kind == "revisit":
        raise NoPageError("revisit")
    status, headers, body = _message(record)
    if not 200 <= status < 300:
        raise NoPageError(f"http_{status}")
    if not (headers.get("Content-Type") or b"").lower().startswith(content_type):
        raise NoPageError("other_type")
    if b"chunked" in (headers.get("Transfer-Encoding") or b"").lower():
        body = ChunkedDataReader(io.BytesIO(body)).read()
    if len(body) > MAX_PAGE_BYTES:
        raise NoPageError("too_large")
    return _decompress(record.url, status, headers, body)


def _is_web_address(url: str) -> bool:
    try:
        safe_url_string(url)
    except ValueError:
        return False
    return url.startswith(("http:", "https:"))


def _message(record: ArchiveRecord) -> tuple[int, Headers, bytes]:
    """Return status, headers and body (possibly chunked)."""
    if record.kind == "resource":
        return 200, Headers({"Content-Type": record.headers.get("content-type", "")}), record.block
    stream = io.BytesIO(record.block)
    try:
        parsed = _http.parse(stream)
        status = int(parsed.statusline.split()[1])
    except (EOFError, IndexError, StatusAndHeadersParserException, ValueError):
        raise NoPageError("not_http") from None
    headers = Headers()
    for name, value in parsed.headers:
        headers.appendlist(name, value)
    return status, headers, stream.read()


class _Decompressor(HttpCompressionMiddleware):
    """Scrapy's middleware without a crawler."""

    def __init__(self) -> None:
        self.stats = None
        self._max_size = MAX_PAGE_BYTES
        self._warn_size = 0


_decompressor = _Decompressor()


def _decompress(url: str, status: int, headers: Headers, body: bytes) -> Response:
    kind = responsetypes.from_args(headers=headers, url=url, body=body)
    response = kind(url, status=status, headers=headers, body=body)
    if "Content-Encoding" not in headers:
        return response
    try:
        decompressed = _decompressor.process_response(Request(url), response)
    except IgnoreRequest:
        raise NoPageError("too_large") from None
    except Exception:  # noqa: BLE001  # of zlib, gzip, brotli or zstandard
        # Some archives store decompressed bodies but keep the Content-Encoding header.
        del headers["Content-Encoding"]
        kind = responsetypes.from_args(headers=headers, url=url, body=body)
        return kind(url, status=status, headers=headers, body=body)
    return decompressed  # type: ignore[return-value]  # this middleware returns no request


def _notes(record: ArchiveRecord) -> dict[str, Any]:
    try:
        notes = json.loads(record.headers.get(NOTES, "{}"))
    except ValueError:
        return {}
    return notes if isinstance(notes, dict) else {}


def _instant(text: str) -> datetime:
    """Return the time of a WARC-Date, or the current time if it is invalid."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return clock.now()
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
