"""``NewsExtractPipeline``: pages in, articles out."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from newscrawl import clock
from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.history.crawl_state import CrawlState
from newscrawl.crawl.reporting.outcomes import DroppedPage, SiteStats
from newscrawl.crawl.workers.pool import WorkerError, WorkerPool
from newscrawl.css.sheet_links import sheet_urls
from newscrawl.document.document import COMPILED
from newscrawl.document.encoding import is_binary
from newscrawl.items import Article, PageItem
from newscrawl.middlewares import StylesheetMiddleware
from newscrawl.pipelines.item_filler import ItemFiller
from newscrawl.pipelines.pipeline_options import PipelineOptions
from newscrawl.pipelines.zyte import to_zyte
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newscrawl.crawl.stylesheet_fetcher import SheetFetcher

logger = logging.getLogger(__name__)

TASK = "newscrawl.crawl.workers.tasks:extract_page"


class PageDropped(DropItem):  # named as Scrapy names DropItem
    """A page gave no article; ``reason`` is what the stats count it under."""

    reason = "failed"

    def __init__(self, message: str) -> None:
        # Counted and, where it is a failure, logged by the pipeline itself.
        super().__init__(message, log_level="DEBUG")
        #: what the status field of an item that is filled tells
        self.status = self.reason


class NotArticle(PageDropped):
    """The page is of a kind that ``NEWSCRAWL_KEEP`` does not name, or not surely enough."""

    reason = "not_article"

    def __init__(self, article: Article) -> None:
        confidence = article.evidence["kind"].confidence
        message = f"not an article ({article.kind}, {confidence:.2f}): {article.url}"
        super().__init__(message)
        self.kind, self.confidence = article.kind, confidence


class TooShort(PageDropped):
    """The body is shorter than ``NEWSCRAWL_MIN_BODY``."""

    reason = "too_short"


class NotNew(PageDropped):
    """The article was put out before: ``unchanged``, or ``known`` from another URL."""

    def __init__(self, reason: str, article: Article) -> None:
        self.reason = reason
        super().__init__(f"{reason}: {article.url}")


class ExtractionFailed(PageDropped):
    """Extraction raised, crashed, timed out or ran out of memory."""

    def __init__(self, page: _PageItem, error: WorkerError) -> None:
        super().__init__(f"failed ({error.reason}): {page.url}")
        self.status = f"failed/{error.reason}"


@dataclass(frozen=True, slots=True)
class _PageItem:
    """What the pipeline reads from an item, whatever its class."""

    url: str
    html: bytes
    site: str
    fetched_at: datetime
    encoding: str | None = None
    hints: dict[str, str] = field(default_factory=dict)
    #: URLs of style sheets, where the spider knows them
    stylesheets: list[str] | None = None


class NewsExtractPipeline:
    """Turns items that hold a page (``html`` and ``url``) into articles.

    Extraction runs in worker processes. What becomes of an item is set by
    ``NEWSCRAWL_OUTPUT``; a :class:`~newscrawl.items.PageItem` is never filled.
    An item without page passes through untouched. Each page ends as exactly one of: article,
    or dropped as ``not_article``, ``too_short`` or ``failed`` (an item that is filled stays,
    and its status field tells).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._options = PipelineOptions.read(crawler.settings)
        self._crawler = crawler
        self._workers = WorkerPool.for_crawler(crawler)
        self._sheets: SheetFetcher | None = None
        self._filler = ItemFiller(self._options.fields)
        self._stats = crawler.stats
        self._site_stats = SiteStats(crawler.stats)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline of *crawler*; a setting it cannot use raises ``ValueError``."""
        return cls(crawler)

    def open_spider(self) -> None:
        """Find the middleware that fetches style sheets; without it styles are not asked for."""
        self._stats.set_value("newscrawl/extract/compiled", COMPILED)
        middleware = self._crawler.get_downloader_middleware(StylesheetMiddleware)
        self._sheets = middleware.sheets if middleware else None

    async def process_item(self, item: Any) -> Any:
        """Return the article of *item*'s page, or *item* with the article's fields."""
        page = self._read(item)
        if page is None:
            self._stats.inc_value("newscrawl/extract/passed_count")
            return item
        try:
            article, text = await self._extract(page)
        except WorkerError as error:
            self._record_failure(page, error)
            if state := CrawlState.of(self._crawler):
                state.pages.not_extracted(page.url, f"worker_{error.reason}")
            return self._finish(item, page, None, ExtractionFailed(page, error))
        dropped = verdict(article, self._options) or await self._not_new(article, page, text)
        return self._finish(item, page, article, dropped)

    def _read(self, item: Any) -> _PageItem | None:
        if not isinstance(item, PageItem):
            return self._read_foreign(item)
        return _PageItem(
            url=item.url,
            html=item.html,
            site=item.site or _site(item.url),
            fetched_at=item.fetched_at or clock.now(),
            encoding=item.encoding,
            hints=item.hints,
            stylesheets=item.stylesheets,
        )

    def _read_foreign(self, item: Any) -> _PageItem | None:
        adapter, options = ItemAdapter(item), self._options
        html, url = adapter.get(options.html_field), adapter.get(options.url_field)
        if not (isinstance(html, bytes | str) and isinstance(url, str) and url):
            return None
        encoding = adapter.get(options.encoding_field)
        if isinstance(html, str):
            html, encoding = html.encode(errors="replace"), "utf-8"
        fetched_at = _instant(adapter.get(options.fetched_at_field))
        return _PageItem(url, html, _site(url), fetched_at, encoding)

    async def _extract(self, page: _PageItem) -> tuple[Article, bytes]:
        """Return the article of *page*, and the hash of its body."""
        if is_binary(page.html):  # not worth its way to a worker
            raise WorkerError("not a page: binary data", "document")
        plain = await self._workers.call(
            TASK,
            page.html,
            url=page.url,
            encoding=page.encoding,
            fetched_at=page.fetched_at.isoformat(),
            method=self._options.method,
            parts=self._options.body_parts,
            article_threshold=self._options.article_threshold,
            hints=page.hints,
            hashed=True,
            **await self._styles(page),
        )
        text = bytes.fromhex(plain.pop("body_hash"))
        article = Article.from_dict(plain)
        if article.style_complete is not None:
            what = "complete" if article.style_complete else "incomplete"
            self._stats.inc_value(f"newscrawl/css/{what}_page_count")
        return article, text

    async def _styles(self, page: _PageItem) -> dict[str, Any]:
        """Return the arguments that tell the worker of the page's sheets, once these are there."""
        if self._sheets is None:
            return {}
        options = self._sheets.options
        urls = page.stylesheets
        if urls is None:
            urls = sheet_urls(page.html, page.url, limit=options.sheets)
        return {
            "stylesheets": await self._sheets.collect(urls),
            "store": options.store,
            "store_size": options.store_size,
        }

    async def _not_new(self, article: Article, page: _PageItem, text: bytes) -> PageDropped | None:
        """Return why *article* is not put out again; an update of one that was put out is told.

        *text*: the hash of its body.
        """
        state = CrawlState.of(self._crawler)
        found = await state.pages.judge(article, page.url, text) if state else None
        if found == "updated":
            article.flags.append(found)
        return NotNew(found, article) if found in ("unchanged", "known") else None

    def _finish(
        self, item: Any, page: _PageItem, article: Article | None, dropped: PageDropped | None
    ) -> Any:
        self._record(page.site, f"dropped_count/{dropped.reason}" if dropped else "article_count")
        if isinstance(dropped, NotArticle):
            logger.info("Dropped: %s", dropped)
            no_article = DroppedPage(page.site, dropped.kind, dropped.confidence, page.url)
            self._site_stats.add_dropped_page(no_article)
        if self._options.output == "fill" and not isinstance(item, PageItem):
            return self._fill(item, article, dropped)
        if isinstance(item, PageItem):
            item.html = b""  # a dropped item is shown in Scrapy's log, with all it holds
        elif self._options.remove_html:
            self._filler.clear(item, self._options.html_field)
        if dropped:
            raise dropped
        return to_zyte(article) if article and self._options.output == "zyte" else article

    def _fill(self, item: Any, article: Article | None, dropped: PageDropped | None) -> Any:
        """Return *item* with what is known; one without article keeps its page."""
        if article:
            self._filler.fill(item, article)
        status = dropped.status if dropped else "article"
        self._filler.set(item, self._options.status_field, status)
        if self._options.remove_html and not dropped:
            self._filler.clear(item, self._options.html_field)
        return item

    def _record_failure(self, page: _PageItem, error: WorkerError) -> None:
        self._stats.inc_value(f"newscrawl/extract/failed_count/{error.reason}")
        # An exception in extraction is a bug of ours, with its place; the rest is the page's.
        level = logging.ERROR if error.reason == "error" else logging.WARNING
        notes = "\n".join(["", *getattr(error, "__notes__", ())]) if level == logging.ERROR else ""
        logger.log(
            level, "Extraction failed (%s) on %s: %s%s", error.reason, page.url, error, notes
        )

    def _record(self, site: str, count: str) -> None:
        self._stats.inc_value(f"newscrawl/extract/{count}")
        self._site_stats.count(site, count)


def verdict(article: Article, options: PipelineOptions) -> PageDropped | None:
    """Return the reason why *article* is none."""
    if not options.keeps(article.kind, article.evidence["kind"].confidence):
        return NotArticle(article)
    length = weighted_length(article.body)
    if length < options.min_body:
        return TooShort(f"too short ({length:.0f} characters): {article.url}")
    return None


def _site(url: str) -> str:
    try:
        return site_key(url)
    except ValueError:  # somebody's own idea of a URL
        return "invalid"


def _instant(fetched_at: Any) -> datetime:
    """Return *fetched_at* as an aware instant; what is none stands for now."""
    if isinstance(fetched_at, str):
        try:
            fetched_at = datetime.fromisoformat(fetched_at)
        except ValueError:
            return clock.now()
    if not isinstance(fetched_at, datetime):
        return clock.now()
    return fetched_at if fetched_at.tzinfo else fetched_at.replace(tzinfo=UTC)
