"""Majority linkage: a story or cluster joins a cluster if it matches most of it.

Unlike connected components, majority linkage does not chain clusters through single wrong pairs.

In a stream decisions are final and most clusters are small, so that a tie, exactly half of the
pairs, needs further evidence: the other half must be related. In batch the most similar pairs are
linked first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from newscrawl.neardup.pairs import in_window
from newscrawl.neardup.sketch import MAX_PART_JACCARD, are_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from newscrawl.near_duplicate_options import Options
    from newscrawl.neardup.pairs import Pair
    from newscrawl.neardup.sketch import Sketch

MAX_COMPARED_MEMBERS = 16
"""Maximum number of members per cluster, the first, that are compared before a merge."""


@dataclass(frozen=True, slots=True)
class NewStory:
    """A new story and the existing clusters with near-duplicates of it."""

    story: int
    #: cluster -> near-duplicate in it -> containment
    near: Mapping[int, Mapping[int, float]]
    #: returns the stories of a cluster that the new story was compared with
    members: Callable[[int], list[int]]
    #: returns whether two stories are near-duplicates
    is_linked: Callable[[int, int], bool]
    #: returns whether two stories that are not near-duplicates are related
    is_related: Callable[[int, int], bool]
    options: Options

    def joined(self, own: int | None = None) -> list[int]:
        """Return the clusters that the story joins and thus merges, the best match first.

        *own* is the cluster of an earlier version of the story.
        """
        order = sorted(
            (cluster for cluster in self.near if cluster != own and self._joins(cluster)),
            key=lambda cluster: (-self._containment(cluster), -len(self.near[cluster]), cluster),
        )
        result = [] if own is None else [own]
        merged = [] if own is None else self.members(own)[:MAX_COMPARED_MEMBERS]
        for cluster in order:
            others = self.members(cluster)[:MAX_COMPARED_MEMBERS]
            if not result or self._merges([*result, cluster], merged, others):
                result.append(cluster)
                merged = (merged + others)[:MAX_COMPARED_MEMBERS]
        return result

    def _joins(self, cluster: int) -> bool:
        """Return whether the story matches most of a cluster."""
        near, members = self.near[cluster], self.members(cluster)
        required = self.options.majority * len(members)
        if len(near) != required:
            return len(near) > required
        others = (member for member in members if member not in near)
        return self._is_contained([cluster]) or any(self.is_related(self.story, m) for m in others)

    def _merges(self, clusters: list[int], merged: list[int], others: list[int]) -> bool:
        """Return whether the last of *clusters*, with *others*, matches most of the rest."""
        near, members = self.near[clusters[-1]], self.members(clusters[-1])
        unlinked = [(a, b) for a in merged for b in others if not self.is_linked(a, b)]
        # The new story is one of the stories that the others are compared with.
        possible = (len(merged) + 1) * len(others)
        links = possible - len(unlinked) - len(others) * (1 - len(near) / len(members))
        required = self.options.majority * possible
        if links != required:
            return links > required
        return self._is_contained(clusters) or any(self.is_related(a, b) for a, b in unlinked)

    def _is_contained(self, clusters: Iterable[int]) -> bool:
        """Return whether the story and one of each of *clusters* nearly contain each other."""
        threshold = self.options.version_containment
        return all(self._containment(cluster) >= threshold for cluster in clusters)

    def _containment(self, cluster: int) -> float:
        return max(self.near.get(cluster, {}).values(), default=0.0)


def without_parts(sketches: Sequence[Sketch], pairs: Sequence[Pair]) -> list[Pair]:
    """Return *pairs* without those of a digest and the stories in it.

    A digest has different parts that no other pairs connect. *sketches* are those of the stories.
    """
    near: dict[int, set[int]] = defaultdict(set)
    parts: dict[int, set[int]] = defaultdict(set)
    for first, second, similarity, _ in pairs:
        near[first].add(second)
        near[second].add(first)
        if similarity.jaccard < MAX_PART_JACCARD:
            parts[first].add(second)
            parts[second].add(first)
    digests = {
        story
        for story, own in parts.items()
        if any(
            are_parts(sketches[story], sketches[first], sketches[second])
            for first, second in combinations(_unconnected(own, near), 2)
        )
    }
    return [pair for pair in pairs if (pair.first in digests) == (pair.second in digests)]


def _unconnected(stories: set[int], near: Mapping[int, set[int]]) -> list[int]:
    """Return the first story of each component that the pairs among *stories* connect."""
    remaining, firsts = set(stories), []
    while remaining:
        firsts.append(min(remaining))
        waiting = {firsts[-1]}
        while waiting:
            remaining -= waiting
            waiting = {other for story in waiting for other in near[story] & remaining}
    return firsts


def agglomerate(times: Sequence[int], pairs: Sequence[Pair], options: Options) -> list[int]:
    """Return the cluster of each story of a collection, named by its first story.

    Versions of one story are linked first, then the most similar pairs. Two clusters are merged if
    enough of their pairs within the window match. A rejected pair is not tried again: the share of
    matching pairs of merged clusters is an average of their shares.
    """
    members = {story: [story] for story in range(len(times))}
    cluster = list(range(len(times)))
    links: dict[int, dict[int, int]] = defaultdict(dict)
    for first, second, *_ in pairs:
        links[first][second] = links[second][first] = 1
    order = sorted(
        pairs,
        key=lambda pair: (
            not pair.is_version, -pair.similarity.containment, pair.first, pair.second,
        ),
    )  # fmt: skip
    for first, second, _, is_version in order:
        low, high = sorted((cluster[first], cluster[second]))
        if low == high:
            continue
        possible = sum(
            in_window(times[a], times[b], options) for a in members[low] for b in members[high]
        )
        if not is_version and links[low][high] < options.majority * possible:
            continue
        for story in members[high]:
            cluster[story] = low
        members[low] += members.pop(high)
        for other, count in links.pop(high).items():
            del links[other][high]
            if other != low:
                links[low][other] = links[other][low] = links[low].get(other, 0) + count
    return cluster
