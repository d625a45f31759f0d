"""The compiled attribute check against the Python function."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.compiled import is_compiled
from newscrawl.document.guard import count_byte, is_harmless
from tests.conftest import corpus_pages

if TYPE_CHECKING:
    from pathlib import Path

if not is_compiled(is_harmless):
    pytest.skip("the compiled function is not built", allow_module_level=True)


def assert_same(data: bytes) -> None:
    """Assert that the compiled and the Python function agree on *data*."""
    assert is_harmless(data) == inspect.unwrap(is_harmless)(data)


PIECES = st.sampled_from([
    b"<", b">", b'"', b"'", b"=", b" ", b"\n", b"a", b"/", b"<div ", b"<!--", b"-->", b"--", b"->",
    b"<script>", b"<SCRIPT src=x ", b"<style", b"<styles>", b"</script", b"</Style>", b" x=1",
    b' y="<p>"', b"='>'", b'= "', b"\x0b", b"{", b",", b"word " * 20,
])  # fmt: skip
REPEATED = st.builds(bytes.__mul__, PIECES, st.sampled_from([1, 2, 64, 513]))


@given(st.lists(st.one_of(PIECES, REPEATED), max_size=30).map(b"".join))
def test_agree_on_broken_markup(page: bytes) -> None:
    assert_same(page)


@pytest.mark.parametrize("parts", [511, 512, 513])
@pytest.mark.parametrize("part", [b"=", b"a=b", b'a="b"', b"a" * 64, b"a='>' "])
def test_agree_at_the_limit_of_parts(part: bytes, parts: int) -> None:
    for end in (b"", b">", b"><p>"):
        assert_same(b"<a" + part * parts + end)


@pytest.mark.corpus
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites"])
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str) -> None:
    for page in corpus_pages(corpus_dir / corpus):
        assert_same(page)


@given(st.binary(), st.binary(min_size=1, max_size=1))
def test_counts_bytes(data: bytes, byte: bytes) -> None:
    assert count_byte(data, byte) == data.count(byte)
