"""Pairs, B-cubed and the adjusted Rand index, against their definitions."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from newscrawl.corpora.metrics import PERFECT, score_of
from newscrawl.evaluation.cluster_metrics import adjusted_rand, b_cubed, pair_score, pair_score_of

LABELS = st.integers(0, 4)
CLUSTERINGS = st.lists(st.tuples(LABELS, LABELS), max_size=25).map(
    lambda pairs: ([found for found, _ in pairs], [gold for _, gold in pairs])
)


@given(CLUSTERINGS)
def test_pairs_counted_one_by_one(clusterings: tuple[list[int], list[int]]) -> None:
    """the score of pairs is that of the set of pairs"""
    found, gold = (
        {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}
        for labels in clusterings
    )
    assert pair_score(*clusterings) == score_of(len(found & gold), len(found), len(gold))


@given(CLUSTERINGS, st.sets(st.integers(0, 24)))
def test_pairs_of_some(clusterings: tuple[list[int], list[int]], chosen: set[int]) -> None:
    """the pairs of some documents are those with one of them or two"""
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
def test_b_cubed_document_by_document(clusterings: tuple[list[int], list[int]]) -> None:
    """B-cubed is the mean over documents of the precision and recall of their clusters"""
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
def test_adjusted_rand_against_scikit_learn(clusterings: tuple[list[int], list[int]]) -> None:
    """the index is that of scikit-learn"""
    found, gold = clusterings
    assert adjusted_rand(found, gold) == pytest.approx(adjusted_rand_score(gold, found))


@given(CLUSTERINGS)
def test_either_side_may_be_the_gold(clusterings: tuple[list[int], list[int]]) -> None:
    """changing sides changes precision and recall, and nothing else"""
    found, gold = clusterings
    for metric in (pair_score, b_cubed):
        there, back = metric(found, gold), metric(gold, found)
        assert (there.precision, there.recall) == pytest.approx((back.recall, back.precision))
        assert there.f1 == pytest.approx(back.f1)
    assert adjusted_rand(found, gold) == pytest.approx(adjusted_rand(gold, found))


@given(st.lists(LABELS, max_size=25))
def test_names_of_clusters_do_not_matter(labels: list[int]) -> None:
    """a clustering compared with itself under other names is perfect"""
    renamed = [f"cluster {label}" for label in labels]
    assert pair_score(renamed, labels) == PERFECT
    assert b_cubed(renamed, labels) == pytest.approx(PERFECT)
    assert adjusted_rand(renamed, labels) == 1


def test_worked_example() -> None:
    """one cluster of three torn from its third: figures by hand"""
    score = pair_score("aab", "xxx")
    assert (score.precision, score.recall, score.f1) == (1, 1 / 3, 0.5)
    assert b_cubed("aab", "xxx").recall == pytest.approx(5 / 9)
    assert adjusted_rand("aab", "xxx") == 0


def test_lengths_must_agree() -> None:
    """two clusterings of different documents are an error"""
    with pytest.raises(ValueError, match="zip"):
        pair_score([1], [1, 2])
