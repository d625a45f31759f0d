"""Parquet exporter for ``FEED_EXPORTERS`` (extra ``newscrawl[parquet]``).

Articles have the columns :data:`ARTICLE_COLUMNS`. For other items the columns are inferred from the
first row group; a last column ``_other`` (JSON) has the values that do not fit these.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet
from scrapy.exporters import BaseItemExporter
from scrapy.utils.serialize import ScrapyJSONEncoder

from newscrawl.items import Article, instant

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)

Row = dict[str, Any]

_INSTANT = pa.timestamp("us", tz="UTC")
_EVIDENCE = pa.struct([("source", pa.string()), ("confidence", pa.float64())])


def _struct(*names: str) -> Any:
    return pa.struct([(name, pa.string()) for name in names])


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
    "image": _struct("url", "caption", "credit"),
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
#: Columns after these in a feed whose first articles have them (``NEWSCRAWL_BODY_FORMATS``)
FORMAT_COLUMNS: dict[str, Any] = {
    "body_markdown": pa.string(),
    "body_html": pa.string(),
    "links": pa.list_(_struct("url", "text")),
    "images": pa.list_(_struct("url", "alt", "caption")),
}
#: Column for values that do not fit the inferred columns.
OTHER = "_other"
#: Items in a row group, and bytes of text after which a smaller group is written.
GROUP_ROWS = 1000
GROUP_BYTES = 32 * 2**20

_CONVERSION_ERRORS = (pa.ArrowException, OverflowError, TypeError, ValueError)


class _JsonEncoder(ScrapyJSONEncoder):
    def default(self, o: Any) -> Any:
        return o.decode(errors="replace") if isinstance(o, bytes) else super().default(o)


_json = _JsonEncoder(ensure_ascii=False).encode


class ParquetItemExporter(BaseItemExporter):
    """Writes items to *file* as Parquet, one row group at a time.

    *compression* is a codec of pyarrow (``zstd``, ``snappy``, ``gzip``, ``none``). Up to *group_rows*
    items, or about *group_bytes* bytes, are held in memory. A Parquet file is only readable once it
    is finished; ``FEED_EXPORT_BATCH_ITEM_COUNT`` limits the loss of a crash. Raises ``ValueError``
    if *file* has content already.
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
        self._of_articles: bool | None = None
        self._writer: Any = None

    def export_item(self, item: Any) -> None:
        """Add *item*; raise ``TypeError`` if the feed mixes articles and other items."""
        is_article = isinstance(item, Article)
        if self._of_articles is None:
            self._of_articles = is_article
        if self._of_articles != is_article:
            raise TypeError(
                f"{type(item).__name__} does not fit the other items in this Parquet feed; "
                "use one feed per item class (item_classes in FEEDS)"
            )
        values = self.get_serialized_fields(article_row(item) if is_article else item)
        row = dict(values) if is_article else {name: _scalar(value) for name, value in values}
        self._rows.append(row)
        self._bytes += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._rows) >= self._group_rows or self._bytes >= self._group_bytes:
            self._flush()

    def finish_exporting(self) -> None:
        """Write pending rows and the footer; an empty feed has the columns of articles."""
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
        if self._of_articles is False:
            return _inferred_schema(self._rows)
        formats = (name for name in FORMAT_COLUMNS if any(name in row for row in self._rows))
        names = self.fields_to_export or (*ARTICLE_COLUMNS, *formats)
        types = ARTICLE_COLUMNS | FORMAT_COLUMNS
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
    row["cluster"] = None if article.cluster is None else _json(article.cluster)
    return row


def _scalar(value: Any) -> Any:
    """Return numbers and truth values as they are, dates and bytes as text, nested values as JSON."""
    if isinstance(value, str | int | float | None):
        return value
    text = _json(value)
    return json.loads(text) if text.startswith('"') else text


def _inferred_schema(rows: Iterable[Row]) -> Any:
    """Return the schema of all fields in *rows*, with :data:`OTHER` as the last column."""
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    columns.pop(OTHER, None)
    types = [(name, _inferred_type(values)) for name, values in columns.items()]
    return pa.schema([*types, (OTHER, pa.string())])


def _inferred_type(values: list[Any]) -> Any:
    """Return the common type of *values*; string if there is none or all are None."""
    try:
        found = pa.array(values).type
    except _CONVERSION_ERRORS:
        return pa.string()
    return pa.string() if pa.types.is_null(found) else found


def to_table(rows: list[Row], schema: Any) -> Any:
    """Return *rows* as a table of *schema*; values that do not fit go into :data:`OTHER`."""
    columns = set(schema.names) - {OTHER}
    others: list[Row] = [
        {name: value for name, value in row.items() if name not in columns} for row in rows
    ]
    arrays = [_column(field, rows, others) for field in schema if field.name != OTHER]
    if OTHER in schema.names:
        arrays.append(pa.array([_json(other) if other else None for other in others], pa.string()))
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(field: Any, rows: list[Row], others: list[Row]) -> Any:
    values = [row.get(field.name) for row in rows]
    try:
        return pa.array(values, field.type)
    except _CONVERSION_ERRORS:
        pairs = zip(values, others, strict=True)
        return pa.array([_fitting(value, field, other) for value, other in pairs], field.type)


def _fitting(value: Any, field: Any, other: Row) -> Any:
    """Return *value* if it fits *field*; otherwise put it into *other* and return None."""
    if isinstance(value, str) and pa.types.is_string(field.type):
        return value.encode(errors="replace").decode()  # replaces lone surrogates
    try:
        pa.array([value], field.type)
    except _CONVERSION_ERRORS:
        logger.warning("%s does not fit the Parquet column %s", type(value).__name__, field.name)
        other[field.name] = value
        return None
    return value
