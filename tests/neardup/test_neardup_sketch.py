"""Sketches: compiled code against Python."""

from __future__ import annotations

import sys
import unicodedata
from inspect import unwrap
from itertools import product
from typing import SupportsIndex
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.compiled import is_compiled
from newscrawl.neardup import Options, shingles
from newscrawl.neardup import sketch as loops
from newscrawl.neardup.shingles import (
    MAX_TEXT_LENGTH,
    distinct,
    folded_text,
    plain_characters,
    spot_signatures,
    story_words,
)
from newscrawl.neardup.sketch import Sketch, match, match_all, sketch
from newscrawl.text import folded
from tests.conftest import run_python

if not is_compiled(loops.matches):
    pytest.skip("the compiled loops are not built", allow_module_level=True)

OPTIONS = (
    Options(),
    Options(shingle=1, scale=8, full_limit=5, seed=7),
    Options(shingle=5, scale=1),
)


def assert_same(one: Sketch, other: Sketch) -> None:
    """Assert that two sketches, including array types, are equal."""
    assert one.hashes.dtype == other.hashes.dtype == np.uint32
    assert one.numbers.dtype == other.numbers.dtype == np.uint16
    assert one.opening.dtype == other.opening.dtype == np.uint32
    assert one.hashes.tolist() == other.hashes.tolist()
    assert one.numbers.tolist() == other.numbers.tolist()
    assert one.names.dtype == other.names.dtype == np.uint16
    assert one.names.tolist() == other.names.tolist()
    assert one.opening.tolist() == other.opening.tolist()
    assert (one.scale, one.words) == (other.scale, other.words)


def in_python(text: str, options: Options) -> Sketch:
    """Return the sketch of *text*, made without compiled code."""
    with patch.object(loops, "hash_text", unwrap(loops.hash_text)):
        return sketch(text, options)


def assert_same_text(text: str, options: Options = OPTIONS[0]) -> None:
    """Assert that both implementations give the same sketch."""
    assert_same(sketch(text, options), in_python(text, options))


CHARACTERS = st.one_of(
    st.characters(),
    st.characters(max_codepoint=0x2070),
    st.sampled_from("aZ09_ .,'-\n\u00ad\u200b\u200d\ufeff\u00a0…’“ΣσςİıßſK²½ªﬁÅ\u030a\u0301"),
    st.sampled_from("日本語ひガか\u3099한글\u1112\u1161\u11abไทยเ๑ພາສາမြန်मराठी٣४\ud800"),
)
TEXTS = st.lists(st.text(CHARACTERS, max_size=12), max_size=60).map(" ".join)


@given(TEXTS)
def test_sketches_texts_in_any_script(text: str) -> None:
    for options in OPTIONS:
        assert_same_text(text, options)


def test_sketches_every_character() -> None:
    """Alone, in a word, and before and after letters."""
    marks = [chr(code) for code in range(sys.maxunicode + 1)]
    plain = [mark for mark in marks if unicodedata.category(mark) not in {"Cn", "Co"}]
    for chunk in (plain[at : at + 512] for at in range(0, len(plain), 512)):
        assert_same_text("".join(f"{mark} a{mark}b 1{mark} " for mark in chunk))
    for mark in marks[: plain_characters().size]:
        assert_same_text(f"{mark}Été {mark}a{mark} 7{mark}")


@pytest.mark.parametrize("mark", ["", "’", "ﬁ", "語"])
def test_truncates_long_texts(mark: str) -> None:
    text = "".join(f"{place % 1009}th word{mark} {place:x} " for place in range(70_000))
    assert len(text) > MAX_TEXT_LENGTH
    made = sketch(text, Options())
    assert_same(made, in_python(text[:MAX_TEXT_LENGTH], Options()))
    assert made.words == len(story_words(text[:MAX_TEXT_LENGTH]))


@given(st.text(CHARACTERS, max_size=200), st.integers(1000, 1050))
def test_folds_in_pieces_like_as_a_whole(text: str, place: int) -> None:
    whole = "word " * (place // 5) + "x" * (place % 5) + f" {text}"
    assert folded_text(whole) == folded(unicodedata.normalize("NFKC", whole))


@pytest.mark.parametrize(
    "text",
    ["\u0301\u0316" * 2**19, "\ufdfa" * 2**20],
    ids=["a million marks", "long decompositions"],
)
def test_folds_slow_characters_in_bounded_pieces(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shingles.plain_characters()  # folds each of them once
    pieces: list[int] = []
    fold = shingles._fold

    def fold_and_note(piece: str) -> str:
        pieces.append(len(piece))
        return fold(piece)

    monkeypatch.setattr(shingles, "_fold", fold_and_note)
    assert sketch(text, Options()).hashes.size <= 2
    assert max(pieces) <= 1024
    assert sum(pieces) <= MAX_TEXT_LENGTH


HASHES = st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 40) | st.just(2**32 - 1), max_size=60)


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """Draw a sketch whose hashes others are likely to share."""
    scale = draw(st.sampled_from([1, 2, 4]))
    hashes = distinct(np.array(draw(HASHES), np.uint64) // scale).astype(np.uint32)
    numbers = draw(st.lists(st.integers(0, 9), max_size=5))
    words = draw(st.integers(0, 300))
    names = draw(st.lists(st.integers(0, 9), max_size=5))
    details = (distinct(np.array(values, np.uint16)) for values in (numbers, names))
    return Sketch(hashes, scale, words, *details, hashes[: draw(st.integers(0, 20))])


THRESHOLDS = st.builds(
    Options,
    containment=st.sampled_from([0.0, 0.1, 0.4, 0.5, 1.0]),
    jaccard=st.sampled_from([0.0, 0.08, 0.5]),
    min_shared=st.integers(1, 4),
    short_containment=st.sampled_from([0.0, 0.5, 1.0]),
    details=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)


@given(st.lists(sketches(), min_size=1, max_size=6), THRESHOLDS, st.integers(0, 2**20))
def test_compiled_comparisons_equal_those_in_python(
    some: list[Sketch], options: Options, site: int
) -> None:
    for one in some:
        found = match_all(one, some, options)
        assert loops.matches(one, some, options) == unwrap(loops.matches)(one, some, options)
        assert found == [match(one, other, options) for other in some]
        anchored = loops.anchor_hashes(one.hashes, site)
        expected = unwrap(loops.anchor_hashes)(one.hashes, site)
        assert anchored.dtype == expected.dtype
        assert anchored.tolist() == expected.tolist()
    for one, other in product(some, some):
        assert loops.overlap(one, other) == unwrap(loops.overlap)(one, other)
        if one.hashes.size and other.hashes.size:
            left = loops.without(one.hashes, other.hashes)
            assert left.tolist() == unwrap(loops.without)(one.hashes, other.hashes).tolist()


def test_accepts_subclasses_of_str() -> None:

    class Markup(str):
        __slots__ = ()

        def __getitem__(self, key: SupportsIndex | slice) -> Markup:
            return Markup(super().__getitem__(key))

    assert_same_text(Markup("Ports reopened on Tuesday after 3 days"))


def test_spot_signatures() -> None:
    """A stop word and the next two content words."""
    text = "At a rally to kick off the weeklong campaign for the ports he said the end is near"
    assert list(spot_signatures(text.lower().split())) == [
        "a rally kick", "the weeklong campaign", "the ports he", "said end near", "the end near",
    ]  # fmt: skip


def test_compares_read_only_arrays() -> None:
    made = sketch("Ports reopened on Tuesday after three days of storms", Options())
    stored = np.frombuffer(made.hashes.tobytes(), "<u4")
    numbers = np.frombuffer(made.numbers.tobytes(), "<u2")
    names = np.frombuffer(made.names.tobytes(), "<u2")
    read = Sketch(stored, made.scale, made.words, numbers, names, made.opening)
    assert match(read, made, Options()) == (8 - 1, 1.0, 1.0)
    assert read.without(made.hashes).hashes.size == 0


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("", {"NEWSCRAWL_NO_EXTENSIONS": "1"}),
        ("import sys; sys.modules['newscrawl.neardup._sketch'] = None", {}),
    ],
    ids=["turned off", "not built"],
)
def test_falls_back_to_python(before: str, environment: dict[str, str]) -> None:
    code = f"""if True:
        {before}
        from newscrawl.compiled import is_compiled
        from newscrawl.neardup import Options, sketch
        made = sketch.sketch("Ports reopened on Tuesday", Options())
        print(is_compiled(sketch.matches), sketch.match(made, made, Options(min_shared=2)))
        print(sketch.anchors(made).size, made.without(made.hashes).hashes.size)"""
    assert run_python(code, **environment).splitlines() == [
        "False Similarity(shared=2, containment=1.0, jaccard=1.0)", "2 0",
    ]  # fmt: skip
