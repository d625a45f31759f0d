"""The index of near-duplicates: stories come in one by one, each with a verdict at once."""

from __future__ import annotations

import threading
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from newscrawl.neardup import postings
from newscrawl.neardup.clusters import NewStory
from newscrawl.neardup.database import FILE, connect
from newscrawl.neardup.near_duplicate_options import Options
from newscrawl.neardup.postings import Postings, posted_keys
from newscrawl.neardup.site_shingles import Sites
from newscrawl.neardup.sketch import (
    Similarity,
    Sketch,
    anchors,
    match,
    match_all,
    sketch,
    versions,
)
from newscrawl.neardup.story import LISTED, Verdict
from newscrawl.neardup.story_table import Shelf, StoryRecord, digest
from newscrawl.sqlite import transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from newscrawl.neardup.story import Story

PRUNED: Final = 50
"""After so many new stories, those out of the window go."""

TEXT: Final = 8
"""Bytes of the digest of a text."""

VERSIONS: Final = 8
"""Versions of a story, the last ones, that are known again."""

COMPARED: Final = 200
"""Stories that a new one is compared with at most: those that share most hashes, the latest."""

MEMBERS: Final = 100
"""Members of a cluster, the last ones, half of which a new one is near to.

Fewer than :data:`COMPARED`: it was compared with all of them that share enough hashes with it.
"""


class LookupResult(NamedTuple):
    """What a look-up tells of a new story."""

    record: StoryRecord
    #: stories that it is near to
    near: dict[int, Similarity]
    records: dict[int, StoryRecord]


class Former(NamedTuple):
    """A story that another text of its URL replaces."""

    record: StoryRecord
    verdict: Verdict

    def began(self, cluster: str) -> bool:
        """Return True if the cluster of this name began with it."""
        return self.verdict.is_first and self.verdict.cluster == cluster


class Index:
    """Near-duplicates of the stories that came in so far, in one SQLite file.

    ``add`` and ``add_many`` are one transaction each: what they have returned is in the file,
    however the process ends. A story is known by its URL: one that comes again with the same text
    gets the verdict it got before, and one with another text replaces what was stored and keeps
    its cluster. A former text changes nothing: caches serve old pages, and runs are repeated.
    Verdicts depend on the stories, their order and the options, on nothing else.

    One process has the file open at a time; another one is refused. Threads may share an index.
    Without a *path* the index is in memory. Everything raises :class:`NearDuplicateIndexError`
    where the file cannot be used.
    """

    def __init__(self, path: Path | str | None, options: Options | None = None) -> None:
        self.options = options or Options()
        self._within_site = self.options.within_site
        self._least_alike = self.options.alike
        self._path = path
        self._connection = connect(path, self.options.fingerprint)
        self._shelf = Shelf(self._connection)
        self._sites = Sites(self._shelf, self.options)
        self._newest = 0
        self._lock = threading.Lock()
        with FILE.translated_errors(path):
            self._postings = Postings(self._connection, self.options.least_shared)
            self._recall()

    def add(self, story: Story) -> Verdict:
        """Put a story into the index and return where it stands."""
        return self.add_many([story])[0]

    def add_many(self, stories: Iterable[Story]) -> list[Verdict]:
        """Put stories into the index, all or none, and return where each stands."""
        with self._lock, FILE.translated_errors(self._path):
            try:
                with transaction(self._connection):
                    return [self._add(story) for story in stories]
            except BaseException:
                self._recall()
                raise

    def resolve(self, cluster: str) -> str:
        """Return the name of the cluster that a cluster is part of by now."""
        with self._lock, FILE.translated_errors(self._path):
            return self._shelf.resolve(cluster)

    def __len__(self) -> int:
        """Return how many stories the index holds."""
        with self._lock, FILE.translated_errors(self._path):
            return self._shelf.count()

    def close(self) -> None:
        """Close the file; another process may open it then."""
        with self._lock, FILE.translated_errors(self._path):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _add(self, story: Story) -> Verdict:
        key, text = digest(story.url), digest(story.text, TEXT)
        known = self._shelf.find(key)
        texts = b"" if known is None else known[1]
        if known is not None and text in (
            texts[at : at + TEXT] for at in range(0, len(texts), TEXT)
        ):
            return self._shelf.verdict(known[0])
        made = sketch(story.text, self.options)
        former = None if known is None else self._former(known[0])
        number = self._newest = self._newest + 1
        record = StoryRecord(
            id=number,
            url=story.url,
            at=story.timestamp,
            site=self._shelf.site(story.site),
            lineage=former.record.lineage if former else number,
            cluster=former.record.cluster if former else 0,
            sketch=made,
        )
        anchored = anchors(made, record.site)
        found = self._look_up(record, anchored)
        verdict, cluster = self._place(found, former)
        record = found.record._replace(cluster=cluster)
        self._shelf.put(record, key, (texts + text)[-TEXT * VERSIONS :], verdict)
        self._postings.post(number, self._keys(record, self._sites.repeated(record.site), anchored))
        if number % PRUNED == 0:
            self._prune(number)
        if number % postings.SETTLED == 0:
            self._postings.settle(number)
        return verdict

    def _recall(self) -> None:
        """Put what the last stories are found by into memory, as it was when they had come in."""
        self._sites.recall()
        self._postings.recall()
        self._newest = self._shelf.newest()
        last = self._shelf.after(self._postings.settled)
        self._postings.restore({record.id: self._posted(record) for record in last})

    def _posted(self, record: StoryRecord) -> NDArray[np.uint32]:
        """Return what a story of the index is found by."""
        repeated = self._shelf.boilerplate(record.site, until=record.id)
        return self._keys(record, repeated, anchors(record.sketch, record.site))

    def _keys(
        self, record: StoryRecord, repeated: NDArray[np.uint32], anchored: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Return what a story is found by whose site repeats some hashes."""
        hashes = record.sketch.without(repeated).hashes
        return posted_keys(hashes, anchored, known=bool(repeated.size))

    def _former(self, number: int) -> Former:
        """Return a story whose text is no longer what it was; it is no longer in the index."""
        former = Former(self._shelf.record(number), self._shelf.verdict(number))
        self._withdraw(former.record)
        return former

    def _withdraw(self, record: StoryRecord) -> None:
        """Delete a story."""
        if record.id > self._postings.settled:
            self._postings.withdraw(record.id, self._posted(record))
        self._sites.forget(record)
        self._shelf.remove(record.id)

    def _look_up(self, record: StoryRecord, anchored: NDArray[np.uint32]) -> LookupResult:
        """Return what a story is near to, and its lineage."""
        repeated = self._sites.repeated(record.site)
        fresh = record.sketch.without(repeated).hashes
        keys = posted_keys(fresh, anchored, known=bool(repeated.size))
        records = {
            other.id: other
            for other in self._shelf.records(
                self._postings.candidates(keys, anchored.size, COMPARED)
            )
            if self._in_window(record.at, other.at)
        }
        lineages = (
            other.lineage
            for other in records.values()
            if other.site == record.site and versions(record.sketch, other.sketch, self.options)
        )
        record = record._replace(lineage=min([record.lineage, *lineages]))
        self._sites.learn(record, fresh)
        return LookupResult(record, self._all_near(record, records), records)

    def _all_near(
        self, record: StoryRecord, records: dict[int, StoryRecord]
    ) -> dict[int, Similarity]:
        """Return which of *records* a story is near to."""
        elsewhere = [other for other in records.values() if other.site != record.site]
        sketches = map(self._effective, elsewhere)
        matches = match_all(self._effective(record), sketches, self.options)
        found = dict(zip((other.id for other in elsewhere), matches, strict=True))
        return {
            number: similarity
            for number, other in records.items()
            if (similarity := found[number] if number in found else self._near(record, other))
        }

    def _in_window(self, one: int, other: int) -> bool:
        window = self.options.window
        return window is None or abs(one - other) <= window.total_seconds()

    def _near(self, one: StoryRecord, other: StoryRecord) -> Similarity | None:
        """Return the similarity of near-duplicates, None for other pairs."""
        options = self.options
        if one.site == other.site:
            options = self._within_site
            if versions(one.sketch, other.sketch, options):
                return match(one.sketch, other.sketch, options)
            if not self._sites.known(one.site):
                return None
        return match(self._effective(one), self._effective(other), options)

    def _effective(self, record: StoryRecord) -> Sketch:
        return record.sketch.without(self._sites.repeated(record.site))

    def _place(self, found: LookupResult, former: Former | None) -> tuple[Verdict, int]:
        """Return the verdict on a story and its cluster, which is made if need be."""
        shelf, record = self._shelf, found.record
        clusters: dict[int, dict[int, float]] = defaultdict(dict)
        for number, similarity in found.near.items():
            clusters[found.records[number].cluster][number] = similarity.containment
        records = {**found.records, record.id: record}
        arrival = NewStory(
            record.id,
            clusters,
            partial(self._members, found),
            partial(self._linked, records),
            partial(self._alike, records),
            self.options,
        )
        parts = arrival.joined(own=former.record.cluster if former else None)
        if not parts:
            name = self._name(record.url)
            verdict = Verdict(name, size=1, is_first=True, similarity=None, near_duplicates=())
            return verdict, shelf.new_cluster(name)
        cluster = min(parts)
        merged = tuple(shelf.merge(part, cluster) for part in sorted(parts) if part != cluster)
        if former is None:
            shelf.grow(cluster)
        name, size = shelf.cluster(cluster)
        near = sorted(
            (-similarity.containment, number)
            for number, similarity in found.near.items()
            if found.records[number].cluster in parts
        )
        is_first = former is not None and former.began(name)
        urls = tuple(found.records[number].url for _, number in near[:LISTED])
        nearest = round(-near[0][0], 4) if near else None
        return Verdict(name, size, is_first, nearest, urls, merged), cluster

    def _name(self, url: str) -> str:
        """Return a name for the cluster that a URL begins."""
        name = digest(url, 8).hex()
        if not self._shelf.taken(name):
            return name
        count = 2
        while self._shelf.taken(f"{name}-{count}"):
            count += 1
        return f"{name}-{count}"

    def _members(self, found: LookupResult, cluster: int) -> list[int]:
        """Return the stories of a cluster that a story was compared with."""
        window = self.options.window
        span = 2**62 if window is None else int(window.total_seconds())
        at = found.record.at
        last = self._shelf.members(cluster, at - span, at + span, MEMBERS)
        near = (number for number in found.near if found.records[number].cluster == cluster)
        return sorted({*last, *near})

    def _linked(self, records: dict[int, StoryRecord], one: int, other: int) -> bool:
        """Return True for two stories of the index that are near-duplicates."""
        left, right = self._both(records, one, other)
        return self._in_window(left.at, right.at) and self._near(left, right) is not None

    def _alike(self, records: dict[int, StoryRecord], one: int, other: int) -> bool:
        """Return True for two stories of the index that have something in common."""
        left, right = map(self._effective, self._both(records, one, other))
        return match(left, right, self._least_alike) is not None

    def _both(
        self, records: dict[int, StoryRecord], one: int, other: int
    ) -> tuple[StoryRecord, StoryRecord]:
        left, right = (records.get(number) or self._shelf.record(number) for number in (one, other))
        return left, right

    def _prune(self, newest: int) -> None:
        """Forget the stories that no new one will be compared with."""
        window = self.options.window
        if window is None:
            return
        # One window for the stories that come late, another for those to be found by them. The
        # newest of all may bear a wrong date: a hundredth of them has to be as new.
        horizon = self._shelf.newest_time(self.options.retain // 100) - 2 * int(
            window.total_seconds()
        )
        for record in self._shelf.before(newest - self.options.retain, horizon):
            self._withdraw(record)
            self._shelf.close_cluster(record.cluster)
