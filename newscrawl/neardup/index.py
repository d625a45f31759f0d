"""The index of near-duplicates: stories come in one by one, each with a verdict at once."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from newscrawl.neardup.clusters import joined
from newscrawl.neardup.database import FILE, connect
from newscrawl.neardup.options import Options
from newscrawl.neardup.shelf import Record, Shelf, digest, unsigned
from newscrawl.neardup.sketch import (
    Similarity,
    Sketch,
    anchors,
    match,
    sketch,
    versions,
)
from newscrawl.neardup.story import LISTED, Verdict
from newscrawl.sqlite import transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from newscrawl.neardup.story import Story

PRUNED: Final = 50
"""After so many new stories, those out of the window go."""

SETTLED: Final = 1000
"""After so many new stories, their postings go from memory into the file."""

SITES: Final = 1024
"""Sites whose boilerplate is kept in memory."""

TEXT: Final = 8
"""Bytes of the digest of a text."""

VERSIONS: Final = 8
"""Versions of a story, the last ones, that are known again."""

COMPARED: Final = 200
"""Stories that a new one is compared with at most: those that share most hashes."""


class Found(NamedTuple):
    """What a look-up tells of a new story."""

    record: Record
    #: stories that it is near to
    near: dict[int, Similarity]
    records: dict[int, Record]


class Index:
    """Near-duplicates of the stories that came in so far, in one SQLite file.

    ``add`` and ``add_many`` are one transaction each: what they have returned is in the file,
    however the process ends. A story is known by its URL: one that comes again with the same text
    gets the verdict it got before, and one with another text replaces what was stored and keeps
    its cluster. A former text changes nothing: caches serve old pages, and runs are repeated. Verdicts depend on the stories, their order and the options, on nothing else.

    What the last stories are found by is in memory, and written in bulk once in 1,000 stories:
    that call takes up to a second or so in a large index.

    One process has the file open at a time; another one is refused. Threads may share an index.
    Without a *path* the index is in memory. Everything raises :class:`NearDuplicateIndexError`
    where the file cannot be used.
    """

    def __init__(self, path: Path | str | None, options: Options | None = None) -> None:
        self.options = options or Options()
        self._path = path
        self._connection = connect(path, self.options.fingerprint)
        self._shelf = Shelf(self._connection)
        self._boilerplate: dict[int, NDArray[np.uint32]] = {}
        self._lock = threading.Lock()
        with FILE.explained(path), transaction(self._connection):
            self._restore()

    def add(self, story: Story) -> Verdict:
        """Put a story into the index and return where it stands."""
        return self.add_many([story])[0]

    def add_many(self, stories: Iterable[Story]) -> list[Verdict]:
        """Put stories into the index, all or none, and return where each stands."""
        with self._lock, FILE.explained(self._path):
            try:
                with transaction(self._connection):
                    return [self._add(story) for story in stories]
            except BaseException:
                self._boilerplate.clear()
                self._shelf.recall()
                raise

    def resolve(self, cluster: str) -> str:
        """Return the name of the cluster that a cluster is part of by now."""
        with self._lock, FILE.explained(self._path):
            return self._shelf.resolve(cluster)

    def __len__(self) -> int:
        """Return how many stories the index holds."""
        with self._lock, FILE.explained(self._path):
            return self._shelf.count()

    def close(self) -> None:
        """Close the file; another process may open it then."""
        with self._lock, FILE.explained(self._path):
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
        former = None if known is None else self._withdraw(known[0])
        site = self._shelf.site(story.site)
        number = former.id if former else self._shelf.new_story(story, key, site)
        made = sketch(story.text, self.options)
        record = Record(
            number, story.timestamp, site, number, former.cluster if former else 0, made
        )
        anchored = anchors(made, site)
        found = self._look_up(record, anchored)
        verdict, cluster = self._place(story, found, former)
        record = replace(found.record, cluster=cluster)
        self._shelf.fill(record, (texts + text)[-TEXT * VERSIONS :], verdict)
        kept = made.without(self._repeated(site))
        self._shelf.post(number, site, kept.hashes, anchored)
        if former is None and number % PRUNED == 0:
            self._prune(number)
        if former is None and number % SETTLED == 0:
            self._shelf.settle(number)
        return verdict

    def _restore(self) -> None:
        """Make the last stories found that were when the index was closed, or its process ended."""
        for record in self._shelf.unsettled():
            kept = record.sketch.without(self._repeated(record.site))
            anchored = anchors(record.sketch, record.site)
            self._shelf.post(record.id, record.site, kept.hashes, anchored)

    def _withdraw(self, number: int) -> Record:
        """Return a story whose text is no longer what it was, found by its old hashes no more."""
        record = self._shelf.record(number)
        hashes = record.sketch.hashes
        self._shelf.unpost(number, hashes, anchors(record.sketch, record.site))
        return record

    def _repeated(self, site: int) -> NDArray[np.uint32]:
        """Return the hashes that a site repeats on its pages."""
        hashes = self._boilerplate.get(site)
        if hashes is None:
            if len(self._boilerplate) >= SITES:
                self._boilerplate.clear()
            hashes = self._boilerplate[site] = self._shelf.boilerplate(site)
        return hashes

    def _look_up(self, record: Record, anchored: NDArray[np.uint32]) -> Found:
        """Return what a story is near to, and its lineage."""
        made = record.sketch.without(self._repeated(record.site))
        rows = self._shelf.postings(made.hashes)
        shared = Counter(story for _, _, story in rows)
        likely = [
            (-count, story) for story, count in shared.items() if count >= self.options.least_shared
        ]
        stories = {story for _, story in sorted(likely)[:COMPARED]}
        stories |= self._shelf.anchored(anchored)
        records = {
            other.id: other
            for other in self._shelf.records(stories)
            if other.id != record.id and self._in_window(record.at, other.at)
        }
        lineage = min(
            (
                other.lineage
                for other in records.values()
                if other.site == record.site and versions(record.sketch, other.sketch, self.options)
            ),
            default=record.id,
        )
        record = replace(record, lineage=lineage)
        if lineage == record.id:
            self._shelf.count_story(record.site)
        self._suppress(record, rows)
        near = {
            number: similarity
            for number, other in records.items()
            if (similarity := self._near(record, other)) is not None
        }
        return Found(record, near, records)

    def _in_window(self, one: int, other: int) -> bool:
        window = self.options.window
        return window is None or abs(one - other) <= window.total_seconds()

    def _suppress(self, record: Record, rows: list[tuple[int, int, int]]) -> None:
        """Suppress what the site repeats on pages that are not versions of one story."""
        same = [(value, story) for value, site, story in rows if site == record.site]
        if not self.options.site_pages or not same:
            return
        lineage = self._shelf.lineages({story for _, story in same})
        lineages: dict[int, set[int]] = defaultdict(lambda: {record.lineage})
        for value, story in same:
            lineages[value].add(lineage[story])
        fresh = [
            value for value, pages in lineages.items() if len(pages) >= self.options.site_pages
        ]
        if fresh:
            self._shelf.suppress(record.site, fresh)
            known = self._repeated(record.site)
            self._boilerplate[record.site] = np.union1d(known, unsigned(fresh))

    def _near(self, one: Record, other: Record) -> Similarity | None:
        """Return the similarity of near-duplicates, None for other pairs."""
        if one.site == other.site:
            if versions(one.sketch, other.sketch, self.options):
                return match(one.sketch, other.sketch, self.options)
            if not self._known(one.site):
                return None
        return match(self._effective(one), self._effective(other), self.options)

    def _known(self, site: int) -> bool:
        """Return True if what a site repeats shows on the pages seen so far."""
        return self._shelf.stories(site) >= self.options.site_pages

    def _effective(self, record: Record) -> Sketch:
        return record.sketch.without(self._repeated(record.site))

    def _place(self, story: Story, found: Found, former: Record | None) -> tuple[Verdict, int]:
        """Return the verdict on a story and its cluster, which is made if need be."""
        shelf, record = self._shelf, found.record
        clusters: dict[int, list[float]] = defaultdict(list)
        for number, similarity in found.near.items():
            clusters[found.records[number].cluster].append(similarity.containment)
        parts = joined(
            clusters,
            partial(self._members, record),
            partial(self._linked, found.records),
            self.options.majority,
            own=former.cluster if former else None,
        )
        cluster = min(parts) if parts else shelf.new_cluster(self._name(story.url))
        merged = tuple(shelf.merge(part, cluster) for part in sorted(parts) if part != cluster)
        if former is None:
            shelf.grow(cluster)
        name, size = shelf.cluster(cluster)
        near = sorted(
            (-similarity.containment, number)
            for number, similarity in found.near.items()
            if found.records[number].cluster in parts
        )
        is_first = not parts if former is None else self._began(former, name)
        urls = shelf.urls([number for _, number in near[:LISTED]])
        nearest = round(-near[0][0], 4) if near else None
        return Verdict(name, size, is_first, nearest, urls, merged), cluster

    def _began(self, former: Record, cluster: str) -> bool:
        """Return True for a story that the cluster of this name began with."""
        verdict = self._shelf.verdict(former.id)
        return verdict.is_first and verdict.cluster == cluster

    def _name(self, url: str) -> str:
        """Return a name for the cluster that a URL begins."""
        name = digest(url, 8).hex()
        if not self._shelf.taken(name):
            return name
        count = 2
        while self._shelf.taken(f"{name}-{count}"):
            count += 1
        return f"{name}-{count}"

    def _members(self, record: Record, cluster: int) -> list[int]:
        """Return the stories of a cluster that a story was compared with."""
        window = self.options.window
        span = 2**62 if window is None else int(window.total_seconds())
        members = self._shelf.members(cluster, record.at - span, record.at + span)
        return [number for number in members if number != record.id]

    def _linked(self, records: dict[int, Record], one: int, other: int) -> bool:
        """Return True for two stories of the index that are near-duplicates."""
        left, right = (records.get(number) or self._shelf.record(number) for number in (one, other))
        return self._in_window(left.at, right.at) and self._near(left, right) is not None

    def _prune(self, newest: int) -> None:
        """Forget the stories that no new one will be compared with."""
        window = self.options.window
        if window is None:
            return
        # One window for the stories that come late, another for those to be found by them. The
        # newest of all may bear a wrong date: a hundredth of them has to be as new.
        horizon = self._shelf.newest(self.options.retain // 100) - 2 * int(window.total_seconds())
        for record in self._shelf.before(newest - self.options.retain, horizon):
            self._withdraw(record.id)
            self._shelf.forget(record)
