"""Sketches of texts."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.neardup import Options, shingles
from newscrawl.neardup.shingles import MAX_TEXT_LENGTH, folded_text, story_words
from newscrawl.neardup.sketch import Sketch, match, sketch
from newscrawl.text import folded

CHARACTERS = st.one_of(
    st.characters(),
    st.characters(max_codepoint=0x2070),
    st.sampled_from("aZ09_ .,'-\n\u00ad\u200b\u200d\ufeff\u00a0…’“ΣσςİıßſK²½ªﬁÅ\u030a\u0301"),
    st.sampled_from("日本語ひガか\u3099한글\u1112\u1161\u11abไทยเ๑ພາສາမြန်मराठी٣४\ud800"),
)


@pytest.mark.parametrize("mark", ["", "’", "ﬁ", "語"])
def test_truncates_long_texts(mark: str) -> None:
    text = "".join(f"{place % 1009}th word{mark} {place:x} " for place in range(70_000))
    assert len(text) > MAX_TEXT_LENGTH
    assert sketch(text, Options()).words == len(story_words(text[:MAX_TEXT_LENGTH]))


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
    pieces: list[int] = []
    fold = shingles._fold

    def fold_and_note(piece: str) -> str:
        pieces.append(len(piece))
        return fold(piece)

    monkeypatch.setattr(shingles, "_fold", fold_and_note)
    assert sketch(text, Options()).hashes.size <= 2
    assert max(pieces) <= 1024
    assert sum(pieces) <= MAX_TEXT_LENGTH


def test_compares_read_only_arrays() -> None:
    made = sketch("Ports reopened on Tuesday after three days of storms", Options())
    stored = np.frombuffer(made.hashes.tobytes(), "<u4")
    numbers = np.frombuffer(made.numbers.tobytes(), "<u2")
    names = np.frombuffer(made.names.tobytes(), "<u2")
    read = Sketch(stored, made.scale, made.words, numbers, names, made.opening)
    assert match(read, made, Options()) == (8 - 1, 1.0, 1.0)
    assert read.without(made.hashes).hashes.size == 0
