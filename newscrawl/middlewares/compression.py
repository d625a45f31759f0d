"""Downloader middleware that decompresses responses within limits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.responsetypes import responsetypes
from scrapy.utils.asyncio import run_in_thread

from newscrawl.crawling.network import RefusedError, copy_response
from newscrawl.crawling.network.content_codings import (
    CodingError,
    TooLargeError,
    decode,
    split_codings,
)

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: meta key of the retry
META: Final = "newscrawl_identity"
#: meta key: number of bytes after which the body is cut off
CUT: Final = "newscrawl_cut"
# Compressed bytes decoded on the event loop. The limit of the decoded bytes bounds the time.
_MAX_INLINE_SIZE: Final = 2**20
_UNLIMITED: Final = 2**30


class CompressionMiddleware(HttpCompressionMiddleware):
    """Replaces Scrapy's ``HttpCompressionMiddleware`` (590).

    Differences: a response has two codings at most; large bodies are decoded in a thread; after a
    failure the page is requested once more without compression.
    """

    def __init__(self, *, crawler: Crawler) -> None:
        super().__init__(crawler=crawler)
        self._count = crawler.stats.inc_value

    async def process_response(  # type: ignore[override]  # a coroutine, without the argument spider
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return *response* decompressed, or *request* with ``Accept-Encoding: identity``."""
        headers = response.headers.getlist("Content-Encoding")
        if not headers or request.method == "HEAD":
            return response
        try:
            codings, unknown = split_codings(headers)
            body = await self._body(request, response, codings)
        except TooLargeError:
            limit = self._limit(request)
            logger.warning("Larger than %d bytes after decompression: %s", limit, request.url)
            raise IgnoreRequest("exceeds DOWNLOAD_MAXSIZE") from None
        except CodingError as error:
            return self._retry(request, error)
        if unknown:
            logger.warning("Unknown content coding %.100r: %s", ", ".join(unknown), request.url)
        self._count("httpcompression/response_count")
        self._count("httpcompression/response_bytes", len(body))
        return _decoded(response, body, unknown)

    async def _body(self, request: Request, response: Response, codings: list[str]) -> bytes:
        limit, cut, body = self._limit(request), CUT in request.meta, response.body
        if len(body) <= _MAX_INLINE_SIZE and len(codings) < 2:
            return decode(body, codings, limit, cut=cut)
        return await run_in_thread(decode, body, codings, limit, cut=cut)

    def _limit(self, request: Request) -> int:
        size: int = request.meta.get(CUT) or request.meta.get("download_maxsize", self._max_size)
        return size or _UNLIMITED

    def _retry(self, request: Request, error: CodingError) -> Request:
        """Return *request* without compression; raise :class:`RefusedError` after a retry."""
        if request.meta.get(META) or request.meta.get("dont_retry"):
            self._count("newscrawl/compression/failed_count")
            logger.warning("Could not decompress (%s): %s", error, request.url)
            raise RefusedError("encoding") from error
        logger.info("Could not decompress (%s), retrying uncompressed: %s", error, request.url)
        self._count("newscrawl/compression/retried_count")
        retry = request.replace(dont_filter=True)
        retry.headers["Accept-Encoding"] = "identity"
        retry.meta[META] = True
        return retry


def _decoded(response: Response, body: bytes, codings: list[str]) -> Response:
    headers = response.headers.copy()
    del headers["Content-Encoding"]
    if codings:
        headers["Content-Encoding"] = ", ".join(codings)
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    return copy_response(response, kind, headers=headers, body=body)
