"""Download of the URLs of ``newscrawl extract``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scrapy import Request, Spider
from scrapy.http import Response  # noqa: TC002  # scrapy-poet reads the annotation

from newscrawl.cli.crawl_process import NO_OUTPUT, failure_message, run_spider
from newscrawl.cli.page_sources import SourceError, check_html
from newscrawl.cli.shared_options import report
from newscrawl.crawl.page_download import download_page, page_of
from newscrawl.crawl.stylesheet_fetcher import META
from newscrawl.defaults import setting
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.extraction.story_pages import join_pages
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from newscrawl.items import Article, PageItem

_DOWNLOAD_SETTINGS: Final = {"DOWNLOAD_MAXSIZE": MAX_PAGE_BYTES, "ROBOTSTXT_OBEY": True}


Extract: TypeAlias = "Callable[[WorkerPool, str, PageItem], Awaitable[Article | None]]"


def crawl_pages(
    urls: Sequence[str],
    settings: Settings,
    *,
    jobs: int,
    extract: Extract,
    write: Callable[[str, Article | None], None],
    fail: Callable[[str, object], None],
) -> None:
    """Download the pages of *urls*, *extract* them in a pool with *jobs* workers, *write* each.

    *fail* is called with the URL of a page that could not be downloaded, and the reason.
    """
    settings.setdict(_DOWNLOAD_SETTINGS, priority="command")
    settings.set("NEWSCRAWL_WORKERS", jobs, priority="cmdline")
    run_spider(settings, PageSpider, urls=urls, extract=extract, write=write, fail=fail)


class PageSpider(Spider):
    """Downloads the URLs of an extraction."""

    name = "extract"
    custom_settings = NO_OUTPUT

    def __init__(
        self,
        urls: Sequence[str],
        extract: Extract,
        write: Callable[[str, Article | None], None],
        fail: Callable[[str, object], None],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._urls = urls
        self._extract = extract
        self._write = write
        self._fail = fail

    async def start(self) -> AsyncIterator[Any]:
        """Yield the requests."""
        for url in self._urls:
            meta = {META: False}  # no style sheets
            yield Request(url, errback=self.errback, meta=meta, dont_filter=True)

    async def parse(self, response: Response, **_: Any) -> None:
        """Extract the page."""
        url = response.url
        try:
            article = await self._article(url, response)
        except SourceError as error:
            self._fail(url, error)
            return
        if article is not None and setting(self.settings, "NEWSCRAWL_JOIN_PAGES"):
            await join_pages(article, self._read_further_page)
        self._write(url, article)

    async def _article(self, name: str, response: Response) -> Article | None:
        check_html(response.body)
        return await self._extract(WorkerPool.for_crawler(self.crawler), name, page_of(response))

    async def _read_further_page(self, url: str) -> Article | None:
        try:
            return await self._article(url, await download_page(self.crawler, url))
        except Exception as error:  # noqa: BLE001  # any middleware's
            report(f"{url}: further page of a story not read ({failure_message(error)})")
            return None

    def errback(self, failure: Failure) -> None:
        """Report that a download failed."""
        url = failure.request.url  # type: ignore[attr-defined]
        self._fail(url, failure_message(failure.value))
