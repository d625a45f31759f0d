"""How alike two clusterings are: pairs, B-cubed, adjusted Rand index.

A clustering is a sequence of labels, one a document; *found* and *gold* tell of the same documents
in the same order. Nothing is ever compared pair by pair: all figures follow from the sizes of
clusters and of what two clusters share.
"""

from __future__ import annotations

from collections import Counter
from math import comb
from typing import TYPE_CHECKING

from newscrawl.corpora.metrics import PERFECT, Score, score_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    Labels = Sequence[Hashable]


def pair_score(found: Labels, gold: Labels) -> Score:
    """Return the score of the pairs of documents that stand in one cluster.

    Where neither side has a pair the score is 1.
    """
    return score_of(_pairs(zip(found, gold, strict=True)), _pairs(found), _pairs(gold))


def pair_score_of(members: Sequence[int], found: Labels, gold: Labels) -> Score:
    """Return the score of the pairs that have one document or both among *members* (places).

    Unlike the score of *members* alone it counts what they are wrongly put together with.
    """
    inside = set(members)
    others = [place for place in range(len(found)) if place not in inside]

    def touching(labels: Labels) -> int:
        return _pairs(labels) - _pairs(labels[place] for place in others)

    both = list(zip(found, gold, strict=True))
    return score_of(touching(both), touching(found), touching(gold))


def b_cubed(found: Labels, gold: Labels) -> Score:
    """Return B-cubed precision and recall, means over documents, and their harmonic mean.

    Bagga and Baldwin, "Entity-Based Cross-Document Coreferencing", ACL 1998.
    """
    if not found:
        return PERFECT
    shared, of_found, of_gold = (
        Counter(zip(found, gold, strict=True)),
        Counter(found),
        Counter(gold),
    )
    precision, recall = (
        sum(n * n / sizes[pair[side]] for pair, n in shared.items()) / len(found)
        for side, sizes in enumerate((of_found, of_gold))
    )
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def adjusted_rand(found: Labels, gold: Labels) -> float:
    """Return the adjusted Rand index: 1 for equal clusterings, 0 as expected by chance.

    Hubert and Arabie, "Comparing partitions", Journal of Classification 2, 1985.
    """
    together, in_found, in_gold = _pairs(zip(found, gold, strict=True)), _pairs(found), _pairs(gold)
    everything = comb(len(found), 2)
    expected = in_found * in_gold / everything if everything else 0.0
    most = (in_found + in_gold) / 2
    # Both put all documents together, or both put none.
    return 1.0 if most == expected else (together - expected) / (most - expected)


def _pairs(labels: Iterable[Hashable]) -> int:
    """Return how many pairs of documents have the same label."""
    return sum(comb(size, 2) for size in Counter(labels).values())
