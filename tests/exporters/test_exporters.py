"""Parquet exporter, read back with pyarrow."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from scrapy import exporters

from newscrawl.exporters import (
    ARTICLE_COLUMNS,
    JsonItemExporter,
    JsonLinesItemExporter,
    ParquetItemExporter,
)
from newscrawl.exporters.parquet import EXTRA_COLUMNS
from newscrawl.exporters.text_feeds import SafeCsvItemExporter, escape_formula
from newscrawl.items import Article, BodyLink, Breadcrumb, Evidence, Media
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
    file = io.BytesIO()
    exporter = exporter_class(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def written(items: Iterable[Any], **options: Any) -> parquet.ParquetFile:
    return parquet.ParquetFile(io.BytesIO(feed(ParquetItemExporter, items, **options)))


def test_writes_article_columns():
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


def test_article_schema_is_fixed():
    empty, bare, full = written([]), written([Article(body="x")]), written([FULL])
    assert empty.schema_arrow == bare.schema_arrow == full.schema_arrow
    assert full.schema_arrow.names == [*ARTICLE_COLUMNS]
    assert empty.read().num_rows == 0


def test_article_schema_has_the_requested_body_formats():
    image = Media("https://a.example/i", "", "Cap")
    file = written([Article(body="x", body_html="<p>x</p>", links=[], images=[image]), FULL])
    assert file.schema_arrow.names == [*ARTICLE_COLUMNS, "body_html", "links", "images"]
    table = file.read()
    assert table.column("body_html").to_pylist() == ["<p>x</p>", None]
    assert table.column("links").to_pylist() == [[], None]
    assert table.column("images").to_pylist() == [[asdict(image)], None]
    renamed = written([Article(links=[])], fields_to_export={"links": "found"})
    assert renamed.read().column("found").to_pylist() == [[]]


def test_converts_dates_to_utc():
    day = Article(date=date(2026, 1, 31))
    naive = Article(date=datetime(2026, 1, 31, 8))  # noqa: DTZ001
    rows = written([day, naive]).read().to_pylist()
    assert [row["date"].hour for row in rows] == [0, 8]
    assert [row["date_iso"] for row in rows] == ["2026-01-31", "2026-01-31T08:00:00"]


def test_every_field_of_article_has_a_column():
    assert {field.name for field in fields(Article)} <= {*ARTICLE_COLUMNS, *EXTRA_COLUMNS}


@pytest.mark.parametrize(
    "fields", [["url", "date_iso"], {"url": "link", "date_iso": "published", "missing": "none"}]
)
def test_selects_and_renames_columns(fields: Any):
    (row,) = written([FULL], fields_to_export=fields).read().to_pylist()
    assert [*row] == list(fields.values() if isinstance(fields, dict) else fields)
    assert "https://example.com/a" in row.values()
    assert "2026-01-31T23:30:00+09:00" in row.values()


def test_writes_row_groups_by_count_and_size():
    by_number = written([Article(url=str(n)) for n in range(25)], group_rows=10)
    assert [by_number.metadata.row_group(n).num_rows for n in range(3)] == [10, 10, 5]
    assert by_number.read().column("url").to_pylist() == [str(n) for n in range(25)]
    by_size = written([Article(body="x" * 600) for _ in range(4)], group_bytes=1000)
    assert by_size.metadata.num_row_groups == 2


def test_replaces_lone_surrogates():
    (row,) = written([Article(title="a\ud83d b", body="whole")]).read().to_pylist()
    assert (row["title"], row["body"]) == ("a? b", "whole")


def test_rejects_other_items():
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
def test_json_is_that_of_scrapy(quick: Any, original: Any, options: dict[str, Any]):
    use_article_adapter()
    images = [Media("https://example.com/b.jpg", "Kai", "")]
    items = [FULL, replace(FULL, images=images), Article(), {"title": "a dict", "n": 1}]
    assert feed(quick, items, **options) == feed(original, items, **options)


def export(*items: Any, **options: Any) -> list[list[str]]:
    """Return the rows of a CSV feed of *items*."""
    text = feed(SafeCsvItemExporter, items, **options).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", " =1", "\r\n=1", "=cmd|' /C calc'!A0", "＝1+1",
     "-", "+", "\0=1", "\ufeff=1", "\u200b=1", "\u2066＝1", "-2+3+cmd|' /C calc'!A0"],
)  # fmt: skip
def test_escapes_formulas(cell: str):
    assert escape_formula(cell) == "'" + cell.replace("\0", "")


@pytest.mark.parametrize(
    "cell", ["", "A title", "1-2", "-5", "+3.5", "-1,000.5", "-12%", "a=b", "'=1"]
)
def test_keeps_numbers_and_text(cell: str):
    assert escape_formula(cell) == cell


@given(st.text(" \t\r\n\0"), st.sampled_from("=+-@＝＋－＠"), st.text("=+-1,.%a(!"))
def test_no_cell_begins_as_a_formula(blanks: str, start: str, rest: str):
    cell = f"{blanks}{start}{rest}"
    clean = escape_formula(cell)
    assert clean.startswith("'") or not clean.strip("+-0123456789,.% \t\r\n")
    assert clean.removeprefix("'") == cell.replace("\0", "")
    assert escape_formula(clean) == clean


def test_escapes_article_fields():
    article = Article(url="https://a.example/", title="=HYPERLINK(1)", authors=["@jane", "-joe"])
    article.body = "+ The first paragraph"
    header, row = export(article)
    cells = dict(zip(header, row, strict=True))
    assert cells["title"] == "'=HYPERLINK(1)"
    assert cells["authors"] == "'@jane,-joe"
    assert cells["body"] == "'+ The first paragraph"
    assert cells["url"] == "https://a.example/"


def test_writes_objects_as_json():
    article = Article(
        tags=("a", "=b"),
        image=Media("https://a.example/i.jpg", "Käse"),
        breadcrumbs=(Breadcrumb("City"),),
        evidence={"title": Evidence("h1", 0.5)},
        links=[BodyLink("https://a.example/", "ä")],
    )
    header, row = export(article)
    cells = dict(zip(header, row, strict=True))
    assert cells["tags"] == "a,=b"
    assert json.loads(cells["image"]) == {
        "url": "https://a.example/i.jpg",
        "caption": "Käse",
        "credit": None,
        "alt": None,
        "width": None,
    }
    assert json.loads(cells["links"]) == [{"url": "https://a.example/", "text": "ä"}]
    assert json.loads(cells["breadcrumbs"]) == [{"name": "City", "url": None}]
    assert json.loads(cells["evidence"]) == {"title": {"source": "h1", "confidence": 0.5}}


def test_keeps_types_of_other_values():
    _, row = export({"n": -5, "x": -1.5, "none": None, "b": b"=1", "l": [1, "=2"], "yes": True})
    assert row == ["-5", "-1.5", "", "'=1", "[1, '=2']", "True"]


def test_option_keeps_formulas():
    assert export({"a": "=1"}, formulas=True)[1] == ["=1"]


_WITHOUT_PYARROW = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from newscrawl.items import Article
from newscrawl.settings import base

class Two(Spider):
    name = "two"
    async def start(self):
        yield Article(url="https://a.example/1", title="One")
        yield Article(url="https://a.example/2", title="=Two")

feeds = {f"{sys.argv[1]}/{name}": {"format": format} for name, format in
         (("a.csv", "csv"), ("a.jsonl", "jsonlines"))}
process = AsyncCrawlerProcess({"FEED_EXPORTERS": base.FEED_EXPORTERS, "FEEDS": feeds})
process.crawl(Two)
process.start()
assert "pyarrow" not in sys.modules
"""


def test_feeds_without_pyarrow(tmp_path: Path):
    """CSV and JSON Lines feeds work with the required dependencies; Parquet is not available."""
    command = [sys.executable, "-c", _WITHOUT_PYARROW, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert [row["title"] for row in csv.DictReader(file)] == ["One", "'=Two"]
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 2
