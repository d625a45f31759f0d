"""Parquet feeds: ``ParquetItemExporter`` for ``FEED_EXPORTERS`` (optional: ``newscrawl[parquet]``).

Articles get the columns of :data:`ARTICLE_COLUMNS`. Other items get columns inferred from the
first row group, and a last column ``_other`` (JSON) for what a later row holds beside them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.exporters import BaseItemExporter
from scrapy.utils.serialize import ScrapyJSONEncoder

from newscrawl.items import Article

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError as error:
    # Scrapy loads the exporters of all formats, and passes over those that say this;
    # the pipeline refuses to start for a feed that needs it.
    raise NotConfigured("Parquet feeds need pyarrow") from error

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)

Row = dict[str, Any]

_INSTANT = pa.timestamp("us", tz="UTC")
_EVIDENCE = pa.struct([("source", pa.string()), ("confidence", pa.float64())])
#: Columns of articles. A day is its midnight and a time without zone is taken as UTC; the
#: ``_iso`` columns keep what the page gave: ``2026-01-31``, ``2026-01-31T23:30:00+09:00``.
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
    "kind": pa.string(),
    "paywalled": pa.bool_(),
    "style_complete": pa.bool_(),
    "fetched_at": _INSTANT,
    "evidence": pa.map_(pa.string(), _EVIDENCE),
    "flags": pa.list_(pa.string()),
    "cluster": pa.string(),  # JSON: its layout is NearDuplicatePipeline's
}
#: Column for what the inferred columns cannot hold.
OTHER = "_other"
#: Items in a row group, and the bytes of text after which a group is written earlier.
GROUP_ROWS = 1000
GROUP_BYTES = 32 * 2**20

_REFUSED = (pa.ArrowException, OverflowError, TypeError, ValueError)
_LISTED = (str, bytes, bool, int, float, type(None))
_SCALARS = (*_LISTED, date, Decimal)


class _JsonEncoder(ScrapyJSONEncoder):
    def default(self, o: Any) -> Any:
        return o.decode(errors="replace") if isinstance(o, bytes) else super().default(o)


_json = _JsonEncoder(ensure_ascii=False).encode


class ParquetItemExporter(BaseItemExporter):
    """Writes items to *file* as Parquet, a row group at a time.

    *compression* is one of pyarrow's (``zstd``, ``snappy``, ``gzip``, ``none``). What waits in
    memory is at most *group_rows* items, or about *group_bytes* bytes. A Parquet file is
    readable only once it is finished; batches bound what a crash can take.
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
        """Take *item*; raise ``TypeError`` for a foreign item among articles, or the reverse."""
        is_article = isinstance(item, Article)
        if self._of_articles is None:
            self._of_articles = is_article
        if self._of_articles != is_article:
            raise TypeError(
                f"{type(item).__name__} does not fit the items before it in this Parquet feed: "
                "give each its own feed, by item_classes in FEEDS"
            )
        values = self.get_serialized_fields(article_row(item) if is_article else item)
        self._add(dict(values) if is_article else {name: plain(value) for name, value in values})

    def finish_exporting(self) -> None:
        """Write what waits, and the footer; a feed without items has the columns of articles."""
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
        names = self.fields_to_export or ARTICLE_COLUMNS.keys()
        columns = names.items() if isinstance(names, Mapping) else ((name, name) for name in names)
        return pa.schema([(new, ARTICLE_COLUMNS.get(name, pa.string())) for name, new in columns])


def article_row(article: Article) -> Row:
    """Return the values of :data:`ARTICLE_COLUMNS`."""
    row = article.to_dict()
    for name in ("date", "date_modified"):
        row[f"{name}_iso"] = row[name]
        row[name] = _instant(getattr(article, name))
    row["fetched_at"] = article.fetched_at
    row["evidence"] = list(row["evidence"].items())
    row["cluster"] = None if article.cluster is None else _json(article.cluster)
    return row


def _instant(moment: date | None) -> datetime | None:
    """Return midnight for a day; a time without zone as UTC."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def plain(value: Any) -> Any:
    """Return *value* as a column can hold it: scalars and lists of them; the rest as JSON."""
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, list | tuple | set) and all(isinstance(v, _LISTED) for v in value):
        return list(value)
    return _json(value)


def inferred_schema(rows: Iterable[Row]) -> Any:
    """Return the schema of all fields in *rows*, with :data:`OTHER` as the last column."""
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    types = [(name, _inferred_type(values)) for name, values in columns.items()]
    return pa.schema([*types, (OTHER, pa.string())])


def _inferred_type(values: list[Any]) -> Any:
    """Return the type of *values*; text where they are of several types or all unknown."""
    try:
        found = pa.array(values).type
    except _REFUSED:
        return pa.string()
    if pa.types.is_null(found) or not all(_same_kind(value, found) for value in values):
        return pa.string()
    if pa.types.is_list(found) and pa.types.is_null(found.value_type):
        return pa.list_(pa.string())
    return found


def _same_kind(value: Any, column_type: Any) -> bool:
    """Return False for what pyarrow would turn into another moment: numbers, lost zones or times."""
    if value is None or not pa.types.is_temporal(column_type):
        return True
    if isinstance(value, datetime) and pa.types.is_timestamp(column_type):
        return (value.tzinfo is None) == (column_type.tz is None)
    return type(value) is date and pa.types.is_date(column_type)


def to_table(rows: list[Row], schema: Any) -> Any:
    """Return *rows* as a table of *schema*; what does not fit goes into :data:`OTHER` as JSON."""
    others: list[Row] = [
        {name: value for name, value in row.items() if name not in schema.names} for row in rows
    ]
    arrays = [_column(field, rows, others) for field in schema if field.name != OTHER]
    if OTHER in schema.names:
        arrays.append(pa.array([_json(other) if other else None for other in others], pa.string()))
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(field: Any, rows: list[Row], others: list[Row]) -> Any:
    values = [row.get(field.name) for row in rows]
    try:
        if all(_same_kind(value, field.type) for value in values):
            return pa.array(values, field.type)
    except _REFUSED:
        pass
    fitting = [_fitting(value, field, other) for value, other in zip(values, others, strict=True)]
    return pa.array(fitting, field.type)


def _fitting(value: Any, field: Any, other: Row) -> Any:
    """Return *value* if it fits *field*; else put it into *other* and return None."""
    if isinstance(value, str) and pa.types.is_string(field.type):
        return value.encode(errors="replace").decode()  # a lone surrogate is no UTF-8
    try:
        pa.array([value], field.type)
        fits = _same_kind(value, field.type)
    except _REFUSED:
        fits = False
    if fits:
        return value
    logger.warning("%s does not fit the Parquet column %s", type(value).__name__, field.name)
    other[field.name] = value
    return None
