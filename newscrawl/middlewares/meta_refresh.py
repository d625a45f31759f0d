"""Downloader middleware that follows ``<meta http-equiv="refresh">`` without decoding the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware as ScrapyMetaRefresh
from scrapy.http import HtmlResponse

from newscrawl.document.encoding import header_charset, page_charset

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

# Scrapy looks for the element in the first 4,096 characters.
_HEAD_SIZE: Final = 4 * 4096


class MetaRefreshMiddleware(ScrapyMetaRefresh):
    """Replaces Scrapy's ``MetaRefreshMiddleware`` (580), which decodes the whole body.

    That takes seconds of the event loop for a body of invalid GB 18030.
    """

    def process_response(  # type: ignore[override]  # without the optional argument spider
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return *response*, or the request for the address that its header or 16 KB redirect to."""
        if not isinstance(response, HtmlResponse):
            return response
        body = response.body[:_HEAD_SIZE]
        if refresh := response.headers.get(b"Refresh"):
            content = refresh.replace(b'"', b"%22")
            body = (b'<meta http-equiv="refresh" content="%b">%b' % (content, body))[:_HEAD_SIZE]
        charset = header_charset(response.headers.get(b"Content-Type")) or page_charset(body)
        head = HtmlResponse(
            response.url, headers=response.headers, body=body, encoding=charset or "utf-8"
        )
        result = super().process_response(request, head)
        return response if result is head else result
