"""Downloads of pages outside of the scheduler, with all downloader middlewares."""

from __future__ import annotations

import re
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl import clock
from newscrawl.document.encoding import header_charset
from newscrawl.extraction.web_addresses import web_url
from newscrawl.items import PageItem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response


SHEETS: Final = "newscrawl_css"
"""Request meta key: False to fetch no style sheets for the page."""
SHEET_SITE: Final = "newscrawl_css_site"
"""Meta key of a request for a style sheet: the site of the page."""
MAX_LINK_SIZE: Final = 64 * 1024
"""Bytes of the ``Link`` headers of a response that are read."""
MAX_HEADER_FEEDS: Final = 20
"""Feeds that these may name."""
_LINK: Final = re.compile(rb"<([^<>]{1,2083})>([^<>]{0,500})")
_CANONICAL: Final = re.compile(
    rb"""\brel\s*=\s*(?:canonical\b|"[^"]*\bcanonical\b)""", re.IGNORECASE
)
_FEED: Final = re.compile(
    rb"""\btype\s*=\s*"?application/(?:(?:atom|rdf|rss)\+xml|feed\+json)\b""", re.IGNORECASE
)


def header_hints(response: Response) -> dict[str, str]:
    """Return what the headers of *response* state about its page: ``canonical``."""
    canonical = next(_linked(response, _CANONICAL), None)
    return {} if canonical is None else {"canonical": canonical}


def header_feeds(response: Response) -> list[str]:
    """Return the URLs of feeds that the headers of *response* state."""
    return list(islice(_linked(response, _FEED), MAX_HEADER_FEEDS))


def _linked(response: Response, attribute: re.Pattern[bytes]) -> Iterator[str]:
    """Yield the URLs in ``Link`` headers (RFC 8288) with a matching attribute."""
    headers = b",".join(response.headers.getlist("Link"))[:MAX_LINK_SIZE]
    for link in _LINK.finditer(headers):
        address = link[1].decode("utf-8", "replace")
        url = web_url(address, response.url) if attribute.search(link[2]) else None
        if url is not None:
            yield url


def page_of(response: Response) -> PageItem:
    """Return the page of *response*."""
    encoding = header_charset(response.headers.get("Content-Type"))
    return PageItem(response.url, response.body, encoding, clock.now())


async def download_page(
    crawler: Crawler,
    url: str,
    meta: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the response to *url*, without fetching its style sheets.

    Raises ``HttpError`` for an error status, and the errors of middlewares.
    """
    meta = {SHEETS: False, **(meta or {})}
    request = Request(url, callback=NO_CALLBACK, meta=meta, headers=headers)
    response: Response = await crawler.engine.download_async(request)
    if response.status != HTTPStatus.OK:
        raise HttpError(response, f"HTTP status {response.status}")
    return response
