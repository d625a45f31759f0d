"""Pairs, B-cubed and the adjusted Rand index, against their definitions."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from newscrawl.lab.corpora.metrics import score_of
from newscrawl.lab.evaluation.cluster_metrics import (
    adjusted_rand,
    b_cubed,
    pair_score,
    pair_score_of,
)

LABELS = st.integers(0, 4)
CLUSTERINGS = st.lists(st.tuples(LABELS, LABELS), max_size=25).map(
    lambda pairs: ([found for found, _ in pairs], [gold for _, gold in pairs])
)


@given(CLUSTERINGS)
def test_pair_score_equals_score_of_pair_sets(clusterings: tuple[list[int], list[int]]) -> None:
    found, gold = (
        {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}
        for labels in clusterings
    )
    assert pair_score(*clusterings) == score_of(len(found & gold), len(found), len(gold))


@given(CLUSTERINGS, st.sets(st.integers(0, 24)))
def test_pair_score_of_members(clusterings: tuple[list[int], list[int]], chosen: set[int]) -> None:
    places = range(len(clusterings[0]))
    found, gold = (
        {
            (i, j)
            for i, j in combinations(places, 2)
            if labels[i] == labels[j] and chosen.intersection((i, j))
        }
        for labels in clusterings
    )
    members = sorted(chosen.intersection(places))
    wanted = score_of(len(found & gold), len(found), len(gold))
    assert pair_score_of(members, *clusterings) == wanted


@given(CLUSTERINGS)
def test_b_cubed_equals_mean_over_documents(clusterings: tuple[list[int], list[int]]) -> None:
    found, gold = clusterings
    if not found:
        return
    together = [
        (
            {j for j in range(len(found)) if found[j] == found[i]},
            {j for j in range(len(gold)) if gold[j] == gold[i]},
        )
        for i in range(len(found))
    ]
    score = b_cubed(found, gold)
    precision = sum(len(a & b) / len(a) for a, b in together) / len(found)
    recall = sum(len(a & b) / len(b) for a, b in together) / len(found)
    assert score.precision == pytest.approx(precision)
    assert score.recall == pytest.approx(recall)


@given(CLUSTERINGS)
def test_adjusted_rand_equals_scikit_learn(clusterings: tuple[list[int], list[int]]) -> None:
    found, gold = clusterings
    assert adjusted_rand(found, gold) == pytest.approx(adjusted_rand_score(gold, found))


def test_rejects_different_lengths() -> None:
    with pytest.raises(ValueError, match="zip"):
        pair_score([1], [1, 2])
