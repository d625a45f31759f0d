"""Feeds: Parquet, spreadsheet-safe CSV, XML, and storages.

The Parquet exporter is imported when it is used, since pyarrow is optional.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newscrawl.exporters.feed_files import FeedFileStorage, StdoutStorage
from newscrawl.exporters.text_feeds import CleanXmlItemExporter, SafeCsvItemExporter

if TYPE_CHECKING:
    from newscrawl.exporters.parquet import ARTICLE_COLUMNS, ParquetItemExporter

__all__ = [
    "ARTICLE_COLUMNS",
    "CleanXmlItemExporter",
    "FeedFileStorage",
    "ParquetItemExporter",
    "SafeCsvItemExporter",
    "StdoutStorage",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("newscrawl.exporters.parquet"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
