"""The nine attributes of text nodes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from newscrawl.css import Stylesheets
from newscrawl.document.document import Document, parse_document
from newscrawl.fields.attributes import (
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
    """Return a page with a head line, a date and a story."""
    return parse_document(PAGE)


def features(document: Document, *, names: tuple[str, ...] = TITLE_FEATURES):
    """Return attributes by name, by text."""
    rows = list(document.text_nodes())
    nodes = TextNodes.of(document, rows, Stylesheets(document).style_of)
    table = {
        TITLE_FEATURES: nodes.title_features,
        DATE_FEATURES: nodes.date_features(2),
        INDEPENDENT_DATE_FEATURES: nodes.independent_date_features(),
    }[names]
    return {
        text: dict(zip(names, row, strict=True))
        for text, row in zip(nodes.texts, table, strict=True)
    }


def test_names():
    """Nine attributes; 8 tells no title, 9 tells no date."""
    assert len(ATTRIBUTES) == 9
    assert set(ATTRIBUTES) - set(TITLE_FEATURES) == {ATTRIBUTES[7]}
    assert set(ATTRIBUTES) - set(DATE_FEATURES) == {ATTRIBUTES[8]}
    assert ATTRIBUTES[:7] == INDEPENDENT_DATE_FEATURES


def test_text(document: Document):
    """Attributes 1 to 3: characters, digits, and their share in percent."""
    date = features(document)["3 May 2024, 10:15"]
    assert (date["text_length"], date["digits"]) == (17, 9)
    assert date["digit_share"] == pytest.approx(100 * 9 / 17)


def test_digits_of_other_scripts():
    """Digits are those of any script."""
    page = parse_document("<p>۱۲ اردیبهشت ۱۴۰۳</p>")
    (row,) = features(page).values()
    assert row["digits"] == 6


def test_style(document: Document):
    """Attributes 4 to 6: size in pixels, share of the largest in percent, bold."""
    found = features(document)
    names = ("font_size", "relative_font_size", "bold")
    assert [found["Harbour bridge reopens"][name] for name in names] == [40, 100, 1]
    assert [found["3 May 2024, 10:15"][name] for name in names] == [12, 30, 0]
    assert [found["12"][name] for name in names] == [16, 40, 1]


def test_similar_nodes(document: Document):
    """Attribute 7: the nodes with the same size, colour, family and weight."""
    similar = {text: row["similar_nodes"] for text, row in features(document).items()}
    assert similar["News"] == similar["About us"] == 5
    assert similar["Harbour bridge reopens"] == similar["12"] == 1


def test_similar_among_evaluated(document: Document):
    """Only the nodes that are evaluated are compared, for attributes 5 and 7."""
    rows = [row for row in document.text_nodes() if document.text[row] in ("News", "12")]
    nodes = TextNodes.of(document, rows, Stylesheets(document).style_of)
    named = [dict(zip(TITLE_FEATURES, row, strict=True)) for row in nodes.title_features]
    assert [row["similar_nodes"] for row in named] == [1, 1]
    assert [row["relative_font_size"] for row in named] == [100, 100]


def test_distance(document: Document):
    """Attribute 8: positions after the title, negative before it."""
    found = features(document, names=DATE_FEATURES)
    assert {text: row["title_distance"] for text, row in found.items()} == {
        "News": -2, "Sport": -1, "Harbour bridge reopens": 0, "3 May 2024, 10:15": 1,
        "The bridge was closed for": 2, "12": 3, "weeks.": 4, "About us": 5,
    }  # fmt: skip


def test_distance_counts_all_nodes(document: Document):
    """Positions are those among all shown nodes, not only the evaluated ones."""
    rows = [row for row in document.text_nodes() if document.text[row] in ("News", "12")]
    nodes = TextNodes.of(document, rows, Stylesheets(document).style_of)
    assert [row[-1] for row in nodes.date_features(2)] == [-2, 3]
    assert [row[-1] for row in nodes.date_features(None)] == [1, 6]


def test_edit_distance(document: Document):
    """Attribute 9: the site's name is inserted at 1 a character, over the length of ``title``."""
    title = "Harbour bridge reopens - Daily Harbour"
    assert document.title == title
    found = features(document)
    assert found["Harbour bridge reopens"]["title_edit_distance"] == 16 / len(title)


@pytest.mark.parametrize(
    ("text", "title", "cost"),
    [("ab", "abcd", 2), ("abcd", "ab", 8), ("abcd", "abce", 2), ("abc", "abc", 0)],
)
def test_weights(text: str, title: str, cost: int):
    """An insertion costs 1, a change 2, a deletion 4 (thesis, footnote 1)."""
    assert title_edit_distance(text, title) == cost / len(title)


@given(title=st.text("ab ", min_size=3, max_size=9), text=st.text("ab ", max_size=9))
def test_distance_is_the_weighted_one(title: str, text: str):
    """However the text begins."""
    cost = Levenshtein.distance(text, title, weights=EDIT_WEIGHTS)
    assert title_edit_distance(text, title) == cost / len(title)


def test_no_title():
    """Without ``title`` a text has all its characters deleted."""
    assert title_edit_distance("some text", "") == 4


@given(title=st.text(min_size=1, max_size=20), text=st.text(min_size=1, max_size=200))
def test_long_texts_are_far(title: str, text: str):
    """A distance is never negative, and what is much longer than the title is far from it."""
    distance = title_edit_distance(text, title)
    assert distance >= 0
    if len(text) > 4 * len(title):
        assert distance > 12


def test_evaluated_rows(document: Document):
    """The nodes of the forest and all before it; nothing after, nothing hidden."""
    forest = [document.tag.index("div")]
    texts = [document.text[row] for row in evaluated_rows(document, forest)]
    assert texts[0] == "News"
    assert texts[-1] == "weeks."
    assert len(texts) == 7


def test_gaps_in_the_forest():
    """What stands between the trees of the forest was left out by the body's algorithm."""
    page = parse_document("<p>before</p><div>one</div><div>link</div><div>two</div><p>after</p>")
    divs = [row for row, tag in enumerate(page.tag) if tag == "div"]
    rows = evaluated_rows(page, [divs[0], divs[2]])
    assert [page.text[row] for row in rows] == ["before", "one", "two"]


def test_no_forest(document: Document):
    """Without a forest the whole tree is evaluated."""
    assert evaluated_rows(document, []) == list(document.text_nodes())


def test_without_style(document: Document):
    """Nodes without style keep attributes 1 to 3 and 9 and are alike in all others."""
    rows = list(document.text_nodes())
    nodes = TextNodes.of(document, rows, Stylesheets(document).style_of)
    plain = nodes.without_style()
    assert len({row[3:7] for row in plain.title_features}) == 1
    kept = [(row[:3], row[7]) for row in nodes.title_features]
    assert [(row[:3], row[7]) for row in plain.title_features] == kept
