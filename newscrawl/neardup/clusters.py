"""Majority-link: what joins a cluster is near to at least half of it.

Connected components chain: one wrong pair makes one cluster of two stories, and in a large
collection of nearly everything. Asking for a share of the pairs between two clusters does not.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from newscrawl.neardup.pairs import in_window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from newscrawl.neardup.options import Options
    from newscrawl.neardup.pairs import Pair

MEMBERS = 16
"""Members of a cluster, the first, that are compared where two clusters may become one."""


def joined(
    near: Mapping[int, list[float]],
    members: Callable[[int], list[int]],
    linked: Callable[[int, int], bool],
    majority: float,
    own: int | None = None,
) -> list[int]:
    """Return the clusters that become one with a new story, the one it joins first.

    *near* gives the similarities to the near stories of each cluster, *members* the stories of a
    cluster that it was compared with, and *linked* whether two stories are near-duplicates. *own*
    is the cluster that a new version of a known story already has.
    """
    share = {cluster: len(found) / len(members(cluster)) for cluster, found in near.items()}
    order = sorted(
        (cluster for cluster in near if cluster != own and share[cluster] >= majority),
        key=lambda cluster: (-max(near[cluster]), -len(near[cluster]), cluster),
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


def agglomerate(
    times: Sequence[int],
    pairs: Sequence[Pair],
    options: Options,
) -> list[int]:
    """Return the cluster of each story of a collection: the first story that is in it.

    The nearest pairs come first. Two clusters become one where the share of near pairs among those
    in the window is large enough; what was refused is tried again until nothing changes.
    """
    members = {place: [place] for place in range(len(times))}
    cluster = list(range(len(times)))
    links: dict[int, dict[int, int]] = defaultdict(dict)
    for one, other, _ in pairs:
        links[one][other] = links[other][one] = 1
    order = sorted(pairs, key=lambda pair: (-pair.similarity.containment, pair.one, pair.other))
    changed = True
    while changed:
        changed = False
        for one, other, _ in order:
            low, high = sorted((cluster[one], cluster[other]))
            if low == high:
                continue
            possible = sum(
                in_window(times[a], times[b], options) for a in members[low] for b in members[high]
            )
            if links[low][high] < options.majority * possible:
                continue
            changed = True
            for place in members[high]:
                cluster[place] = low
            members[low] += members.pop(high)
            for near, count in links.pop(high).items():
                del links[near][high]
                if near != low:
                    links[low][near] = links[near][low] = links[low].get(near, 0) + count
    return cluster
