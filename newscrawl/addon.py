"""Scrapy add-on: enables newscrawl with one line of a project's settings."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware as ScrapyMetaRefresh
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.extensions.feedexport import FeedExporter as ScrapyFeedExporter
from scrapy.extensions.memusage import MemoryUsage as ScrapyMemoryUsage
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from newscrawl.crawling.frontier import LeaseMiddleware, LeaseScheduler
from newscrawl.crawling.logs import LogText, shorten_start_errors
from newscrawl.crawling.memory_usage import MemoryUsage
from newscrawl.crawling.output.feed_exporter import FeedExporter
from newscrawl.crawling.output.segment_writer import SegmentWriter
from newscrawl.crawling.reporting.crawl_recorder import CrawlRecorder
from newscrawl.crawling.reporting.progress import Progress
from newscrawl.crawling.reporting.result import UnreachableExit
from newscrawl.defaults import setting
from newscrawl.middlewares import (
    CharsetMiddleware,
    CompressionMiddleware,
    MetaRefreshMiddleware,
    OptOutMiddleware,
    PolitenessMiddleware,
    RobotsMiddleware,
    SafetyMiddleware,
    SiteCookiesMiddleware,
    SiteOptionsMiddleware,
    StylesheetMiddleware,
    WarcMiddleware,
)
from newscrawl.pipeline_options import validate_settings
from newscrawl.pipelines import NearDuplicatePipeline, NewsExtractPipeline
from newscrawl.settings.base import FEED_EXPORTERS
from newscrawl.sinks.delivery import SinkDelivery
from newscrawl.spiders.sitelist import SitelistSpider
from newscrawl.spiders.url_list import UrlListSpider

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

#: Before the project's pipelines, so that validation and storage receive articles instead of pages.
PIPELINE_PRIORITY = 300
NEARDUP_PRIORITY = 350
_MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
#: Priorities; WARC archives are disabled unless their setting is set.
MIDDLEWARES: dict[type, int] = {
    # Before all other downloader middlewares, so that every request is checked.
    SafetyMiddleware: 20,
    # After RobotsMiddleware (100); responses arrive decompressed and redirected.
    OptOutMiddleware: 110,
    # Responses arrive decompressed (590), retried (550) and redirected (600).
    StylesheetMiddleware: 545,
    # Receives responses before RetryMiddleware (550), which would retry without a delay.
    PolitenessMiddleware: 560,
    # Receives responses decompressed (590), before any middleware reads their text.
    CharsetMiddleware: 585,
    # Next to the downloads: responses are archived as received.
    WarcMiddleware: 990,
    # After all that store requests, and after SiteCookiesMiddleware (700), which replaces cookies.
    SiteOptionsMiddleware: 995,
}
#: Replacements of Scrapy's downloader middlewares, at their priorities.
REPLACEMENTS = {
    ScrapyMetaRefresh: MetaRefreshMiddleware,
    RobotsTxtMiddleware: RobotsMiddleware,
    CookiesMiddleware: SiteCookiesMiddleware,
    HttpCompressionMiddleware: CompressionMiddleware,
}
#: Next to the engine, so that it sees the requests and items that all others let through.
LEASES_PRIORITY = 1
SCHEDULER = "newscrawl.crawling.frontier.LeaseScheduler"
STATE = "newscrawl/%(name)s.sqlite"
JOBDIR_STATE = "newscrawl.sqlite"
SPIDERS = "newscrawl.spiders"
FEED_STORAGES = {
    **dict.fromkeys(("", "file"), "newscrawl.exporters.FeedFileStorage"),
    "stdout": "newscrawl.exporters.StdoutStorage",
}
HTTP_HANDLER = "newscrawl.crawling.network.download_handler.HttpHandler"
#: Replacements of Scrapy's defaults for crawls of the open web.
SAFE_SETTINGS = {
    "DOWNLOADER": "newscrawl.crawling.network.downloader.Downloader",
    "REMOTE_CONTROL_ENABLED": False,
    "ROBOTSTXT_OBEY": True,
    # More than a site can have in progress, so that none holds up the others.
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 100_000_000,
    "TELNETCONSOLE_ENABLED": False,
}


class InvalidSettingError(SystemExit, ValueError):
    """A ``NEWSCRAWL_*`` setting is invalid: ends ``scrapy`` with one line and exit code 1.

    Scripts may catch it as a ``ValueError``.
    """


class Addon:
    """Enables article extraction, style sheets, safety, politeness, and feeds in more formats.

    ``ADDONS = {"newscrawl.Addon": 500}`` also adds the spiders ``sitelist`` and ``urllist``, with
    the crash-safe scheduler and a state file, and the progress reports.
    ``NEWSCRAWL_NEARDUP_ENABLED = True`` adds near-duplicate detection,
    ``NEWSCRAWL_FRONTIER_ENABLED = True`` the scheduler for other spiders. Project settings take
    precedence.
    """

    def __init__(self, spider: type[Spider] | None = None) -> None:
        self._own_spider = spider and issubclass(spider, SitelistSpider | UrlListSpider)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the add-on of *crawler*."""
        return cls(crawler.spidercls)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Add the spiders to *settings*. Raises ``InvalidSettingError``."""
        shorten_start_errors()
        try:
            validate_settings(settings)
        except ValueError as error:
            raise InvalidSettingError(f"newscrawl: {error}") from error
        modules = settings.getlist("SPIDER_MODULES")
        if SPIDERS not in modules:
            priority = settings.getpriority("SPIDER_MODULES") or 0
            settings.set("SPIDER_MODULES", [*modules, SPIDERS], priority)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components that the project has not configured itself to *settings*."""
        for line in validate_settings(settings):
            logger.warning("%s", line)
        _add(settings, "ITEM_PIPELINES", NewsExtractPipeline, PIPELINE_PRIORITY)
        if settings.getbool("NEWSCRAWL_NEARDUP_ENABLED"):
            _add(settings, "ITEM_PIPELINES", NearDuplicatePipeline, NEARDUP_PRIORITY)
        for middleware, priority in MIDDLEWARES.items():
            _add(settings, _MIDDLEWARES, middleware, priority)
        self._enable_frontier(settings)
        for original, replacement in REPLACEMENTS.items():
            _replace(settings, _MIDDLEWARES, original, replacement)
        _replace(settings, "EXTENSIONS", ScrapyFeedExporter, FeedExporter)
        _replace(settings, "EXTENSIONS", ScrapyMemoryUsage, MemoryUsage)
        _add(settings, "EXTENSIONS", LogText, 0)  # before any other extension logs a URL
        if setting(settings, "NEWSCRAWL_PROGRESS_ENABLED"):
            _add(settings, "EXTENSIONS", Progress, 500)
        # Both are disabled unless their setting is set.
        _add(settings, "EXTENSIONS", SegmentWriter, 500)
        _add(settings, "EXTENSIONS", SinkDelivery, 500)
        for name, value in SAFE_SETTINGS.items():
            settings.set(name, value, "addon")
        if not settings.getbool("REMOTE_CONTROL_ENABLED"):
            # Scrapy would load it all the same, and with it aiohttp.
            extensions = settings.getdict("EXTENSIONS_BASE")
            extensions.pop("scrapy.extensions.remote_control.RemoteControl", None)
            settings.set("EXTENSIONS_BASE", extensions, "addon")
        if settings.getbool("TWISTED_REACTOR_ENABLED"):
            _fill(settings, "DOWNLOAD_HANDLERS", dict.fromkeys(("http", "https"), HTTP_HANDLER))
        _fill(settings, "FEED_EXPORTERS", FEED_EXPORTERS)
        _fill(settings, "FEED_STORAGES", FEED_STORAGES)
        if not settings.getpriority("FEED_STORE_EMPTY"):
            _omit_empty_feeds(settings)

    def _enable_frontier(self, settings: BaseSettings) -> None:
        """Enable the scheduler if the project does, and what belongs to our own spiders."""
        if self._own_spider:
            _add(settings, "EXTENSIONS", UnreachableExit, 900)  # after all that use the spider
            # Scrapy would parse the source of a callback again and again.
            settings.set("WARN_ON_GENERATOR_RETURN_VALUE", False, "addon")  # noqa: FBT003
            _set_default(settings, "NEWSCRAWL_FRONTIER_ENABLED", value=True)
            if setting(settings, "NEWSCRAWL_FRONTIER_ENABLED"):
                _set_default(settings, "NEWSCRAWL_STATE", value=STATE)
            elif settings["JOBDIR"]:
                # What the spider has fetched; its requests are planned again.
                folder = str(Path(settings["JOBDIR"]).absolute()).replace("%", "%%")
                _set_default(settings, "NEWSCRAWL_STATE", value=f"{folder}/{JOBDIR_STATE}")
        if not setting(settings, "NEWSCRAWL_FRONTIER_ENABLED"):
            return
        settings.set("SCHEDULER", SCHEDULER, "addon")
        if load_object(settings["SCHEDULER"]) is LeaseScheduler:
            _add(settings, "SPIDER_MIDDLEWARES", LeaseMiddleware, LEASES_PRIORITY)
            _add(settings, "EXTENSIONS", CrawlRecorder, 500)


def _set_default(settings: BaseSettings, name: str, *, value: Any) -> None:
    """Set *name* unless the project does."""
    if settings.getpriority(name) is None:
        settings.set(name, value, "addon")


def _add(settings: BaseSettings, name: str, component: type, priority: int) -> None:
    settings.setdefault_in_component_priority_dict(name, component, priority)


def _fill(settings: BaseSettings, name: str, ours: dict[str, str]) -> None:
    """Add the entries *ours* to the dictionary setting *name*; the project's entries win."""
    settings.set(name, ours | settings.getdict(name), settings.getpriority(name) or 0)


def _omit_empty_feeds(settings: BaseSettings) -> None:
    """Write no file for a feed without items, unless it replaces the one of the last crawl."""
    feeds = settings.getdict("FEEDS")
    for feed in feeds.values():
        feed.setdefault("store_empty", feed.get("overwrite", False))
    settings.set("FEEDS", feeds, settings.getpriority("FEEDS") or 0)


def _replace(settings: BaseSettings, name: str, original: type, replacement: type) -> None:
    """Replace a component of Scrapy, unless the project lists it itself."""
    if original in map(load_object, settings.getdict(name)):
        return
    priority = settings.getdict(f"{name}_BASE")[global_object_name(original)]
    settings.set_in_component_priority_dict(name, original, None)
    _add(settings, name, replacement, priority)
