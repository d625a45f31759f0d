"""Shingles of a text, hashed: runs of words, or of characters in scripts without spaces.

A word's hash is a polynomial of its bytes, a shingle's one of the hashes of its words, both mixed by
the finalizer of SplitMix64 (Steele, Lea, Flood 2014): the same on every machine, unlike ``hash()``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from newscrawl.text import folded, folded_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ODD: Final = 0x9E3779B97F4A7C15
_MASK: Final = 2**64 - 1


LONGEST: Final = 2**20
"""Characters of a text that count, the first."""

# Texts are folded in pieces, each up to a space, so that no call keeps other threads waiting: of
# marks, the time grows with the square of their number.
_PIECE: Final = re.compile(r"(?s:.{1,1023}(?: |\Z)|.{1,1024})")

SEPARATOR, INVISIBLE, OTHER = range(3)
"""What :func:`plain_characters` says of a character that is not part of a word."""

_PLAIN: Final = 0x2070
"""Characters below are worth a table: alphabets and punctuation."""


def story_words(text: str) -> list[str]:
    """Return the words of *text*, compatibility forms (ligatures, full width) made plain."""
    return words(text) if text.isascii() else folded_words(folded_text(text))


def folded_text(text: str) -> str:
    """Return *text*, its first :data:`LONGEST` characters, as :func:`story_words` compares it."""
    return "".join(_fold(found[0]) for found in _PIECE.finditer(text))[:LONGEST]


def _fold(piece: str) -> str:
    return folded(unicodedata.normalize("NFKC", piece))


@cache
def plain_characters() -> NDArray[np.uint16]:
    """Return what the first characters of Unicode become in :func:`story_words`.

    That is a character of a word or one of :data:`SEPARATOR`, :data:`INVISIBLE`; :data:`OTHER`
    where it depends on the neighbours, or is more than one character.
    """
    return np.array([_plain(chr(code)) for code in range(_PLAIN)], np.uint16)


def _plain(character: str) -> int:
    text = _fold(character)
    # Marks join the letter before them, and so do Jamo; sigma has another form at a word's end.
    if unicodedata.category(character)[0] == "M" or "\u1100" <= character < "\u1200" or text == "σ":
        return OTHER
    if not words(text):
        return SEPARATOR if text else INVISIBLE
    # Of scripts without spaces, two characters are two words.
    return ord(text) if len(text) == 1 and len(words(text * 2)) == 1 else OTHER


def word_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of words, none of which has a line feed, in their order."""
    if not words:
        return np.empty(0, np.uint64)
    text = np.frombuffer("\n".join([*words, ""]).encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    powers = np.full(lengths.max(), _ODD, np.uint64).cumprod()
    place = np.arange(text.size) - np.repeat(starts, lengths)
    return mix(np.add.reduceat(text * powers[place], starts))


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return *values* sorted, each once; a third of the time of ``np.unique`` for some hundreds."""
    values = np.sort(values)
    return values[np.concatenate(([True], values[1:] != values[:-1]))] if values.size else values


def merged(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return what two sorted arrays hold, sorted: a stable sort merges sorted runs."""
    return np.sort(np.concatenate((one, other)), kind="stable")


def among(values: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of *values* are among *others*, sorted and not empty.

    A third of the time of ``np.isin`` for some hundreds.
    """
    place = np.searchsorted(others, values)
    place[place == others.size] = 0
    return np.asarray(others[place] == values)


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return *values* with every bit depending on all bits: the finalizer of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def seed_hash(seed: int) -> int:
    """Return what the hash of each shingle begins with."""
    return (seed + 1) * _ODD & _MASK


def shingle_hashes(words: Sequence[str], size: int, seed: int = 0) -> NDArray[np.uint32]:
    """Return the 32-bit hashes of the runs of *size* words, in their order.

    A text of fewer words is one shingle; one of none has none.
    """
    if not words:
        return np.empty(0, np.uint32)
    single = word_hashes(words)
    size = min(size, len(words))
    runs = len(words) - size + 1
    total = np.full(runs, seed_hash(seed), np.uint64)
    for place in range(size):
        total *= np.uint64(_ODD)
        total += single[place : place + runs]
    return (mix(total) >> np.uint64(32)).astype(np.uint32)
