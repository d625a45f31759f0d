"""The keys that stories are found by: those of the last stories in memory, the others in the file.

In the file keys are put together in buckets, a row each, of which a story needs some seventy.
A bucket has six bytes for each key of a story: what is new is appended, and what is known is found
by one comparison of arrays. A sixty-fourth of the keys goes from memory into the file each time, so
that all have gone once in 8,192 stories, and no call takes long.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from newscrawl.neardup.bloom_filter import KeyFilter
from newscrawl.neardup.recent import Recent
from newscrawl.neardup.shingles import among, distinct

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

POSTED: Final = 64
"""Hashes, the least ones, that a story is found by.

Near-duplicates have a twelfth of the hashes of both in common (``Options.jaccard``), and so have
the least ones, whatever the texts' lengths: the least of a union are the least of either. Of pairs
with just a twelfth nine of ten share :data:`SHARED` of them.
"""

UNKNOWN: Final = 6
"""So many times as many are they of a page of a site that is not known yet to repeat anything.

They may be boilerplate for the most part, and what the page is compared by the rest.
"""

SHARED: Final = 3
"""Of these, so many are shared with a story that is looked at: two meet by chance."""

LATEST: Final = 128
"""Stories, the last ones in the file and the last ones in memory, that are found by a key.

Phrases that everybody uses ("at the end of") would else cost the more the more stories there are.
"""

FEW: Final = 8
"""An anchor of so many stories is enough; one of more, a frame's, counts as a hash."""

SETTLED: Final = 128
"""After so many stories, the keys of one part go from memory into the file."""

PARTS: Final = 64
"""Parts of the keys."""

GROWTH: Final = 2
"""A part so many times as large as it was is cleaned of stories that are not found any more."""

ENTRY: Final = np.dtype([("low", "<u2"), ("story", "<u4")])
"""What a bucket has of a story: the low bits of the key, and the story's number."""

_BUCKET, _PART = 16, 25
"""Of 31 bits, the first six tell the part, the first fifteen the bucket, the others the entry."""


def posted_keys(
    hashes: NDArray[np.uint32], anchors: NDArray[np.uint32], *, known: bool
) -> NDArray[np.uint32]:
    """Return what a story of these sorted *hashes*, and of these *anchors*, is found by.

    *known*: they are known not to be repeated by the site. Keys are spread evenly over 31 bits: the
    hashes of sketches are low ones (Fibonacci hashing, Knuth, The Art of Computer Programming,
    volume 3, section 6.4).
    """
    keys = np.concatenate((hashes[: POSTED if known else UNKNOWN * POSTED], anchors))
    return (keys * np.uint32(0x9E3779B1)) >> np.uint32(1)


class Postings:
    """Which stories have a key; who calls it opens and commits the transactions."""

    def __init__(self, connection: sqlite3.Connection, least_shared: int) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany
        self._least = min(SHARED, least_shared)
        self._filter = KeyFilter()
        for part in range(PARTS):
            stored = dict(self._stored(part << _PART, part + 1 << _PART))
            self._filter.add(_unpacked(stored)[0])
        self.recall()

    def recall(self) -> None:
        """Forget what is in memory: :meth:`restore` puts it there again."""
        rows = dict(self._execute("SELECT number, settled FROM part").fetchall())
        #: of each part, the last story whose keys are in the file
        self._settled = np.array([rows.get(part, 0) for part in range(PARTS)])
        self.recent = Recent()

    @property
    def settled(self) -> int:
        """The last story all keys of which are in the file, as are those of all stories before."""
        return int(self._settled.min())

    def candidates(self, keys: NDArray[np.uint32], anchors: int, most: int) -> list[int]:
        """Return the stories that share enough of *keys*, the last of which are *anchors*.

        Of more than *most*, those that share most, and of these the latest.
        """
        least = self._least
        perhaps = self._filter.maybe(keys)
        places, stories = self._found(keys[perhaps])
        few = np.bincount(places, minlength=perhaps.size) <= FEW
        sure = (few & (perhaps >= keys.size - anchors))[places]
        stories = np.sort(np.concatenate((stories, np.repeat(stories[sure], least - 1))))
        likely = distinct(
            stories[least - 1 :][stories[least - 1 :] == stories[: stories.size - least + 1]]
        )
        if likely.size > most:
            count = np.searchsorted(stories, likely, "right") - np.searchsorted(stories, likely)
            likely = likely[np.lexsort((likely, count))[-most:]]
        result: list[int] = likely.tolist()
        return result

    def _found(self, keys: NDArray[np.uint32]) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
        """Return the places of *keys* that stories have, and the stories."""
        recent_places, recent = self.recent.find(keys, LATEST)
        rows = self._execute(
            "SELECT key, entries FROM json_each(?) CROSS JOIN posting ON bucket = value",
            (json.dumps((keys >> _BUCKET).tolist()),),
        ).fetchall()
        places = np.array([place for place, _ in rows], np.intp)
        sizes = np.array([len(entries) for _, entries in rows], np.intp) // ENTRY.itemsize
        entries = np.frombuffer(b"".join(entries for _, entries in rows), ENTRY)
        hits = np.flatnonzero(entries["low"] == np.repeat(keys[places].astype(np.uint16), sizes))
        row = np.searchsorted(np.cumsum(sizes), hits, "right")
        if hits.size > LATEST:
            latest = _latest(row)
            hits, row = hits[latest], row[latest]
        return (
            np.concatenate((places[row], np.array(recent_places, np.intp))),
            np.concatenate((entries["story"][hits], recent)),
        )

    def restore(self, stories: Mapping[int, NDArray[np.uint32]]) -> None:
        """Make *stories* found by their keys: all but those that are in the file."""
        if not stories:
            return
        keys = np.concatenate(list(stories.values()))
        sizes = [held.size for held in stories.values()]
        numbers = np.repeat(np.array(list(stories), np.uint32), sizes)
        left = self._settled[keys >> _PART] < numbers
        self._filter.add(keys[left])
        self.recent.add(numbers[left], keys[left])

    def post(self, story: int, keys: NDArray[np.uint32]) -> None:
        """Make a story found by *keys*."""
        self._filter.add(keys)
        self.recent.add(np.uint32(story), keys)

    def withdraw(self, story: int, keys: NDArray[np.uint32]) -> None:
        """Make a story no longer found, as far as it is in memory: that is what a restart finds.

        In the file its number tells nothing, since there is no such story, until that is cleaned.
        """
        self.recent.remove(story, keys)

    def settle(self, story: int) -> None:
        """Write a part of what is in memory into the file."""
        part = story // SETTLED % PARTS
        span = (part << _PART, part + 1 << _PART)
        stored = dict(self._stored(*span))
        changed = {
            bucket: stored.get(bucket, b"") + entries
            for bucket, entries in _packed(*self.recent.take(*span))
        }
        stored = dict(sorted({**stored, **changed}.items()))
        row = self._execute("SELECT cleaned FROM part WHERE number = ?", (part,)).fetchone()
        cleaned = row[0] if row else 0
        if sum(map(len, stored.values())) > GROWTH * cleaned:
            changed = self._cleaned(stored, *span)
            cleaned = sum(map(len, changed.values()))
        self._executemany("INSERT OR REPLACE INTO posting VALUES (?, ?)", changed.items())
        self._execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?)", (part, story, cleaned))
        self._settled[part] = story

    def _stored(self, low: int, high: int) -> sqlite3.Cursor:
        """Return the buckets of the keys from *low* to below *high*."""
        return self._execute(
            "SELECT bucket, entries FROM posting WHERE bucket >= ? AND bucket < ?",
            (low >> _BUCKET, high >> _BUCKET),
        )

    def _cleaned(self, stored: Mapping[int, bytes], low: int, high: int) -> dict[int, bytes]:
        """Return buckets without stories that are gone, and with the last ones alone of a key."""
        keys, stories = _unpacked(stored)
        left = np.flatnonzero(self._known(stories))
        order = left[np.argsort(keys[left], kind="stable")]
        left = np.sort(order[_latest(keys[order])])
        self._filter.clear(low, high)
        self._filter.add(keys[left])
        self._execute(
            "DELETE FROM posting WHERE bucket >= ? AND bucket < ?",
            (low >> _BUCKET, high >> _BUCKET),
        )
        return dict(_packed(keys[left], stories[left]))

    def _known(self, stories: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return which of *stories* are in the index."""
        ((count, newest),) = self._execute("SELECT count(*), max(id) FROM story")
        if count == newest:
            return np.ones(stories.size, np.bool_)
        known = self._execute("SELECT id FROM story ORDER BY id").fetchall()
        return among(stories, np.array(known, np.uint32).ravel())


def _latest(runs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of sorted values are among the last :data:`LATEST` of their run."""
    after = np.searchsorted(runs, runs, "right") - np.arange(runs.size)
    return np.asarray(after <= LATEST)


def _packed(keys: NDArray[np.uint32], stories: NDArray[np.uint32]) -> Iterator[tuple[int, bytes]]:
    """Yield each bucket of keys with its entries; *keys* are in the order of their buckets."""
    entries = np.empty(keys.size, ENTRY)
    entries["low"] = keys & 0xFFFF
    entries["story"] = stories
    buckets, starts = np.unique(keys >> _BUCKET, return_index=True)
    ends = np.append(starts, keys.size)[1:]
    for bucket, start, end in zip(buckets.tolist(), starts, ends, strict=True):
        yield bucket, entries[start:end].tobytes()


def _unpacked(stored: Mapping[int, bytes]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return keys and stories of buckets, in their order."""
    entries = np.frombuffer(b"".join(stored.values()), ENTRY)
    sizes = [len(held) // ENTRY.itemsize for held in stored.values()]
    buckets = np.repeat(np.array(list(stored), np.uint32), sizes)
    return buckets << _BUCKET | entries["low"], entries["story"]
