"""The add-on: everything switched on by one line of a project's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.misc import load_object

from newscrawl.crawl.frontier import LeaseMiddleware
from newscrawl.crawl.network.secrets import HideSecrets
from newscrawl.crawl.output.segment_writer import SegmentWriter
from newscrawl.middlewares import (
    CompressionMiddleware,
    PolitenessMiddleware,
    RobotsMiddleware,
    SafetyMiddleware,
    StylesheetMiddleware,
    WarcMiddleware,
)
from newscrawl.pipelines import NearDuplicatePipeline, NewsExtractPipeline

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Early among item pipelines: validation and storage want to see articles, not pages.
PIPELINE_PRIORITY = 300
#: Behind that, before what stores articles.
NEARDUP_PRIORITY = 350
#: Among downloader middlewares: pages come unpacked (590), redirected (600) and retried (550).
STYLESHEETS_PRIORITY = 545
#: First of all: no request passes it by.
SAFETY_PRIORITY = 20
#: Before the retries (550), which would ask again at once.
POLITENESS_PRIORITY = 560
#: Behind all others: as the site sent it.
WARC_PRIORITY = 990
#: Next to the engine: it sees what all others leave.
LEASES_PRIORITY = 1
SCHEDULER = "newscrawl.crawl.frontier.LeaseScheduler"
PARQUET_EXPORTER = "newscrawl.exporters.ParquetItemExporter"
CSV_EXPORTER = "newscrawl.exporters.SafeCsvItemExporter"
HTTP_HANDLER = "newscrawl.crawl.network.download_handler.HttpHandler"
DOWNLOADER = "newscrawl.crawl.network.downloader.Downloader"
#: Scrapy's defaults that a crawl of the open web had better not have.
SAFE_SETTINGS = {
    "DOWNLOADER": DOWNLOADER,
    "REMOTE_CONTROL_ENABLED": False,
    "ROBOTSTXT_OBEY": True,
    "TELNETCONSOLE_ENABLED": False,
}


class Addon:
    """Switches on article extraction, style sheets, safety and politeness, Parquet feeds.

    ``ADDONS = {"newscrawl.Addon": 500}``. Near-duplicates too, where the project sets
    ``NEWSCRAWL_NEARDUP_ENABLED`` to True: they keep a file; with ``NEWSCRAWL_FRONTIER_ENABLED`` a
    scheduler that loses nothing. Parquet needs pyarrow. What the project's settings say goes before; ``docs/guide/safety.md`` has what each part does and its switch.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add pipelines, middlewares and feed exporters to *settings*, unless they are there."""
        _add(settings, "ITEM_PIPELINES", NewsExtractPipeline, PIPELINE_PRIORITY)
        if settings.getbool("NEWSCRAWL_NEARDUP_ENABLED"):
            _add(settings, "ITEM_PIPELINES", NearDuplicatePipeline, NEARDUP_PRIORITY)
        _add(settings, _MIDDLEWARES, StylesheetMiddleware, STYLESHEETS_PRIORITY)
        _add(settings, _MIDDLEWARES, SafetyMiddleware, SAFETY_PRIORITY)
        _add(settings, _MIDDLEWARES, PolitenessMiddleware, POLITENESS_PRIORITY)
        if settings.getbool("NEWSCRAWL_FRONTIER_ENABLED"):
            settings.set("SCHEDULER", SCHEDULER, "addon")
            _add(settings, "SPIDER_MIDDLEWARES", LeaseMiddleware, LEASES_PRIORITY)
        _replace(settings, RobotsTxtMiddleware, RobotsMiddleware)
        _replace(settings, HttpCompressionMiddleware, CompressionMiddleware)
        _add(settings, "EXTENSIONS", HideSecrets, 0)
        # Both stand aside unless a setting names their folder.
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
    """Add *ours* to the dictionary *name*; what the project has there stays."""
    settings.set(name, ours | settings.getdict(name), settings.getpriority(name) or 0)


def _replace(settings: BaseSettings, theirs: type, ours: type) -> None:
    """Put *ours* in the place of Scrapy's *theirs*, unless the project lists that itself."""
    if theirs in map(load_object, settings.getdict(_MIDDLEWARES)):
        return
    base = settings.getdict(f"{_MIDDLEWARES}_BASE")
    (priority,) = (number for path, number in base.items() if load_object(path) is theirs)
    settings.set_in_component_priority_dict(_MIDDLEWARES, theirs, None)
    _add(settings, _MIDDLEWARES, ours, priority)
