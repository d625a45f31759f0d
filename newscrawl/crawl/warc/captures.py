"""Pages and style sheets in the records of archives, as the crawl would have seen them."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers, HtmlResponse
from scrapy.responsetypes import responsetypes
from warcio.bufferedreaders import ChunkedDataReader
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

from newscrawl import clock
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.document.encoding import header_charset, is_binary

if TYPE_CHECKING:
    from scrapy.http import Response

    from newscrawl.crawl.warc.archive_reader import ArchiveRecord

NOTES: Final = "warc-json-metadata"
"""Header in which our crawls note what they know of a page (:mod:`newscrawl.crawl.warc.archive_writer`)."""

_MOVED: Final = frozenset({301, 302, 303, 307, 308})

_http = StatusAndHeadersParser(["HTTP/"])


class NoPageError(Exception):
    """The record holds no page; ``reason`` says what it is instead, for the counts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Capture:
    """A page or a style sheet as it was received, content encodings undone."""

    url: str
    body: bytes
    #: charset of the Content-Type header
    encoding: str | None
    #: when it was received (aware)
    at: datetime
    #: what discovery knew of the page
    hints: dict[str, str] = field(default_factory=dict)
    #: whether who wrote the archive says that the body is not all of it
    truncated: bool = False


def is_message(record: ArchiveRecord) -> bool:
    """Return whether *record* may hold what a server sent, and not what the crawler has to say."""
    return record.kind in {"response", "resource", "revisit"}


def page_of(record: ArchiveRecord) -> Capture:
    """Return the page in *record*; raise :class:`NoPageError`."""
    notes = _notes(record)
    # A crawl of ours reads other pages for their links.
    if notes.get("role", "article") != "article":
        raise NoPageError("other_role")
    response = _response(record)
    if not isinstance(response, HtmlResponse):
        raise NoPageError("not_html")
    if is_binary(response.body):
        raise NoPageError("binary")
    return _capture(record, response, notes.get("hints") or {})


def sheet_of(record: ArchiveRecord) -> Capture | None:
    """Return the style sheet in *record*, None where it holds none."""
    try:
        response = _response(record, only=b"text/css")
    except NoPageError:
        return None
    return _capture(record, response, {})


def moved_to(record: ArchiveRecord) -> str | None:
    """Return where the server sent who asked for *record*'s URL, None where it sent something."""
    if record.kind != "response":
        return None
    try:
        status, headers, _ = _message(record)
    except NoPageError:
        return None
    place = headers.get("Location") if status in _MOVED else None
    try:
        return urljoin(record.url, place.decode("latin-1")) if place else None
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


def _response(record: ArchiveRecord, only: bytes = b"") -> Response:
    """Return what was received, unpacked; raise :class:`NoPageError`, also for other than *only*."""
    if not record.url.startswith(("http:", "https:")):
        raise NoPageError("not_http")
    if record.kind == "revisit":
        raise NoPageError("revisit")
    status, headers, body = _message(record)
    if not 200 <= status < 300:
        raise NoPageError(f"http_{status}")
    if not (headers.get("Content-Type") or b"").lower().startswith(only):
        raise NoPageError("other_type")
    if b"chunked" in (headers.get("Transfer-Encoding") or b"").lower():
        body = ChunkedDataReader(io.BytesIO(body)).read()
    if len(body) > MAX_PAGE_BYTES:
        raise NoPageError("too_large")
    return _unpacked(record.url, status, headers, body)


def _message(record: ArchiveRecord) -> tuple[int, Headers, bytes]:
    """Return status, headers and body, which may be chunked."""
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


class _Unpacker(HttpCompressionMiddleware):
    """Scrapy's, outside of a crawl."""

    def __init__(self) -> None:
        self.stats = None
        self._max_size = MAX_PAGE_BYTES
        self._warn_size = 0


_unpacker = _Unpacker()


def _unpacked(url: str, status: int, headers: Headers, body: bytes) -> Response:
    try:
        request = Request(url)
    except ValueError:
        raise NoPageError("not_http") from None
    kind = responsetypes.from_args(headers=headers, url=url, body=body)
    response = kind(url, status=status, headers=headers, body=body)
    try:
        unpacked = _unpacker.process_response(request, response)
    except IgnoreRequest:
        raise NoPageError("too_large") from None
    except Exception:  # noqa: BLE001  # zlib's, gzip's, brotli's, zstandard's
        # Some archives keep bodies unpacked under the headers of packed ones.
        del headers["Content-Encoding"]
        kind = responsetypes.from_args(headers=headers, url=url, body=body)
        return kind(url, status=status, headers=headers, body=body)
    return unpacked  # type: ignore[return-value]  # Scrapy's own gives no request


def _notes(record: ArchiveRecord) -> dict[str, Any]:
    try:
        notes = json.loads(record.headers.get(NOTES, "{}"))
    except ValueError:
        return {}
    return notes if isinstance(notes, dict) else {}


def _instant(text: str) -> datetime:
    """Return the instant of a WARC-Date, or now where it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return clock.now()
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
