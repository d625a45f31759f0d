"""Download of the URLs of ``newscrawl extract``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from scrapy import Request

from newscrawl.cli.crawl_process import RequestSpider, failure_message, run_spider
from newscrawl.cli.page_sources import SourceError, check_html
from newscrawl.cli.shared_options import report
from newscrawl.crawling.network.page_download import download_page, page_of
from newscrawl.defaults import setting
from newscrawl.document.document import MAX_PAGE_BYTES
from newscrawl.extraction.story_pages import join_pages
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import Settings

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

    async def read(crawler: Crawler, response: Response) -> Article | None:
        check_html(response.body)
        return await extract(WorkerPool.for_crawler(crawler), response.url, page_of(response))

    async def done(crawler: Crawler, response: Response) -> None:
        async def read_further_page(url: str) -> Article | None:
            try:
                return await read(crawler, await download_page(crawler, url))
            except Exception as error:  # noqa: BLE001  # any middleware's
                report(f"{url}: further page of a story not read ({failure_message(error)})")
                return None

        try:
            article = await read(crawler, response)
        except SourceError as error:
            fail(response.url, error)
            return
        if article is not None and setting(settings, "NEWSCRAWL_JOIN_PAGES"):
            await join_pages(article, read_further_page)
        write(response.url, article)

    def failed(url: str, error: BaseException | None) -> None:
        fail(url, failure_message(error))

    requests = map(Request, urls)
    run_spider(settings, RequestSpider, requests=requests, done=done, failed=failed)
