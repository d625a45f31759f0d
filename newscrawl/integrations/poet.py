"""Provider for scrapy-poet (extra ``newscrawl[poet]``), which reads the annotations at run time."""

from collections.abc import Callable, Sequence
from typing import Any

import zyte_common_items as zyte
from scrapy import signals
from scrapy.http import Response
from scrapy_poet.page_input_providers import PageObjectInputProvider

from newscrawl.crawling.network.page_download import page_of
from newscrawl.items import Article
from newscrawl.pipelines import NewsExtractPipeline
from newscrawl.pipelines.item_filler import to_zyte


class ArticleProvider(PageObjectInputProvider):
    """Provides ``zyte_common_items.Article`` and :class:`newscrawl.Article` to callbacks and pages.

    The response is extracted in a worker process. Page objects that take an ``Article``, such as
    ``zyte_common_items.AutoArticlePage``, get newscrawl's. Raises
    :class:`~newscrawl.pipelines.news_extract.ExtractionFailed` if there is none; a page of another
    kind is provided like an article.
    """

    provided_classes = {Article, zyte.Article}  # noqa: RUF012  # not a ClassVar in the base class
    name = "newscrawl_article"

    def __init__(self, injector: Any) -> None:
        super().__init__(injector)  # type: ignore[no-untyped-call]
        self._extractor = NewsExtractPipeline(injector.crawler)
        injector.crawler.signals.connect(self._extractor.open_spider, signals.spider_opened)

    async def __call__(
        self, to_provide: set[Callable[..., Any]], response: Response
    ) -> Sequence[Any]:
        """Return an article for each class in *to_provide*."""
        article, dropped = await self._extractor.extract(page_of(response))
        if article is None:
            assert dropped is not None  # noqa: S101
            raise dropped
        return [article if needed is Article else to_zyte(article) for needed in to_provide]
