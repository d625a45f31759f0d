"""Agreement of two clusterings: pair score, B-cubed, adjusted Rand index.

A clustering is a sequence of labels, one for each document; *found* and *gold* have the same
documents in the same order. All figures are computed from the sizes of clusters and of their
intersections, in linear time.
"""

from __future__ import annotations

from collections import Counter
from math import comb
from typing import TYPE_CHECKING

from newscrawl.lab.corpora.metrics import PERFECT, Score, score_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    Labels = Sequence[Hashable]


def pair_score(found: Labels, gold: Labels) -> Score:
    """Return the score of the pairs of documents in the same cluster, 1 if there are no pairs."""
    return score_of(_pairs(zip(found, gold, strict=True)), _pairs(found), _pairs(gold))


def pair_score_of(members: Sequence[int], found: Labels, gold: Labels) -> Score:
    """Return the score of the pairs with at least one document among *members* (indices).

    Unlike the score of *members* alone, it includes false pairs with other documents.
    """
    inside = set(members)
    others = [index for index in range(len(found)) if index not in inside]

    def pairs_with_members(labels: Labels) -> int:
        return _pairs(labels) - _pairs(labels[index] for index in others)

    common = pairs_with_members(list(zip(found, gold, strict=True)))
    return score_of(common, pairs_with_members(found), pairs_with_members(gold))


def b_cubed(found: Labels, gold: Labels) -> Score:
    """Return B-cubed precision and recall (means over documents) and their harmonic mean.

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
    """Return the adjusted Rand index: 1 for equal clusterings, 0 on average for random ones.

    Hubert and Arabie, "Comparing partitions", Journal of Classification 2, 1985.
    """
    common, in_found, in_gold = _pairs(zip(found, gold, strict=True)), _pairs(found), _pairs(gold)
    total = comb(len(found), 2)
    expected = in_found * in_gold / total if total else 0.0
    maximum = (in_found + in_gold) / 2
    # equal if both have one cluster or both have only singletons
    return 1.0 if maximum == expected else (common - expected) / (maximum - expected)


def _pairs(labels: Iterable[Hashable]) -> int:
    """Return the number of pairs of documents with the same label."""
    return sum(comb(size, 2) for size in Counter(labels).values())
