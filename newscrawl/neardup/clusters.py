"""Majority-link: what joins a cluster is near to at least half of it.

Connected components chain: one wrong pair makes one cluster of two stories, and in a large
collection of nearly everything. Asking for a share of the pairs between two clusters does not.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MEMBERS = 16
"""Members of a cluster, the first, that are compared where two clusters may become one."""


def joined(
    cluster_of: Mapping[int, int],
    members: Callable[[int], list[int]],
    linked: Callable[[int, int], bool],
    majority: float,
    own: int | None = None,
) -> list[int]:
    """Return the clusters that become one with a new story, the one it joins first.

    *cluster_of* gives the clusters of the stories it is near to, *members* the stories of a
    cluster that it was compared with, and *linked* whether two stories are near-duplicates. *own*
    is the cluster that a new version of a known story already has.
    """
    near: dict[int, int] = defaultdict(int)
    for cluster in cluster_of.values():
        near[cluster] += 1
    share = {cluster: count / len(members(cluster)) for cluster, count in near.items()}
    order = sorted(
        (cluster for cluster in near if cluster != own and share[cluster] >= majority),
        key=lambda cluster: (-share[cluster], -near[cluster], cluster),
    )
    result = [] if own is None else [own]
    together = [] if own is None else members(own)[:MEMBERS]
    for cluster in order:
        others = members(cluster)[:MEMBERS]
        # The new story itself counts among those that the others are compared with.
        links = share[cluster] * len(others) + sum(linked(a, b) for a in together for b in others)
        if not result or links >= majority * (len(together) + 1) * len(others):
            result.append(cluster)
            together = (together + others)[:MEMBERS]
    return result
