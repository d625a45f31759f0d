"""Inverted index: shingle hash -> stories, in a table of the SQLite file."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import sqlite3

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
"""Maximum number of stories found by a key, the latest. Bounds the cost of common phrases."""

MAX_STORIES_PER_ANCHOR: Final = 8
"""An anchor of at most so many stories suffices for a candidate; otherwise it counts as a hash."""

_LOOKUP: Final = f"""
SELECT wanted.key, story FROM json_each(?) AS wanted CROSS JOIN posting ON hash = wanted.value
WHERE story > coalesce(
    (SELECT story FROM posting WHERE hash = wanted.value
     ORDER BY story DESC LIMIT 1 OFFSET {MAX_STORIES_PER_KEY}), 0)
"""  # noqa: S608


def posted_keys(
    hashes: NDArray[np.uint32], anchors: NDArray[np.uint32], *, learned: bool
) -> list[int]:
    """Return the posting keys of a story with these sorted *hashes* and these *anchors*.

    *learned* states that the boilerplate of the site is known and not among the hashes. Keys are
    signed, so that SQLite stores them in four bytes.
    """
    count = POSTED_HASHES if learned else UNLEARNED_FACTOR * POSTED_HASHES
    keys: list[int] = np.concatenate((hashes[:count], anchors)).view(np.int32).tolist()
    return keys


class InvertedIndex:
    """Posting lists of keys. Callers open and commit the transactions."""

    def __init__(self, connection: sqlite3.Connection, min_shared: int) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany
        self._min_shared = min(MIN_SHARED_KEYS, min_shared)

    def candidates(self, keys: list[int], anchors: int, limit: int) -> list[int]:
        """Return the stories that share enough of *keys*, of which the last *anchors* are anchors.

        At most *limit* stories are returned: those that share the most keys, then the latest.
        """
        rows = self._execute(_LOOKUP, (json.dumps(keys),)).fetchall()
        stories_per_key = Counter(position for position, _ in rows)
        shared: Counter[int] = Counter()
        for position, story in rows:
            is_rare = stories_per_key[position] <= MAX_STORIES_PER_ANCHOR
            is_anchor = position >= len(keys) - anchors
            shared[story] += self._min_shared if is_rare and is_anchor else 1
        found = [(n, story) for story, n in shared.items() if n >= self._min_shared]
        return [story for _, story in sorted(found)[-limit:]]

    def add(self, story: int, keys: list[int]) -> None:
        """Add the postings of a story."""
        rows = [(key, story) for key in sorted(keys)]
        self._executemany("INSERT OR IGNORE INTO posting VALUES (?, ?)", rows)

    def remove(self, story: int, keys: list[int]) -> None:
        """Remove the postings of a story."""
        rows = [(key, story) for key in keys]
        self._executemany("DELETE FROM posting WHERE hash = ? AND story = ?", rows)
