"""Index of near-duplicates: adds stories one by one and returns a verdict on each."""

from __future__ import annotations

import threading
from collections import defaultdict
from functools import partial
from itertools import combinations, count
from typing import TYPE_CHECKING, Final, NamedTuple

from newscrawl.near_duplicate_options import Options
from newscrawl.neardup import postings
from newscrawl.neardup.clusters import MAX_COMPARED_MEMBERS, NewStory
from newscrawl.neardup.database import FILE, StoryRecord, StoryTable, connect, digest
from newscrawl.neardup.pairs import in_window
from newscrawl.neardup.postings import InvertedIndex, posted_keys
from newscrawl.neardup.site_boilerplate import SiteBoilerplate
from newscrawl.neardup.sketch import (
    MAX_PART_JACCARD,
    Similarity,
    Sketch,
    anchors,
    are_parts,
    are_versions,
    compare,
    match,
    sketch,
)
from newscrawl.neardup.story import MAX_LISTED, Verdict
from newscrawl.sqlite import transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from newscrawl.neardup.story import Story

PRUNE_INTERVAL: Final = 50
"""Number of new stories after which those outside of the window are removed."""

TEXT_DIGEST_SIZE: Final = 8
"""Size of the digest of a text, in bytes."""

MAX_TEXTS: Final = 8
"""Maximum number of texts per story, the latest, that are recognized when they arrive again."""

MAX_COMPARED: Final = 200
"""Maximum number of stories that a new one is compared with: those with most shared hashes."""

MAX_MEMBERS: Final = 100
"""Maximum number of members of a cluster, the latest, that a new story must match half of.

Fewer than :data:`MAX_COMPARED`, so that the story was compared with all that share enough hashes.
"""


class ReplacedStory(NamedTuple):
    """The story that was at the URL of a new one."""

    record: StoryRecord
    verdict: Verdict


class LookupResult(NamedTuple):
    """Near-duplicates of a new story."""

    record: StoryRecord
    #: cluster of an earlier version of the story on its site
    version: int | None
    #: near-duplicates by id
    near: dict[int, Similarity]
    #: all compared stories by id
    records: dict[int, StoryRecord]


class Index:
    """Near-duplicate index of stories, in one SQLite file.

    ``add`` and ``add_many`` are one transaction each; their results survive the end of the process.
    A story is identified by its URL. If it arrives again with the same text, or one of its former
    texts, its stored verdict is returned, as caches serve old pages and runs are repeated. A new
    text replaces the stored one and keeps the cluster. Verdicts depend only on the stories, their
    order and the options.

    One process at a time may open the file; threads may share an index. Without a *path* the index
    is in memory. All methods raise :class:`NearDuplicateIndexError` if the file cannot be used.
    """

    def __init__(self, path: Path | str | None, options: Options | None = None) -> None:
        self.options = options or Options()
        self._within_site = self.options.within_site
        self._related = self.options.related
        self._path = path
        self._connection = connect(path, self.options.fingerprint)
        self._stories = StoryTable(self._connection)
        self._boilerplate = SiteBoilerplate(self._stories, self.options)
        self._newest = 0
        self._lock = threading.Lock()
        with FILE.translated_errors(path):
            self._postings = InvertedIndex(self._connection, self.options.min_shared)
            self._restore()

    def add(self, story: Story) -> Verdict:
        """Add a story and return its verdict."""
        return self.add_many([story])[0]

    def add_many(self, stories: Iterable[Story]) -> list[Verdict]:
        """Add all stories or, after an error, none; return their verdicts."""
        with self._lock, FILE.translated_errors(self._path):
            try:
                with transaction(self._connection):
                    return [self._add(story) for story in stories]
            except BaseException:
                self._restore()
                raise

    def resolve(self, cluster: str) -> str:
        """Return the current name of a cluster that may have been merged."""
        with self._lock, FILE.translated_errors(self._path):
            return self._stories.resolve(cluster)

    def __len__(self) -> int:
        """Return the number of stories in the index."""
        with self._lock, FILE.translated_errors(self._path):
            return self._stories.count()

    def close(self) -> None:
        """Close the file, so that another process may open it."""
        with self._lock, FILE.translated_errors(self._path):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, story: Story) -> Verdict:
        key, text = digest(story.url), digest(story.text, TEXT_DIGEST_SIZE)
        known = self._stories.find(key)
        texts = b"" if known is None else known[1]
        if known is not None and text in (
            texts[start : start + TEXT_DIGEST_SIZE]
            for start in range(0, len(texts), TEXT_DIGEST_SIZE)
        ):
            return self._stories.verdict(known[0])
        replaced = None
        if known is not None:
            replaced = ReplacedStory(
                self._stories.record(known[0]), self._stories.verdict(known[0])
            )
            self._remove(replaced.record)
        number = self._newest = self._newest + 1
        record = StoryRecord(
            id=number,
            url=story.url,
            at=story.timestamp,
            site=self._stories.site(story.site),
            lineage=replaced.record.lineage if replaced else number,
            cluster=replaced.record.cluster if replaced else 0,
            is_digest=False,
            sketch=sketch(story.text, self.options),
        )
        story_anchors = anchors(record.sketch, record.site)
        found = self._look_up(record, story_anchors)
        verdict, cluster = self._assign_cluster(found, replaced)
        record = found.record._replace(cluster=cluster)
        texts = (texts + text)[-TEXT_DIGEST_SIZE * MAX_TEXTS :]
        self._stories.insert(record, key, texts, verdict)
        boilerplate = self._boilerplate.hashes(record.site)
        self._postings.add(number, _keys(record.sketch, boilerplate, story_anchors))
        if number % PRUNE_INTERVAL == 0:
            self._prune(number)
        if number % postings.SETTLE_INTERVAL == 0:
            self._postings.settle(number)
        return verdict

    def _restore(self) -> None:
        """Load the state in memory from the file, after opening or a rollback."""
        self._boilerplate.reset()
        self._postings.reset()
        self._newest = self._stories.newest()
        latest = self._stories.after(self._postings.settled)
        self._postings.restore({record.id: self._posted_keys(record) for record in latest})

    def _posted_keys(self, record: StoryRecord) -> NDArray[np.uint32]:
        boilerplate = self._stories.boilerplate(record.site, until=record.id)
        return _keys(record.sketch, boilerplate, anchors(record.sketch, record.site))

    def _remove(self, record: StoryRecord) -> None:
        if record.id > self._postings.settled:
            self._postings.remove(record.id, self._posted_keys(record))
        self._boilerplate.forget(record)
        self._stories.delete(record.id)

    def _look_up(self, record: StoryRecord, story_anchors: NDArray[np.uint32]) -> LookupResult:
        """Return the near-duplicates and the lineage of a new story; learn its boilerplate."""
        boilerplate = self._boilerplate.hashes(record.site)
        keys = _keys(record.sketch, boilerplate, story_anchors)
        candidates = self._postings.candidates(keys, story_anchors.size, MAX_COMPARED)
        records = {
            other.id: other
            for other in self._stories.records(candidates)
            if in_window(record.at, other.at, self.options)
        }
        versions = [
            other
            for other in records.values()
            if other.site == record.site and are_versions(record.sketch, other.sketch, self.options)
        ]
        record = record._replace(lineage=min([record.lineage, *(it.lineage for it in versions)]))
        self._boilerplate.learn(record, record.sketch.without(boilerplate).hashes)
        matches = {number: self._match(record, other) for number, other in records.items()}
        near = {number: found for number, found in matches.items() if found}
        near |= {it.id: compare(record.sketch, it.sketch) for it in versions}
        record = record._replace(is_digest=self._is_digest(record, near, records))
        near = {
            number: similarity
            for number, similarity in near.items()
            if records[number].is_digest == record.is_digest
            and not self._is_other_part(record, records[number], similarity)
        }
        version = min((it.cluster for it in versions if it.id in near), default=None)
        return LookupResult(record, version, near, records)

    def _is_digest(
        self, record: StoryRecord, near: dict[int, Similarity], records: dict[int, StoryRecord]
    ) -> bool:
        """Return whether the near-duplicates of a new story are unrelated parts of it."""
        parts: dict[int, Sketch] = {}
        for number, similarity in near.items():
            other = records[number]
            if not other.is_digest and similarity.jaccard < MAX_PART_JACCARD:
                parts.setdefault(other.cluster, other.sketch)
        return any(are_parts(record.sketch, *pair) for pair in combinations(parts.values(), 2))

    def _is_other_part(
        self, record: StoryRecord, whole: StoryRecord, similarity: Similarity
    ) -> bool:
        """Return whether a new story is another part of *whole* than a story of its cluster."""
        if whole.is_digest or similarity.jaccard >= MAX_PART_JACCARD:
            return False
        members = self._stories.members(whole.cluster, -(2**62), 2**62, MAX_COMPARED_MEMBERS)
        return any(
            are_parts(whole.sketch, record.sketch, self._stories.record(number).sketch)
            for number in members
            if number != whole.id
        )

    def _match(self, left: StoryRecord, right: StoryRecord) -> Similarity | None:
        """Return the similarity of two near-duplicates, or None for other pairs."""
        options = self.options
        if left.site == right.site:
            options = self._within_site
            if are_versions(left.sketch, right.sketch, options):
                return match(left.sketch, right.sketch, options)
            if not self._boilerplate.is_learned(left.site):
                return None
        return match(self._without_boilerplate(left), self._without_boilerplate(right), options)

    def _without_boilerplate(self, record: StoryRecord) -> Sketch:
        return record.sketch.without(self._boilerplate.hashes(record.site))

    def _assign_cluster(
        self, found: LookupResult, replaced: ReplacedStory | None
    ) -> tuple[Verdict, int]:
        """Return the verdict and the cluster of a new story, which may be created or merged."""
        stories, record = self._stories, found.record
        clusters: dict[int, dict[int, float]] = defaultdict(dict)
        for number, similarity in found.near.items():
            clusters[found.records[number].cluster][number] = similarity.containment
        records = {**found.records, record.id: record}
        new_story = NewStory(
            record.id,
            clusters,
            partial(self._members, found),
            partial(self._is_linked, records),
            partial(self._is_related, records),
            self.options,
        )
        joined = new_story.joined(own=replaced.record.cluster if replaced else found.version)
        if not joined:
            name = self._new_name(record.url)
            verdict = Verdict(name, size=1, is_first=True, similarity=None, near_duplicates=())
            return verdict, stories.new_cluster(name)
        cluster = min(joined)
        merged = tuple(
            stories.merge(other, cluster) for other in sorted(joined) if other != cluster
        )
        if replaced is None:
            stories.grow(cluster)
        name, size = stories.cluster(cluster)
        near = sorted(
            (-similarity.containment, number)
            for number, similarity in found.near.items()
            if found.records[number].cluster in joined
        )
        earlier = replaced.verdict if replaced else None
        is_first = earlier is not None and earlier.is_first and earlier.cluster == name
        urls = tuple(found.records[number].url for _, number in near[:MAX_LISTED])
        nearest = round(-near[0][0], 4) if near else None
        return Verdict(name, size, is_first, nearest, urls, merged), cluster

    def _new_name(self, url: str) -> str:
        """Return a unique name for a cluster that begins with *url*."""
        name = digest(url, 8).hex()
        if not self._stories.is_taken(name):
            return name
        names = (f"{name}-{number}" for number in count(2))
        return next(name for name in names if not self._stories.is_taken(name))

    def _members(self, found: LookupResult, cluster: int) -> list[int]:
        """Return the stories of a cluster that the new story was compared with."""
        window = self.options.window
        span = 2**62 if window is None else int(window.total_seconds())
        at = found.record.at
        latest = self._stories.members(cluster, at - span, at + span, MAX_MEMBERS)
        near = (number for number in found.near if found.records[number].cluster == cluster)
        return sorted({*latest, *near})

    def _is_linked(self, records: dict[int, StoryRecord], first: int, second: int) -> bool:
        """Return whether two stories are near-duplicates."""
        left, right = self._records(records, first, second)
        return (
            left.is_digest == right.is_digest
            and in_window(left.at, right.at, self.options)
            and self._match(left, right) is not None
        )

    def _is_related(self, records: dict[int, StoryRecord], first: int, second: int) -> bool:
        left, right = map(self._without_boilerplate, self._records(records, first, second))
        return match(left, right, self._related) is not None

    def _records(self, records: dict[int, StoryRecord], *numbers: int) -> Iterable[StoryRecord]:
        return (records.get(number) or self._stories.record(number) for number in numbers)

    def _prune(self, newest: int) -> None:
        """Remove the stories that no new story will be compared with."""
        window = self.options.window
        if window is None:
            return
        # Two windows: one for stories that arrive late, one for the stories these are compared
        # with. The newest dates may be wrong, so the time of a hundredth of the stories counts.
        newest_time = self._stories.newest_time(self.options.retain // 100)
        horizon = newest_time - 2 * int(window.total_seconds())
        for record in self._stories.before(newest - self.options.retain, horizon):
            self._remove(record)
            self._stories.delete_empty_cluster(record.cluster)


def _keys(
    story: Sketch, boilerplate: NDArray[np.uint32], story_anchors: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Return the posting keys of a story, given the boilerplate of its site."""
    hashes = story.without(boilerplate).hashes
    return posted_keys(hashes, story_anchors, learned=bool(boilerplate.size))
