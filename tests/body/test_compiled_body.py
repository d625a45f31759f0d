"""Compiled loops of the body algorithms against the Python functions."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body import block_features
from newscrawl.body.blocks import cast_votes, find_blocks, group_rows
from newscrawl.body.coreex import FORM_TAGS, terminal_sums
from newscrawl.body.econ import EconParameters, joint_para, read_text
from newscrawl.compiled import is_compiled
from newscrawl.document.document import Document, parse_document
from newscrawl.text import squeeze
from tests.conftest import corpus_pages
from tests.helpers.compiled import assert_equal_in_python

if not is_compiled(group_rows):
    pytest.skip("compiled loops are not built", allow_module_level=True)

PYTHON: Any = ModuleType("newscrawl.body.block_features_in_python")
"""The source of the compiled module, not compiled."""
exec(Path(block_features.__file__).with_name("block_features.py").read_bytes(), PYTHON.__dict__)


def assert_equal_features_in_python(name: str, *arguments: Any) -> Any:
    """Assert that the function *name* and its Python source agree; return the result."""
    result = getattr(block_features, name)(*arguments)
    assert result == getattr(PYTHON, name)(*arguments)
    return result


def assert_equal_features(document: Document) -> None:
    """Assert that both find the same blocks, counts and marks, and compute the same features."""
    assert_equal_in_python(group_rows, document)
    forms = [row for tag in FORM_TAGS for row in document.rows_of(tag)]
    assert_equal_in_python(terminal_sums, document, document.hidden, forms)
    for parameters in (EconParameters.BEST, EconParameters.LITERAL):
        assert_equal_in_python(read_text, document, parameters)
        marks = read_text(document, parameters)
        assert_equal_in_python(joint_para, document, *marks, parameters)
    found = find_blocks(document)
    if not len(found):
        return
    bodies = (document.rows_of("p")[::2], document.rows_of("div")[-2:], [0])
    votes = cast_votes(document.end, bodies)
    texts = block_features.texts_of(document, found.rows)
    texts[::3] = [f"{text}  {text}"[:70].strip() for text in texts[::3]]
    for heading, description in (
        (None, ""),
        (0, "\n".join(map(squeeze, texts[::3]))),
        (len(document) // 2, "x"),
    ):
        arguments = (document, found.owner, found.rows, votes, heading, texts, description)
        features = assert_equal_features_in_python("feature_columns", *arguments)
    rates = [(place % 7) / 8 for place in range(len(found))]
    chars = found.chars(document, range(len(found)))
    assert_equal_features_in_python("context_columns", features, rates, chars, 0.75, 0.25)


TAGS = st.sampled_from([
    "div", "p", "a", "b", "i", "img", "form", "option", "br", "li", "h2", "td", "script", "article",
])  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(" \x85\u00a0\u3000x.,。", max_size=10),
    st.text("日本語ひカ한글ไทย. ", max_size=40),
    st.sampled_from(
        [
            "<p class=x>",
            "<div id=y>",
            "<b itemtype=z>",
            "One, two. ",
            "3.5",
            "«Encore.» ",
            "ÉTÉ ©",
            "<div hidden>hidden.</div>",
            "<pre> a\n b </pre>",
            " <b> x </b> ",
            "<p>A  description of\u00a0what\nthe page tells, with room for more",
            "<p>" + "word " * 12,
        ]
    ),
)
MARKUP = st.lists(
    st.one_of(TAGS.map("<{}>".format), TAGS.map("</{}>".format), TEXTS), max_size=40
).map("".join)


@given(MARKUP)
def test_agree_on_any_markup(page: str) -> None:
    assert_equal_features(parse_document(f"<html><body>{'<p>' * 99}{page}"))


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites"])
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str) -> None:
    for page in corpus_pages(corpus_dir / corpus):
        assert_equal_features(parse_document(page))
