"""Scrapy's download handler for HTTP(S), with limits on headers and chunks of responses."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import ResponseDataLossError
from twisted.web.client import ResponseFailed
from twisted.web.http import _ChunkedTransferDecoder

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

MAX_TINY_CHUNKS: Final = 10_000
"""Chunks of a body after which their mean size must be at least :data:`MIN_CHUNK` bytes."""
MIN_CHUNK: Final = 64
_END_SIZE: Final = 1024


class ResponseLimitError(Exception):
    """The response exceeds a limit; the argument is its name in the stats."""


class HttpHandler(HTTP11DownloadHandler):
    """Aborts a response of more than :data:`MAX_HEADERS` header lines, or of tiny chunks.

    Twisted limits the length of a header line but not their number, and Scrapy converts the headers
    four times: 100,000 of them block the reactor for half a second. Scrapy sends a signal for each
    chunk: a body of 1 MB in chunks of a byte takes the reactor 20 seconds. Long header lines beyond
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
        """Return the response to *request*; raise :class:`RefusedError` if it exceeds a limit.

        A page whose length is again not as announced is complete if it has its end tag.
        """
        if "retry_times" in request.meta:  # the first time, the error names an exceeded limit
            request.meta["download_fail_on_dataloss"] = False
        try:
            response = await super().download_request(request)
        except Exception as error:
            limit = _exceeded_limit(error)
            if limit is None:
                raise
            self._crawler.stats.inc_value(f"newscrawl/safety/refused_count/{limit}")
            logger.warning("Refused (%s): %s", limit, request.url)
            raise RefusedError(limit) from error
        if "dataloss" in response.flags and b"</html" not in response.body[-_END_SIZE:].lower():
            raise ResponseDataLossError
        return response


class _ChunkDecoder(_ChunkedTransferDecoder):
    """Raises :class:`ResponseLimitError` for a body of tiny chunks."""

    def __init__(self, deliver: Callable[[bytes], None], finish: Callable[[bytes], None]) -> None:
        chunks = size = 0

        def counted(data: bytes) -> None:
            nonlocal chunks, size
            chunks += 1
            size += len(data)
            if chunks > MAX_TINY_CHUNKS and size < MIN_CHUNK * chunks:
                raise ResponseLimitError("chunks")
            deliver(data)

        super().__init__(counted, finish)


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
            parser._transferDecoders = {b"chunked": _ChunkDecoder}  # noqa: SLF001
            return result

        protocol.request = request
        return protocol

    factory.buildProtocol = build_limited
    return factory


def _limit_headers(parser: Any, ignored: Callable[[], None]) -> None:
    """Limit the lines that *parser* reads before the body; *ignored* is called if it reads not all."""
    receive, count, size, is_cut = parser.lineReceived, 0, 0, False
    parser.MAX_LENGTH = MAX_HEADERS_SIZE  # Twisted fails a response with a longer line

    def line_received(line: bytes) -> None:
        nonlocal count, size, is_cut
        count += 1
        if count > MAX_HEADERS:
            raise ResponseLimitError("headers")
        is_over = len(line) > MAX_SHORT_LINE and size + len(line) > MAX_HEADERS_SIZE
        if is_over or len(line) > MAX_LONG_LINE:
            if not is_cut:
                ignored()
            is_cut = True
            return
        size += len(line)
        receive(line)

    parser.lineReceived = line_received


def _exceeded_limit(error: BaseException | None) -> str | None:
    """Return the name of the limit that the response exceeds, None for another *error*."""
    while error is not None:
        if isinstance(error, ResponseFailed):
            found = [reason.value for reason in error.reasons if reason.check(ResponseLimitError)]
            return str(found[0]) if found else None
        error = error.__cause__
    return None
