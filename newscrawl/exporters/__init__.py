"""Item exporters: Parquet and spreadsheet-safe CSV."""

from __future__ import annotations

from newscrawl.exporters.parquet import ARTICLE_COLUMNS, ParquetItemExporter
from newscrawl.exporters.safe_csv import SafeCsvItemExporter

__all__ = ["ARTICLE_COLUMNS", "ParquetItemExporter", "SafeCsvItemExporter"]
