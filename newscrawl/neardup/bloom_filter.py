"""Tells of most keys that no story has them, without a look at the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS: Final = 27
"""Bits of a key that count: 16 MiB. With 100,000 stories one bit in twenty is set."""


class KeyFilter:
    """A Bloom filter of one function (Bloom, CACM 13(7), 1970), whose size does not grow.

    Keys have 31 bits, evenly spread, so that their first ones serve as a hash.
    """

    def __init__(self) -> None:
        self._set = np.zeros(2 ** (_BITS - 3), np.uint8)

    def add(self, keys: NDArray[np.uint32]) -> None:
        """Note *keys*."""
        np.bitwise_or.at(self._set, keys >> 7, np.uint8(1) << (keys >> 4 & 7).astype(np.uint8))

    def maybe(self, keys: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return the places of those of *keys* that were perhaps noted; others were not."""
        return np.flatnonzero(self._set[keys >> 7] >> (keys >> 4 & 7).astype(np.uint8) & 1)

    def clear(self, low: int, high: int) -> None:
        """Forget the keys from *low* to below *high*, multiples of 128."""
        self._set[low >> 7 : high >> 7] = 0
