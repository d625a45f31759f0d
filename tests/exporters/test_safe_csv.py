"""CSV exporter with escaped formulas."""

import csv
import json
import subprocess
import sys
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.exporters.text_feeds import SafeCsvItemExporter, escape_formula
from newscrawl.items import Article, BodyLink, Breadcrumb, Evidence, Media


def export(*items: Any, **options: Any) -> list[list[str]]:
    """Return the rows of a feed of *items*."""
    file = BytesIO()
    exporter = SafeCsvItemExporter(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return list(csv.reader(StringIO(file.getvalue().decode(), newline="")))


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


def test_escapes_article_fields() -> None:
    article = Article(url="https://a.example/", title="=HYPERLINK(1)", authors=["@jane", "-joe"])
    article.body = "+ The first paragraph"
    header, row = export(article)
    cells = dict(zip(header, row, strict=True))
    assert cells["title"] == "'=HYPERLINK(1)"
    assert cells["authors"] == "'@jane,-joe"
    assert cells["body"] == "'+ The first paragraph"
    assert cells["url"] == "https://a.example/"


def test_writes_nested_values_as_json() -> None:
    evidence = {"title": Evidence("h1", 0.5)}
    header, row = export(Article(links=[BodyLink("https://a.example/", "ä")], evidence=evidence))
    cells = dict(zip(header, row, strict=True))
    assert json.loads(cells["links"]) == [{"url": "https://a.example/", "text": "ä"}]
    assert json.loads(cells["evidence"]) == {"title": {"source": "h1", "confidence": 0.5}}


def test_writes_objects_as_json() -> None:
    article = Article(
        tags=("a", "=b"),
        image=Media("https://a.example/i.jpg", "Käse"),
        breadcrumbs=(Breadcrumb("City"),),
        evidence={"title": Evidence("h1", 0.5)},
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
    assert json.loads(cells["breadcrumbs"]) == [{"name": "City", "url": None}]
    assert json.loads(cells["evidence"]) == {"title": {"source": "h1", "confidence": 0.5}}


def test_keeps_types_of_other_values() -> None:
    _, row = export({"n": -5, "x": -1.5, "none": None, "b": b"=1", "l": [1, "=2"], "yes": True})
    assert row == ["-5", "-1.5", "", "'=1", "[1, '=2']", "True"]


def test_option_keeps_formulas() -> None:
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
