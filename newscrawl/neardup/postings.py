"""Inverted index: shingle hash -> stories.

The postings of the latest stories are in memory, all others in the SQLite file. A posting in the
file takes six bytes; postings are stored in buckets of one row each, of which a story needs about
seventy. After every :data:`SETTLE_INTERVAL` stories one part of the keys moves from memory to the
file, so that no call takes long.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from newscrawl.neardup.shingles import distinct, is_among, merged

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

POSTED_HASHES: Final = 64
"""Number of smallest hashes that a story is indexed by.

The smallest hashes of two texts overlap as much as all hashes do (``Options.jaccard``), whatever
the lengths of the texts.
"""

UNLEARNED_FACTOR: Final = 6
"""Factor of :data:`POSTED_HASHES` for pages of sites whose boilerplate is still unknown."""

MIN_SHARED_KEYS: Final = 3
"""Minimum number of keys that a candidate shares with a story; two are often shared by chance."""

MAX_STORIES_PER_KEY: Final = 128
"""Maximum number of stories found by a key, the latest in the file and the latest in memory.

Bounds the cost of common phrases.
"""

MAX_STORIES_PER_ANCHOR: Final = 8
"""An anchor of at most so many stories suffices for a candidate; otherwise it counts as a hash."""

SETTLE_INTERVAL: Final = 128
"""Number of stories after which one part of the keys moves from memory to the file."""

PARTS: Final = 64
"""Number of parts of the key range."""

GROWTH_RATIO: Final = 2
"""Growth of a part in the file since its last clean-up that triggers the next."""

ENTRY: Final = np.dtype([("low", "<u2"), ("story", "<u4")])
"""Posting in a bucket: the low bits of the key and the number of the story."""

# Keys have 31 bits. The first 6 give the part, the first 15 the bucket, the other 16 the entry.
_BUCKET_SHIFT, _PART_SHIFT = 16, 25

_FILTER_BITS: Final = 27  # 16 MiB; with 100,000 stories one bit in twenty is set

# A posting in memory: key and story in one number.
_KEY_SHIFT: Final = np.uint64(32)
_STORY_MASK: Final = np.uint64(2**32 - 1)


def posted_keys(
    hashes: NDArray[np.uint32], anchors: NDArray[np.uint32], *, learned: bool
) -> NDArray[np.uint32]:
    """Return the posting keys of a story with these sorted *hashes* and these *anchors*.

    *learned* states that the boilerplate of the site is known and not among the hashes. Keys are
    spread evenly over 31 bits by Fibonacci hashing (Knuth, The Art of Computer Programming, volume
    3, section 6.4).
    """
    count = POSTED_HASHES if learned else UNLEARNED_FACTOR * POSTED_HASHES
    keys = np.concatenate((hashes[:count], anchors))
    return (keys * np.uint32(0x9E3779B1)) >> np.uint32(1)


class InvertedIndex:
    """Posting lists of keys. Callers open and commit the transactions."""

    def __init__(self, connection: sqlite3.Connection, min_shared: int) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany
        self._min_shared = min(MIN_SHARED_KEYS, min_shared)
        self._filter = BloomFilter()
        for part in range(PARTS):
            stored = dict(self._stored(part << _PART_SHIFT, part + 1 << _PART_SHIFT))
            self._filter.add(_unpack(stored)[0])
        self.reset()

    def reset(self) -> None:
        """Drop the postings in memory; :meth:`restore` adds them again."""
        rows = dict(self._execute("SELECT number, settled FROM part").fetchall())
        #: number of the last story in the file, per part
        self._settled = np.array([rows.get(part, 0) for part in range(PARTS)])
        self.recent = RecentPostings()

    @property
    def settled(self) -> int:
        """Number of the last story whose keys, like those of all before it, are in the file."""
        return int(self._settled.min())

    def candidates(self, keys: NDArray[np.uint32], anchors: int, limit: int) -> list[int]:
        """Return the stories that share enough of *keys*, of which the last *anchors* are anchors.

        At most *limit* stories are returned: those that share the most keys, then the latest.
        """
        min_shared = self._min_shared
        stored = self._filter.maybe_contained(keys)
        positions, stories = self._lookup(keys[stored])
        is_rare = np.bincount(positions, minlength=stored.size) <= MAX_STORIES_PER_ANCHOR
        by_anchor = (is_rare & (stored >= keys.size - anchors))[positions]
        stories = np.sort(np.concatenate((stories, np.repeat(stories[by_anchor], min_shared - 1))))
        found = distinct(
            stories[min_shared - 1 :][
                stories[min_shared - 1 :] == stories[: stories.size - min_shared + 1]
            ]
        )
        if found.size > limit:
            count = np.searchsorted(stories, found, "right") - np.searchsorted(stories, found)
            found = found[np.lexsort((found, count))[-limit:]]
        result: list[int] = found.tolist()
        return result

    def _lookup(self, keys: NDArray[np.uint32]) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
        """Return the postings of *keys*: positions in *keys*, and stories."""
        recent_positions, recent = self.recent.find(keys, MAX_STORIES_PER_KEY)
        rows = self._execute(
            "SELECT key, entries FROM json_each(?) CROSS JOIN posting ON bucket = value",
            (json.dumps((keys >> _BUCKET_SHIFT).tolist()),),
        ).fetchall()
        positions = np.array([position for position, _ in rows], np.intp)
        sizes = np.array([len(entries) for _, entries in rows], np.intp) // ENTRY.itemsize
        entries = np.frombuffer(b"".join(entries for _, entries in rows), ENTRY)
        hits = np.flatnonzero(entries["low"] == np.repeat(keys[positions].astype(np.uint16), sizes))
        row = np.searchsorted(np.cumsum(sizes), hits, "right")
        if hits.size > MAX_STORIES_PER_KEY:
            latest = _latest(row)
            hits, row = hits[latest], row[latest]
        return (
            np.concatenate((positions[row], np.array(recent_positions, np.intp))),
            np.concatenate((entries["story"][hits], recent)),
        )

    def restore(self, stories: Mapping[int, NDArray[np.uint32]]) -> None:
        """Add the postings of *stories* (number -> keys) that are not in the file."""
        if not stories:
            return
        keys = np.concatenate(list(stories.values()))
        sizes = [own.size for own in stories.values()]
        numbers = np.repeat(np.array(list(stories), np.uint32), sizes)
        missing = self._settled[keys >> _PART_SHIFT] < numbers
        self._filter.add(keys[missing])
        self.recent.add(numbers[missing], keys[missing])

    def add(self, story: int, keys: NDArray[np.uint32]) -> None:
        """Add the postings of a story."""
        self._filter.add(keys)
        self.recent.add(np.uint32(story), keys)

    def remove(self, story: int, keys: NDArray[np.uint32]) -> None:
        """Remove the postings of a story that are in memory.

        Postings in the file refer to a missing story until the next clean-up.
        """
        self.recent.remove(story, keys)

    def settle(self, story: int) -> None:
        """Move one part of the postings from memory to the file."""
        part = story // SETTLE_INTERVAL % PARTS
        span = (part << _PART_SHIFT, part + 1 << _PART_SHIFT)
        stored = dict(self._stored(*span))
        changed = {
            bucket: stored.get(bucket, b"") + entries
            for bucket, entries in _pack(*self.recent.take(*span))
        }
        stored = dict(sorted({**stored, **changed}.items()))
        row = self._execute("SELECT cleaned FROM part WHERE number = ?", (part,)).fetchone()
        cleaned_size = row[0] if row else 0
        if sum(map(len, stored.values())) > GROWTH_RATIO * cleaned_size:
            changed = self._cleaned(stored, *span)
            cleaned_size = sum(map(len, changed.values()))
        self._executemany("INSERT OR REPLACE INTO posting VALUES (?, ?)", changed.items())
        self._execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?)", (part, story, cleaned_size))
        self._settled[part] = story

    def _stored(self, low: int, high: int) -> sqlite3.Cursor:
        """Return the buckets of the keys in *low* to *high* (exclusive)."""
        return self._execute(
            "SELECT bucket, entries FROM posting WHERE bucket >= ? AND bucket < ?",
            (low >> _BUCKET_SHIFT, high >> _BUCKET_SHIFT),
        )

    def _cleaned(self, stored: Mapping[int, bytes], low: int, high: int) -> dict[int, bytes]:
        """Return the buckets without missing stories, and with only the latest stories of a key.

        Deletes the buckets from the file.
        """
        keys, stories = _unpack(stored)
        kept = np.flatnonzero(self._exist(stories))
        order = kept[np.argsort(keys[kept], kind="stable")]
        kept = np.sort(order[_latest(keys[order])])
        self._filter.clear(low, high)
        self._filter.add(keys[kept])
        self._execute(
            "DELETE FROM posting WHERE bucket >= ? AND bucket < ?",
            (low >> _BUCKET_SHIFT, high >> _BUCKET_SHIFT),
        )
        return dict(_pack(keys[kept], stories[kept]))

    def _exist(self, stories: NDArray[np.uint32]) -> NDArray[np.bool_]:
        ((count, newest),) = self._execute("SELECT count(*), max(id) FROM story")
        if count == newest:
            return np.ones(stories.size, np.bool_)
        existing = self._execute("SELECT id FROM story ORDER BY id").fetchall()
        return is_among(stories, np.array(existing, np.uint32).ravel())


class RecentPostings:
    """Postings in memory: sorted arrays of keys and stories, eight bytes per posting."""

    def __init__(self) -> None:
        self.entries = np.empty(0, np.uint64)
        #: entries since the last :meth:`take`
        self._latest = np.empty(0, np.uint64)

    def add(self, stories: NDArray[np.uint32] | np.uint32, keys: NDArray[np.uint32]) -> None:
        """Add the postings of a story, or of one story per key."""
        self._latest = merged(self._latest, np.sort(_entries(stories, keys)))

    def find(self, keys: NDArray[np.uint32], limit: int) -> tuple[list[int], NDArray[np.uint32]]:
        """Return at most *limit* postings of each of *keys*: positions in *keys*, and stories."""
        first = _entries(np.uint32(0), keys)
        edges = (first, first | _STORY_MASK)
        positions: list[int] = []
        found: list[NDArray[np.uint64]] = []
        for entries in (self.entries, self._latest):
            low, high = np.searchsorted(entries, edges)
            for position in np.flatnonzero(high > low).tolist():
                stories = entries[low[position] : high[position]][-limit:]
                positions += [position] * stories.size
                found.append(stories)
        if not found:
            return [], np.empty(0, np.uint32)
        return positions, (np.concatenate(found) & _STORY_MASK).astype(np.uint32)

    def remove(self, story: int, keys: NDArray[np.uint32]) -> None:
        """Remove the postings of a story."""
        removed = _entries(np.uint32(story), keys)
        self.entries = self.entries[~np.isin(self.entries, removed)]
        self._latest = self._latest[~np.isin(self._latest, removed)]

    def __len__(self) -> int:
        """Return the number of postings."""
        return self.entries.size + self._latest.size

    def take(self, low: int, high: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Remove and return the keys in *low* to *high* (exclusive) and their stories."""
        self.entries = merged(self.entries, self._latest)
        self._latest = np.empty(0, np.uint64)
        start, end = np.searchsorted(self.entries, np.array([low, high], np.uint64) << _KEY_SHIFT)
        taken = self.entries[start:end]
        self.entries = np.concatenate((self.entries[:start], self.entries[end:]))
        return (taken >> _KEY_SHIFT).astype(np.uint32), (taken & _STORY_MASK).astype(np.uint32)


class BloomFilter:
    """Bloom filter of the keys in the index (Bloom, CACM 13(7), 1970), of fixed size.

    Keys have 31 evenly distributed bits, the first of which serve as the only hash function.
    """

    def __init__(self) -> None:
        self._bits = np.zeros(2 ** (_FILTER_BITS - 3), np.uint8)

    def add(self, keys: NDArray[np.uint32]) -> None:
        """Add *keys*."""
        np.bitwise_or.at(self._bits, keys >> 7, np.uint8(1) << (keys >> 4 & 7).astype(np.uint8))

    def maybe_contained(self, keys: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return the positions of *keys* that may have been added; the others were not."""
        return np.flatnonzero(self._bits[keys >> 7] >> (keys >> 4 & 7).astype(np.uint8) & 1)

    def clear(self, low: int, high: int) -> None:
        """Remove the keys in *low* to *high* (exclusive), multiples of 128."""
        self._bits[low >> 7 : high >> 7] = 0


def _entries(
    stories: NDArray[np.uint32] | np.uint32, keys: NDArray[np.uint32]
) -> NDArray[np.uint64]:
    return keys.astype(np.uint64) << _KEY_SHIFT | stories


def _latest(runs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of sorted values are among the last :data:`MAX_STORIES_PER_KEY` of their run."""
    remaining = np.searchsorted(runs, runs, "right") - np.arange(runs.size)
    return np.asarray(remaining <= MAX_STORIES_PER_KEY)


def _pack(keys: NDArray[np.uint32], stories: NDArray[np.uint32]) -> Iterator[tuple[int, bytes]]:
    """Yield buckets and their entries; *keys* are ordered by bucket."""
    entries = np.empty(keys.size, ENTRY)
    entries["low"] = keys & 0xFFFF
    entries["story"] = stories
    buckets, starts = np.unique(keys >> _BUCKET_SHIFT, return_index=True)
    ends = np.append(starts, keys.size)[1:]
    for bucket, start, end in zip(buckets.tolist(), starts, ends, strict=True):
        yield bucket, entries[start:end].tobytes()


def _unpack(stored: Mapping[int, bytes]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    entries = np.frombuffer(b"".join(stored.values()), ENTRY)
    sizes = [len(data) // ENTRY.itemsize for data in stored.values()]
    buckets = np.repeat(np.array(list(stored), np.uint32), sizes)
    return buckets << _BUCKET_SHIFT | entries["low"], entries["story"]
