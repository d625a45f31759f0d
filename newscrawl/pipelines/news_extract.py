"""Item pipeline that extracts articles from pages."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.discovery.site_list import ListedSites
from newscrawl.crawling.history.crawl_state import CrawlState
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.page_download import download_page
from newscrawl.crawling.network.page_rendering import PageRenderer
from newscrawl.crawling.site_stats import DroppedPage, SiteStats, site_counts
from newscrawl.crawling.urls import site_key_or
from newscrawl.defaults import setting
from newscrawl.document.document import COMPILED
from newscrawl.document.encoding import header_charset, is_binary
from newscrawl.extraction.rule_fields import BY_RULE, stale_fields
from newscrawl.extraction.story_pages import join_pages
from newscrawl.fields.kind.barriers import BARRIERS, NEEDS_JS
from newscrawl.items import Article, PageItem, instant
from newscrawl.middlewares import StylesheetMiddleware
from newscrawl.pipeline_options import (
    NOT_ARTICLE,
    PAGE_TASK,
    TOO_LONG,
    TOO_SHORT,
    PipelineOptions,
    page_arguments,
)
from newscrawl.pipelines.item_filler import ItemFiller, to_zyte, use_article_adapter
from newscrawl.site_rules import SiteRules
from newscrawl.text import weighted_length
from newscrawl.workers.child import STOPPED, WorkerError, is_stopped
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newscrawl.crawling.discovery.site_list import Site

logger = logging.getLogger(__name__)

# Failures after which a page is extracted without its styles.
_RETRIED: Final = frozenset({"memory", "timeout"})

SHRUNK: Final = "shrunk"
"""Reason to drop an update that has lost most of the text of its article."""

DECODE_TASK = "newscrawl.workers.tasks:decode_page"


class PageDropped(DropItem):  # without the suffix Error, like DropItem
    """The page has no article; ``reason`` is its name in the stats."""

    def __init__(self, reason: str, message: str) -> None:
        # The pipeline itself logs failures.
        super().__init__(message, log_level="DEBUG")
        self.reason = reason
        #: value for ``NEWSCRAWL_STATUS_FIELD``
        self.status = reason

    @classmethod
    def of(cls, article: Article, reason: str) -> PageDropped:
        """Return the exception for an *article* that the options or a former crawl exclude."""
        what = reason
        if reason == NOT_ARTICLE:
            confidence = article.evidence["kind"].confidence
            what = f"not an article ({article.kind}, {confidence:.2f})"
        elif reason == TOO_SHORT:
            what = f"too short ({weighted_length(article.body):.0f} characters)"
        elif reason == TOO_LONG:
            what = f"too long ({len(article.body)} characters)"
        return PageDropped(reason, f"{what}: {article.url}")


class ExtractionFailed(PageDropped):
    """The extraction failed: error, crash, timeout or memory limit."""

    def __init__(self, page: PageItem, error: WorkerError) -> None:
        super().__init__("failed", f"failed ({error.reason}): {page.url}")
        self.status = f"failed/{error.reason}"


class NewsExtractPipeline(Component):
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
        self._joins_pages = setting(crawler.settings, "NEWSCRAWL_JOIN_PAGES")
        self._renderer = PageRenderer.for_crawler(crawler)
        self._listed = ListedSites.for_crawler(crawler)
        self._rules = cache(SiteRules)
        self._sheets: StylesheetMiddleware | None = None
        options = self._options
        self._filler = ItemFiller(options.fields, options.field_converters, options.extra_fields)
        self._stats = crawler.stats
        self._site_stats = SiteStats(crawler.stats)

    def open_spider(self) -> None:
        """Prepare the feeds, and find the middleware of style sheets, if it is enabled."""
        self._stats.set_value("newscrawl/extract/compiled", COMPILED)
        self._sheets = self._crawler.get_downloader_middleware(StylesheetMiddleware)
        use_article_adapter()

    async def process_item(self, item: Any) -> Any:
        """Return the article of the page in *item*, or *item* filled with its fields."""
        page = self._read(item)
        filled = self._options.output == "fill" and not isinstance(item, PageItem)
        if page is None:
            self._stats.inc_value("newscrawl/extract/passed_count")
        else:
            article, dropped = await self.extract(page)
            if not filled:
                return self._emit(item, article, dropped)
            self.fill(item, article, dropped)
        if filled:
            await self._take_page(item)
        return item

    def _read(self, item: Any) -> PageItem | None:
        """Return the page in the fields of *item* that the settings name, None without a page."""
        if isinstance(item, PageItem):
            return item
        adapter, options = ItemAdapter(item), self._options
        html, url = adapter.get(options.field("html")), adapter.get(options.field("url"))
        if not (isinstance(html, bytes | str) and isinstance(url, str) and url):
            return None
        encoding = adapter.get(options.field("encoding"))
        if isinstance(html, str):
            html, encoding = html.encode(errors="replace"), "utf-8"
        return PageItem(url, html, encoding, instant(adapter.get(options.field("fetched_at"))))

    async def extract(self, page: PageItem) -> tuple[Article | None, PageDropped | None]:
        """Return the article of *page*, None if it failed, and the reason to drop it; count it."""
        article: Article | None = None
        dropped: PageDropped | None
        try:
            article = await self._extract_or_render(page)
            if self._sheets and (body := article.evidence.get("body")):
                self._sheets.learn(page.url, shows_story=body.source != "page-data")
            joined, failed = list[str](), list[str]()
            if article.next_pages and self._joins_pages and not self._options.metadata_only:
                joined = await join_pages(article, partial(self._read_further_page, page, failed))
            parts = None if failed and article.next_pages else joined
            dropped = await self._decide(article, page, parts)
            self._options.trim(article)
        except WorkerError as error:
            if is_stopped(error):  # the page stays pending
                raise PageDropped(STOPPED, f"the crawl was stopped: {page.url}") from None
            self._record_failure(page, error)
            dropped = ExtractionFailed(page, error)
        self._count(page, article, dropped)
        return article, dropped

    async def _extract_or_render(self, page: PageItem) -> Article:
        """Return the article of *page*, rendered if it needs scripts."""
        article = await self._call_worker(page)
        if article.evidence["kind"].source != NEEDS_JS:
            return article
        listed = self._site_of(page)
        enabled = listed.render if listed else None
        if shown := await self._renderer.render(page, enabled=enabled):
            article = await self._call_worker(shown)
            article.rendered = True
        return article

    async def task_arguments(self, page: PageItem) -> dict[str, Any]:
        """Return the arguments of the task that extracts *page*; waits for its style sheets."""
        styles = await self._sheets.arguments(page) if self._sheets else {}
        return {**self._plain_arguments(page), **styles}

    def _plain_arguments(self, page: PageItem) -> dict[str, Any]:
        page = replace(page, fetched_at=page.fetched_at or clock.now())
        arguments = page_arguments(page, self._options.task_arguments)
        if (listed := self._site_of(page)) and listed.rules is not None:
            arguments["site_rules"] = listed.rules
        if folder := arguments["site_rules"]:
            for line in self._rules(folder).problems(page.url):
                logger.warning("%s", line)
        return arguments

    def _site_of(self, page: PageItem) -> Site | None:
        return self._listed.of(page.site or site_key_or(page.url, ""))

    async def _call_worker(self, page: PageItem) -> Article:
        """Return the article of *page*; raise ``WorkerError``."""
        if is_binary(page.html):  # saves sending it to a worker
            raise WorkerError("not a page: binary data", "document")
        extracted, page.extracted = page.extracted, None
        if extracted and extracted[0] is page.html:  # no pipeline before has changed it
            plain = extracted[1]
        else:
            site = page.site or site_key_or(page.url, "invalid")
            call = partial(self._workers.call, PAGE_TASK, page.html, site=site)
            try:
                plain = await call(**await self.task_arguments(page))
            except WorkerError as error:
                if error.reason not in _RETRIED or not self._sheets:
                    raise
                logger.info("Extracting without styles (%s): %s", error.reason, page.url)
                self._stats.inc_value("newscrawl/extract/retried_count")
                plain = await call(**self._plain_arguments(page))
        return Article.from_dict(plain)

    async def _read_further_page(
        self, page: PageItem, failed: list[str], url: str
    ) -> Article | None:
        """Return the article of *url*, a further page of the story on *page*, without its styles.

        A URL that may be readable in another crawl is added to *failed*.
        """
        meta = {"newscrawl_site": page.site} if page.site else {}  # for the budget of the site
        try:
            response = await download_page(self._crawler, url, meta)
            charset = header_charset(response.headers.get("Content-Type"))
            following = replace(
                page, url=response.url, html=response.body, encoding=charset, stylesheets=[]
            )
            article = await self._extract_or_render(following)
            barrier = article.evidence["kind"].source
            reason = barrier if barrier in BARRIERS else None
        except Exception as error:  # noqa: BLE001  # any middleware's
            reason = failure_reason(error)
            if is_stopped(error):
                raise WorkerError(str(error), STOPPED) from None
        outcome = "failed" if reason else "read"
        self._stats.inc_value(f"newscrawl/extract/further_page_count/{outcome}")
        if not reason:
            return article
        logger.info("Could not read a further page (%s): %s", reason, url)
        if reason != "robots":
            failed.append(url)
        return None

    async def _decide(
        self, article: Article, page: PageItem, parts: list[str] | None
    ) -> PageDropped | None:
        """Return the reason to drop *article*; flag it if it was updated since a former crawl."""
        reason = self._options.drop_reason(article)
        state = CrawlState.of(self._crawler)
        if state:
            state.pages.record_date(page.url, article.date)
        if not reason and state:
            found = await state.pages.judge(article, page.url, parts)
            if found == "updated":
                article.flags.append(found)
            elif found not in (None, "new"):
                reason = found
        if reason == TOO_SHORT and state and state.pages.is_revisit(page.url):
            reason = SHRUNK
        if reason in BARRIERS and state:
            state.pages.record_extraction_failure(page.url, reason)
        return PageDropped.of(article, reason) if reason else None

    def _count(self, page: PageItem, article: Article | None, dropped: PageDropped | None) -> None:
        site = page.site or site_key_or(page.url, "invalid")
        count = f"dropped_count/{dropped.reason}" if dropped else "article_count"
        self._stats.inc_value(f"newscrawl/extract/{count}")
        if article and article.style_complete is not None:
            name = "complete" if article.style_complete else "incomplete"
            self._stats.inc_value(f"newscrawl/css/{name}_page_count")
        self._site_stats.count(site, count)
        if article:
            self._count_rule(site, article)
        if article and dropped and dropped.reason in (NOT_ARTICLE, *BARRIERS):
            logger.info("Dropped: %s", dropped)
            kind = article.kind if dropped.reason == NOT_ARTICLE else dropped.reason
            confidence = article.evidence["kind"].confidence
            self._site_stats.add_dropped_page(DroppedPage(site, kind, confidence, page.url))

    def _count_rule(self, site: str, article: Article) -> None:
        """Count the page if a rule was applied to it, and the fields that the rule did not find."""
        stale = stale_fields(article)
        if not stale and BY_RULE not in article.evidence.values():
            return
        self._stats.inc_value("newscrawl/extract/rule_count")
        self._site_stats.count(site, "rule_count")
        for field in stale:
            self._stats.inc_value(f"newscrawl/extract/stale_rule_count/{field}")
            self._site_stats.count(site, f"stale_rule_count/{field}")
        if stale:
            logger.info("Stale site rule (%s): %s", ", ".join(stale), article.url)

    def close_spider(self) -> None:
        """Log the fields that the rule of a site found on no page."""
        for site, counts in site_counts(self._stats.get_stats()).items():
            pages = counts["rule"]
            for field, number in counts.reasons("stale_rule").items():
                if number == pages:
                    logger.warning(
                        "The site rule of %s is stale: no %s on %d pages", site, field, pages
                    )

    def _record_failure(self, page: PageItem, error: WorkerError) -> None:
        self._stats.inc_value(f"newscrawl/extract/failed_count/{error.reason}")
        # An exception is a bug of newscrawl, so its traceback is logged.
        level = logging.ERROR if error.reason == "error" else logging.WARNING
        notes = "\n".join(["", *getattr(error, "__notes__", ())]) if level == logging.ERROR else ""
        logger.log(
            level, "Extraction failed (%s) for %s: %s%s", error.reason, page.url, error, notes
        )
        if state := CrawlState.of(self._crawler):
            state.pages.record_extraction_failure(page.url, f"worker_{error.reason}")

    def _emit(self, item: Any, article: Article | None, dropped: PageDropped | None) -> Any:
        if isinstance(item, PageItem):
            item.html = b""  # Scrapy logs dropped items in full
        elif self._options.remove_html:
            self._filler.clear(item, self._options.field("html"))
        if dropped:
            raise dropped
        return to_zyte(article) if article and self._options.output == "zyte" else article

    def fill(self, item: Any, article: Article | None, dropped: PageDropped | None) -> None:
        """Fill the empty fields of *item*, unless the article is dropped, and set its status."""
        self._filler.fill(item, None if dropped else article)
        status = dropped.status if dropped else "article"
        self._filler.set(item, self._options.status_field, status)

    async def _take_page(self, item: Any) -> None:
        """Remove the page from *item*, or decode it, since JSON feeds cannot write bytes."""
        adapter, options = ItemAdapter(item), self._options
        html = adapter.get(options.field("html"))
        if not options.remove_html and isinstance(html, bytes):
            charset = adapter.get(options.field("encoding"))
            with suppress(WorkerError):
                url = adapter.get(options.field("url"))
                site = site_key_or(url, "invalid") if isinstance(url, str) else ""
                decoded = await self._workers.call(DECODE_TASK, html, site=site, encoding=charset)
                self._filler.set(item, options.field("html"), decoded["text"])
        if options.remove_html or isinstance(adapter.get(options.field("html")), bytes):
            self._filler.clear(item, options.field("html"))
