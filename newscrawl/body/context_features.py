"""Features of candidate blocks in the context of the page, for the second pass of the classifier.

The first pass rates blocks one by one. The second sees the probabilities of neighbours, of blocks
with the same markup and of the page (stacking); it corrects pages with a wrong level, such as a feed
below a short article.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from newscrawl.body.feature_names import FEATURES
from newscrawl.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from newscrawl.body.block_features import Table

    Floats = NDArray[np.float64]
    Column = Floats | float

_NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
# Number of blocks on each side.
_WINDOWS = np.array([[2], [5], [12]])
# Blocks with equal values of these features form a group.
_GROUPS = {
    "own": ("own_count", "own_mean", "own_long"),
    "above": ("above_count", "above_mean", "above_long"),
    "parent": ("up_share", "up_blocks", "depth"),
}
_KEYS = [[FEATURES.index(key) for key in keys] for keys in _GROUPS.values()]

CONTEXT_FEATURES = (
    *FEATURES,
    "probability",
    *(f"probability{shift:+d}" for shift in _NEIGHBOURS),
    *(f"window_{size}" for size in _WINDOWS.flat),
    *(f"{name}_{part}" for name in _GROUPS for part in ("probability", "best")),
    "own_share", "expected_f1", "cut", "above_cut", "level", "earlier", "best",
)  # fmt: skip
"""Features of the first pass, then of the context, in the order of the rows of the model."""


@compiled(
    "newscrawl.body._context_features",
    keys=_KEYS, neighbours=list(_NEIGHBOURS), windows=_WINDOWS.ravel().tolist(),
)  # fmt: skip
def context_table(
    features: Table,
    probabilities: list[float],
    chars: list[float],
    expected_f1: float,
    cut: float,
) -> Table:
    """Return :data:`CONTEXT_FEATURES` of candidate blocks, one row after the other.

    *features* is the table of the first pass, *probabilities* its result. *expected_f1* is that of
    the best subset, *cut* the smallest probability in it. *chars* are weighted characters.
    """
    count, width = len(probabilities), len(FEATURES)
    if not count:
        return array("d")
    own = np.array(features).reshape(count, width)
    probability, size = np.array(probabilities), np.array(chars)
    mass = probability * size
    mass_before, chars_before = (np.concatenate(((0.0,), it.cumsum())) for it in (mass, size))
    whole, total = mass_before[-1] or 1.0, chars_before[-1] or 1.0
    groups = [_grouped(own[:, places].tolist(), mass, probability, size) for places in _KEYS]
    columns: list[Column] = [
        probability,
        *(_shifted(probability, shift) for shift in _NEIGHBOURS),
        *_windowed(mass_before, chars_before),
        *(column for mean, best, _ in groups for column in (mean, best)),
        groups[0][2] / total,
        expected_f1,
        cut,
        probability - cut,
        mass_before[-1] / total,
        mass_before[:-1] / whole,
        probability.max(),
    ]
    table = np.empty((count, len(CONTEXT_FEATURES)))
    table[:, :width] = own
    for place, column in enumerate(columns, width):
        table[:, place] = column
    return array("d", table.tobytes())


def _shifted(column: Floats, shift: int) -> Floats:
    """Return the column shifted by *shift* places, padded with -1."""
    shifted = np.full(len(column), -1.0)
    if shift < 0:
        shifted[-shift:] = column[:shift]
    else:
        shifted[: max(len(column) - shift, 0)] = column[shift:]
    return shifted


def _windowed(mass: Floats, chars: Floats) -> Floats:
    """Return the mean probability of a character in each of the windows, from prefix sums."""
    count = len(mass) - 1
    places = np.arange(count)
    first, end = np.maximum(places - _WINDOWS, 0), np.minimum(places + _WINDOWS + 1, count)
    size = chars[end] - chars[first]
    size[size == 0] = 1.0
    windowed: Floats = (mass[end] - mass[first]) / size
    return windowed


def _grouped(
    keys: Iterable[list[float]], mass: Floats, probability: Floats, chars: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return mean probability, largest probability and characters of the group of each block."""
    numbers: dict[tuple[float, ...], int] = {}
    group = np.array([numbers.setdefault(tuple(key), len(numbers)) for key in keys])
    masses, sizes = np.bincount(group, mass), np.bincount(group, chars)
    best = np.zeros(len(numbers))
    np.maximum.at(best, group, probability)
    means = masses / np.where(sizes, sizes, 1.0)
    return means[group], best[group], sizes[group]
