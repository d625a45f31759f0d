"""The add-on: everything switched on by one line of a project's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.middlewares import StylesheetMiddleware
from newscrawl.pipelines import NearDuplicatePipeline, NewsExtractPipeline

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Early among item pipelines: validation and storage want to see articles, not pages.
PIPELINE_PRIORITY = 300
#: Behind that, before what stores articles.
NEARDUP_PRIORITY = 350
#: Among downloader middlewares: pages come unpacked (590), redirected (600) and retried (550).
STYLESHEETS_PRIORITY = 545
PARQUET_EXPORTER = "newscrawl.exporters.ParquetItemExporter"


class Addon:
    """Switches on article extraction, its style sheets, and Parquet feeds where pyarrow is installed.

    ``ADDONS = {"newscrawl.Addon": 500}``. Near-duplicates too, where the project sets
    ``NEWSCRAWL_NEARDUP_ENABLED`` to True: they keep a file. What the project's settings say goes before.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add pipeline, middleware and feed exporter to *settings*, unless they are there."""
        settings.setdefault_in_component_priority_dict(
            "ITEM_PIPELINES", NewsExtractPipeline, PIPELINE_PRIORITY
        )
        if settings.getbool("NEWSCRAWL_NEARDUP_ENABLED"):
            settings.setdefault_in_component_priority_dict(
                "ITEM_PIPELINES", NearDuplicatePipeline, NEARDUP_PRIORITY
            )
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", StylesheetMiddleware, STYLESHEETS_PRIORITY
        )
        exporters = {"parquet": PARQUET_EXPORTER} | settings.getdict("FEED_EXPORTERS")
        settings.set("FEED_EXPORTERS", exporters, settings.getpriority("FEED_EXPORTERS") or 0)
