"""The add-on: everything switched on by one line of a project's settings."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from newscrawl.pipelines import NewsExtractPipeline

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Early among item pipelines: validation and storage want to see articles, not pages.
PIPELINE_PRIORITY = 300
PARQUET_EXPORTER = "newscrawl.exporters.ParquetItemExporter"


class Addon:
    """Switches on article extraction and, where pyarrow is installed, Parquet feeds.

    ``ADDONS = {"newscrawl.Addon": 500}``. What the project's settings say goes before.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the pipeline and the feed exporter to *settings*, unless they are there.

        Raises ``ImportError`` for a Parquet feed without pyarrow.
        """
        settings.setdefault_in_component_priority_dict(
            "ITEM_PIPELINES", NewsExtractPipeline, PIPELINE_PRIORITY
        )
        if find_spec("pyarrow"):
            _add_parquet(settings)
        elif any(feed.get("format") == "parquet" for feed in settings.getdict("FEEDS").values()):
            raise ImportError('Parquet feeds need pyarrow: pip install "newscrawl[parquet]"')


def _add_parquet(settings: BaseSettings) -> None:
    exporters = {"parquet": PARQUET_EXPORTER} | settings.getdict("FEED_EXPORTERS")
    settings.set("FEED_EXPORTERS", exporters, settings.getpriority("FEED_EXPORTERS") or 0)
