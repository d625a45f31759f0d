"""All near-duplicate pairs of a collection, independent of its order.

Every step is a function of plain arrays, so that the Spark job can use it, too.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from newscrawl.neardup.shingles import distinct
from newscrawl.neardup.sketch import (
    Similarity,
    Sketch,
    anchors,
    are_versions,
    compare,
    match,
    share_frame,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from newscrawl.near_duplicate_options import Options

MAX_PAGES_PER_ANCHOR = 32
"""Maximum number of preceding pages with the same anchor that a page is compared with."""


class StoryPage(NamedTuple):
    """A story of the collection."""

    #: Unix time
    at: int
    site: str
    sketch: Sketch


class Pair(NamedTuple):
    """Two near-duplicates, by their positions in the collection."""

    first: int
    second: int
    similarity: Similarity
    #: whether they are versions of one story on a site
    is_version: bool = False


class SiteProfile(NamedTuple):
    """Boilerplate and versions among the pages of a site."""

    #: sketches of the pages without boilerplate
    sketches: list[Sketch]
    #: whether there are enough pages to know the boilerplate
    is_learned: bool
    #: pairs of positions of pages that are versions of one story
    versions: list[tuple[int, int]]


def in_window(first: int, second: int, options: Options) -> bool:
    """Return whether stories of these two times (seconds) are compared."""
    return options.window is None or abs(first - second) <= options.window.total_seconds()


def version_pairs(pages: Sequence[StoryPage], options: Options) -> Iterator[tuple[int, int]]:
    """Yield the pairs of *pages*, all of one site, that are versions of one story."""
    by_anchor: dict[int, list[int]] = defaultdict(list)
    for position, page in enumerate(pages):
        others: set[int] = set()
        for anchor in anchors(page.sketch).tolist():
            others.update(by_anchor[anchor][-MAX_PAGES_PER_ANCHOR:])
            by_anchor[anchor].append(position)
        for other in sorted(others):
            if in_window(page.at, pages[other].at, options) and are_versions(
                pages[other].sketch, page.sketch, options
            ):
                yield other, position


def lineages(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each of *count* pages the first page that *pairs* connect it to."""
    first = list(range(count))

    def root(position: int) -> int:
        while first[position] != position:
            first[position] = position = first[first[position]]
        return position

    for pair in pairs:
        low, high = sorted(map(root, pair))
        first[high] = low
    return [root(position) for position in range(count)]


def boilerplate(
    sketches: Sequence[Sketch], lineage: Sequence[int], options: Options
) -> NDArray[np.uint32]:
    """Return the sorted hashes that a site repeats on pages of different lineages."""
    if not sketches:
        return np.empty(0, np.uint32)
    sizes = [sketch.hashes.size for sketch in sketches]
    hashes = np.concatenate([sketch.hashes for sketch in sketches]).astype(np.uint64)
    entries = distinct(hashes << np.uint64(32) | np.repeat(np.array(lineage, np.uint64), sizes))
    values, counts = np.unique((entries >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return values[counts >= options.site_pages]


def candidates(sketches: Sequence[Sketch], min_shared: int) -> Iterator[tuple[int, list[int]]]:
    """Yield each position with the earlier positions that share at least *min_shared* hashes."""
    sizes = [sketch.hashes.size for sketch in sketches]
    if not sum(sizes):
        return
    hashes = np.concatenate([sketch.hashes for sketch in sketches])
    # Stable: within a run of equal hashes the pages stay in order.
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    holder = np.repeat(np.arange(len(sketches)), sizes)[order]
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    start = np.searchsorted(ordered, ordered)[rank]
    for position, (begin, end) in enumerate(pairwise(np.concatenate(([0], np.cumsum(sizes))))):
        runs = [
            holder[low:high]
            for low, high in zip(start[begin:end].tolist(), rank[begin:end].tolist(), strict=True)
            if low < high
        ]
        if runs:
            others, counts = np.unique(np.concatenate(runs), return_counts=True)
            yield position, others[counts >= min_shared].tolist()


def frame_hashes(
    sketches: Sequence[Sketch],
    lineage: Sequence[int],
    known: NDArray[np.uint32],
    options: Options,
) -> NDArray[np.uint32]:
    """Return the hashes that pages of a site with different stories share.

    *sketches* are without *known*, the boilerplate found before.
    """
    shared = [np.empty(0, np.uint32)]
    for second, before in candidates(sketches, options.min_shared):
        shared += [
            np.intersect1d(sketches[first].hashes, sketches[second].hashes, assume_unique=True)
            for first in before
            if lineage[first] != lineage[second]
            and share_frame(sketches[first], sketches[second], known, options)
        ]
    return distinct(np.concatenate(shared))


def learn(pages: Sequence[StoryPage], options: Options) -> SiteProfile:
    """Return the profile of a site with these *pages*."""
    pairs = list(version_pairs(pages, options))
    lineage = lineages(len(pages), pairs)
    sketches = [page.sketch for page in pages]
    if options.site_pages:
        repeated = boilerplate(sketches, lineage, options)
        sketches = [sketch.without(repeated) for sketch in sketches]
        shared = frame_hashes(sketches, lineage, repeated, options)
        sketches = [sketch.without(shared) for sketch in sketches]
    return SiteProfile(
        sketches=sketches,
        is_learned=len(set(lineage)) >= options.site_pages,
        versions=pairs,
    )


def near_pairs(pages: Sequence[StoryPage], options: Options) -> Iterator[Pair]:
    """Yield all near-duplicates among *pages*."""
    by_site: dict[str, list[int]] = defaultdict(list)
    for position, page in enumerate(pages):
        by_site[page.site].append(position)
    without_boilerplate = list(pages)
    learned_sites: set[str] = set()
    versions: set[tuple[int, int]] = set()
    for name, own in by_site.items():
        site = learn([pages[position] for position in own], options)
        versions.update((own[first], own[second]) for first, second in site.versions)
        for position, sketch in zip(own, site.sketches, strict=True):
            without_boilerplate[position] = pages[position]._replace(sketch=sketch)
        if site.is_learned:
            learned_sites.add(name)
    sketches = [page.sketch for page in without_boilerplate]
    others = (
        (first, second)
        for second, before in candidates(sketches, options.min_shared)
        for first in before
        if (first, second) not in versions
        and are_comparable(pages[first], pages[second], learned_sites, options)
    )
    yield from matched_versions(pages, sorted(versions))
    yield from matching(without_boilerplate, others, options)


def matched_versions(
    pages: Sequence[StoryPage], versions: Iterable[tuple[int, int]]
) -> Iterator[Pair]:
    """Yield the pairs of *versions*, which are near-duplicates in any case."""
    for first, second in versions:
        similarity = compare(pages[first].sketch, pages[second].sketch)
        yield Pair(first, second, similarity, is_version=True)


def matching(
    pages: Sequence[StoryPage], pairs: Iterable[tuple[int, int]], options: Options
) -> Iterator[Pair]:
    """Yield the *pairs* of positions that are near-duplicates."""
    within_site = options.within_site
    for first, second in pairs:
        left, right = pages[first], pages[second]
        similarity = match(
            left.sketch, right.sketch, within_site if left.site == right.site else options
        )
        if similarity is not None:
            yield Pair(first, second, similarity)


def are_comparable(
    first: StoryPage, second: StoryPage, learned_sites: Container[str], options: Options
) -> bool:
    """Return whether two pages are compared without the boilerplate of their sites.

    Pages of one site are compared only if its boilerplate is known.
    """
    return in_window(first.at, second.at, options) and (
        first.site != second.site or first.site in learned_sites
    )
