"""Compiled loops of the fields against the Python functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.compiled import is_compiled
from newscrawl.document.document import Document, parse_document
from newscrawl.fields.kind import forest_measures, kind_features, longest_run
from tests.conftest import corpus_pages
from tests.helpers.compiled import assert_equal_in_python

if TYPE_CHECKING:
    from pathlib import Path

FUNCTIONS = (
    kind_features.dates_and_prices,
    forest_measures.measure_forest,
    kind_features.measure_texts,
    longest_run.block_chars,
)
if not all(map(is_compiled, FUNCTIONS)):
    pytest.skip("compiled loops are not built", allow_module_level=True)


def assert_equal_loops(document: Document) -> None:
    """Assert that all compiled functions agree with the Python functions on *document*."""
    assert_equal_in_python(kind_features.measure_texts, document)
    assert_equal_in_python(longest_run.block_chars, document)
    for tag in ("p", "div", "li", "b"):
        rows = document.rows_of(tag)
        forest = [
            row
            for place, row in enumerate(rows)
            if not place or row >= document.end[rows[place - 1]]
        ]
        assert_equal_in_python(forest_measures.measure_forest, document, forest or [0])
    assert_equal_in_python(kind_features.dates_and_prices, document.text_rows, document.text)


PARTS = st.sampled_from(["19", "20", "1", "24", "٣", "४२", "-", ".", "/", " ", "x", "$", "€", "©"])
TAGS = st.sampled_from(["p", "div", "a", "b", "li", "ul", "span", "a href=/x"])
MARKUP = st.lists(
    st.one_of(
        TAGS.map("<{}>".format),
        TAGS.map("</{}>".format),
        st.sampled_from(["A headline of a few words. ", "A longer paragraph of the text, " * 4]),
        st.text(max_size=30),
        st.lists(PARTS, max_size=9).map("".join),
    ),
    max_size=40,
).map("".join)


@given(MARKUP)
def test_agree_on_any_markup(page: str) -> None:
    assert_equal_loops(parse_document(f"<html><body>{page}{'<p>' * 20}"))


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["news212", "fundus"])
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str) -> None:
    for page in corpus_pages(corpus_dir / corpus):
        assert_equal_loops(parse_document(page))
