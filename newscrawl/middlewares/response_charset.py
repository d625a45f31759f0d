"""Downloader middlewares that keep Scrapy from decoding hostile pages in the event loop."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware as ScrapyMetaRefresh
from scrapy.http import HtmlResponse, TextResponse, XmlResponse
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from newscrawl.component import Component
from newscrawl.document.encoding import header_charset, page_charset, whatwg_codec

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

# Scrapy looks for redirects in the first 4,096 characters.
_HEAD_SIZE: Final = 4 * 4096
_ROOT: Final = re.compile(rb"<!--.*?(?:-->|\Z)|<([a-z][\w:.-]{0,99})", re.IGNORECASE | re.DOTALL)
_CLASSES: Final[dict[bytes, type[TextResponse]]] = {
    b"html": HtmlResponse, b"rss": XmlResponse, b"feed": XmlResponse, b"rdf:rdf": XmlResponse
}  # fmt: skip


class CharsetMiddleware(Component):
    """Decodes responses of other charsets than those of the WHATWG Encoding Standard as UTF-8.

    XHTML that is sent as XML becomes an ``HtmlResponse``, a feed that is sent as HTML an
    ``XmlResponse``.

    Scrapy accepts every codec of Python: ``punycode`` takes quadratic time, ``hex`` raises
    ``LookupError``. Its priority (585) places it between decompression and the middlewares that
    read ``response.text``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats

    def process_response(self, request: Request, response: Response) -> Response:
        """Return *response*; as UTF-8 if its header or its first 4 KB declare another charset."""
        if not isinstance(response, TextResponse):
            return response
        if isinstance(response, (HtmlResponse, XmlResponse)):
            found = _ROOT.finditer(response.body, 0, _HEAD_SIZE)
            root = next((match[1].lower() for match in found if match[1]), b"")
            if (kind := _CLASSES.get(root)) and not isinstance(response, kind):
                response = response.replace(cls=kind)
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


# Page without content that leads to another address, unless it sets a cookie: that is a challenge.
_MAX_SCRIPT_REDIRECT: Final = 2048
_SCRIPT_REDIRECT: Final = re.compile(
    rb"""<script\b[^>]{0,99}>[^<]{0,500}\blocation(?:\.href)?\s{0,9}(?:=|\.(?:replace|assign)\()\s{0,9}["']([^"'<>]{1,500})["']"""
)


class MetaRefreshMiddleware(ScrapyMetaRefresh):
    """Replaces Scrapy's ``MetaRefreshMiddleware`` (580), which decodes the whole body.

    That takes seconds of the event loop for a body of invalid GB 18030.
    """

    def process_response(  # type: ignore[override]  # without the optional argument spider
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return *response*, or the request for the address that its header or 16 KB redirect to.

        Or that the script of a tiny page redirects to.
        """
        if not isinstance(response, HtmlResponse):
            return response
        body = response.body[:_HEAD_SIZE]
        refresh = response.headers.get(b"Refresh")
        if len(response.body) <= _MAX_SCRIPT_REDIRECT and b"document.cookie" not in body:
            found = _SCRIPT_REDIRECT.search(body)
            refresh = refresh or (b"0; url=" + found[1] if found else None)
        if not refresh and b"refresh" not in body.lower() and b"\0" not in body:  # but in UTF-16
            return response
        if refresh:
            content = refresh.replace(b'"', b"%22")
            body = (b'<meta http-equiv="refresh" content="%b">%b' % (content, body))[:_HEAD_SIZE]
        charset = header_charset(response.headers.get(b"Content-Type")) or page_charset(body)
        head = HtmlResponse(
            response.url, headers=response.headers, body=body, encoding=charset or "utf-8"
        )
        result = super().process_response(request, head)
        return response if result is head else result
