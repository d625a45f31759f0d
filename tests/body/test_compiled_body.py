"""The loops of the body's algorithms: the compiled ones against those in Python."""

from __future__ import annotations

from itertools import product, starmap
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.body import block_features as blockfeatures
from newscrawl.body import block_texts as blocktexts
from newscrawl.body import blocks, comments, coreex, econ, render
from newscrawl.body.blocks import find_blocks
from newscrawl.document.document import Document, parse_document
from newscrawl.fields.kind import longest_run as longestrun
from newscrawl.text import squeeze
from tests.conftest import corpus_pages

if TYPE_CHECKING:
    from pathlib import Path

compiled = pytest.importorskip(
    "newscrawl.body._body", reason="the compiled loops are not built", exc_type=ImportError
)
for name in ("_blocks", "_block_features"):
    pytest.importorskip(
        f"newscrawl.body.{name}", reason="the compiled loops are not built", exc_type=ImportError
    )


def assert_same(document: Document) -> None:
    """Every loop gives the same in both."""
    forms = coreex.FORM_TAGS
    for of_forms, largest in ((frozenset(), 0.0), (forms, 10.0), (forms, document.chars(0))):
        asked = (document, bytearray(document.hidden), of_forms, largest)
        assert compiled.count_terminals(*asked) == coreex.count_in_python(*asked)
    for parameters in (coreex.CoreExParameters.TODAY, *coreex.VARIANTS.values()):
        counts = coreex.count_terminals(document, parameters)
        node = coreex.node_in_python(document, counts, parameters)
        assert coreex.find_main_content_node(document, counts, parameters) == node
    for reading in starmap(econ.EconParameters, product((False, True), repeat=5)):
        text = econ.read_in_python(document, reading)
        assert compiled.read_text(document, reading) == text
        sets = econ.sets_in_python(document, reading, *text)
        assert econ.find_text_node_sets(document, reading, *text) == sets
    for least in (0.0, 40.0):
        assert compiled.find_named_rows(document, least) == comments.named_in_python(
            document, least
        )
    assert blocks.split_text(document) == blocks.split_in_python(document)
    for kept in (document.shown[::2], document.shown[3:], document.shown[:7], document.shown):
        assert blocks.find_roots(document, kept) == blocks.roots_in_python(document, kept)
    assert longestrun.longest_runs(document) == longestrun.runs_in_python(document)
    assert_same_table(document)
    if not any(map(document.rows_of, ("pre", "listing", "plaintext", "xmp"))):
        assert_same_pieces(document)


def assert_same_pieces(document: Document) -> None:
    """The text is written alike, whatever is left out."""
    forests = [[0], [len(document) // 2], document.shown, [*document.children(0)]]
    forests += [sorted((*document.rows_of("a"), *document.rows_of("p")))]
    for forest in forests:
        for skipped in (frozenset[int](), frozenset(range(1, len(document), 7))):
            mine, reference = render.Flow(), render.Flow()
            render.write_forest(mine, document, forest, skipped)
            render.forest_in_python(reference, document, forest, skipped)
            assert mine.pieces == reference.pieces


def assert_same_table(document: Document) -> None:
    """The features of all blocks are the same, whatever the page says of itself."""
    found = find_blocks(document)
    if not len(found):
        return
    forests = (document.rows_of("p")[::2], document.rows_of("div")[-2:], [0])
    votes = blocks.votes_in_python(document.end, forests)
    assert blocks.cast_votes(document.end, forests) == votes
    for first in (0, len(found) // 2, len(found)):
        prose = blockfeatures.prose_in_python(document, found.rows, first)
        assert blockfeatures.find_prose(document, found.rows, first) == prose
    texts = blocktexts.texts_of(document, found.rows)
    texts[::3] = [f"{text}  {text}"[:70].strip() for text in texts[::3]]
    for heading, said in (
        (None, ""),
        (0, "\n".join(map(squeeze, texts[::3]))),
        (len(document) // 2, "x"),
    ):
        asked = (document, found.owner, found.rows, votes, heading, texts, said)
        assert blockfeatures.feature_table(*asked) == blockfeatures.table_in_python(*asked)


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
            "<p>A  description of\u00a0what\nthe page tells, with room for more",
            "<p>" + "word " * 12,
        ]
    ),
)
MARKUP = st.lists(
    st.one_of(TAGS.map("<{}>".format), TAGS.map("</{}>".format), TEXTS), max_size=40
).map("".join)


@given(MARKUP)
def test_pages_of_any_markup(page: str) -> None:
    """Whatever the markup and the script of its text."""
    assert_same(parse_document(f"<html><body>{'<p>' * 99}{page}"))


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites"])
def test_pages_of_the_corpora(corpus_dir: Path, corpus: str) -> None:
    """Every page of the corpora."""
    for page in corpus_pages(corpus_dir / corpus):
        assert_same(parse_document(page))
