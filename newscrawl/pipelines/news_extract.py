"""Item pipeline that extracts articles from pages."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from newscrawl import clock
from newscrawl.crawl.discovery.urls import site_key_or
from newscrawl.crawl.history.crawl_state import CrawlState
from newscrawl.crawl.reporting.outcomes import DroppedPage, SiteStats
from newscrawl.crawl.workers.pool import WorkerError, WorkerPool
from newscrawl.css.sheet_links import sheet_urls
from newscrawl.document.document import COMPILED
from newscrawl.document.encoding import is_binary
from newscrawl.items import Article, PageItem, instant
from newscrawl.middlewares import StylesheetMiddleware
from newscrawl.pipeline_options import NOT_ARTICLE, PAGE_TASK, TOO_SHORT, PipelineOptions
from newscrawl.pipelines import article_adapter
from newscrawl.pipelines.item_filler import ItemFiller
from newscrawl.pipelines.zyte import to_zyte
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newscrawl.crawl.stylesheet_fetcher import SheetFetcher

logger = logging.getLogger(__name__)

# Failures after which a page is extracted without its styles.
_RETRIED: Final = frozenset({"memory", "timeout"})

DECODE_TASK = "newscrawl.crawl.workers.tasks:decode_page"


class PageDropped(DropItem):  # without the suffix Error, like DropItem
    """The page has no article; ``reason`` is its name in the stats."""

    reason = "failed"

    def __init__(self, message: str) -> None:
        # The pipeline itself logs failures.
        super().__init__(message, log_level="DEBUG")
        #: value for ``NEWSCRAWL_STATUS_FIELD``
        self.status = self.reason


class NotArticle(PageDropped):
    """``NEWSCRAWL_KEEP`` excludes the kind of the page or requires a higher confidence."""

    reason = NOT_ARTICLE

    def __init__(self, article: Article) -> None:
        confidence = article.evidence["kind"].confidence
        message = f"not an article ({article.kind}, {confidence:.2f}): {article.url}"
        super().__init__(message)
        self.kind, self.confidence = article.kind, confidence


class TooShort(PageDropped):
    """The body is shorter than ``NEWSCRAWL_MIN_BODY``."""

    reason = TOO_SHORT

    def __init__(self, article: Article) -> None:
        length = weighted_length(article.body)
        super().__init__(f"too short ({length:.0f} characters): {article.url}")


class Filtered(PageDropped):
    """A filter excludes the article: publication window, languages or keywords."""

    def __init__(self, reason: str, article: Article) -> None:
        self.reason = reason
        super().__init__(f"{reason}: {article.url}")


class NotNew(PageDropped):
    """The article was emitted by a former crawl: ``unchanged``, or ``known`` from another URL."""

    def __init__(self, reason: str, article: Article) -> None:
        self.reason = reason
        super().__init__(f"{reason}: {article.url}")


class ExtractionFailed(PageDropped):
    """The extraction failed: error, crash, timeout or memory limit."""

    def __init__(self, page: PageItem, error: WorkerError) -> None:
        super().__init__(f"failed ({error.reason}): {page.url}")
        self.status = f"failed/{error.reason}"


class NewsExtractPipeline:
    """Extracts articles from items that have a page (``html`` and ``url``), in worker processes.

    ``NEWSCRAWL_OUTPUT`` determines the result; a :class:`~newscrawl.items.PageItem` is never
    filled. Items without a page pass unchanged. A page without an article is dropped as
    ``not_article``, ``too_short`` or ``failed``. With the output ``fill`` the item is kept, without
    its page, and ``NEWSCRAWL_STATUS_FIELD`` records the outcome.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._options = PipelineOptions.read(crawler.settings)
        self._crawler = crawler
        self._workers = WorkerPool.for_crawler(crawler)
        self._sheets: SheetFetcher | None = None
        options = self._options
        self._filler = ItemFiller(options.fields, options.field_converters, options.body_formats)
        self._stats = crawler.stats
        self._site_stats = SiteStats(crawler.stats)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline of *crawler*; raise ``ValueError`` for an invalid setting."""
        return cls(crawler)

    def open_spider(self) -> None:
        """Prepare the feeds, and find the middleware of style sheets; without it, pages have no styles."""
        self._stats.set_value("newscrawl/extract/compiled", COMPILED)
        middleware = self._crawler.get_downloader_middleware(StylesheetMiddleware)
        self._sheets = middleware.sheets if middleware else None
        article_adapter.register()

    async def process_item(self, item: Any) -> Any:
        """Return the article of the page in *item*, or *item* filled with its fields."""
        page = self._read(item)
        if page is None:
            self._stats.inc_value("newscrawl/extract/passed_count")
            if self._options.output == "fill":
                await self._take_page(item)  # of an item without a URL
            return item
        article, dropped = await self.extract(page)
        if self._options.output == "fill" and not isinstance(item, PageItem):
            self.fill(item, article, dropped)
            await self._take_page(item)
            return item
        return self._finish(item, article, dropped)

    async def extract(self, page: PageItem) -> tuple[Article | None, PageDropped | None]:
        """Return the article of *page*, None if it failed, and the reason to drop it; count it."""
        article, dropped = await self._result(page)
        site = page.site or site_key_or(page.url, "invalid")
        count = f"dropped_count/{dropped.reason}" if dropped else "article_count"
        self._stats.inc_value(f"newscrawl/extract/{count}")
        if article and not dropped:
            body = article.evidence.get("body")
            self._site_stats.add_article(site, body.confidence if body else 0.0)
        else:
            self._site_stats.count(site, count)
        if isinstance(dropped, NotArticle):
            logger.info("Dropped: %s", dropped)
            dropped_page = DroppedPage(site, dropped.kind, dropped.confidence, page.url)
            self._site_stats.add_dropped_page(dropped_page)
        return article, dropped

    def fill(self, item: Any, article: Article | None, dropped: PageDropped | None) -> None:
        """Fill the empty fields of *item*, unless the article is dropped, and set its status."""
        self._filler.fill(item, None if dropped else article)
        status = dropped.status if dropped else "article"
        self._filler.set(item, self._options.status_field, status)

    async def _result(self, page: PageItem) -> tuple[Article | None, PageDropped | None]:
        try:
            article, text = await self._extract(page)
        except WorkerError as error:
            self._record_failure(page, error)
            if state := CrawlState.of(self._crawler):
                state.pages.record_extraction_failure(page.url, f"worker_{error.reason}")
            return None, ExtractionFailed(page, error)
        dropped = self._not_kept(article) or await self._not_new(article, page, text)
        return article, dropped

    def _not_kept(self, article: Article) -> PageDropped | None:
        reason = self._options.drop_reason(article)
        if reason == NOT_ARTICLE:
            return NotArticle(article)
        if reason == TOO_SHORT:
            return TooShort(article)
        return Filtered(reason, article) if reason else None

    def _read(self, item: Any) -> PageItem | None:
        """Return the page in *item*, from the fields that the settings name; None without a page."""
        if isinstance(item, PageItem):
            return item
        adapter, options = ItemAdapter(item), self._options
        html, url = adapter.get(options.html_field), adapter.get(options.url_field)
        if not (isinstance(html, bytes | str) and isinstance(url, str) and url):
            return None
        encoding = adapter.get(options.encoding_field)
        if isinstance(html, str):
            html, encoding = html.encode(errors="replace"), "utf-8"
        return PageItem(url, html, encoding, instant(adapter.get(options.fetched_at_field)))

    async def _extract(self, page: PageItem) -> tuple[Article, bytes]:
        """Return the article of *page*, and the hash of its body."""
        if is_binary(page.html):  # saves sending it to a worker
            raise WorkerError("not a page: binary data", "document")
        styles = await self._styles(page)
        try:
            plain = await self._call(page, styles)
        except WorkerError as error:
            if error.reason not in _RETRIED or not styles:
                raise
            logger.info("Extracting without styles (%s): %s", error.reason, page.url)
            self._stats.inc_value("newscrawl/extract/retried_count")
            plain = await self._call(page, {})
        text = bytes.fromhex(plain.pop("body_hash"))
        article = Article.from_dict(plain)
        if article.style_complete is not None:
            name = "complete" if article.style_complete else "incomplete"
            self._stats.inc_value(f"newscrawl/css/{name}_page_count")
        return article, text

    async def _call(self, page: PageItem, styles: dict[str, Any]) -> dict[str, Any]:
        return await self._workers.call(
            PAGE_TASK,
            page.html,
            site=page.site or site_key_or(page.url, "invalid"),
            url=page.url,
            encoding=page.encoding,
            fetched_at=(page.fetched_at or clock.now()).isoformat(),
            hints=page.hints,
            hashed=True,
            **self._options.task_arguments,
            **styles,
        )

    async def _styles(self, page: PageItem) -> dict[str, Any]:
        """Wait for the style sheets of *page*; return the arguments of the task for them."""
        if self._sheets is None:
            return {}
        urls = page.stylesheets
        if urls is None:
            urls = sheet_urls(page.html, page.url, limit=self._sheets.max_sheets)
        return {"stylesheets": await self._sheets.collect(urls), **self._sheets.store}

    async def _not_new(self, article: Article, page: PageItem, text: bytes) -> PageDropped | None:
        """Return the reason if a former crawl emitted *article*; flag it if it was updated since.

        *text* is the hash of its body.
        """
        state = CrawlState.of(self._crawler)
        found = await state.pages.judge(article, page.url, text) if state else None
        if found == "updated":
            article.flags.append(found)
        return NotNew(found, article) if found in ("unchanged", "known") else None

    def _finish(self, item: Any, article: Article | None, dropped: PageDropped | None) -> Any:
        if isinstance(item, PageItem):
            item.html = b""  # Scrapy logs dropped items in full
        elif self._options.remove_html:
            self._filler.clear(item, self._options.html_field)
        if dropped:
            raise dropped
        return to_zyte(article) if article and self._options.output == "zyte" else article

    async def _take_page(self, item: Any) -> None:
        """Remove the page from *item*, or decode it, since JSON feeds cannot write bytes."""
        adapter, options = ItemAdapter(item), self._options
        html = adapter.get(options.html_field)
        if not options.remove_html and isinstance(html, bytes):
            charset = adapter.get(options.encoding_field)
            with suppress(WorkerError):
                url = adapter.get(options.url_field)
                site = site_key_or(url, "invalid") if isinstance(url, str) else ""
                decoded = await self._workers.call(DECODE_TASK, html, site=site, encoding=charset)
                self._filler.set(item, options.html_field, decoded["text"])
        if options.remove_html or isinstance(adapter.get(options.html_field), bytes):
            self._filler.clear(item, options.html_field)

    def _record_failure(self, page: PageItem, error: WorkerError) -> None:
        self._stats.inc_value(f"newscrawl/extract/failed_count/{error.reason}")
        # An exception is a bug of newscrawl, so its traceback is logged.
        level = logging.ERROR if error.reason == "error" else logging.WARNING
        notes = "\n".join(["", *getattr(error, "__notes__", ())]) if level == logging.ERROR else ""
        logger.log(
            level, "Extraction failed (%s) for %s: %s%s", error.reason, page.url, error, notes
        )
