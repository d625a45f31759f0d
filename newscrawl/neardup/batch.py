"""Near-duplicates of a whole collection: as the stream would find them, or better."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from newscrawl.neardup.clusters import agglomerate
from newscrawl.neardup.index import Index
from newscrawl.neardup.near_duplicate_options import Options
from newscrawl.neardup.pairs import Pair, StoryPage, near_pairs
from newscrawl.neardup.sketch import sketch
from newscrawl.neardup.story import LISTED, Verdict
from newscrawl.neardup.story_table import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.neardup.story import Story


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters of a collection."""

    #: the last version of each URL, in the order of a replay
    stories: list[Story]
    #: of each story: final, with the size of the whole cluster
    verdicts: list[Verdict]
    #: URLs of the stories that are together with other stories in a replay
    differing: tuple[str, ...]


def in_order(stories: Iterable[Story]) -> list[Story]:
    """Return stories as a replay takes them: by time, then by URL."""
    return sorted(stories, key=lambda story: (story.timestamp, story.url))


def replay(stories: Iterable[Story], options: Options | None = None) -> list[Verdict]:
    """Return the verdicts of a stream that the stories come in with, in the order of a replay."""
    with Index(None, options) as index:
        return index.add_many(in_order(stories))


def two_pass(stories: Iterable[Story], options: Options | None = None) -> Clustering:
    """Return the clusters of a collection that is there as a whole.

    The first pass learns what each site repeats, the second one compares and clusters; a stream
    cannot know the one when it does the other. Of several stories of one URL the last one counts.
    """
    options = options or Options()
    arrived = in_order(stories)
    last = in_order({story.url: story for story in arrived}.values())
    pages = [StoryPage(s.timestamp, s.site, sketch(s.text, options)) for s in last]
    pairs = list(near_pairs(pages, options))
    cluster = agglomerate([page.at for page in pages], pairs, options)
    return Clustering(
        last, list(verdicts(last, cluster, pairs)), _differing(arrived, last, cluster, options)
    )


def verdicts(
    stories: Sequence[Story], cluster: Sequence[int], pairs: Iterable[Pair]
) -> Iterable[Verdict]:
    """Yield the verdict on each story, given its cluster and all near pairs."""
    near: dict[int, list[tuple[float, int]]] = defaultdict(list)
    size: dict[int, int] = defaultdict(int)
    for one, other, similarity in pairs:
        if cluster[one] == cluster[other]:
            near[one].append((-similarity.containment, other))
            near[other].append((-similarity.containment, one))
    for first in cluster:
        size[first] += 1
    for place, first in enumerate(cluster):
        nearest = sorted(near[place])
        yield Verdict(
            cluster=digest(stories[first].url, 8).hex(),
            size=size[first],
            is_first=place == first,
            similarity=round(-nearest[0][0], 4) if nearest else None,
            near_duplicates=tuple(stories[other].url for _, other in nearest[:LISTED]),
        )


def _differing(
    arrived: Sequence[Story], last: Sequence[Story], cluster: Sequence[int], options: Options
) -> tuple[str, ...]:
    """Return the URLs of the stories whose cluster is not the same in a replay."""
    with Index(None, options) as index:
        found = index.add_many(arrived)
        final = {
            story.url: index.resolve(verdict.cluster)
            for story, verdict in zip(arrived, found, strict=True)
        }
    together: dict[str, set[int]] = defaultdict(set)
    members: dict[int, set[int]] = defaultdict(set)
    for place, story in enumerate(last):
        together[final[story.url]].add(place)
        members[cluster[place]].add(place)
    return tuple(
        story.url
        for place, story in enumerate(last)
        if together[final[story.url]] != members[cluster[place]]
    )
