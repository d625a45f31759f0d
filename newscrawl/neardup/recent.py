"""The keys of the last stories, in memory: sorted arrays, eight bytes for each key of a story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from newscrawl.neardup.shingles import merged

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEY: Final = np.uint64(32)
_STORY: Final = np.uint64(2**32 - 1)


class Recent:
    """Which of the last stories have a key."""

    def __init__(self) -> None:
        #: key and story, sorted
        self.entries = np.empty(0, np.uint64)
        #: the same, of the stories since the last :meth:`take`
        self._latest = np.empty(0, np.uint64)

    def add(self, stories: NDArray[np.uint32] | np.uint32, keys: NDArray[np.uint32]) -> None:
        """Add a story with its keys, or the stories of each of *keys*."""
        self._latest = merged(self._latest, np.sort(_entries(stories, keys)))

    def find(self, keys: NDArray[np.uint32], most: int) -> tuple[list[int], NDArray[np.uint32]]:
        """Return the places of *keys* and the stories that have them: *most*, the last, of a key."""
        first = _entries(np.uint32(0), keys)
        edges = (first, first | _STORY)
        places: list[int] = []
        found: list[NDArray[np.uint64]] = []
        for entries in (self.entries, self._latest):
            low, high = np.searchsorted(entries, edges)
            for place in np.flatnonzero(high > low).tolist():
                stories = entries[low[place] : high[place]][-most:]
                places += [place] * stories.size
                found.append(stories)
        if not found:
            return [], np.empty(0, np.uint32)
        return places, (np.concatenate(found) & _STORY).astype(np.uint32)

    def remove(self, story: int, keys: NDArray[np.uint32]) -> None:
        """Remove a story."""
        gone = _entries(np.uint32(story), keys)
        self.entries = self.entries[~np.isin(self.entries, gone)]
        self._latest = self._latest[~np.isin(self._latest, gone)]

    def __len__(self) -> int:
        """Return how many keys of stories there are."""
        return self.entries.size + self._latest.size

    def take(self, low: int, high: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return keys from *low* to below *high* and their stories, which leave memory."""
        self.entries = merged(self.entries, self._latest)
        self._latest = np.empty(0, np.uint64)
        start, end = np.searchsorted(self.entries, np.array([low, high], np.uint64) << _KEY)
        taken = self.entries[start:end]
        self.entries = np.concatenate((self.entries[:start], self.entries[end:]))
        return (taken >> _KEY).astype(np.uint32), (taken & _STORY).astype(np.uint32)


def _entries(
    stories: NDArray[np.uint32] | np.uint32, keys: NDArray[np.uint32]
) -> NDArray[np.uint64]:
    return keys.astype(np.uint64) << _KEY | stories
