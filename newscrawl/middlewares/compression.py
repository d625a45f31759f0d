"""Downloader middleware that retries a response that cannot be decompressed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from newscrawl.crawl.network.response_copy import copy_response

if TYPE_CHECKING:
    from scrapy import Request

logger = logging.getLogger(__name__)

#: meta key of the retry
META: Final = "newscrawl_identity"


class CompressionMiddleware(HttpCompressionMiddleware):
    """Replaces Scrapy's ``HttpCompressionMiddleware`` (590), which drops such a response."""

    def process_response(  # type: ignore[override]  # without the optional argument spider
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return *response* decompressed, or *request* with ``Accept-Encoding: identity``."""
        try:
            return super().process_response(request, _plain(response))
        except IgnoreRequest:  # too large
            raise
        except Exception:  # the errors of zlib, gzip, brotli and zstandard have no common class
            if request.meta.get(META) or request.meta.get("dont_retry"):
                raise
            logger.info("Decompression failed, retrying uncompressed: %s", request.url)
            if self.stats:
                self.stats.inc_value("newscrawl/compression/retried_count")
            retry = request.replace(dont_filter=True)
            retry.headers["Accept-Encoding"] = "identity"
            retry.meta[META] = True
            return retry


def _plain(response: Response) -> Response:
    """Return a compressed *response* as plain ``Response``: Scrapy would decode its body as text."""
    if "Content-Encoding" not in response.headers:
        return response
    return copy_response(response, Response)
