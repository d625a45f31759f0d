"""All near-duplicate pairs of a collection, whatever its order.

Every step is a function of plain arrays, so that a cluster of machines can take the same ones.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from newscrawl.neardup.shingles import distinct
from newscrawl.neardup.sketch import Similarity, anchors, framed, match, versions

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from newscrawl.neardup.near_duplicate_options import Options
from newscrawl.neardup.sketch import Sketch

NEIGHBOURS = 32
"""Pages of a site that are compared with a page of the same anchor: the next ones."""


class StoryPage(NamedTuple):
    """A story of the collection."""

    #: seconds since 1970
    at: int
    site: str
    sketch: Sketch


class Pair(NamedTuple):
    """Two near-duplicates, by their places in the collection."""

    one: int
    other: int
    similarity: Similarity


class SiteProfile(NamedTuple):
    """What the pages of a site tell of it."""

    #: of each page: its sketch less what the site repeats
    effective: list[Sketch]
    #: True if what it repeats shows on its pages
    known: bool
    #: pairs of pages, by their places, that are versions of one story
    versions: list[tuple[int, int]]


def in_window(one: int, other: int, options: Options) -> bool:
    """Return True for two instants (seconds) near enough for two stories to be compared."""
    return options.window is None or abs(one - other) <= options.window.total_seconds()


def version_pairs(pages: Sequence[StoryPage], options: Options) -> Iterator[tuple[int, int]]:
    """Yield the pairs of *pages*, all of one site, that are versions of one story."""
    anchored: dict[int, list[int]] = defaultdict(list)
    for place, page in enumerate(pages):
        near: set[int] = set()
        for anchor in anchors(page.sketch).tolist():
            near.update(anchored[anchor][-NEIGHBOURS:])
            anchored[anchor].append(place)
        for other in sorted(near):
            if in_window(page.at, pages[other].at, options) and versions(
                pages[other].sketch, page.sketch, options
            ):
                yield other, place


def lineages(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each of *count* pages the first that it is connected to."""
    first = list(range(count))

    def root(place: int) -> int:
        while first[place] != place:
            first[place] = place = first[first[place]]
        return place

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        first[high] = low
    return [root(place) for place in range(count)]


def boilerplate(
    sketches: Sequence[Sketch], lineage: Sequence[int], options: Options
) -> NDArray[np.uint32]:
    """Return the hashes that a site repeats on pages of different lineages, sorted."""
    if not sketches:
        return np.empty(0, np.uint32)
    sizes = [made.hashes.size for made in sketches]
    hashes = np.concatenate([made.hashes for made in sketches]).astype(np.uint64)
    held = distinct(hashes << np.uint64(32) | np.repeat(np.array(lineage, np.uint64), sizes))
    values, counts = np.unique((held >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return values[counts >= options.site_pages]


def candidates(sketches: Sequence[Sketch], least: int) -> Iterator[tuple[int, list[int]]]:
    """Yield each place with the places before it that share *least* hashes or more."""
    sizes = [made.hashes.size for made in sketches]
    if not sum(sizes):
        return
    hashes = np.concatenate([made.hashes for made in sketches])
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    # Stable: within a run of one hash the pages are in their order.
    holder = np.repeat(np.arange(len(sketches)), sizes)[order]
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    start = np.searchsorted(ordered, ordered)[position]
    for place, (begin, end) in enumerate(pairwise(np.concatenate(([0], np.cumsum(sizes))))):
        runs = [
            holder[low:high]
            for low, high in zip(
                start[begin:end].tolist(), position[begin:end].tolist(), strict=True
            )
            if low < high
        ]
        if runs:
            others, counts = np.unique(np.concatenate(runs), return_counts=True)
            yield place, others[counts >= least].tolist()


def frames(
    sketches: Sequence[Sketch],
    lineage: Sequence[int],
    repeated: NDArray[np.uint32],
    options: Options,
) -> NDArray[np.uint32]:
    """Return the hashes that two pages of a site share that tell two stories.

    *sketches* of the pages are without what the site is known to have *repeated*.
    """
    shared = [np.empty(0, np.uint32)]
    for other, before in candidates(sketches, options.least_shared):
        shared += [
            np.intersect1d(sketches[one].hashes, sketches[other].hashes, assume_unique=True)
            for one in before
            if lineage[one] != lineage[other]
            and framed(sketches[one], sketches[other], repeated, options)
        ]
    return distinct(np.concatenate(shared))


def learn(pages: Sequence[StoryPage], options: Options) -> SiteProfile:
    """Return what the pages of one site tell of it."""
    pairs = list(version_pairs(pages, options))
    lineage = lineages(len(pages), pairs)
    effective = [page.sketch for page in pages]
    if options.site_pages:
        repeated = boilerplate(effective, lineage, options)
        effective = [one.without(repeated) for one in effective]
        shared = frames(effective, lineage, repeated, options)
        effective = [one.without(shared) for one in effective]
    return SiteProfile(
        effective=effective,
        known=len(set(lineage)) >= options.site_pages,
        versions=pairs,
    )


def near_pairs(pages: Sequence[StoryPage], options: Options) -> Iterator[Pair]:
    """Yield all near-duplicates among *pages*: versions, and what else is near."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, page in enumerate(pages):
        places[page.site].append(place)
    effective = list(pages)
    known: set[str] = set()
    found: set[tuple[int, int]] = set()
    for name, own in places.items():
        site = learn([pages[place] for place in own], options)
        found.update((own[one], own[other]) for one, other in site.versions)
        for place, rest in zip(own, site.effective, strict=True):
            effective[place] = pages[place]._replace(sketch=rest)
        if site.known:
            known.add(name)
    others = (
        (one, other)
        for other, before in candidates([page.sketch for page in effective], options.least_shared)
        for one in before
        if (one, other) not in found and comparable(pages[one], pages[other], known, options)
    )
    yield from matching(pages, sorted(found), options)
    yield from matching(effective, others, options)


def matching(
    pages: Sequence[StoryPage], pairs: Iterable[tuple[int, int]], options: Options
) -> Iterator[Pair]:
    """Yield those *pairs* of places that are near-duplicates."""
    within_site = options.within_site
    for one, other in pairs:
        left, right = pages[one], pages[other]
        similarity = match(
            left.sketch, right.sketch, within_site if left.site == right.site else options
        )
        if similarity is not None:
            yield Pair(one, other, similarity)


def comparable(one: StoryPage, other: StoryPage, known: Container[str], options: Options) -> bool:
    """Return True for two pages that are compared without what their sites repeat.

    Two of one site are not, while what it repeats does not show yet.
    """
    return in_window(one.at, other.at, options) and (one.site != other.site or one.site in known)
