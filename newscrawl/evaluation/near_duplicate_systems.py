"""What finds near-duplicates: ours, and others on the same texts.

A system takes stories and the seed of its hashes and returns a function that gives, for a threshold,
the label of each story's cluster. Others give pairs and no clusters; theirs are the connected
components of their pairs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.neardup import Index, Options
from newscrawl.neardup.batch import in_order, two_pass
from newscrawl.neardup.shingles import story_words
from newscrawl.neardup.sketch import compare, sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from newscrawl.neardup import Story
    from newscrawl.neardup.near_duplicate_options import SketchName

    Labels = Sequence[str | int]
    Clusterer = Callable[[float], Labels]
    #: similarities by the places of two stories
    Pairs = Mapping[tuple[int, int], float]

PERMUTATIONS = 256
"""Hash functions of MinHash: both libraries do better with them than with their default of 128."""

LEAST = 0.1
"""Threshold of the index of MinHash libraries, whose candidates are then verified."""

CONTAINMENTS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
SPOT_CONTAINMENTS = (0.3, 0.4, 0.5, 0.6, 0.7)
JACCARDS = (0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.4, 0.5)


class System(NamedTuple):
    """A way to find clusters."""

    name: str
    cluster: Callable[[Sequence[Story], int], Clusterer]
    #: to choose from, on the half to tune on
    thresholds: Sequence[float]
    #: package that it needs beside ours
    package: str | None = None
    #: whether the draw of the hashes, or the order in which the stories come, matters
    drawn: bool = True

    @property
    def missing(self) -> str | None:
        """Return why the system cannot be used, None where it can."""
        if self.package is None or find_spec(self.package):
            return None
        return f"{self.package} is not installed"


def _options(name: SketchName, seed: int = 0) -> Options:
    # Pages that were put into others keep the dates of these: time says nothing about them.
    return Options.of(name, window=None, seed=seed)


def _stream(name: SketchName) -> Callable[[Sequence[Story], int], Clusterer]:
    def clusterer(stories: Sequence[Story], seed: int) -> Clusterer:
        order, options = in_order(stories), _options(name, seed)

        def cluster(least: float) -> Labels:
            with Index(None, replace(options, containment=least)) as index:
                verdicts = index.add_many(order)
                names = [index.resolve(verdict.cluster) for verdict in verdicts]
            label_of = dict(zip((story.url for story in order), names, strict=True))
            return [label_of[story.url] for story in stories]

        return cluster

    return clusterer


def _two_pass(stories: Sequence[Story], seed: int) -> Clusterer:
    options = _options("fracminhash", seed)

    def cluster(least: float) -> Labels:
        found = two_pass(stories, replace(options, containment=least))
        names = (verdict.cluster for verdict in found.verdicts)
        label_of = dict(zip((story.url for story in found.stories), names, strict=True))
        return [label_of[story.url] for story in stories]

    return cluster


def _spotsigs(stories: Sequence[Story], _seed: int) -> Clusterer:
    """Compare all spot signatures by Jaccard, as published (Theobald et al. 2008)."""
    options = replace(_options("spotsigs"), scale=1)
    sketches = [sketch(story.text, options) for story in stories]
    places = defaultdict(list)
    for place, one in enumerate(sketches):
        for value in one.hashes.tolist():
            places[value].append(place)
    near = {pair for shared in places.values() for pair in combinations(shared, 2)}
    return _components(
        {(i, j): compare(sketches[i], sketches[j]).jaccard for i, j in near}, len(stories)
    )


def _shingles(text: str) -> list[str]:
    words = story_words(text)
    return list({" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))})


def _datasketch(stories: Sequence[Story], seed: int) -> Clusterer:
    library = import_module("datasketch")
    index = library.MinHashLSH(threshold=LEAST, num_perm=PERMUTATIONS)
    hashes = []
    for place, story in enumerate(stories):
        one = library.MinHash(num_perm=PERMUTATIONS, seed=seed)
        one.update_batch([shingle.encode() for shingle in _shingles(story.text)])
        index.insert(place, one)
        hashes.append(one)
    near = {(i, j) for i, one in enumerate(hashes) for j in index.query(one) if i < j}
    return _components({(i, j): hashes[i].jaccard(hashes[j]) for i, j in near}, len(stories))


def _rensa(stories: Sequence[Story], seed: int) -> Clusterer:
    library = import_module("rensa")
    index = library.RMinHashLSH(threshold=LEAST, num_perm=PERMUTATIONS, num_bands=PERMUTATIONS // 2)
    hashes = []
    for place, story in enumerate(stories):
        one = library.RMinHash(num_perm=PERMUTATIONS, seed=seed)
        one.update(_shingles(story.text))
        index.insert(place, one)
        hashes.append(one)
    near = {(i, j) for i, one in enumerate(hashes) for j in index.query(one) if i < j}
    return _components({(i, j): hashes[i].jaccard(hashes[j]) for i, j in near}, len(stories))


def _components(pairs: Pairs, size: int) -> Clusterer:
    return lambda least: components((pair for pair, value in pairs.items() if value >= least), size)


def components(pairs: Iterable[tuple[int, int]], size: int) -> list[int]:
    """Return the label of each of *size* documents: the first that it is connected to by *pairs*."""
    above = list(range(size))

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = place = above[above[place]]
        return place

    for pair in pairs:
        low, high = sorted(map(top, pair))
        above[high] = low
    return [top(place) for place in range(size)]


SYSTEMS = (
    System("newscrawl, stream", _stream("fracminhash"), CONTAINMENTS),
    System("newscrawl, stream of SpotSigs", _stream("spotsigs"), SPOT_CONTAINMENTS),
    System("newscrawl, two passes", _two_pass, CONTAINMENTS),
    System("SpotSigs, Jaccard", _spotsigs, JACCARDS, drawn=False),
    System("datasketch, MinHash LSH", _datasketch, JACCARDS, package="datasketch"),
    System("rensa, RMinHash LSH", _rensa, JACCARDS, package="rensa"),
)
"""Ours, then others."""
