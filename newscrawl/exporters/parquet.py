"""Parquet exporter of articles for ``FEED_EXPORTERS`` (extra ``newscrawl[parquet]``)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import IO, Any

import pyarrow as pa
from pyarrow import parquet
from scrapy.exporters import BaseItemExporter
from scrapy.utils.serialize import ScrapyJSONEncoder

from newscrawl.items import Article, instant

logger = logging.getLogger(__name__)

Row = dict[str, Any]

_INSTANT = pa.timestamp("us", tz="UTC")
_EVIDENCE = pa.struct([("source", pa.string()), ("confidence", pa.float64())])


def _struct(*names: str) -> Any:
    return pa.struct([(name, pa.string()) for name in names])


_MEDIA = pa.struct([*_struct("url", "caption", "credit", "alt"), ("width", pa.int32())])


#: Columns of articles. Timestamps are midnight for a day and UTC for a time without zone; the
#: ``_iso`` columns have the original value: ``2026-01-31``, ``2026-01-31T23:30:00+09:00``.
ARTICLE_COLUMNS: dict[str, Any] = {
    "url": pa.string(),
    "canonical_url": pa.string(),
    "title": pa.string(),
    "date": _INSTANT,
    "date_iso": pa.string(),
    "date_raw": pa.string(),
    "date_modified": _INSTANT,
    "date_modified_iso": pa.string(),
    "body": pa.string(),
    "language": pa.string(),
    "authors": pa.list_(pa.string()),
    "description": pa.string(),
    "site_name": pa.string(),
    "section": pa.string(),
    "tags": pa.list_(pa.string()),
    "image": _MEDIA,
    "breadcrumbs": pa.list_(_struct("name", "url")),
    "kind": pa.string(),
    "paywalled": pa.bool_(),
    "rendered": pa.bool_(),
    "pages": pa.int32(),
    "next_pages": pa.list_(pa.string()),
    "style_complete": pa.bool_(),
    "fetched_at": _INSTANT,
    "evidence": pa.map_(pa.string(), _EVIDENCE),
    "flags": pa.list_(pa.string()),
    "cluster": pa.string(),  # JSON, as set by NearDuplicatePipeline
}
#: Columns after these in a feed whose first articles have them (``NEWSCRAWL_EXTRA_FIELDS``)
EXTRA_COLUMNS: dict[str, Any] = {
    "body_markdown": pa.string(),
    "body_html": pa.string(),
    "links": pa.list_(_struct("url", "text")),
    **dict.fromkeys(("images", "videos", "audio"), pa.list_(_MEDIA)),
    "author_profiles": pa.list_(_struct("name", "url", "image", "job_title")),
    "publisher": _struct("name", "url", "logo"),
    "word_count": pa.int32(),
    "amp_url": pa.string(),
    "alternates": pa.map_(pa.string(), pa.string()),
    "licence": pa.string(),
    "dateline": pa.string(),
    "place": pa.string(),
    "comment_count": pa.int64(),
    "comments": pa.list_(_struct("text", "author", "date")),
    "data": pa.string(),  # JSON
}
#: Items in a row group, and bytes of text after which a smaller group is written.
GROUP_ROWS = 1000
GROUP_BYTES = 32 * 2**20

_encode = ScrapyJSONEncoder(ensure_ascii=False).encode

_CONVERSION_ERRORS = (pa.ArrowException, OverflowError, TypeError, ValueError)


class ParquetItemExporter(BaseItemExporter):
    """Writes articles to *file* as Parquet, with the columns :data:`ARTICLE_COLUMNS`.

    *compression* is a codec of pyarrow (``zstd``, ``snappy``, ``gzip``, ``none``). Up to
    *group_rows* articles, or about *group_bytes* bytes, are held in memory. A Parquet file is only
    readable once it is finished; ``FEED_EXPORT_BATCH_ITEM_COUNT`` limits the loss of a crash.
    Raises ``ValueError`` if *file* has content already.
    """

    def __init__(
        self,
        file: IO[bytes],
        *,
        compression: str = "zstd",
        group_rows: int = GROUP_ROWS,
        group_bytes: int = GROUP_BYTES,
        **kwargs: Any,
    ) -> None:
        super().__init__(dont_fail=True, **kwargs)
        if file.seekable() and file.tell():
            raise ValueError(f"{getattr(file, 'name', 'a Parquet file')} cannot be appended to")
        self._file = file
        self._compression = compression
        self._group_rows = group_rows
        self._group_bytes = group_bytes
        self._rows: list[Row] = []
        self._bytes = 0
        self._writer: Any = None

    def export_item(self, item: Any) -> None:
        """Add *item*; raise ``TypeError`` unless it is an article."""
        if not isinstance(item, Article):
            raise TypeError(
                f"a Parquet feed has articles, and no {type(item).__name__}: use another format, "
                "or item_classes in FEEDS"
            )
        row = dict(self.get_serialized_fields(article_row(item)))
        self._rows.append(row)
        self._bytes += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._rows) >= self._group_rows or self._bytes >= self._group_bytes:
            self._flush()

    def finish_exporting(self) -> None:
        """Write pending rows and the footer."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._writer is None:
            self._writer = parquet.ParquetWriter(
                self._file, self._schema(), compression=self._compression
            )
        if self._rows:
            self._writer.write_table(to_table(self._rows, self._writer.schema))
        self._rows, self._bytes = [], 0

    def _schema(self) -> Any:
        extra = (name for name in EXTRA_COLUMNS if any(name in row for row in self._rows))
        names = self.fields_to_export or (*ARTICLE_COLUMNS, *extra)
        types = ARTICLE_COLUMNS | EXTRA_COLUMNS
        columns = names.items() if isinstance(names, Mapping) else ((name, name) for name in names)
        return pa.schema([(new, types.get(name, pa.string())) for name, new in columns])


def article_row(article: Article) -> Row:
    """Return the values of :data:`ARTICLE_COLUMNS` for *article*."""
    row = article.to_dict()
    for name in ("date", "date_modified"):
        row[f"{name}_iso"] = row[name]
        row[name] = instant(getattr(article, name))
    row["fetched_at"] = article.fetched_at
    row["evidence"] = list(row["evidence"].items())
    for name in ("cluster", "data"):
        if row.get(name) is not None:
            row[name] = _encode(row[name])
    if article.alternates is not None:
        row["alternates"] = list(article.alternates.items())
    return row


def to_table(rows: list[Row], schema: Any) -> Any:
    """Return *rows* as a table of *schema*, without values that do not fit it."""
    return pa.Table.from_arrays([_column(field, rows) for field in schema], schema=schema)


def _column(field: Any, rows: list[Row]) -> Any:
    values = [row.get(field.name) for row in rows]
    try:
        return pa.array(values, field.type)
    except _CONVERSION_ERRORS:
        return pa.array([_fitting(value, field) for value in values], field.type)


def _fitting(value: Any, field: Any) -> Any:
    """Return *value*, None if it does not fit *field*."""
    if isinstance(value, str) and pa.types.is_string(field.type):
        return value.encode(errors="replace").decode()  # replaces lone surrogates
    try:
        pa.array([value], field.type)
    except _CONVERSION_ERRORS:
        logger.warning("%s does not fit the Parquet column %s", type(value).__name__, field.name)
        return None
    return value
