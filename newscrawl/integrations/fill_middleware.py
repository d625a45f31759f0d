"""Spider middleware that fills the items of a spider from their responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.http import HtmlResponse

from newscrawl.component import Component
from newscrawl.crawling.network.page_download import page_of
from newscrawl.crawling.urls import absolute_url, page_key
from newscrawl.defaults import setting
from newscrawl.items import Article, PageItem
from newscrawl.pipelines import NewsExtractPipeline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class FillMiddleware(Component):
    """Fills the empty fields of each item with the article of the page it was scraped from.

    Items need no field for the page: the middleware extracts the response of the callback, once and
    in a worker process, before the items reach the pipelines. Items that have a page are left to
    :class:`~newscrawl.pipelines.NewsExtractPipeline`, and items with the URL of another page, such
    as the teasers of a section page, stay as they are. Every item is kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._extractor = NewsExtractPipeline(crawler)
        names = setting(crawler.settings, "NEWSCRAWL_FIELDS")
        self._url_field, self._html_field = (names.get(name) or name for name in ("url", "html"))
        crawler.signals.connect(self._extractor.open_spider, signals.spider_opened)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield *result* with its items filled."""
        extracted = None
        async for output in result:
            if isinstance(response, HtmlResponse) and self._is_fillable(output):
                extracted = extracted or await self._extractor.extract(page_of(response))
                if self._is_of_page(output, response, extracted[0]):
                    self._extractor.fill(output, *extracted)
            yield output

    def _is_fillable(self, output: Any) -> bool:
        if not ItemAdapter.is_item(output) or isinstance(output, Article | PageItem):
            return False
        return not ItemAdapter(output).get(self._html_field)

    def _is_of_page(self, item: Any, response: Response, article: Article | None) -> bool:
        """Return whether *item* has no URL or one of the page: before redirects or canonical."""
        url = ItemAdapter(item).get(self._url_field)
        if not isinstance(url, str) or not url:
            return True
        urls = [response.url, *response.meta.get("redirect_urls", ())]
        if article and article.canonical_url:
            urls.append(article.canonical_url)
        key = _key(url, response.url)
        return bool(key) and key in {_key(other, response.url) for other in urls}


def _key(url: str, base: str) -> str:
    """Return the key of the page at *url*, which may be relative to *base*; "" if invalid."""
    absolute = absolute_url(url, base)
    return page_key(absolute) if absolute else ""
