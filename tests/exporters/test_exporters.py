"""Parquet exporter, read back with pyarrow."""

import io
import json
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from pyarrow import parquet
from scrapy import exporters

from newscrawl.exporters import (
    ARTICLE_COLUMNS,
    JsonItemExporter,
    JsonLinesItemExporter,
    ParquetItemExporter,
)
from newscrawl.exporters.parquet import EXTRA_COLUMNS
from newscrawl.items import Article, Breadcrumb, Evidence, Media
from newscrawl.pipelines.item_filler import use_article_adapter

TOKYO = timezone(timedelta(hours=9))
FULL = Article(
    url="https://example.com/a",
    title="Hafen wieder offen",
    date=datetime(2026, 1, 31, 23, 30, tzinfo=TOKYO),
    date_raw="31. Januar, 23:30",
    body="Erster Absatz.\n\nZweiter Absatz.",
    language="de",
    authors=["Ada Ahlers", "Bo Berg"],
    tags=("Hafen", "Schifffahrt"),
    image=Media("https://example.com/a.jpg", "Am Kai", "Bo Berg"),
    breadcrumbs=(Breadcrumb("Wirtschaft", "https://example.com/w"),),
    fetched_at=datetime(2026, 2, 1, tzinfo=UTC),
    evidence={"title": Evidence("nce", 0.75)},
    cluster={"id": 3},
)


def feed(exporter_class: Any, items: Iterable[Any], **options: Any) -> bytes:
    """Return the feed of *items*."""
    file = io.BytesIO()
    exporter = exporter_class(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def written(items: Iterable[Any], **options: Any) -> parquet.ParquetFile:
    """Return the Parquet file of *items*."""
    return parquet.ParquetFile(io.BytesIO(feed(ParquetItemExporter, items, **options)))


def test_writes_article_columns() -> None:
    (row,) = written([FULL]).read().to_pylist()
    assert row["date"] == datetime(2026, 1, 31, 14, 30, tzinfo=UTC)
    assert row["date_iso"] == "2026-01-31T23:30:00+09:00"
    assert row["authors"] == ["Ada Ahlers", "Bo Berg"]
    assert row["tags"] == ["Hafen", "Schifffahrt"]
    assert row["image"] == {
        "url": "https://example.com/a.jpg",
        "caption": "Am Kai",
        "credit": "Bo Berg",
        "alt": None,
        "width": None,
    }
    assert row["breadcrumbs"] == [{"name": "Wirtschaft", "url": "https://example.com/w"}]
    assert row["evidence"] == [("title", {"source": "nce", "confidence": 0.75})]
    assert json.loads(row["cluster"]) == {"id": 3}
    assert row["body"] == FULL.body
    assert row["paywalled"] is None


def test_article_schema_is_fixed() -> None:
    empty, bare, full = written([]), written([Article(body="x")]), written([FULL])
    assert empty.schema_arrow == bare.schema_arrow == full.schema_arrow
    assert full.schema_arrow.names == [*ARTICLE_COLUMNS]
    assert empty.read().num_rows == 0


def test_article_schema_has_the_requested_body_formats() -> None:
    image = Media("https://a.example/i", "", "Cap")
    file = written([Article(body="x", body_html="<p>x</p>", links=[], images=[image]), FULL])
    assert file.schema_arrow.names == [*ARTICLE_COLUMNS, "body_html", "links", "images"]
    table = file.read()
    assert table.column("body_html").to_pylist() == ["<p>x</p>", None]
    assert table.column("links").to_pylist() == [[], None]
    assert table.column("images").to_pylist() == [[asdict(image)], None]
    renamed = written([Article(links=[])], fields_to_export={"links": "found"})
    assert renamed.read().column("found").to_pylist() == [[]]


def test_converts_dates_to_utc() -> None:
    day = Article(date=date(2026, 1, 31))
    naive = Article(date=datetime(2026, 1, 31, 8))  # noqa: DTZ001
    rows = written([day, naive]).read().to_pylist()
    assert [row["date"].hour for row in rows] == [0, 8]
    assert [row["date_iso"] for row in rows] == ["2026-01-31", "2026-01-31T08:00:00"]


def test_every_field_of_article_has_a_column() -> None:
    assert {field.name for field in fields(Article)} <= {*ARTICLE_COLUMNS, *EXTRA_COLUMNS}


@pytest.mark.parametrize(
    "fields", [["url", "date_iso"], {"url": "link", "date_iso": "published", "missing": "none"}]
)
def test_selects_and_renames_columns(fields: Any) -> None:
    (row,) = written([FULL], fields_to_export=fields).read().to_pylist()
    assert [*row] == list(fields.values() if isinstance(fields, dict) else fields)
    assert "https://example.com/a" in row.values()
    assert "2026-01-31T23:30:00+09:00" in row.values()


def test_writes_row_groups_by_count_and_size() -> None:
    by_number = written([Article(url=str(n)) for n in range(25)], group_rows=10)
    assert [by_number.metadata.row_group(n).num_rows for n in range(3)] == [10, 10, 5]
    assert by_number.read().column("url").to_pylist() == [str(n) for n in range(25)]
    by_size = written([Article(body="x" * 600) for _ in range(4)], group_bytes=1000)
    assert by_size.metadata.num_row_groups == 2


def test_replaces_lone_surrogates() -> None:
    (row,) = written([Article(title="a\ud83d b", body="whole")]).read().to_pylist()
    assert (row["title"], row["body"]) == ("a? b", "whole")


def test_rejects_other_items() -> None:
    with pytest.raises(TypeError, match="item_classes"):
        written([FULL, {"n": 1}])


@pytest.mark.parametrize(
    ("quick", "original"),
    [
        (JsonItemExporter, exporters.JsonItemExporter),
        (JsonLinesItemExporter, exporters.JsonLinesItemExporter),
    ],
)
@pytest.mark.parametrize(
    "options", [{}, {"encoding": "utf-8"}, {"fields_to_export": {"title": "headline"}}]
)
def test_json_is_that_of_scrapy(quick: Any, original: Any, options: dict[str, Any]) -> None:
    use_article_adapter()
    images = [Media("https://example.com/b.jpg", "Kai", "")]
    items = [FULL, replace(FULL, images=images), Article(), {"title": "a dict", "n": 1}]
    assert feed(quick, items, **options) == feed(original, items, **options)
