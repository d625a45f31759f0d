"""Features of candidate blocks in the context of the page, for the second pass of the classifier.

The first pass rates blocks one by one. The second sees the probabilities of neighbours, of blocks
with the same markup and of the page (stacking); it corrects pages with a wrong level, such as a feed
below a short article.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from newscrawl.body.block_features import FEATURES
from newscrawl.compiled import LazyModule, compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from newscrawl.ensemble.ensemble import Columns

    Floats = NDArray[np.float64]
else:
    np = LazyModule("numpy")

# Distance to another block, and number of blocks on each side.
_NEIGHBOURS = {f"probability{shift:+d}": shift for shift in (-3, -2, -1, 1, 2, 3)}
_WINDOWS = {f"window_{reach}": reach for reach in (2, 5, 12)}
# Blocks with equal values of these features form a group.
_GROUPS = {
    "own": ("own_count", "own_mean", "own_long"),
    "above": ("above_count", "above_mean", "above_long"),
    "parent": ("up_share", "up_blocks", "depth"),
}

CONTEXT_FEATURES = (
    *FEATURES, "probability", *_NEIGHBOURS, *_WINDOWS,
    *(f"{name}_{part}" for name in _GROUPS for part in ("probability", "best")),
    "own_share", "expected_f1", "cut", "above_cut", "level", "earlier", "best",
)  # fmt: skip
"""Features of the second pass: those of the first, then of the context, in the model's order."""


@compiled(
    "newscrawl.body._context_features", neighbours=_NEIGHBOURS, windows=_WINDOWS, groups=_GROUPS
)
def context_columns(
    features: Columns,
    probabilities: list[float],
    chars: list[float],
    expected_f1: float,
    cut: float,
) -> dict[str, array[float]]:
    """Return the features of candidate blocks in their context.

    *features* are those of the first pass, *probabilities* its result. *expected_f1* is that of
    the best subset, *cut* the smallest probability in it. *chars* are weighted characters.
    """
    if not probabilities:
        return {}
    probability, size = np.array(probabilities), np.array(chars)
    mass = probability * size
    mass_before, chars_before = (np.concatenate(((0.0,), it.cumsum())) for it in (mass, size))
    whole, total = mass_before[-1] or 1.0, chars_before[-1] or 1.0
    columns = {
        "probability": probability,
        **{name: _shifted(probability, shift) for name, shift in _NEIGHBOURS.items()},
        **{name: _windowed(mass_before, chars_before, by) for name, by in _WINDOWS.items()},
        "expected_f1": np.full_like(mass, expected_f1),
        "cut": np.full_like(mass, cut),
        "above_cut": probability - cut,
        "level": np.full_like(mass, mass_before[-1] / total),
        "earlier": mass_before[:-1] / whole,
        "best": np.full_like(mass, probability.max()),
    }
    for name, keys in _GROUPS.items():
        group = _groups([features[key] for key in keys])
        masses, sizes = np.bincount(group, mass), np.bincount(group, size)
        best = np.zeros(len(masses))
        np.maximum.at(best, group, probability)
        columns[f"{name}_probability"] = (masses / np.where(sizes, sizes, 1.0))[group]
        columns[f"{name}_best"] = best[group]
        columns[f"{name}_share"] = sizes[group] / total
    return {name: array("d", column.tolist()) for name, column in columns.items()}


def _shifted(column: Floats, shift: int) -> Floats:
    """Return the column shifted by *shift* places, padded with -1."""
    shifted = np.full(len(column), -1.0)
    if shift < 0:
        shifted[-shift:] = column[:shift]
    else:
        shifted[: max(len(column) - shift, 0)] = column[shift:]
    return shifted


def _windowed(mass: Floats, chars: Floats, reach: int) -> Floats:
    """Return the mean probability of a character up to *reach* blocks away, from prefix sums."""
    count = len(mass) - 1
    places = np.arange(count)
    first, end = np.maximum(places - reach, 0), np.minimum(places + reach + 1, count)
    size = chars[end] - chars[first]
    size[size == 0] = 1.0
    windowed: Floats = (mass[end] - mass[first]) / size
    return windowed


def _groups(keys: Sequence[Sequence[float]]) -> NDArray[np.intp]:
    """Return the number of the group of each block: blocks with equal *keys*."""
    numbers: dict[tuple[float, ...], int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in zip(*keys, strict=True)])
