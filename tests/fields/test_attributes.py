"""Attributes 1 to 9 of text nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from newscrawl.css import Stylesheets
from newscrawl.document.document import Document, parse_document
from newscrawl.fields.cardoso import (
    ATTRIBUTES,
    DATE_FEATURES,
    EDIT_WEIGHTS,
    INDEPENDENT_DATE_FEATURES,
    TITLE_FEATURES,
    TextNodes,
    evaluated_rows,
    title_edit_distance,
)

PAGE = b"""<html><head><title>Harbour bridge reopens - Daily Harbour</title><style>
h1 { font-size: 40px; color: #222 } .date { color: gray; font-size: 12px } b { color: #222 }
</style></head><body>
<nav><a>News</a> <a>Sport</a></nav>
<h1>Harbour bridge reopens</h1>
<p class="date">3 May 2024, 10:15</p>
<div><p>The bridge was closed for <b>12</b> weeks.</p><p hidden>Not shown.</p></div>
<footer>About us</footer></body></html>"""


@pytest.fixture
def document() -> Document:
    """Return a page with a headline, a date and an article."""
    return parse_document(PAGE)


def features(document: Document) -> dict[str, dict[str, float]]:
    """Return text -> attribute -> value, with the third text node as the title."""
    rows = list(document.text_nodes())
    nodes = TextNodes.of(document, rows, Stylesheets(document).style_of)
    columns = nodes.date_features(2)
    assert set(columns) == set(ATTRIBUTES)
    return {
        text: {name: column[index] for name, column in columns.items()}
        for index, text in enumerate(nodes.texts)
    }


def test_feature_sets_omit_attribute_8_or_9():
    assert len(ATTRIBUTES) == 9
    assert set(ATTRIBUTES) - set(TITLE_FEATURES) == {ATTRIBUTES[7]}
    assert set(ATTRIBUTES) - set(DATE_FEATURES) == {ATTRIBUTES[8]}
    assert ATTRIBUTES[:7] == INDEPENDENT_DATE_FEATURES


def test_attributes_1_to_3_count_characters_and_digits(document: Document):
    date = features(document)["3 May 2024, 10:15"]
    assert (date["text_length"], date["digits"]) == (17, 9)
    assert date["digit_share"] == pytest.approx(100 * 9 / 17)


def test_counts_digits_of_all_scripts():
    page = parse_document("<p>۱۲ اردیبهشت ۱۴۰۳</p>")
    (row,) = features(page).values()
    assert row["digits"] == 6


def test_attributes_4_to_6_describe_font_size_and_weight(document: Document):
    found = features(document)
    names = ("font_size", "relative_font_size", "bold")
    assert [found["Harbour bridge reopens"][name] for name in names] == [40, 100, 1]
    assert [found["3 May 2024, 10:15"][name] for name in names] == [12, 30, 0]
    assert [found["12"][name] for name in names] == [16, 40, 1]


def test_attribute_7_counts_nodes_of_the_same_style(document: Document):
    """Same size, color, family and weight."""
    similar = {text: row["similar_nodes"] for text, row in features(document).items()}
    assert similar["News"] == similar["About us"] == 5
    assert similar["Harbour bridge reopens"] == similar["12"] == 1


def test_attributes_5_and_7_compare_evaluated_nodes_only(document: Document):
    rows = [row for row in document.text_nodes() if document.text[row] in ("News", "12")]
    nodes = TextNodes.of(document, rows, Stylesheets(document).style_of)
    assert nodes.features["similar_nodes"] == [1, 1]
    assert nodes.features["relative_font_size"] == [100, 100]


def test_attribute_8_is_the_signed_distance_to_the_title(document: Document):
    found = features(document)
    assert {text: row["title_distance"] for text, row in found.items()} == {
        "News": -2, "Sport": -1, "Harbour bridge reopens": 0, "3 May 2024, 10:15": 1,
        "The bridge was closed for": 2, "12": 3, "weeks.": 4, "About us": 5,
    }  # fmt: skip


def test_attribute_8_counts_nodes_that_are_not_evaluated(document: Document):
    rows = [row for row in document.text_nodes() if document.text[row] in ("News", "12")]
    nodes = TextNodes.of(document, rows, Stylesheets(document).style_of)
    assert nodes.date_features(2)["title_distance"] == [-2, 3]
    assert nodes.date_features(None)["title_distance"] == [1, 6]


def test_attribute_9_is_relative_to_the_length_of_the_title(document: Document):
    title = "Harbour bridge reopens - Daily Harbour"
    assert document.title == title
    found = features(document)
    assert found["Harbour bridge reopens"]["title_edit_distance"] == 16 / len(title)


@pytest.mark.parametrize(
    ("text", "title", "cost"),
    [("ab", "abcd", 2), ("abcd", "ab", 8), ("abcd", "abce", 2), ("abc", "abc", 0)],
)
def test_edit_costs_of_the_thesis(text: str, title: str, cost: int):
    """An insertion costs 1, a substitution 2, a deletion 4 (thesis, footnote 1)."""
    assert title_edit_distance(text, title) == cost / len(title)


@given(title=st.text("ab ", min_size=3, max_size=9), text=st.text("ab ", max_size=9))
def test_edit_distance_equals_weighted_levenshtein(title: str, text: str):
    cost = Levenshtein.distance(text, title, weights=EDIT_WEIGHTS)
    assert title_edit_distance(text, title) == cost / len(title)


def test_edit_distance_without_title():
    assert title_edit_distance("some text", "") == 4


@given(title=st.text(min_size=1, max_size=20), text=st.text(min_size=1, max_size=200))
def test_edit_distance_of_much_longer_texts_is_large(title: str, text: str):
    distance = title_edit_distance(text, title)
    assert distance >= 0
    if len(text) > 4 * len(title):
        assert distance > 12


def test_evaluates_the_forest_and_all_nodes_before_it(document: Document):
    """Without hidden nodes and nodes after the forest."""
    forest = [document.tag.index("div")]
    texts = [document.text[row] for row in evaluated_rows(document, forest)]
    assert texts[0] == "News"
    assert texts[-1] == "weeks."
    assert len(texts) == 7


def test_skips_gaps_in_the_forest():
    page = parse_document("<p>before</p><div>one</div><div>link</div><div>two</div><p>after</p>")
    divs = [row for row, tag in enumerate(page.tag) if tag == "div"]
    rows = evaluated_rows(page, [divs[0], divs[2]])
    assert [page.text[row] for row in rows] == ["before", "one", "two"]


def test_evaluates_the_whole_page_without_forest(document: Document):
    assert evaluated_rows(document, []) == list(document.text_nodes())
