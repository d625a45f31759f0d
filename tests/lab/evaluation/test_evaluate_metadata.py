"""Scores of authors, description, site name, section, tags and image."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from newscrawl.items import Article, Media
from newscrawl.lab.corpora.corpus import LabelledPage, load_corpus
from newscrawl.lab.corpora.map_pages import PageOutcome
from newscrawl.lab.corpora.metadata_match import (
    FieldMatch,
    MetadataField,
    MetadataValues,
    field_matches,
    metadata_means,
)
from newscrawl.lab.evaluation.evaluation_report import build_report, tables_of
from newscrawl.lab.evaluation.families import FamilyPage, changes
from newscrawl.lab.evaluation.page_scores import PageScores, evaluate

PAGE = LabelledPage(
    "small", "1", Path(), "https://paper.example/2026/1", "paper.example", "test",
    authors=("Ada Reyes", "José Núñez"),
    description="The council voted to rebuild the lighthouse that a storm had taken.",
    site_name="The Harbour Mail",
    section="Local news",
    tags=("Harbour", "Storms"),
    image="https://img.paper.example/lighthouse-1024x768.jpg?quality=80",
)  # fmt: skip


def right(**values: object) -> dict[MetadataField, bool]:
    """Return which labelled fields of the page are right in an article with *values*."""
    found = field_matches(PAGE, MetadataValues.of(Article(**values)))  # type: ignore[arg-type]
    return {name: match.right for name, match in found.items()}


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (["José Núñez", "Ada Reyes"], FieldMatch(True, 2, 2, 2)),
        (["ADA  REYES", "Jose\u0301 Nu\u0301n\u0303ez."], FieldMatch(True, 2, 2, 2)),
        (["Ada Reyes"], FieldMatch(False, 1, 1, 2)),
        (["Ada Reyes", "José Núñez", "Harbour Mail"], FieldMatch(False, 2, 3, 2)),
        (["Ada Reyes and José Núñez"], FieldMatch(False, 0, 1, 2)),
        (["Ada", "Reyes", "José", "Núñez"], FieldMatch(False, 0, 4, 2)),
        ([], FieldMatch(False, 0, 0, 2)),
    ],
)
def test_authors_are_right_if_the_names_are_the_same_set(names: list[str], match: FieldMatch):
    """In any order; Unicode form, case, white space and punctuation are ignored."""
    assert field_matches(PAGE, MetadataValues(authors=names))["authors"] == match


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the council voted to rebuild the lighthouse that a storm had taken", True),
        ("The council voted to rebuild the lighthouse that the storm had taken …", True),
        ("The council voted to rebuild the lighthouse.", False),
        (None, False),
    ],
)
def test_description_is_right_if_most_words_are_the_same(text: str | None, expected: bool):
    assert right(description=text)["description"] is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://img.paper.example/lighthouse.jpg", True),
        ("https://IMG.paper.example/lighthouse-640x480.jpg?w=640#top", True),
        ("//img.paper.example/lighthouse.jpg", True),
        ("https://img.paper.example/harbour.jpg", False),
        ("/lighthouse.jpg", False),
        ("https://[broken/lighthouse.jpg", False),
    ],
)
def test_image_is_right_if_the_url_differs_in_size_or_query_only(url: str, expected: bool):
    assert right(image=Media(url))["image"] is expected


def test_relative_image_url_is_resolved():
    page = replace(PAGE, image="https://paper.example/files/640x/a.jpg")
    output = MetadataValues(image="../files/320x/a.jpg")
    assert field_matches(page, output)["image"].right


def test_site_name_section_and_tags():
    """Tags are a set with an F1."""
    found = right(site_name="the harbour mail", section="Sport", tags=("storms", "HARBOUR"))
    assert (found["site_name"], found["section"], found["tags"]) == (True, False, True)
    partly = field_matches(PAGE, MetadataValues(tags=["Storms", "Weather"]))["tags"]
    assert (partly.right, partly.f1) == (False, 0.5)


def test_fields_without_label_are_not_scored():
    page = replace(PAGE, authors=(), description=None, section=None, tags=(), image=None)
    assert set(field_matches(page, MetadataValues(authors=["Ada Reyes"]))) == {"site_name"}


def outcome(number: int, site: str, match: FieldMatch) -> PageOutcome[PageScores]:
    page = replace(PAGE, corpus="news212", id=str(number), site=site)
    return PageOutcome(page, PageScores(metadata={"authors": match}))


RIGHT, PARTLY, SILENT = (
    FieldMatch(True, 2, 2, 2),
    FieldMatch(False, 1, 2, 2),
    FieldMatch(False, 0, 0, 2),
)


def test_metadata_means():
    """Precision and recall count the names of all pages; silent pages have no name."""
    matches = [("a", RIGHT), ("a", PARTLY), ("b", SILENT), ("c", RIGHT)]
    means = metadata_means((site, {"authors": match}) for site, match in matches)["authors"]
    assert (means["pages"], means["right"], means["silent"]) == (4, 0.5, 0.25)
    assert means["site_right"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert (means["precision"], means["recall"]) == (pytest.approx(5 / 6), 5 / 8)
    assert means["mean_f1"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)


def test_methods_are_compared_by_right_authors():
    """By the bootstrap over sites, with --baseline."""
    ours = [outcome(number, f"site{number}", RIGHT) for number in range(4)]
    theirs = [*ours[:2], *(outcome(number, f"site{number}", SILENT) for number in (2, 3))]
    rows = changes(map(FamilyPage.of, ours), map(FamilyPage.of, theirs))
    assert {(row["group"], row["field"], row["before"]) for row in rows} == {
        ("news", "authors", 0.5), ("all families", "authors", 0.5),
    }  # fmt: skip


HTML = """<!doctype html><html lang="en"><head><title>Harbour votes</title>
<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Harbour votes",
"author": [{"@type": "Person", "name": "Ada Reyes"}, {"@type": "Person", "name": "José Núñez"}]}
</script></head><body><article><h1>Harbour votes</h1><p>The council sat until late and voted to
rebuild the lighthouse that a storm had taken in the spring.</p></article></body></html>"""
ROWS = [
    {"authors": "Ada Reyes and José Núñez"},
    {"authors": ["Reyes, Ada"], "dek": "The council sat until late."},
    {"title": "Harbour votes"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus with labelled authors, and one standfirst."""
    (pages := tmp_path / "small" / "pages").mkdir(parents=True)
    lines = []
    for number, labels in enumerate(ROWS):
        (pages / f"{number}.html.gz").write_bytes(gzip.compress(HTML.encode()))
        row = {"id": str(number), "url": f"https://{number}.example/", "site": f"{number}.example"}
        lines.append(json.dumps(row | labels) + "\n")
    (pages.parent / "truth.jsonl").write_text("".join(lines), encoding="utf-8")
    return pages.parent


def test_labels_are_read_from_corpus(folder: Path):
    """Names in one text are separated; a standfirst is a description."""
    pages = load_corpus(folder).pages
    assert [page.authors for page in pages] == [("Ada Reyes", "José Núñez"), ("Reyes, Ada",), ()]
    assert [page.description for page in pages] == [None, "The council sat until late.", None]
    assert [page.metadata_labelled for page in pages] == [True, True, False]
    tagged = replace(PAGE, tags=("a", "b"))
    assert LabelledPage.from_plain(json.loads(json.dumps(tagged.to_plain()))) == tagged


def test_report_shows_metadata_of_labelled_pages(folder: Path):
    corpus = load_corpus(folder)
    outcomes = evaluate(corpus.pages, "nce", workers=0)
    report = build_report("nce", [corpus], outcomes)
    named = {table.title: table for table in tables_of(report)}
    table = named["small: metadata"]
    rows = {
        row[0]: dict(zip(table.columns, row, strict=True))
        for row in table.rows
        if row[1] == "all pages"
    }
    assert set(rows) == {"authors", "description"}
    assert (rows["authors"]["pages"], rows["authors"]["right"]) == ("2", "0.500")
    assert (rows["authors"]["micro P"], rows["authors"]["micro R"]) == ("0.500", "0.667")
    assert (rows["authors"]["silent"], rows["description"]["silent"]) == ("0.0 %", "100.0 %")


def test_failed_page_is_silent(folder: Path):
    (folder / "pages" / "0.html.gz").write_bytes(gzip.compress(b""))
    found = evaluate(load_corpus(folder).pages[:1], "nce", workers=0)[0]
    assert found.error is not None
    assert found.value.metadata == {"authors": FieldMatch(False, 0, 0, 2)}
    assert PageScores.from_plain(json.loads(json.dumps(found.value.to_plain()))) == found.value
