"""Feeds: Parquet, JSON, spreadsheet-safe CSV, XML, Markdown files, and storages.

The Parquet exporter is imported when it is used, since pyarrow is optional and large.
"""

from __future__ import annotations

from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from newscrawl.exporters.feed_files import FeedFileStorage, StdoutStorage
from newscrawl.exporters.markdown_folder import MarkdownExporter
from newscrawl.exporters.text_feeds import (
    CleanXmlItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    SafeCsvItemExporter,
)

if TYPE_CHECKING:
    from newscrawl.exporters.parquet import ARTICLE_COLUMNS, ParquetItemExporter

__all__ = [
    "ARTICLE_COLUMNS",
    "CleanXmlItemExporter",
    "FeedFileStorage",
    "JsonItemExporter",
    "JsonLinesItemExporter",
    "MarkdownExporter",
    "ParquetItemExporter",
    "SafeCsvItemExporter",
    "StdoutStorage",
    "parquet_exporter",
]


def parquet_exporter(file: IO[bytes], **options: Any) -> ParquetItemExporter:
    """Return a :class:`ParquetItemExporter`; Scrapy loads the exporters of all formats."""
    from newscrawl.exporters.parquet import ParquetItemExporter  # noqa: PLC0415  # pyarrow

    return ParquetItemExporter(file, **options)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("newscrawl.exporters.parquet"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
