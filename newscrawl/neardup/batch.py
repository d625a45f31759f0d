"""Clustering of a whole collection in two passes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from newscrawl.near_duplicate_options import Options
from newscrawl.neardup.clusters import agglomerate, without_parts
from newscrawl.neardup.database import digest
from newscrawl.neardup.pairs import Pair, StoryPage, near_pairs
from newscrawl.neardup.sketch import sketch
from newscrawl.neardup.story import MAX_LISTED, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.neardup.story import Story


@dataclass(frozen=True, slots=True)
class Clustering:
    """Clusters of a collection."""

    #: last version of each URL, in the order of a stream
    stories: list[Story]
    #: final verdict of each story, with the size of the whole cluster
    verdicts: list[Verdict]


def in_order(stories: Iterable[Story]) -> list[Story]:
    """Return the stories in the order of a stream: by time, then by URL."""
    return sorted(stories, key=lambda story: (story.timestamp, story.url))


def two_pass(stories: Iterable[Story], options: Options | None = None) -> Clustering:
    """Cluster a collection; of several stories with one URL the last counts.

    The first pass learns the boilerplate of all sites, the second compares and clusters, whereas a
    stream has to do both at once.
    """
    options = options or Options()
    last = in_order({story.url: story for story in in_order(stories)}.values())
    pages = [StoryPage(s.timestamp, s.site, sketch(s.text, options)) for s in last]
    pairs = list(near_pairs(pages, options))
    pairs = without_parts([page.sketch for page in pages], pairs)
    cluster = agglomerate([page.at for page in pages], pairs, options)
    return Clustering(last, list(verdicts(last, cluster, pairs)))


def verdicts(
    stories: Sequence[Story], cluster: Sequence[int], pairs: Iterable[Pair]
) -> Iterable[Verdict]:
    """Yield the verdict of each story, given the clusters and all near-duplicate pairs."""
    near: dict[int, list[tuple[float, int]]] = defaultdict(list)
    size: dict[int, int] = defaultdict(int)
    for first, second, similarity, _ in pairs:
        if cluster[first] == cluster[second]:
            near[first].append((-similarity.containment, second))
            near[second].append((-similarity.containment, first))
    for own in cluster:
        size[own] += 1
    for position, own in enumerate(cluster):
        nearest = sorted(near[position])
        yield Verdict(
            cluster=digest(stories[own].url, 8).hex(),
            size=size[own],
            is_first=position == own,
            similarity=round(-nearest[0][0], 4) if nearest else None,
            near_duplicates=tuple(stories[other].url for _, other in nearest[:MAX_LISTED]),
        )
