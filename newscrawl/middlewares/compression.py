"""``CompressionMiddleware``: a body that does not unpack is asked for unpacked, once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: meta key of the second request
META: Final = "newscrawl_identity"


class CompressionMiddleware(HttpCompressionMiddleware):
    """Takes the place of Scrapy's (590), which loses such a page."""

    def process_response(  # type: ignore[override]  # Scrapy gives no spider to who asks for none
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return *response* unpacked, or *request* again with ``Accept-Encoding: identity``."""
        try:
            return super().process_response(request, response)
        except IgnoreRequest:  # too large
            raise
        except Exception:  # zlib's, gzip's, brotli's and zstandard's errors have nothing in common
            if request.meta.get(META) or request.meta.get("dont_retry"):
                raise
            logger.info("Does not unpack, asked for unpacked: %s", request.url)
            if self.stats:
                self.stats.inc_value("newscrawl/compression/retried_count")
            again = request.replace(dont_filter=True)
            again.headers["Accept-Encoding"] = "identity"
            again.meta[META] = True
            return again
