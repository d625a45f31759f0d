"""Majority-link: what joins a cluster is near to most of it.

Connected components chain: one wrong pair makes one cluster of two stories, and in a large
collection of nearly everything. Asking for a share of the pairs between two clusters does not.

A stream decides for good, and most clusters are small: where a story has come that has paragraphs
of two others, and one of these, a copy of the one is near to just half of them. What has nothing in
common with the other half does not join. Two passes take the nearest pairs first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from newscrawl.neardup.pairs import in_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from newscrawl.neardup.near_duplicate_options import Options
    from newscrawl.neardup.pairs import Pair

MEMBERS = 16
"""Members of a cluster, the first, that are compared where two clusters may become one."""


@dataclass(frozen=True, slots=True)
class NewStory:
    """A new story among the clusters that there are."""

    story: int
    #: of each cluster the stories that the new one is near to, with their containment
    near: Mapping[int, Mapping[int, float]]
    #: stories of a cluster that the new one was compared with
    members: Callable[[int], list[int]]
    #: whether two stories are near-duplicates
    linked: Callable[[int, int], bool]
    #: whether two stories that are none have something in common all the same
    alike: Callable[[int, int], bool]
    options: Options

    def joined(self, own: int | None = None) -> list[int]:
        """Return the clusters that become one with the story, the one it joins first.

        *own* is the cluster that a new version of a known story already has.
        """
        order = sorted(
            (cluster for cluster in self.near if cluster != own and self._joins(cluster)),
            key=lambda cluster: (-self._containment(cluster), -len(self.near[cluster]), cluster),
        )
        result = [] if own is None else [own]
        together = [] if own is None else self.members(own)[:MEMBERS]
        for cluster in order:
            others = self.members(cluster)[:MEMBERS]
            if not result or self._merges([*result, cluster], together, others):
                result.append(cluster)
                together = (together + others)[:MEMBERS]
        return result

    def _joins(self, cluster: int) -> bool:
        """Return True if the story is near to enough of a cluster."""
        near, members = self.near[cluster], self.members(cluster)
        least = self.options.majority * len(members)
        if len(near) != least:
            return len(near) > least
        others = (member for member in members if member not in near)
        return self._is_part([cluster]) or any(self.alike(self.story, one) for one in others)

    def _merges(self, clusters: list[int], together: list[int], others: list[int]) -> bool:
        """Return True if the last of *clusters*, with *others*, is near to enough of the others."""
        near, members = self.near[clusters[-1]], self.members(clusters[-1])
        apart = [(a, b) for a in together for b in others if not self.linked(a, b)]
        # The new story itself counts among those that the others are compared with.
        possible = (len(together) + 1) * len(others)
        links = possible - len(apart) - len(others) * (1 - len(near) / len(members))
        least = self.options.majority * possible
        if links != least:
            return links > least
        return self._is_part(clusters) or any(self.alike(a, b) for a, b in apart)

    def _is_part(self, clusters: Iterable[int]) -> bool:
        """Return True if nearly all of the story is in each of *clusters*, or of them in it."""
        whole = self.options.version_containment
        return all(self._containment(cluster) >= whole for cluster in clusters)

    def _containment(self, cluster: int) -> float:
        return max(self.near.get(cluster, {}).values(), default=0.0)


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
