"""Sketches: sets of sampled shingle hashes of a text, and their comparison.

FracMinHash (Irber et al. 2022; Broder 1997, "mod m" sketches) keeps the hashes below a fraction of
their range. Unlike MinHash it estimates containment, so that a trimmed copy matches the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from newscrawl.neardup.shingles import (
    MAX_DETAIL_WORDS,
    MAX_TEXT_LENGTH,
    detail_hashes,
    distinct,
    is_among,
    mix,
    shingle_hashes,
    story_words,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from newscrawl.near_duplicate_options import Options

NO_HASHES: Final[NDArray[np.uint32]] = np.empty(0, np.uint32)

OPENING_LENGTH: Final = 128
"""Number of shingles in the opening of a text."""

_MIN_SHARED_OPENING: Final = 0.5
_MIN_PREPENDED_OPENING: Final = 0.8

MAX_PART_JACCARD: Final = 0.7
"""Jaccard of a digest and one of its stories from which it is a copy of the digest."""

_MAX_COMMON_PART: Final = 0.1  # of the smaller of two parts
_MIN_WHOLE_PART: Final = 0.8  # of the hashes of a text
_MIN_PART_RATIO: Final = 0.6

ANCHORS: Final = 8
"""Number of anchors of a sketch; 99.6 % of pairs with a Jaccard of 0.5 share at least one."""


SKETCH_COLUMNS: Final = ("scale", "words", "numbers", "names", "hashes", "opening")
"""Names of the columns of a stored sketch."""


class Similarity(NamedTuple):
    """Similarity of two sketches."""

    #: number of hashes in both
    shared: int
    #: ``shared`` relative to the hashes of the smaller sketch
    containment: float
    #: ``shared`` relative to the hashes of either sketch
    jaccard: float


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """Sampled hashes of a text."""

    #: sorted, distinct, all below 2**32 / ``scale``
    hashes: NDArray[np.uint32]
    #: one in ``scale`` hashes was kept
    scale: int
    #: number of words of the text
    words: int
    #: hashes of the numbers in a short text, sorted, distinct
    numbers: NDArray[np.uint16]
    #: hashes of the capitalised words in the sentences of a short text, sorted, distinct
    names: NDArray[np.uint16]
    #: hashes at the beginning of the text that a sketch of any scale keeps
    opening: NDArray[np.uint32]

    def without(self, hashes: NDArray[np.uint32]) -> Sketch:
        """Return the sketch without the sorted *hashes*."""
        if not hashes.size or not self.hashes.size:
            return self
        kept = self.hashes[~is_among(self.hashes, hashes)]
        return Sketch(kept, self.scale, self.words, self.numbers, self.names, self.opening)

    def to_columns(self) -> tuple[int, int, bytes, bytes, bytes, bytes]:
        """Return the columns :data:`SKETCH_COLUMNS`, arrays as little-endian bytes."""
        return (
            self.scale,
            self.words,
            self.numbers.astype("<u2").tobytes(),
            self.names.astype("<u2").tobytes(),
            self.hashes.astype("<u4").tobytes(),
            self.opening.astype("<u4").tobytes(),
        )

    @classmethod
    def from_columns(cls, scale: int, words: int, *arrays: bytes) -> Sketch:
        """Return the sketch with these columns, with read-only arrays."""
        numbers, names, hashes, opening = arrays
        return cls(
            np.frombuffer(hashes, "<u4"),
            scale,
            words,
            np.frombuffer(numbers, "<u2"),
            np.frombuffer(names, "<u2"),
            np.frombuffer(opening, "<u4"),
        )


def sketch(text: str, options: Options) -> Sketch:
    """Return the sketch of *text*: all hashes if it is short, else a fraction of them."""
    text = text[:MAX_TEXT_LENGTH]
    words = story_words(text)
    hashes = shingle_hashes(words, options.shingle, options.seed)
    opening = hashes[:OPENING_LENGTH]
    opening = distinct(opening[opening < 2**32 // options.scale])
    scale = 1
    while scale < options.scale and hashes.size > options.full_limit * scale:
        scale *= 2
    if scale > 1:
        hashes = hashes[hashes < 2**32 // scale]
    details = detail_hashes(text, len(words))
    return Sketch(distinct(hashes), scale, len(words), *details, opening)


def compare(left: Sketch, right: Sketch) -> Similarity:
    """Return the similarity of two sketches, at the coarser of their scales."""
    scale = max(left.scale, right.scale)
    smaller, larger = _at_scale(left.hashes, scale), _at_scale(right.hashes, scale)
    if smaller.size > larger.size:
        smaller, larger = larger, smaller
    if not smaller.size:
        return Similarity(0, 0.0, 0.0)
    shared = int(is_among(smaller, larger).sum())
    union = smaller.size + larger.size - shared
    return Similarity(shared, shared / smaller.size, shared / union)


def _at_scale(hashes: NDArray[np.uint32], scale: int) -> NDArray[np.uint32]:
    """Return the sorted *hashes* that a sketch of this scale keeps."""
    return hashes if scale == 1 else hashes[: np.searchsorted(hashes, 2**32 // scale)]


def match(left: Sketch, right: Sketch, options: Options) -> Similarity | None:
    """Return the similarity of two near-duplicates, or None for other pairs."""
    found = compare(left, right)
    is_match = (
        found.shared >= options.min_shared
        and found.containment >= _min_containment(left, right, options)
        and found.jaccard >= options.jaccard
        and details_agree(left, right, options)
    )
    return found if is_match else None


def _min_containment(left: Sketch, right: Sketch, options: Options) -> float:
    if min(left.words, right.words) >= options.short_words:
        return options.containment
    return max(options.containment, options.short_containment)


def details_agree(left: Sketch, right: Sketch, options: Options) -> bool:
    """Return False for short texts with different numbers and names, made from one template.

    A number or name is replaced if each text has one that the other has not; one may be.
    """
    numbers = min(left.numbers.size, right.numbers.size)
    names = min(left.names.size, right.names.size)
    replaced = numbers - _count_shared(left.numbers, right.numbers)
    if replaced > max(1, (1 - options.details) * numbers):
        return False
    replaced += names - _count_shared(left.names, right.names)
    return bool(replaced <= max(1, (1 - options.details) * (numbers + names)))


def _count_shared(left: NDArray[np.uint16], right: NDArray[np.uint16]) -> int:
    return int(is_among(left, right).sum()) if right.size else 0


def are_versions(left: Sketch, right: Sketch, options: Options) -> bool:
    """Return whether two pages of a site are versions of one story.

    One of them is nearly contained in the other, and the openings match; or one has new text before
    the opening of the other, as in a live blog. Pages that only share a frame differ in their text,
    and their openings are both old or both new.
    """
    found = compare(left, right)
    return (
        found.containment >= options.prepended_containment
        and found.jaccard >= options.version_jaccard
        and details_agree(left, right, options)
        and (
            openings_match(left, right)
            if found.containment >= _min_version_containment(left, right, options)
            else _is_prepended(left, right) or _is_prepended(right, left)
        )
    )


def _min_version_containment(left: Sketch, right: Sketch, options: Options) -> float:
    # Short texts with the same numbers and names are versions even if more is edited.
    is_short = max(left.words, right.words) < MAX_DETAIL_WORDS
    return options.site_containment if is_short else options.version_containment


def _is_prepended(new: Sketch, old: Sketch) -> bool:
    """Return whether *new* has another opening, and that of *old* further down."""
    return (
        _shared_opening(new, old, NO_HASHES) >= _MIN_PREPENDED_OPENING
        and _shared_opening(old, new, NO_HASHES) < _MIN_SHARED_OPENING
    )


def are_parts(whole: Sketch, first: Sketch, second: Sketch) -> bool:
    """Return whether two texts share different parts of *whole* with it, as those in a digest do.

    The openings of both are in *whole*, and little of what they share with it is the same: edited
    copies of one story share parts that overlap. Both are in it as a whole, or their parts are
    similarly large: an update of one can quote the other.
    """
    if any(_shared_opening(whole, it, NO_HASHES) < _MIN_SHARED_OPENING for it in (first, second)):
        return False
    scale = max(whole.scale, first.scale, second.scale)
    of_whole, *texts = (_at_scale(it.hashes, scale) for it in (whole, first, second))
    parts = [of_whole[is_among(of_whole, text)] if text.size else text for text in texts]
    smaller, larger = sorted(part.size for part in parts)
    if not smaller or is_among(*parts).sum() > _MAX_COMMON_PART * smaller:
        return False
    are_whole = all(
        part.size >= _MIN_WHOLE_PART * text.size for part, text in zip(parts, texts, strict=True)
    )
    return are_whole or smaller >= _MIN_PART_RATIO * larger


def share_frame(
    left: Sketch, right: Sketch, boilerplate: NDArray[np.uint32], options: Options
) -> bool:
    """Return whether two pages of a site have different stories but share a part of the page.

    The opening of neither is in the other, as it is in an update or a trimmed copy. Both sketches
    are without the known *boilerplate* of the site.
    """
    found = compare(left, right)
    return (
        found.shared >= options.min_shared
        and found.containment >= options.site_shared
        and not openings_match(left, right, boilerplate)
    )


def openings_match(
    left: Sketch, right: Sketch, boilerplate: NDArray[np.uint32] = NO_HASHES
) -> bool:
    """Return whether half of one text's opening, without *boilerplate*, is in the other text."""
    return (
        _shared_opening(left, right, boilerplate) >= _MIN_SHARED_OPENING
        or _shared_opening(right, left, boilerplate) >= _MIN_SHARED_OPENING
    )


def _shared_opening(text: Sketch, other: Sketch, boilerplate: NDArray[np.uint32]) -> float:
    """Return the share of the opening of *other*, without *boilerplate*, that is in *text*."""
    opening = other.opening
    if opening.size and boilerplate.size:
        opening = opening[~is_among(opening, boilerplate)]
    return float(is_among(opening, text.hashes).mean()) if opening.size else 1.0


def anchors(made: Sketch, site: int = 0) -> NDArray[np.uint32]:
    """Return the anchors of a page: its smallest hashes by class, salted with the site.

    One-permutation hashing (Li, Owen, Zhang 2012): two sketches share the smallest hash of one of
    :data:`ANCHORS` classes with a probability of their Jaccard. Boilerplate is included, so that
    versions of a story match even if all they share is boilerplate.
    """
    smallest: dict[int, int] = {}
    # Of sorted hashes, the first of a class is its smallest, and is among the first of all.
    for value in made.hashes[: 8 * ANCHORS].tolist():
        smallest.setdefault(value % ANCHORS, value)
    salted = [value | kind << 32 | site << 40 for kind, value in sorted(smallest.items())]
    return (mix(np.array(salted, np.uint64)) >> np.uint64(32)).astype(np.uint32)
