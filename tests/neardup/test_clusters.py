"""Majority linkage of one new story."""

from __future__ import annotations

import pytest

from newscrawl.neardup.clusters import NewStory
from newscrawl.neardup.near_duplicate_options import Options

OWN = 10_000


def story(near: int, members: int, *, related: bool = False) -> NewStory:
    """Return a story that is a near-duplicate of *near* of the *members* of the cluster OWN."""
    return NewStory(
        story=1,
        near={OWN: {OWN + n: 0.5 for n in range(near)}},
        members=lambda cluster: [cluster + n for n in range(members)],
        is_linked=lambda _a, _b: True,
        is_related=lambda _a, _b: related,
        options=Options.of("fracminhash"),
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


def test_does_not_join_its_own_cluster_twice():
    """The number of a cluster is compared by value."""
    assert story(3, 4).joined(int(str(OWN))) == [OWN]
