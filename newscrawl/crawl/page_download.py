"""Downloads of pages outside of the scheduler, with all downloader middlewares."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.httperror import HttpError

from newscrawl import clock
from newscrawl.crawl.stylesheet_fetcher import META
from newscrawl.defaults import setting
from newscrawl.document.encoding import header_charset
from newscrawl.extraction.web_addresses import web_url
from newscrawl.items import ARCHIVED, PageItem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


logger = logging.getLogger(__name__)

_MAX_INDEX: Final = 16 * 1024
_LINK: Final = re.compile(r"<([^<>]{1,2083})>([^<>]{0,500})")
_CANONICAL: Final = re.compile(
    r"""\brel\s*=\s*(?:canonical\b|"[^"]*\bcanonical\b)""", re.IGNORECASE
)
_FEED: Final = re.compile(
    r"""\btype\s*=\s*"?application/(?:(?:atom|rdf|rss)\+xml|feed\+json)\b""", re.IGNORECASE
)


def header_hints(response: Response) -> dict[str, str]:
    """Return what the headers of *response* state about its page: ``canonical``."""
    canonical = next(_linked(response, _CANONICAL), None)
    return {} if canonical is None else {"canonical": canonical}


def header_feeds(response: Response) -> list[str]:
    """Return the URLs of feeds that the headers of *response* state."""
    return list(_linked(response, _FEED))


def _linked(response: Response, attribute: re.Pattern[str]) -> Iterator[str]:
    """Yield the URLs in ``Link`` headers (RFC 8288) with a matching attribute."""
    for header in response.headers.getlist("Link"):
        for address, attributes in _LINK.findall(header.decode("utf-8", "replace")):
            url = web_url(address, response.url) if attribute.search(attributes) else None
            if url is not None:
                yield url


def page_of(response: Response) -> PageItem:
    """Return the page of *response*."""
    encoding = header_charset(response.headers.get("Content-Type"))
    return PageItem(response.url, response.body, encoding, clock.now())


async def download_copy(crawler: Crawler, url: str, **meta: Any) -> PageItem | None:
    """Return the newest copy of the page *url* in a web archive, if settings allow one.

    The archive has the API of the Wayback Machine:
    https://github.com/internetarchive/wayback/tree/master/wayback-cdx-server
    """
    settings = crawler.settings
    if not setting(settings, "NEWSCRAWL_ARCHIVED"):
        return None
    archive = setting(settings, "NEWSCRAWL_WEB_ARCHIVE").rstrip("/")
    query = {
        "url": url,
        "output": "json",
        "fl": "timestamp,original",
        "filter": "statuscode:200",
        "limit": -1,
        "to": re.sub(r"\D", "", setting(settings, "NEWSCRAWL_ARCHIVED_BEFORE")),
    }
    try:
        index = await download_page(crawler, f"{archive}/cdx/search/cdx?{urlencode(query)}", **meta)
        time, original = json.loads(index.body[:_MAX_INDEX])[1:][-1]
        fetched_at = datetime.strptime(time, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        copy = await download_page(crawler, f"{archive}/web/{time}id_/{original}", **meta)
    except IndexError:
        return None
    except Exception as error:  # noqa: BLE001  # any middleware's
        logger.info("Could not fetch a copy (%s): %s", error, url)
        return None
    hints = {ARCHIVED: copy.url}
    return replace(page_of(copy), url=url, fetched_at=fetched_at, hints=hints)


async def download_page(crawler: Crawler, url: str, **meta: Any) -> Response:
    """Return the response to *url*, without fetching its style sheets.

    Raises ``HttpError`` for an error status, and the errors of middlewares.
    """
    request = Request(url, callback=NO_CALLBACK, meta={META: False, **meta})
    response: Response = await crawler.engine.download_async(request)
    if response.status != HTTPStatus.OK:
        raise HttpError(response, f"HTTP status {response.status}")
    return response
