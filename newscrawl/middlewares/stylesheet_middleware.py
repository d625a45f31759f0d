"""Downloader middleware that fetches the style sheets of pages in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse

from newscrawl.component import Component
from newscrawl.crawl.stylesheet_fetcher import META, SheetFetcher
from newscrawl.css import has_paragraphs, sheet_urls
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# 99 % of article pages have at least five.
_MIN_PARAGRAPHS = 3


class StylesheetMiddleware(Component):
    """Starts the download of the style sheets of every page that may be an article.

    Its priority (545) places it after decompression, redirects and retries. It never delays a
    response; ``NewsExtractPipeline`` waits for the sheets. ``response.meta["newscrawl_css"]`` has
    their URLs. Set it to False in a request to fetch no sheets for its response.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_CSS_ENABLED"):
            raise NotConfigured  # without a message: no style sheets is a usual choice
        #: downloads of this crawl
        self.sheets = SheetFetcher(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Start to fetch the sheets of *response*; return it unchanged."""
        if (
            response.status == 200
            and isinstance(response, HtmlResponse)
            and request.meta.get(META) is not False
        ):
            urls = sheet_urls(response.body, response.url, limit=self.sheets.max_sheets)
            if not urls or has_paragraphs(response.body, _MIN_PARAGRAPHS):
                request.meta[META] = urls
                self.sheets.start(urls, request, response.url)
        return response
