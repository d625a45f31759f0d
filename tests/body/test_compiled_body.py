"""Compiled loops of the body algorithms against the Python functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body import (
    block_features,
    block_texts,
    blocks,
    boilerplate,
    classifier,
    comment_records,
    comments,
    context_features,
    coreex,
    excluded_regions,
)
from newscrawl.body.blocks import cast_votes, find_blocks
from newscrawl.compiled import is_compiled
from newscrawl.document.document import Document, parse_document
from newscrawl.lab.paper_methods import COREEX_VARIANTS
from newscrawl.text import squeeze
from tests.conftest import corpus_pages
from tests.helpers.compiled import assert_equal_in_python

if TYPE_CHECKING:
    from pathlib import Path

FUNCTIONS = (
    block_features.feature_columns, blocks.find_prose_blocks, blocks.find_roots, blocks.group_rows, boilerplate.rows_with_tags,
    classifier.best_subset, excluded_regions.contained_rows,
    comment_records.date_rows, comment_records.has_date, comment_records.reply_rows, comments.heading_rows, comments.named_rows,
    comments.start_of_comments, context_features.context_columns, coreex.content_children, coreex.count_rows, coreex.find_main_content_node,
)  # fmt: skip
if not all(map(is_compiled, FUNCTIONS)):
    pytest.skip("compiled loops are not built", allow_module_level=True)


def assert_equal_loops(document: Document) -> None:
    """Assert that all compiled functions agree with the Python functions on *document*."""
    forms = coreex.FORM_TAGS
    for tags, max_chars in ((frozenset(), 0.0), (forms, 10.0), (forms, document.chars(0))):
        assert_equal_in_python(
            coreex.count_rows, document, bytearray(document.hidden), tags, max_chars
        )
    for parameters in (coreex.CoreExParameters.TODAY, *COREEX_VARIANTS.values()):
        counts = coreex.count_terminals(document, parameters)
        assert_equal_in_python(coreex.find_main_content_node, document, counts, parameters)
        for node in range(0, len(document), 7):
            assert_equal_in_python(
                coreex.content_children, document, counts, node, parameters.threshold
            )
    assert_equal_marks(document)
    assert_equal_blocks(document)
    assert_equal_features(document)


def assert_equal_marks(document: Document) -> None:
    """Assert that both find the same marks of comments."""
    rows, texts = document.label_rows, document.text
    assert_equal_in_python(comment_records.reply_rows, rows, texts, document.hidden)
    assert_equal_in_python(comment_records.date_rows, rows, texts, document.number_rows)
    assert_equal_in_python(comments.start_of_comments, document)
    for row in rows:
        assert_equal_in_python(comment_records.date_rows, [row], texts, document.number_rows)
        assert_equal_in_python(comments.heading_rows, [row], texts, document.hidden)
        assert_equal_in_python(comment_records.has_date, texts[row])
    assert_equal_in_python(comments.heading_rows, rows, texts, document.hidden)
    for min_chars in (0.0, 40.0):
        assert_equal_in_python(comments.named_rows, document, min_chars)


def assert_equal_blocks(document: Document) -> None:
    """Assert that both find the same blocks, roots and regions."""
    _, rows = assert_equal_in_python(blocks.group_rows, document)
    assert_equal_in_python(
        boilerplate.rows_with_tags, document, [0], frozenset({"p", "li", "time"})
    )
    for first in (0, len(rows) // 2):
        assert_equal_in_python(blocks.find_prose_blocks, document, rows, first)
    for step in (1, 2, 3):
        assert_equal_in_python(
            blocks.find_roots, document, [row for mine in rows[::step] for row in mine]
        )
    for heading in (-1, len(document) // 2):
        regions = excluded_regions._Regions(document, heading, len(document))
        for texts in (document.text_rows, document.shown_rows[::5]):
            assert_equal_in_python(
                excluded_regions.contained_rows, document, texts, heading, regions._is_region
            )


def assert_equal_features(document: Document) -> None:
    """Assert that both compute the same features of all blocks, for several descriptions."""
    found = find_blocks(document)
    if not len(found):
        return
    bodies = (document.rows_of("p")[::2], document.rows_of("div")[-2:], [0])
    votes = cast_votes(document.end, bodies)
    texts = block_texts.texts_of(document, found.rows)
    texts[::3] = [f"{text}  {text}"[:70].strip() for text in texts[::3]]
    for heading, description in (
        (None, ""),
        (0, "\n".join(map(squeeze, texts[::3]))),
        (len(document) // 2, "x"),
    ):
        arguments = (document, found.owner, found.rows, votes, heading, texts, description)
        columns = assert_equal_in_python(block_features.feature_columns, *arguments)
    chars = found.chars(document, range(len(found)))
    probabilities = [(place * 37 % 101) / 101 for place in range(len(found))]
    for probability in (probabilities, [0.0] * len(found)):
        context = (columns, probability, chars, 0.7, 0.3)
        assert_equal_in_python(context_features.context_columns, *context)
        assert_equal_in_python(classifier.best_subset, probability, chars)


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
MARKS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", " ", "1", "x", "İ", "2 "]),
    st.sampled_from([
        "Reply", "RÉPONDRE", "2 Antworten", "r-e-p-l-y", "回复", "רדתגובות", "3 days ago", "sofa", "il y a 2", "vor",
        "6시간 전", "前", "12:30", "1/2", "5%", "in 2024", "7 May 2024", "4 h", "9\u00a0min", "٣", "10-11", "COMMENTİ",
        "<aside>", "<footer class=x>", "<p class=Privacy-note>", "Comments (3)", "ΣΧΌΛΙΑ", "评论", "Commentary", "<p class='comment x' id=y>", "<div id=GuestBook>",
        "<section itemtype=Comment>",
    ]),
    st.sampled_from(["", " ", "1", "x", "s", "%", " 5"]),
)  # fmt: skip
MARKUP = st.lists(
    st.one_of(TAGS.map("<{}>".format), TAGS.map("</{}>".format), TEXTS, MARKS), max_size=40
).map("".join)


@given(MARKUP)
def test_agree_on_any_markup(page: str) -> None:
    assert_equal_loops(parse_document(f"<html><body>{'<p>' * 99}{page}"))


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites"])
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str) -> None:
    for page in corpus_pages(corpus_dir / corpus):
        assert_equal_loops(parse_document(page))
