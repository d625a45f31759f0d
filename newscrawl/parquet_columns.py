"""Columns of articles in Parquet, and conversion of rows to columns (extra ``newscrawl[parquet]``)."""

from __future__ import annotations

import json
import logging
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from newscrawl.items import instant

if TYPE_CHECKING:
    from newscrawl.items import Article

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
#: Rows in a row group.
GROUP_ROWS = 1000

CONVERSION_ERRORS = (pa.ArrowException, OverflowError, TypeError, ValueError)
"""Errors of pyarrow for values that do not fit a type."""


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


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def to_columns(rows: list[Row], schema: Any) -> tuple[list[Any], list[Row]]:
    """Return the columns of *schema*, and per row the values that are not in them.

    These have no column or do not fit it.
    """
    names = set(schema.names)
    others = [{name: value for name, value in row.items() if name not in names} for row in rows]
    return [_column(field, rows, others) for field in schema], others


def _column(field: Any, rows: list[Row], others: list[Row]) -> Any:
    values = [row.get(field.name) for row in rows]
    try:
        is_temporal = pa.types.is_temporal(field.type)
        if not is_temporal or all(same_kind(value, field.type) for value in values):
            return pa.array(values, field.type)
    except CONVERSION_ERRORS:
        pass
    fitting = [_fitting(value, field, other) for value, other in zip(values, others, strict=True)]
    return pa.array(fitting, field.type)


def _fitting(value: Any, field: Any, other: Row) -> Any:
    """Return *value* if it fits *field*; otherwise put it into *other* and return None."""
    if isinstance(value, str) and pa.types.is_string(field.type):
        return value.encode(errors="replace").decode()  # replaces lone surrogates
    try:
        pa.array([value], field.type)
        fits = same_kind(value, field.type)
    except CONVERSION_ERRORS:
        fits = False
    if fits:
        return value
    logger.warning("%s does not fit the Parquet column %s", type(value).__name__, field.name)
    other[field.name] = value
    return None


def same_kind(value: Any, column_type: Any) -> bool:
    """Return False if pyarrow would convert *value* to another time: numbers, zones, lost times."""
    if value is None or not pa.types.is_temporal(column_type):
        return True
    if isinstance(value, datetime) and pa.types.is_timestamp(column_type):
        return (value.tzinfo is None) == (column_type.tz is None)
    return type(value) is date and pa.types.is_date(column_type)
