"""Downloader middleware that replaces charsets that no browser decodes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy.http import TextResponse
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from newscrawl.document.encoding import whatwg_codec

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)


class CharsetMiddleware:
    """Decodes responses of other charsets than those of the WHATWG Encoding Standard as UTF-8.

    Scrapy accepts every codec of Python: ``punycode`` takes quadratic time, ``hex`` raises
    ``LookupError``. Its priority (585) places it between decompression and the middlewares that
    read ``response.text``.
    """

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware."""
        return cls(crawler.stats)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return *response*; as UTF-8 if its header or its first 4 KB declare another charset."""
        if not isinstance(response, TextResponse):
            return response
        content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        declared = (
            http_content_type_encoding(content_type),
            html_body_declared_encoding(response.body[:4096]),
        )
        unknown = [codec for codec in declared if codec and not whatwg_codec(codec)]
        if not unknown:
            return response
        self._stats.inc_value("newscrawl/charset/unknown_count")
        logger.info("Unknown charset %s, decoded as UTF-8: %s", unknown[0], request.url)
        return response.replace(encoding="utf-8")
