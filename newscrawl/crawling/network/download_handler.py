"""Scrapy's download handler for HTTP(S), with limits on the headers of responses."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import ResponseDataLossError
from twisted.web.client import ResponseFailed

from newscrawl.crawling.network import RefusedError
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

MAX_HEADERS: Final = 1000
"""Header lines of a response; typical responses have 30."""
MAX_HEADERS_SIZE: Final = 256 * 1024
"""Bytes of the header lines of a response, as in browsers; further long lines are ignored."""
MAX_SHORT_LINE: Final = 256
"""Bytes of a header line that is read in any case, such as the length of the body."""
MAX_LONG_LINE: Final = 16 * 1024
"""Bytes of a header line beyond which it is ignored: a list of preloads, or an attack."""

_END_SIZE: Final = 1024


class ManyHeadersError(Exception):
    """The response has more than :data:`MAX_HEADERS` header lines."""


class HttpHandler(HTTP11DownloadHandler):
    """Aborts a response of more than :data:`MAX_HEADERS` header lines.

    Twisted limits the length of a header line but not their number, and Scrapy converts the headers
    four times: 100,000 of them block the reactor for half a second. Long header lines beyond
    :data:`MAX_HEADERS_SIZE` are ignored, since each reader of a header would need a bound.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if setting(crawler.settings, "NEWSCRAWL_SAFETY_ENABLED"):
            pool: Any = self._pool
            make = pool._factory  # noqa: SLF001  # Scrapy replaces it in the same way
            pool._factory = lambda *args: _limited(make(*args), self._ignored)  # noqa: SLF001

    def _ignored(self, url: str) -> None:
        self._crawler.stats.inc_value("newscrawl/safety/ignored_headers_count")
        logger.info("Ignored long header lines: %s", url)

    async def download_request(self, request: Request) -> Response:
        """Return the response to *request*; raise :class:`RefusedError` if it has many headers.

        A page whose length is again not as announced is complete if it has its end tag.
        """
        if "retry_times" in request.meta:  # the first time, the error names its reason
            request.meta["download_fail_on_dataloss"] = False
        try:
            response = await super().download_request(request)
        except Exception as error:
            if not _has_many_headers(error):
                raise
            self._crawler.stats.inc_value("newscrawl/safety/refused_count/headers")
            logger.warning("Refused (headers): %s", request.url)
            raise RefusedError("headers") from error
        if "dataloss" in response.flags and b"</html" not in response.body[-_END_SIZE:].lower():
            raise ResponseDataLossError
        return response


def _limited(factory: Any, ignored: Callable[[str], None]) -> Any:
    build = factory.buildProtocol

    def build_limited(address: Any) -> Any:
        protocol = build(address)
        send = protocol.request

        def request(*args: Any) -> Any:
            result = send(*args)
            parser = protocol._parser  # noqa: SLF001  # created by send()
            url = (args[0].absoluteURI or b"").decode("latin-1")
            _limit_headers(parser, lambda: ignored(url))
            return result

        protocol.request = request
        return protocol

    factory.buildProtocol = build_limited
    return factory


def _limit_headers(parser: Any, ignored: Callable[[], None]) -> None:
    """Limit the lines that *parser* reads before the body; *ignored* is called beyond it."""
    receive, count, size, is_cut = parser.lineReceived, 0, 0, False
    parser.MAX_LENGTH = MAX_HEADERS_SIZE  # Twisted fails a response with a longer line

    def line_received(line: bytes) -> None:
        nonlocal count, size, is_cut
        count += 1
        if count > MAX_HEADERS:
            raise ManyHeadersError
        is_over = len(line) > MAX_SHORT_LINE and size + len(line) > MAX_HEADERS_SIZE
        if is_over or len(line) > MAX_LONG_LINE:
            if not is_cut:
                ignored()
            is_cut = True
            return
        size += len(line)
        receive(line)

    parser.lineReceived = line_received


def _has_many_headers(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ResponseFailed):
            return any(reason.check(ManyHeadersError) for reason in error.reasons)
        error = error.__cause__
    return False
