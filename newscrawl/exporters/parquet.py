"""Parquet exporter for ``FEED_EXPORTERS`` (extra ``newscrawl[parquet]``).

Articles have the columns of :data:`~newscrawl.parquet_columns.ARTICLE_COLUMNS`. For other items the
columns are inferred from the first row group; a last column ``_other`` (JSON) has the values that
do not fit these.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.exporters import BaseItemExporter
from scrapy.utils.serialize import ScrapyJSONEncoder

from newscrawl.items import Article

try:
    import pyarrow as pa
    from pyarrow import parquet

    from newscrawl.parquet_columns import (
        ARTICLE_COLUMNS,
        CONVERSION_ERRORS,
        FORMAT_COLUMNS,
        GROUP_ROWS,
        Row,
        article_row,
        same_kind,
        to_columns,
    )
except ImportError as error:
    # Scrapy loads the exporters of all formats and skips those that raise this. The pipeline checks
    # FEEDS for formats that need it.
    raise NotConfigured("Parquet feeds require pyarrow") from error

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Column for values that do not fit the inferred columns.
OTHER = "_other"
#: Bytes of text after which a group with fewer than GROUP_ROWS items is written.
GROUP_BYTES = 32 * 2**20

_LIST_VALUES = (str, bytes, bool, int, float, type(None))
_SCALARS = (*_LIST_VALUES, date, Decimal)


class _JsonEncoder(ScrapyJSONEncoder):
    def default(self, o: Any) -> Any:
        return o.decode(errors="replace") if isinstance(o, bytes) else super().default(o)


_json = _JsonEncoder(ensure_ascii=False).encode


class ParquetItemExporter(BaseItemExporter):
    """Writes items to *file* as Parquet, one row group at a time.

    *compression* is a codec of pyarrow (``zstd``, ``snappy``, ``gzip``, ``none``). Up to *group_rows*
    items, or about *group_bytes* bytes, are held in memory. A Parquet file is only readable once it
    is finished; ``FEED_EXPORT_BATCH_ITEM_COUNT`` limits the loss of a crash.
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
        row = dict(values) if is_article else {name: column_value(value) for name, value in values}
        self._add(row)

    def finish_exporting(self) -> None:
        """Write pending rows and the footer; an empty feed has the columns of articles."""
        self._flush()
        self._writer.close()

    def _add(self, row: Row) -> None:
        self._rows.append(row)
        self._bytes += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
        if len(self._rows) >= self._group_rows or self._bytes >= self._group_bytes:
            self._flush()

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
            return inferred_schema(self._rows)
        formats = (name for name in FORMAT_COLUMNS if any(name in row for row in self._rows))
        names = self.fields_to_export or (*ARTICLE_COLUMNS, *formats)
        types = ARTICLE_COLUMNS | FORMAT_COLUMNS
        columns = names.items() if isinstance(names, Mapping) else ((name, name) for name in names)
        return pa.schema([(new, types.get(name, pa.string())) for name, new in columns])


def column_value(value: Any) -> Any:
    """Return scalars and lists of scalars as they are, any other *value* as JSON."""
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, list | tuple | set) and all(isinstance(v, _LIST_VALUES) for v in value):
        return list(value)
    return _json(value)


def inferred_schema(rows: Iterable[Row]) -> Any:
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
    except CONVERSION_ERRORS:
        return pa.string()
    if pa.types.is_null(found) or not all(same_kind(value, found) for value in values):
        return pa.string()
    if pa.types.is_list(found) and pa.types.is_null(found.value_type):
        return pa.list_(pa.string())
    return found


def to_table(rows: list[Row], schema: Any) -> Any:
    """Return *rows* as a table of *schema*; values that do not fit go into :data:`OTHER`."""
    if OTHER not in schema.names:
        columns, _ = to_columns(rows, schema)
        return pa.Table.from_arrays(columns, schema=schema)
    columns, others = to_columns(rows, schema.remove(schema.get_field_index(OTHER)))
    columns.append(pa.array([_json(other) if other else None for other in others], pa.string()))
    return pa.Table.from_arrays(columns, schema=schema)
