"""Downloads of pages outside of the scheduler, with all downloader middlewares."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl.crawl.stylesheet_fetcher import META
from newscrawl.extraction.web_addresses import web_url

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


_LINK: Final = re.compile(r"<([^<>]{1,2083})>([^<>]{0,500})")
_CANONICAL: Final = re.compile(
    r"""\brel\s*=\s*(?:canonical\b|"[^"]*\bcanonical\b)""", re.IGNORECASE
)


def header_hints(response: Response) -> dict[str, str]:
    """Return what the headers of *response* state about its page: ``canonical``."""
    for header in response.headers.getlist("Link"):
        for address, attributes in _LINK.findall(header.decode("utf-8", "replace")):
            canonical = web_url(address, response.url) if _CANONICAL.search(attributes) else None
            if canonical is not None:
                return {"canonical": canonical}
    return {}


async def download_page(crawler: Crawler, url: str, **meta: Any) -> Response:
    """Return the response to *url*, without fetching its style sheets.

    Raises ``HttpError`` for an error status, and the errors of middlewares.
    """
    request = Request(url, callback=NO_CALLBACK, meta={META: False, **meta})
    response: Response = await crawler.engine.download_async(request)
    if response.status != HTTPStatus.OK:
        raise HttpError(response, f"HTTP status {response.status}")
    return response
