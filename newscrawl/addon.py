"""Scrapy add-on: enables newscrawl with one line of a project's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware as ScrapyMetaRefresh
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.misc import load_object

from newscrawl.crawl.frontier import LeaseMiddleware
from newscrawl.crawl.network.secrets import HideSecrets
from newscrawl.crawl.output.segment_writer import SegmentWriter
from newscrawl.crawl.start_errors import shorten_start_errors
from newscrawl.middlewares import (
    CharsetMiddleware,
    CompressionMiddleware,
    MetaRefreshMiddleware,
    PolitenessMiddleware,
    RobotsMiddleware,
    SafetyMiddleware,
    StylesheetMiddleware,
    WarcMiddleware,
)
from newscrawl.pipelines import NearDuplicatePipeline, NewsExtractPipeline

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Before the project's pipelines, so that validation and storage receive articles instead of pages.
PIPELINE_PRIORITY = 300
NEARDUP_PRIORITY = 350
#: Responses arrive decompressed (590), retried (550) and redirected (600).
STYLESHEETS_PRIORITY = 545
#: Before all other downloader middlewares, so that every request is checked.
SAFETY_PRIORITY = 20
#: Receives responses decompressed (590), before any middleware reads their text.
CHARSET_PRIORITY = 585
#: Receives responses before RetryMiddleware (550), which would retry without a delay.
POLITENESS_PRIORITY = 560
#: Next to the downloader: responses are archived as received.
WARC_PRIORITY = 990
#: Next to the engine, so that it sees the requests and items that all others let through.
LEASES_PRIORITY = 1
SCHEDULER = "newscrawl.crawl.frontier.LeaseScheduler"
PARQUET_EXPORTER = "newscrawl.exporters.ParquetItemExporter"
CSV_EXPORTER = "newscrawl.exporters.SafeCsvItemExporter"
HTTP_HANDLER = "newscrawl.crawl.network.download_handler.HttpHandler"
#: Replacements of Scrapy's defaults for crawls of the open web.
SAFE_SETTINGS = {
    "DOWNLOADER": "newscrawl.crawl.network.downloader.Downloader",
    "REMOTE_CONTROL_ENABLED": False,
    "ROBOTSTXT_OBEY": True,
    "TELNETCONSOLE_ENABLED": False,
}


class Addon:
    """Enables article extraction, style sheets, safety, politeness, and Parquet and CSV feeds.

    ``ADDONS = {"newscrawl.Addon": 500}``. ``NEWSCRAWL_NEARDUP_ENABLED = True`` adds near-duplicate
    detection, ``NEWSCRAWL_FRONTIER_ENABLED = True`` the crash-safe scheduler. Project settings
    take precedence.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:  # noqa: ARG003
        """Shorten errors at the start, before a spider is created."""
        shorten_start_errors()

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components that the project has not configured itself to *settings*."""
        _add(settings, "ITEM_PIPELINES", NewsExtractPipeline, PIPELINE_PRIORITY)
        if settings.getbool("NEWSCRAWL_NEARDUP_ENABLED"):
            _add(settings, "ITEM_PIPELINES", NearDuplicatePipeline, NEARDUP_PRIORITY)
        _add(settings, _MIDDLEWARES, StylesheetMiddleware, STYLESHEETS_PRIORITY)
        _add(settings, _MIDDLEWARES, SafetyMiddleware, SAFETY_PRIORITY)
        _add(settings, _MIDDLEWARES, CharsetMiddleware, CHARSET_PRIORITY)
        _add(settings, _MIDDLEWARES, PolitenessMiddleware, POLITENESS_PRIORITY)
        if settings.getbool("NEWSCRAWL_FRONTIER_ENABLED"):
            settings.set("SCHEDULER", SCHEDULER, "addon")
            _add(settings, "SPIDER_MIDDLEWARES", LeaseMiddleware, LEASES_PRIORITY)
        _replace(settings, ScrapyMetaRefresh, MetaRefreshMiddleware)
        _replace(settings, RobotsTxtMiddleware, RobotsMiddleware)
        _replace(settings, HttpCompressionMiddleware, CompressionMiddleware)
        _add(settings, "EXTENSIONS", HideSecrets, 0)
        # Both are disabled unless their folder setting is set.
        _add(settings, _MIDDLEWARES, WarcMiddleware, WARC_PRIORITY)
        _add(settings, "EXTENSIONS", SegmentWriter, 500)
        for name, value in SAFE_SETTINGS.items():
            settings.set(name, value, "addon")
        if settings.getbool("TWISTED_REACTOR_ENABLED"):
            _fill(settings, "DOWNLOAD_HANDLERS", dict.fromkeys(("http", "https"), HTTP_HANDLER))
        _fill(settings, "FEED_EXPORTERS", {"parquet": PARQUET_EXPORTER, "csv": CSV_EXPORTER})


_MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"


def _add(settings: BaseSettings, name: str, component: type, priority: int) -> None:
    settings.setdefault_in_component_priority_dict(name, component, priority)


def _fill(settings: BaseSettings, name: str, ours: dict[str, str]) -> None:
    """Add the entries *ours* to the dictionary setting *name*; the project's entries win."""
    settings.set(name, ours | settings.getdict(name), settings.getpriority(name) or 0)


def _replace(settings: BaseSettings, original: type, replacement: type) -> None:
    """Replace a middleware of Scrapy, unless the project lists it itself."""
    if original in map(load_object, settings.getdict(_MIDDLEWARES)):
        return
    base = settings.getdict(f"{_MIDDLEWARES}_BASE")
    (priority,) = (number for path, number in base.items() if load_object(path) is original)
    settings.set_in_component_priority_dict(_MIDDLEWARES, original, None)
    _add(settings, _MIDDLEWARES, replacement, priority)
