"""Sketches: what is kept of a text, and how two of them compare.

FracMinHash (Irber et al. 2022; Broder 1997, "mod m" sketches) keeps the hashes below a fraction of
their range: unlike MinHash it estimates containment, and a trimmed copy is found in the whole one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from newscrawl.compiled import compiled_module
from newscrawl.neardup.shingles import (
    LONGEST,
    among,
    distinct,
    folded_text,
    mix,
    plain_characters,
    seed_hash,
    shingle_hashes,
    story_words,
    word_hashes,
)
from newscrawl.neardup.spotsigs import spots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from newscrawl.neardup.near_duplicate_options import Options

NOTHING: Final[NDArray[np.uint32]] = np.empty(0, np.uint32)
"""No hashes."""

NUMBERS: Final = 48
"""Numbers that are kept of a text."""

OPENING: Final = 128
"""Shingles that a text begins with: an update that rewrites half of them is a version still."""

ANCHORS: Final = 8
"""Anchors of a sketch: one of them at least is shared by 99.6 % of pairs with a Jaccard of 0.5."""


class Similarity(NamedTuple):
    """How much two sketches have in common."""

    #: hashes in both
    shared: int
    #: ``shared`` to the hashes of the smaller one
    containment: float
    #: ``shared`` to the hashes of either
    jaccard: float


Found = tuple[int, float, float]
"""A :class:`Similarity`, as the loops give it."""


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """The hashes that are kept of a text."""

    #: sorted, distinct, all below 2**32 / ``scale``
    hashes: NDArray[np.uint32]
    #: one hash in so many was kept
    scale: int
    #: words of the text
    words: int
    #: hashes of its numbers, sorted, distinct
    numbers: NDArray[np.uint16]
    #: those of ``hashes`` that it begins with and that a sketch of any scale keeps
    opening: NDArray[np.uint32]

    def without(self, hashes: NDArray[np.uint32]) -> Sketch:
        """Return the sketch less some sorted *hashes*."""
        if not hashes.size or not self.hashes.size:
            return self
        left = _without(self.hashes, hashes)
        return Sketch(left, self.scale, self.words, self.numbers, self.opening)


def sketch(text: str, options: Options) -> Sketch:
    """Return the sketch of *text*: all hashes of a short one, a fraction of a long one's."""
    text = str(text[:LONGEST])  # no subclass, as templates have
    if _compiled is None or options.sketch == "spotsigs":
        return sketch_in_python(text, options)
    hashes, scale, words, numbers, opening = _compiled.hash_text(
        text,
        plain_characters(),
        folded_text,
        shingle=options.shingle,
        scale=options.scale,
        short=options.short,
        start=seed_hash(options.seed),
    )
    return Sketch(hashes, scale, words, numbers, opening)


def sketch_in_python(text: str, options: Options) -> Sketch:
    """Return the sketch of all of *text*."""
    words = story_words(text)
    if options.sketch == "spotsigs":
        hashes = shingle_hashes(list(spots(words)), 1, options.seed)
        opening = shingle_hashes(list(spots(words[:OPENING])), 1, options.seed)
    else:
        hashes = shingle_hashes(words, options.shingle, options.seed)
        opening = hashes[:OPENING]
    scale = 1
    while scale < options.scale and hashes.size > options.short * scale:
        scale *= 2
    if scale > 1:
        hashes = hashes[hashes < 2**32 // scale]
    opening = distinct(opening[opening < 2**32 // options.scale])
    return Sketch(distinct(hashes), scale, len(words), number_hashes(words), opening)


def number_hashes(words: Iterable[str]) -> NDArray[np.uint16]:
    """Return hashes of the numbers among *words*, of the :data:`NUMBERS` first; sorted, distinct."""
    numbers = dict.fromkeys(word for word in words if word[0].isdecimal())
    return distinct(word_hashes(list(islice(numbers, NUMBERS))).astype(np.uint16))


def _below(hashes: NDArray[np.uint32], scale: int) -> NDArray[np.uint32]:
    """Return those of sorted *hashes* that a sketch of this scale keeps."""
    return hashes if scale == 1 else hashes[: np.searchsorted(hashes, 2**32 // scale)]


def compare(one: Sketch, other: Sketch) -> Similarity:
    """Return how much two sketches have in common, at the coarser one's scale."""
    return Similarity(*_overlap(one, other))


def overlap_in_python(one: Sketch, other: Sketch) -> Found:
    """Return hashes shared, containment and Jaccard of two sketches."""
    scale = max(one.scale, other.scale)
    left, right = _below(one.hashes, scale), _below(other.hashes, scale)
    smaller = min(left.size, right.size)
    if not smaller:
        return 0, 0.0, 0.0
    if left.size > right.size:
        left, right = right, left
    shared = int(among(left, right).sum())
    return shared, shared / smaller, shared / (left.size + right.size - shared)


def numbers_agree(one: Sketch, other: Sketch, options: Options) -> bool:
    """Return False for texts of one template about different things: their numbers differ."""
    fewer = min(one.numbers.size, other.numbers.size)
    if min(one.words, other.words) >= options.number_words or fewer < 2:
        return True
    shared = among(one.numbers, other.numbers).sum()
    return bool(shared >= options.numbers * fewer)


def match(one: Sketch, other: Sketch, options: Options) -> Similarity | None:
    """Return the similarity of near-duplicates, None for other pairs."""
    return match_all(one, (other,), options)[0]


def match_all(one: Sketch, others: Iterable[Sketch], options: Options) -> list[Similarity | None]:
    """Return for each of *others* what :func:`match` does; many take a fraction of its time."""
    return [found and Similarity(*found) for found in _matches(one, others, options)]


def matches_in_python(
    one: Sketch, others: Iterable[Sketch], options: Options
) -> list[Found | None]:
    """Return for each of *others* its similarity, None if it is no near-duplicate."""
    return [_match(one, other, options) for other in others]


def _match(one: Sketch, other: Sketch, options: Options) -> Found | None:
    shared, containment, jaccard = found = overlap_in_python(one, other)
    near = (
        shared >= options.least_shared
        and containment >= options.containment
        and jaccard >= options.jaccard
        and numbers_agree(one, other, options)
    )
    return found if near else None


def versions(one: Sketch, other: Sketch, options: Options) -> bool:
    """Return True for two pages of one site that are versions of one story.

    One of them has little that the other has not: pages that share a frame have each its own text,
    and where that is short, each its own beginning.
    """
    found = compare(one, other)
    return (
        found.containment >= options.version_containment
        and found.jaccard >= options.version_jaccard
        and numbers_agree(one, other, options)
        and begin_alike(one, other)
    )


def framed(one: Sketch, other: Sketch, repeated: NDArray[np.uint32], options: Options) -> bool:
    """Return True for two pages of one site that tell two stories and share a part of the page.

    Neither begins as the other one, or has its beginning further down, as an update has that of
    the story, and a story that of its trimmed copy. Both sketches are without what the site is
    known to have *repeated*.
    """
    found = compare(one, other)
    return (
        found.shared >= options.least_shared
        and found.containment >= options.site_shared
        and not begin_alike(one, other, repeated)
    )


def begin_alike(one: Sketch, other: Sketch, repeated: NDArray[np.uint32] = NOTHING) -> bool:
    """Return True if half of what one of two texts begins with, but *repeated*, is in the other."""
    return _has_opening(one, other, repeated) or _has_opening(other, one, repeated)


def _has_opening(one: Sketch, other: Sketch, repeated: NDArray[np.uint32]) -> bool:
    opening = other.opening
    if opening.size and repeated.size:
        opening = _without(opening, repeated)
    return bool(2 * among(opening, one.hashes).sum() >= opening.size)


def anchors(made: Sketch, site: int = 0) -> NDArray[np.uint32]:
    """Return what the versions of a story on one site share: least hashes, salted with the site.

    One-permutation hashing (Li, Owen, Zhang 2012): the least hash of each of :data:`ANCHORS`
    classes is the same in two sketches with a probability of their Jaccard. Boilerplate counts as
    all else does, so that two versions are found where everything they share is boilerplate.
    """
    return _anchors(made.hashes, site)


def anchors_in_python(hashes: NDArray[np.uint32], site: int) -> NDArray[np.uint32]:
    """Return the least of sorted *hashes* in each class, salted."""
    # The first of a class is its least, and found among the first of all.
    least: dict[int, int] = {}
    for value in hashes[: 8 * ANCHORS].tolist():
        least.setdefault(value % ANCHORS, value)
    salted = [value | kind << 32 | site << 40 for kind, value in sorted(least.items())]
    return (mix(np.array(salted, np.uint64)) >> np.uint64(32)).astype(np.uint32)


def without_in_python(hashes: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return those of *hashes* that are not among *others*, both sorted and not empty."""
    return hashes[~among(hashes, others)]


_compiled = compiled_module("newscrawl.neardup._sketch")
COMPILED = _compiled is not None
_overlap: Callable[[Sketch, Sketch], Found] = _compiled.overlap if _compiled else overlap_in_python
_matches: Callable[[Sketch, Iterable[Sketch], Options], list[Found | None]] = (
    _compiled.matches if _compiled else matches_in_python
)
_anchors: Callable[[NDArray[np.uint32], int], NDArray[np.uint32]] = (
    _compiled.anchors if _compiled else anchors_in_python
)
_without: Callable[[NDArray[np.uint32], NDArray[np.uint32]], NDArray[np.uint32]] = (
    _compiled.without if _compiled else without_in_python
)
