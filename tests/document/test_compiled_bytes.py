"""What is asked of a page's bytes before they are parsed: compiled against in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.document import encoding, guard
from tests.conftest import corpus_pages

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip(
    "newscrawl.document._bytes", reason="the module is not built", exc_type=ImportError
)


def assert_same(data: bytes) -> None:
    """Every answer is the same in both."""
    assert encoding.utf8_length(data) == encoding.utf8_length_in_python(data)
    assert guard.is_suspicious(data) == guard.suspicious_in_python(data)
    assert guard.is_harmless(data) == guard.harmless_in_python(data)


PIECES = st.sampled_from([
    b"<", b">", b'"', b"'", b"=", b" ", b"\n", b"a", b"/", b"<div ", b"<!--", b"-->", b"--", b"->",
    b"<script>", b"<SCRIPT src=x ", b"<style", b"<styles>", b"</script", b"</Style>", b" x=1",
    b' y="<p>"', b"='>'", b'= "', b"\x0b", b"{", b",", b"word " * 20,
])  # fmt: skip
REPEATED = st.tuples(PIECES, st.sampled_from([1, 2, 64, 513])).map(lambda one: one[0] * one[1])


@given(st.lists(st.one_of(PIECES, REPEATED), max_size=30).map(b"".join))
def test_markup(page: bytes) -> None:
    """Tags of many parts or few, however broken."""
    assert_same(page)


@given(st.lists(REPEATED, max_size=6).map(b"".join), st.sampled_from([1, 9, 70]))
def test_large_pages(page: bytes, times: int) -> None:
    """Pages of many strides."""
    assert_same(page * times)


@pytest.mark.parametrize("parts", [511, 512, 513])
@pytest.mark.parametrize("part", [b"=", b"a=b", b'a="b"', b"a" * 64, b"a='>' "])
def test_number_of_parts(part: bytes, parts: int) -> None:
    """One more than there may be, at the end of the page and before it."""
    for end in (b"", b">", b"><p>"):
        assert_same(b"<a" + part * parts + end)


@given(st.text(max_size=40), st.binary(max_size=4), st.integers(0, 20_000))
def test_text(text: str, stray: bytes, before: int) -> None:
    """UTF-8, cut off in a character, and with stray bytes, which the end of a chunk may divide."""
    data = text.encode(errors="ignore")
    for cut in range(5):
        assert_same(b"x" * before + data[: len(data) - cut])
        assert_same(b"x" * before + data[: len(data) - cut] + stray + b"x")


@pytest.mark.parametrize("lead", range(0x80, 0x100))
def test_characters(lead: int) -> None:
    """Every lead byte with every second byte."""
    for second in range(256):
        for rest in (b"", b"\x80", b"\x80\xbf", b"\x80\xbf\x80", b"x"):
            assert_same(bytes((lead, second)) + rest)


@pytest.mark.corpus
@pytest.mark.parametrize("corpus", ["news212", "fundus", "css-sites"])
def test_pages_of_the_corpora(corpus_dir: Path, corpus: str) -> None:
    """Every page of the corpora."""
    for page in corpus_pages(corpus_dir / corpus):
        assert_same(page)
