"""Compiled modules of the body algorithms against their Python sources."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body import block_features, blocks, coreex, econ, groups, text_features
from newscrawl.document.document import Document, parse_document
from newscrawl.extraction import render
from newscrawl.text import squeeze, tokens
from tests.conftest import corpus_pages
from tests.helpers.compiled import python_module

if str(block_features.__file__).endswith(".py"):
    pytest.skip("the modules are not compiled", allow_module_level=True)

PYTHON = {
    module: python_module(module)
    for module in (block_features, blocks, coreex, econ, groups, render, text_features)
}


def assert_equal(module: ModuleType, name: str, *arguments: Any) -> Any:
    """Assert that a compiled function and its Python source agree; return the result."""
    result = getattr(module, name)(*arguments)
    assert result == getattr(PYTHON[module], name)(*arguments)
    return result


def assert_equal_features(document: Document) -> None:
    """Assert that both find equal texts, blocks, counts and marks, and equal features."""
    assert_equal(blocks, "group_rows", document)
    forms = [row for tag in coreex.FORM_TAGS for row in document.rows_of(tag)]
    assert_equal(coreex, "terminal_sums", document, document.hidden, forms)
    for parameters in (econ.EconParameters.BEST, econ.EconParameters.LITERAL):
        marks = assert_equal(econ, "read_text", document, parameters)
        assert_equal(econ, "joint_para", document, *marks, parameters)
    assert_equal(render, "render", document, [0], {len(document) // 2})
    found = blocks.find_blocks(document)
    if not len(found):
        return
    bodies = (document.rows_of("p")[::2], document.rows_of("div")[-2:], [0])
    votes = assert_equal(blocks, "cast_votes", document.end, bodies)
    texts = [found.text(document, place) for place in range(len(found))]
    texts[::3] = [f"{text}  {text}"[:70].strip() for text in texts[::3]]
    for heading, description in (
        (None, ""),
        (0, "\n".join(map(squeeze, texts[::3]))),
        (len(document) // 2, "x"),
    ):
        arguments = (document, found.owner, found.rows, votes, heading, texts, description)
        features = assert_equal(block_features, "feature_columns", *arguments)
    home = assert_equal(groups, "home_of", document, found.owner, features["chars"])
    firsts = [rows[0] for rows in found.rows]
    assert_equal(groups, "group_columns", document, found.owner, firsts, home)
    rates = [(place % 7) / 8 for place in range(len(found))]
    chars = found.chars(document, range(len(found)))
    assert_equal(block_features, "context_columns", features, rates, chars, 0.75, 0.25)
    assert_equal(block_features, "best_subset", rates, chars)
    assert_equal(blocks, "find_roots", document, [row for rows in found.rows[::2] for row in rows])


@given(st.text() | st.text(" \x1c\x85\u3000ab日", max_size=40))
def test_counts_tokens(text: str):
    assert assert_equal(coreex, "count_tokens", text) == len(tokens(text))


@given(st.text() | st.text("İßΣé áđ日sign-up:12. ", max_size=40))
def test_reads_texts(text: str):
    assert_equal(text_features, "text_columns", [text, "x", text], text[:30])


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
def test_agree_on_any_markup(page: str):
    assert_equal_features(parse_document(f"<html><body>{'<p>' * 99}{page}"))


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites"])
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str):
    for page in corpus_pages(corpus_dir / corpus):
        assert_equal_features(parse_document(page))


def test_deep_pages_have_features():
    """Python's recursion is limited to 1,000 levels."""
    page = f"<p>{'Nothing did. ' * 9}</p>{'<div>' * 1900}<p>{'The lorry crossed. ' * 9}</p>"
    document = parse_document(page)
    found = blocks.find_blocks(document)
    home = groups.home_of(document, found.owner, [1.0, 1.0])
    firsts = [rows[0] for rows in found.rows]
    columns = assert_equal(groups, "group_columns", document, found.owner, firsts, home)
    assert len(columns["home_up"]) == 2
