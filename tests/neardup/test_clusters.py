"""Majority linkage of one new story and of a collection."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest

from newscrawl.near_duplicate_options import Options
from newscrawl.neardup.clusters import MAX_COMPARED_MEMBERS, NewStory, agglomerate, without_parts
from newscrawl.neardup.pairs import Pair
from newscrawl.neardup.sketch import Similarity, sketch
from tests.neardup.test_neardup_index import words

OWN = 10_000


def story(near: int, members: int, *, related: bool = False) -> NewStory:
    """Return a story that is a near-duplicate of *near* of the *members* of the cluster OWN."""
    return NewStory(
        story=1,
        near={OWN: {OWN + n: 0.5 for n in range(near)}},
        members=lambda cluster: [cluster + n for n in range(members)],
        is_linked=lambda _a, _b: True,
        is_related=lambda _a, _b: related,
        options=Options(),
    )


@pytest.mark.parametrize(
    ("near", "members", "related", "joins"),
    [
        (1, 4, True, False),  # fewer than half
        (2, 4, False, False),  # half, and the others are unrelated
        (2, 4, True, True),
        (3, 4, False, True),
    ],
)
def test_joins_a_cluster_of_which_it_matches_most(
    near: int, members: int, related: bool, joins: bool
):
    assert story(near, members, related=related).joined() == ([OWN] if joins else [])


@pytest.mark.parametrize(("related", "joins"), [(OWN + 1, False), (OWN + 3, True)])
def test_half_of_a_cluster_needs_a_relation_to_the_others(related: int, joins: bool):
    other = replace(story(2, 4), is_related=lambda _story, member: member == related)
    assert other.joined() == ([OWN] if joins else [])


def test_does_not_join_its_own_cluster_twice():
    """The number of a cluster is compared by value."""
    assert story(3, 4).joined(int(str(OWN))) == [OWN]


OPTIONS = Options()


def matching(
    clusters: Mapping[int, tuple[Sequence[int], Sequence[int]]],
    unlinked: Collection[tuple[int, int]] = (),
    *,
    related: bool = False,
    containment: Mapping[int, float] | None = None,
) -> NewStory:
    """Return a story with *clusters*: members, and those that are near-duplicates of it."""
    containment = containment or {}
    return NewStory(
        story=1,
        near={
            cluster: {member: containment.get(cluster, 0.5) for member in near}
            for cluster, (_, near) in clusters.items()
            if near
        },
        members=lambda cluster: list(clusters[cluster][0]),
        is_linked=lambda a, b: (a, b) not in unlinked,
        is_related=lambda _a, _b: related,
        options=OPTIONS,
    )


PAIRS = [(10, 20), (10, 21), (11, 20), (11, 21), (10, 22), (11, 22)]


@pytest.mark.parametrize(
    ("unlinked", "merged"), [(0, True), (2, True), (4, False)], ids=["all", "most", "few"]
)
def test_merges_clusters_if_most_of_their_pairs_match(unlinked: int, merged: bool):
    """The story and two stories make six pairs with two others."""
    story = matching({10: ([10, 11], [10, 11]), 20: ([20, 21], [20, 21])}, PAIRS[:unlinked])
    assert story.joined() == ([10, 20] if merged else [10])


@pytest.mark.parametrize(("unlinked", "merged"), [(3, True), (4, False)])
def test_counts_the_pairs_of_the_story_itself(unlinked: int, merged: bool):
    """Of nine pairs, one of the story does not match."""
    clusters = {10: ([10, 11], [10, 11]), 20: ([20, 21, 22], [20, 21])}
    assert matching(clusters, PAIRS[:unlinked]).joined() == ([10, 20] if merged else [10])


@pytest.mark.parametrize(
    ("related", "containment", "merged"),
    [
        (False, {}, False),
        (True, {}, True),
        (False, {10: 0.95, 20: 0.95}, True),
        (False, {10: 0.95, 20: 0.94}, False),
    ],
)
def test_a_tie_needs_evidence(related: bool, containment: dict[int, float], merged: bool):
    clusters = {10: ([10, 11], [10, 11]), 20: ([20, 21], [20, 21])}
    story = matching(clusters, PAIRS[:3], related=related, containment=containment)
    assert story.joined() == ([10, 20] if merged else [10])


def test_a_tie_with_the_own_cluster_needs_containment_of_both():
    """The cluster of the former version has no near-duplicate of the new one."""
    story = matching({5: ([50], []), 6: ([60], [60])}, [(50, 60)], containment={6: 1.0})
    assert story.joined(5) == [5]


def test_compares_the_last_cluster_with_all_merged_ones():
    clusters = {10: ([10], [10]), 20: ([20], [20]), 30: ([30, 31, 32], [30, 31])}
    unlinked = [(10, 30), (10, 31), (10, 32), (20, 30)]
    containment = {10: 0.9, 20: 0.8}
    assert matching(clusters, unlinked, containment=containment).joined() == [10, 20]
    assert matching(clusters, unlinked[:3], containment=containment).joined() == [10, 20, 30]


@pytest.mark.parametrize(
    ("containment", "order"),
    [({20: 0.9}, [20, 30, 10]), ({10: 0.9}, [10, 30, 20]), ({}, [30, 10, 20])],
)
def test_joins_the_best_match_first(containment: dict[int, float], order: list[int]):
    """The most similar cluster, then the one with the most near-duplicates, then the oldest."""
    clusters = {20: ([20], [20]), 10: ([10], [10]), 30: ([30, 31], [30, 31])}
    assert matching(clusters, containment=containment).joined() == order


def test_compares_a_limited_number_of_members():
    members = list(range(100, 140)), list(range(200, 240))
    compared = []
    story = matching({100: (members[0], members[0]), 200: (members[1], members[1])})
    limited = replace(story, is_linked=lambda a, b: bool(compared.append((a, b))) or True)
    assert limited.joined() == [100, 200]
    assert len(compared) == MAX_COMPARED_MEMBERS**2 == 256


def pair(
    first: int,
    second: int,
    containment: float = 0.9,
    *,
    jaccard: float = 0.9,
    is_version: bool = False,
) -> Pair:
    similarity = Similarity(shared=50, containment=containment, jaccard=jaccard)
    return Pair(first, second, similarity, is_version)


LEFT, RIGHT = words(150, seed=1), words(150, seed=2)


def pairs_without_parts(texts: Sequence[list[str]], *pairs: Pair) -> list[Pair]:
    return without_parts([sketch(" ".join(text), OPTIONS) for text in texts], pairs)


@pytest.mark.parametrize("length", [150, 75])
def test_separates_a_digest_from_its_two_stories(length: int):
    texts = [LEFT, RIGHT, LEFT[:length] + RIGHT[:length]]
    pairs = pair(0, 2, jaccard=0.5), pair(1, 2, jaccard=0.5)
    assert pairs_without_parts(texts, *pairs) == []
    assert len(pairs_without_parts(texts, *pairs, pair(0, 1))) == 3


def test_keeps_a_long_story_whose_parts_are_connected():
    """Also if the connection leads through a later story."""
    texts = [LEFT, RIGHT, LEFT[75:] + RIGHT[:75], LEFT + RIGHT]
    pairs = [*(pair(n, 3, jaccard=0.2) for n in range(3)), pair(0, 2), pair(1, 2)]
    assert pairs_without_parts(texts, *pairs) == pairs


@pytest.mark.parametrize("first", [words(90, seed=3) + LEFT, LEFT[:100] + RIGHT[:100]])
def test_keeps_stories_that_are_no_digests(first: list[str]):
    """A text whose beginning is elsewhere is no part, and neither are parts that overlap."""
    pairs = [pair(0, 2, jaccard=0.2), pair(1, 2, jaccard=0.2)]
    assert pairs_without_parts([first, RIGHT, LEFT + RIGHT], *pairs) == pairs


@pytest.mark.parametrize(
    ("count", "pairs", "clusters"),
    [
        # The ends of a chain are not linked, and rejected pairs do not end the search.
        (6, [pair(1, 2, 0.5), pair(0, 1, 0.8), pair(2, 3), pair(4, 5, 0.4)], [0, 0, 2, 2, 4, 4]),
        (3, [pair(0, 1), pair(1, 2, 0.5)], [0, 0, 0]),
        (5, [pair(0, 1), pair(0, 2), pair(1, 2, 0.6), pair(3, 4, 0.5)], [0, 0, 0, 3, 3]),
        (4, [pair(0, 1), pair(2, 3), pair(1, 2, 0.5), pair(0, 3, 0.5)], [0, 0, 0, 0]),
        (4, [pair(1, 2), *(pair(0, n, 0.5, is_version=True) for n in (1, 3))], [0, 0, 2, 0]),
    ],
    ids=["most similar first", "half of a cluster", "pairs of one cluster", "half of the pairs", "versions first"],
)  # fmt: skip
def test_links_pairs(count: int, pairs: list[Pair], clusters: list[int]):
    assert agglomerate([0] * count, pairs, OPTIONS) == clusters
