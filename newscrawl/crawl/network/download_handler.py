"""Scrapy's download handler for HTTP(S), with a limit on the number of response headers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from twisted.web.client import ResponseFailed

from newscrawl.crawl.network import RefusedError
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

MAX_HEADERS: Final = 1000
"""Header lines of a response; typical responses have 30."""


class TooManyHeadersError(Exception):
    """The response has more than :data:`MAX_HEADERS` header lines."""


class HttpHandler(HTTP11DownloadHandler):
    """Aborts a response with more than :data:`MAX_HEADERS` header lines.

    Twisted limits the length of a header line but not their number, and Scrapy converts the headers
    four times: 100,000 of them block the reactor for half a second.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if setting(crawler.settings, "NEWSCRAWL_SAFETY_ENABLED"):
            pool: Any = self._pool
            make = pool._factory  # noqa: SLF001  # Scrapy replaces it in the same way
            pool._factory = lambda *args: _limited(make(*args))  # noqa: SLF001

    async def download_request(self, request: Request) -> Response:
        """Return the response to *request*; raise :class:`RefusedError` for too many headers."""
        try:
            return await super().download_request(request)
        except Exception as error:
            if not _has_too_many_headers(error):
                raise
            self._crawler.stats.inc_value("newscrawl/safety/refused_count/headers")
            logger.warning("Refused (headers): %s", request.url)
            raise RefusedError("headers") from error


def _limited(factory: Any) -> Any:
    build = factory.buildProtocol

    def build_limited(address: Any) -> Any:
        protocol = build(address)
        send = protocol.request

        def request(*args: Any) -> Any:
            result = send(*args)
            _count_headers(protocol._parser)  # noqa: SLF001  # created by send()
            return result

        protocol.request = request
        return protocol

    factory.buildProtocol = build_limited
    return factory


def _count_headers(parser: Any) -> None:
    receive, count = parser.headerReceived, 0

    def header_received(name: bytes, value: bytes) -> None:
        nonlocal count
        count += 1
        if count > MAX_HEADERS:
            raise TooManyHeadersError
        receive(name, value)

    parser.headerReceived = header_received


def _has_too_many_headers(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ResponseFailed):
            return any(reason.check(TooManyHeadersError) for reason in error.reasons)
        error = error.__cause__
    return False
