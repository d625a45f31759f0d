"""Near-duplicate detection systems: newscrawl and other libraries, on the same texts.

A system takes stories and the seed of its hashes and returns a function from a threshold to the
cluster labels of the stories. For libraries that return pairs, clusters are the connected
components.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from newscrawl.neardup import Index, Options
from newscrawl.neardup.batch import in_order, two_pass
from newscrawl.neardup.shingles import story_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.neardup import Story

    Labels = Sequence[str | int]
    Clusterer = Callable[[float], Labels]
    #: similarity by the indices of two stories
    Pairs = Mapping[tuple[int, int], float]

PERMUTATIONS = 256
"""Hash functions of MinHash; both libraries are more accurate with 256 than with 128."""

LSH_THRESHOLD = 0.1
"""Threshold of the MinHash indexes; candidates are then verified."""

CONTAINMENTS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
JACCARDS = (0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.4, 0.5)

_ANTECEDENTS: Final = frozenset(
    {"a", "an", "the", "is", "are", "was", "were", "be", "been", "do", "did", "does"}
    | {"have", "has", "had", "can", "will", "said"}
)
_STOP_WORDS: Final = _ANTECEDENTS | {
    *("of", "to", "in", "and", "or", "for", "on", "at", "by", "with", "from", "as", "it")
}
_CHAIN_LENGTH: Final = 2


class System(NamedTuple):
    """A near-duplicate detection system."""

    name: str
    cluster: Callable[[Sequence[Story], int], Clusterer]
    #: thresholds to tune
    thresholds: Sequence[float]
    #: required package
    package: str | None = None
    #: the result depends on the seed of the hashes or on the order of the stories
    drawn: bool = True

    @property
    def missing(self) -> str | None:
        """Reason why the system cannot be used, None if it can."""
        if self.package is None or find_spec(self.package):
            return None
        return f"{self.package} is not installed"


def _options(seed: int) -> Options:
    # no window: dates of the corpus are meaningless
    return Options(window=None, seed=seed)


def _stream(stories: Sequence[Story], seed: int) -> Clusterer:
    order, options = in_order(stories), _options(seed)

    def cluster(threshold: float) -> Labels:
        with Index(None, replace(options, containment=threshold)) as index:
            verdicts = index.add_many(order)
            names = [index.resolve(verdict.cluster) for verdict in verdicts]
        label_of = dict(zip((story.url for story in order), names, strict=True))
        return [label_of[story.url] for story in stories]

    return cluster


def _two_pass(stories: Sequence[Story], seed: int) -> Clusterer:
    options = _options(seed)

    def cluster(threshold: float) -> Labels:
        found = two_pass(stories, replace(options, containment=threshold))
        names = (verdict.cluster for verdict in found.verdicts)
        label_of = dict(zip((story.url for story in found.stories), names, strict=True))
        return [label_of[story.url] for story in stories]

    return cluster


def _spotsigs(stories: Sequence[Story], _seed: int) -> Clusterer:
    """Compare all spot signatures by Jaccard, as published (Theobald et al. 2008)."""
    sets = [set(spot_signatures(story_words(story.text))) for story in stories]
    postings = defaultdict(list)
    for index, signatures in enumerate(sets):
        for signature in signatures:
            postings[signature].append(index)
    candidates = {pair for indices in postings.values() for pair in combinations(indices, 2)}
    return _components(
        {(i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in candidates},
        len(stories),
    )


def spot_signatures(words: Sequence[str]) -> Iterator[str]:
    """Yield the spot signatures of a text: an antecedent and the next words of content.

    They ignore boilerplate, as menus and lists have no stop words (section 3).
    """
    content: list[str] = []
    antecedents = []
    for word in words:
        if word not in _STOP_WORDS:
            content.append(word)
        elif word in _ANTECEDENTS:
            antecedents.append((word, len(content)))
    for word, start in antecedents:
        if start + _CHAIN_LENGTH <= len(content):
            yield " ".join((word, *content[start : start + _CHAIN_LENGTH]))


def _shingles(text: str) -> list[str]:
    words = story_words(text)
    return list({" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))})


def _datasketch(stories: Sequence[Story], seed: int) -> Clusterer:
    library = import_module("datasketch")
    lsh = library.MinHashLSH(threshold=LSH_THRESHOLD, num_perm=PERMUTATIONS)
    hashes = []
    for index, story in enumerate(stories):
        minhash = library.MinHash(num_perm=PERMUTATIONS, seed=seed)
        minhash.update_batch([shingle.encode() for shingle in _shingles(story.text)])
        lsh.insert(index, minhash)
        hashes.append(minhash)
    return _verified(lsh, hashes)


def _rensa(stories: Sequence[Story], seed: int) -> Clusterer:
    library = import_module("rensa")
    lsh = library.RMinHashLSH(
        threshold=LSH_THRESHOLD, num_perm=PERMUTATIONS, num_bands=PERMUTATIONS // 2
    )
    hashes = []
    for index, story in enumerate(stories):
        minhash = library.RMinHash(num_perm=PERMUTATIONS, seed=seed)
        minhash.update(_shingles(story.text))
        lsh.insert(index, minhash)
        hashes.append(minhash)
    return _verified(lsh, hashes)


def _verified(lsh: Any, hashes: Sequence[Any]) -> Clusterer:
    """Return the clusterer of the candidates of an LSH index, verified by their Jaccard index."""
    candidates = {(i, j) for i, minhash in enumerate(hashes) for j in lsh.query(minhash) if i < j}
    return _components({(i, j): hashes[i].jaccard(hashes[j]) for i, j in candidates}, len(hashes))


def _components(pairs: Pairs, size: int) -> Clusterer:
    return lambda threshold: components(
        (pair for pair, value in pairs.items() if value >= threshold), size
    )


def components(pairs: Iterable[tuple[int, int]], size: int) -> list[int]:
    """Return the connected components of *size* documents, labelled by their first document."""
    parents = list(range(size))

    def find(index: int) -> int:
        while parents[index] != index:
            parents[index] = index = parents[parents[index]]
        return index

    for pair in pairs:
        low, high = sorted(map(find, pair))
        parents[high] = low
    return [find(index) for index in range(size)]


SYSTEMS = (
    System("newscrawl, stream", _stream, CONTAINMENTS),
    System("newscrawl, two passes", _two_pass, CONTAINMENTS),
    System("SpotSigs, Jaccard", _spotsigs, JACCARDS, drawn=False),
    System("datasketch, MinHash LSH", _datasketch, JACCARDS, package="datasketch"),
    System("rensa, RMinHash LSH", _rensa, JACCARDS, package="rensa"),
)
