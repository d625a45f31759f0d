"""``StylesheetMiddleware``: asks for the style sheets of a page while the page goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse

from newscrawl.crawl.stylesheet_fetcher import META, SHEET, SheetFetcher
from newscrawl.css.sheet_links import has_paragraphs, sheet_urls
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# One article page in a hundred has less than five.
_PARAGRAPHS = 3


class StylesheetMiddleware:
    """Starts the download of the style sheets of every page that may be an article.

    Its place is near 545: the body is unpacked there, and redirects and retries are done. It never
    waits. ``NewsExtractPipeline`` does, for a bounded time, and finds the sheets by itself; for
    others, ``response.meta["newscrawl_css"]`` has their URLs. A request with False there has no
    sheets fetched for its response.
    """

    def __init__(self, crawler: Crawler) -> None:
        #: the sheets of this crawl
        self.sheets = SheetFetcher(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware; raise ``NotConfigured`` where it is switched off."""
        if not setting(crawler.settings, "NEWSCRAWL_CSS_ENABLED"):
            raise NotConfigured("NEWSCRAWL_CSS_ENABLED is False")
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Refuse requests for sheets that their page must not lead to."""
        if request.meta.get(META) == SHEET:
            await self.sheets.admit(request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Start the sheets of *response*, which is returned as it is."""
        if _may_have_sheets(request, response):
            urls = sheet_urls(response.body, response.url, limit=self.sheets.options.sheets)
            if not urls or has_paragraphs(response.body, _PARAGRAPHS):
                request.meta[META] = urls
                self.sheets.start(urls, request, response.url)
        return response


def _may_have_sheets(request: Request, response: Response) -> bool:
    return (
        response.status == 200
        and isinstance(response, HtmlResponse)
        # A list comes with meta that was copied from another page's response.
        and request.meta.get(META) not in (SHEET, False)
    )
