"""Hashed shingles of a text: runs of words, or of characters in scripts without spaces.

The hash of a word is a polynomial of its bytes, that of a shingle a polynomial of the hashes of its
words, both mixed by the finalizer of SplitMix64 (Steele, Lea, Flood 2014). Unlike ``hash()``, they
are the same on every machine.
"""

from __future__ import annotations

import re
import unicodedata
from binascii import crc32
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from newscrawl.text import folded, folded_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ODD: Final = 0x9E3779B97F4A7C15
_MASK: Final = 2**64 - 1

MAX_TEXT_LENGTH: Final = 2**20
"""Maximum characters of a text; the rest is ignored."""

# Texts are folded in pieces, as normalization takes quadratic time for long runs of marks.
_PIECE: Final = re.compile(r"(?s:.{1,1023}(?: |\Z)|.{1,1024})")

MAX_DETAIL_WORDS: Final = 200
"""Number of words of a text from which its numbers and names are not compared."""

MAX_DETAIL_LENGTH: Final = 4096
"""Number of characters of a text above which its numbers and names are not compared."""

# Numbers with their separators, and words that may begin with a capital letter.
_DETAIL: Final = re.compile(
    r"\d+(?:[.,:'’/-]\d+)*|\b[^\W\d_a-z\u03ac-\u03ce\u0430-\u045f][^\W\d_]*"
)
_SENTENCE_MARKS: Final = frozenset('.!?…:;\n"„“”«»')
NO_DETAILS: Final[NDArray[np.uint16]] = np.empty(0, np.uint16)
_NUMBER_SEPARATORS: Final = str.maketrans("", "", ".,:'’/-")


def story_words(text: str) -> list[str]:
    """Return the words of *text*, without compatibility characters (ligatures, full width)."""
    return words(text) if text.isascii() else folded_words(folded_text(text))


def folded_text(text: str) -> str:
    """Return the first :data:`MAX_TEXT_LENGTH` characters of *text*, folded for comparison."""
    return "".join(_fold(piece[0]) for piece in _PIECE.finditer(text))[:MAX_TEXT_LENGTH]


def _fold(piece: str) -> str:
    return folded(unicodedata.normalize("NFKC", piece))


def word_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of *words*, which contain no line feeds."""
    if not words:
        return np.empty(0, np.uint64)
    text = np.frombuffer("\n".join([*words, ""]).encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    powers = np.full(lengths.max(), _ODD, np.uint64).cumprod()
    position = np.arange(text.size) - np.repeat(starts, lengths)
    return mix(np.add.reduceat(text * powers[position], starts))


def shingle_hashes(words: Sequence[str], size: int, seed: int = 0) -> NDArray[np.uint32]:
    """Return the 32-bit hashes of the runs of *size* words, in text order.

    A text with fewer words is one shingle.
    """
    if not words:
        return np.empty(0, np.uint32)
    single = word_hashes(words)
    size = min(size, len(words))
    runs = len(words) - size + 1
    total = np.full(runs, (seed + 1) * _ODD & _MASK, np.uint64)
    for offset in range(size):
        total *= np.uint64(_ODD)
        total += single[offset : offset + runs]
    return (mix(total) >> np.uint64(32)).astype(np.uint32)


def detail_hashes(text: str, words: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return the sorted hashes of the numbers and of the names in a text with so many *words*.

    Names are capitalised words, except at the beginning of a sentence; scripts without case have
    none. Both are empty for a long text.
    """
    if words >= MAX_DETAIL_WORDS or len(text) > MAX_DETAIL_LENGTH:
        return NO_DETAILS, NO_DETAILS
    numbers: set[int] = set()
    names: set[int] = set()
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    for found in _DETAIL.finditer(text):
        token, start = found[0], found.start()
        if token[0].isdecimal():
            numbers.add(_detail_hash(token.translate(_NUMBER_SEPARATORS)))
        elif token[0].isupper() and _is_inside_sentence(text, start):
            names.add(_detail_hash(token.lower()))
    return np.array(sorted(numbers), np.uint16), np.array(sorted(names), np.uint16)


def _is_inside_sentence(text: str, start: int) -> bool:
    return start > 0 and _SENTENCE_MARKS.isdisjoint(text[max(0, start - 2) : start])


def _detail_hash(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass")) & 0xFFFF


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted distinct *values*; faster than ``np.unique`` for small arrays."""
    values = np.sort(values)
    return values[np.concatenate(([True], values[1:] != values[:-1]))] if values.size else values


def merged(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Merge two sorted arrays; a stable sort merges sorted runs."""
    return np.sort(np.concatenate((left, right)), kind="stable")


def is_among(values: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which *values* are in *others*, which are sorted and not empty.

    Faster than ``np.isin`` for small arrays.
    """
    position = np.searchsorted(others, values)
    position[position == others.size] = 0
    return np.asarray(others[position] == values)


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each value: the finalizer of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
