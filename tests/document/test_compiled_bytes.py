"""Compiled functions on the bytes of a page against the Python functions."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.compiled import is_compiled
from newscrawl.document import encoding, guard
from tests.conftest import pages_of

if TYPE_CHECKING:
    from pathlib import Path

FUNCTIONS = (encoding.utf8_length, guard.is_suspicious, guard.is_harmless)
if not all(map(is_compiled, FUNCTIONS)):
    pytest.skip("compiled functions are not built", allow_module_level=True)


def assert_same(data: bytes) -> None:
    """Assert that the compiled and the Python functions agree on *data*."""
    for function in FUNCTIONS:
        assert function(data) == inspect.unwrap(function)(data)


PIECES = st.sampled_from([
    b"<", b">", b'"', b"'", b"=", b" ", b"\n", b"a", b"/", b"<div ", b"<!--", b"-->", b"--", b"->",
    b"<script>", b"<SCRIPT src=x ", b"<style", b"<styles>", b"</script", b"</Style>", b" x=1",
    b' y="<p>"', b"='>'", b'= "', b"\x0b", b"{", b",", b"word " * 20,
])  # fmt: skip
REPEATED = st.tuples(PIECES, st.sampled_from([1, 2, 64, 513])).map(lambda one: one[0] * one[1])


@given(st.lists(st.one_of(PIECES, REPEATED), max_size=30).map(b"".join))
def test_agree_on_broken_markup(page: bytes) -> None:
    assert_same(page)


@given(st.lists(REPEATED, max_size=6).map(b"".join), st.sampled_from([1, 9, 70]))
def test_agree_on_pages_of_many_strides(page: bytes, times: int) -> None:
    assert_same(page * times)


@pytest.mark.parametrize("parts", [511, 512, 513])
@pytest.mark.parametrize("part", [b"=", b"a=b", b'a="b"', b"a" * 64, b"a='>' "])
def test_agree_at_the_limit_of_parts(part: bytes, parts: int) -> None:
    for end in (b"", b">", b"><p>"):
        assert_same(b"<a" + part * parts + end)


@given(st.text(max_size=40), st.binary(max_size=4), st.integers(0, 20_000))
def test_agree_on_truncated_and_invalid_utf8(text: str, stray: bytes, before: int) -> None:
    data = text.encode(errors="ignore")
    for cut in range(5):
        assert_same(b"x" * before + data[: len(data) - cut])
        assert_same(b"x" * before + data[: len(data) - cut] + stray + b"x")


@pytest.mark.parametrize("lead", range(0x80, 0x100))
def test_agree_on_all_pairs_of_bytes(lead: int) -> None:
    for second in range(256):
        for rest in (b"", b"\x80", b"\x80\xbf", b"\x80\xbf\x80", b"x"):
            assert_same(bytes((lead, second)) + rest)


@pytest.mark.corpus
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites"])
def test_agree_on_the_corpora(corpus_dir: Path, corpus: str) -> None:
    for page in pages_of(corpus_dir / corpus):
        assert_same(page)
