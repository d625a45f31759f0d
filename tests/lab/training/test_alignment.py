"""Alignment of labels with text nodes."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from newscrawl.document.document import parse_document
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.labels import Coverage, Labels, align

TITLE = "Harbour bridge reopens after repairs"
DAY = date(2024, 5, 3)


def labelled(**labels: Any) -> LabelledPage:
    """Return a page with labels."""
    values = {"title": TITLE, "date": DAY, **labels}
    return LabelledPage(
        "corpus", "id", Path("pages/id.html.gz"), "https://a.example/1", "a.example", "tune", **values
    )  # fmt: skip


def texts(html: str, **labels: Any) -> dict[str, list[str]]:
    """Return the texts of the nodes that hold the labels."""
    document = parse_document(html)
    found = align(document, labelled(**labels))
    return {
        name: [document.text[row] for row in rows]
        for name, rows in (
            ("title", found.title),
            ("date", found.date),
            ("title_repeats", sorted(found.title_repeats)),
            ("date_repeats", sorted(found.date_repeats)),
        )
    }


def test_aligns_title_in_heading():
    """Other copies are repeats."""
    found = texts(f"<nav><a>{TITLE}</a></nav><h1>{TITLE}</h1><p>Story.</p>")
    assert found["title"] == [TITLE]
    assert found["title_repeats"] == [TITLE]
    document = parse_document(f"<p>{TITLE}</p><h1>{TITLE}</h1>")
    (row,) = align(document, labelled()).title
    assert document.tag[document.parent[row]] == "h1"


def test_aligns_title_with_small_differences():
    """Letter case, quotes, a word more or less."""
    assert texts("<h1>HARBOUR BRIDGE \u201cREOPENS\u201d after repairs!</h1>")["title"]


def test_aligns_title_of_adjacent_nodes():
    found = texts("<h1>Harbour <em>bridge</em> reopens<br>after repairs</h1><p>Story.</p>")
    assert found["title"] == ["Harbour", "bridge", "reopens", "after repairs"]


def test_does_not_align_other_title():
    assert not texts("<h1>Something else</h1>")["title"]


def test_aligns_date_nearest_to_title():
    found = texts(
        f"<p>3 May 2024</p><nav>News Sport Weather <b>Jobs</b></nav><h1>{TITLE}</h1>"
        "<p>By A. Writer</p><p>3 May 2024</p><p>One.</p><p>Two.</p><p>Three.</p><p>3.5.2024</p>"
    )
    assert found["date"] == ["3 May 2024"]
    assert found["date_repeats"] == ["3 May 2024", "3.5.2024"]


def test_date_nodes_contain_a_digit():
    """Thesis, section 3.3."""
    found = texts(f"<h1>{TITLE}</h1><p><b>May</b> <b>3</b> <b>2024</b></p>")
    assert found["date"] == ["3", "2024"]


def test_date_includes_time_in_next_node():
    found = texts(f"<h1>{TITLE}</h1><p><b>3 May 2024</b> <i>10:15 am</i></p><p>Story.</p>")
    assert found["date"] == ["3 May 2024", "10:15 am"]


def test_ignores_date_in_paragraph():
    paragraph = (
        "The bridge, closed since last year, was opened on 3 May 2024 by the mayor, who " * 2
    )
    assert not texts(f"<h1>{TITLE}</h1><p>{paragraph}</p>")["date"]


def test_reads_months_in_language_of_page():
    assert texts(f"<html lang=de><h1>{TITLE}</h1><p>3. Mai 2024</p>")["date"] == ["3. Mai 2024"]


@pytest.mark.parametrize("written", ["05/03/2024", "03/05/2024", "3 May", "2024-05-03"])
def test_accepts_ambiguous_date_that_matches_label(written: str):
    assert texts(f"<h1>{TITLE}</h1><p>{written}</p>")["date"] == [written]


def test_aligns_instant_by_day_in_its_zone():
    late = datetime(2024, 5, 3, 23, 30, tzinfo=UTC)
    assert texts(f"<h1>{TITLE}</h1><p>3 May 2024</p>", date=late)["date"] == ["3 May 2024"]


def test_does_not_align_doubtful_date():
    assert not texts("<p>3 May 2024</p>", date_doubtful=True)["date"]


def test_coverage_counts_labels():
    found = [
        Labels(title=(1,)),
        Labels(title=(1, 2), title_repeats=frozenset({5})),
        Labels(),
    ]
    assert Coverage.of(found, "title") == Coverage(3, 1, 1, 1)
    assert Coverage.of(found, "date") == Coverage(3, 0, 0, 0)
