"""Features of candidate blocks in the context of the page, for the second pass of the classifier.

The first pass rates blocks one by one. The second sees the probabilities of neighbours, of blocks
with the same markup and of the page (stacking); it corrects pages with a wrong level, such as a feed
below a short article.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from newscrawl.body.feature_names import FEATURES

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
_WINDOWS = (2, 5, 12)
# Blocks with equal values of these features form a group.
_GROUPS = {
    "own": ("own_count", "own_mean", "own_long"),
    "above": ("above_count", "above_mean", "above_long"),
    "parent": ("up_share", "up_blocks", "depth"),
}
_KEYS = {name: [FEATURES.index(key) for key in keys] for name, keys in _GROUPS.items()}

CONTEXT_FEATURES = (
    *FEATURES,
    "probability",
    *(f"probability{shift:+d}" for shift in _NEIGHBOURS),
    *(f"window_{size}" for size in _WINDOWS),
    *(f"{name}_{part}" for name in _GROUPS for part in ("probability", "best")),
    "own_share", "expected_f1", "cut", "above_cut", "level", "earlier", "best",
)  # fmt: skip
"""Features of the first pass, then of the context, in the order of the rows of the model."""


def context_table(
    features: Sequence[float],
    probabilities: Sequence[float],
    chars: Sequence[float],
    expected_f1: float,
    cut: float,
) -> array[float]:
    """Return :data:`CONTEXT_FEATURES` of candidate blocks, one row after the other.

    *features* is the table of the first pass, *probabilities* its result. *expected_f1* is that of
    the best subset, *cut* the smallest probability in it. *chars* are weighted characters.
    """
    own, width, count = array("d", features), len(FEATURES), len(probabilities)
    mass = list(map(mul, probabilities, chars))
    mass_before, chars_before = ([0.0, *accumulate(column)] for column in (mass, chars))
    whole, total = mass_before[-1] or 1.0, chars_before[-1] or 1.0
    columns: list[Sequence[float]] = [own[place::width] for place in range(width)]
    columns.append(probabilities)
    columns += [_shifted(probabilities, shift) for shift in _NEIGHBOURS]
    columns += [_windowed(mass_before, chars_before, size) for size in _WINDOWS]
    held: list[float] = []
    for name, places in _KEYS.items():
        keys = list(zip(*(columns[place] for place in places), strict=True))
        means, bests, sizes = _grouped(keys, mass, probabilities, chars)
        columns += [means, bests]
        held = sizes if name == "own" else held
    columns += [
        [size / total for size in held],
        [expected_f1] * count,
        [cut] * count,
        [p - cut for p in probabilities],
        [mass_before[-1] / total] * count,
        [earlier / whole for earlier in mass_before[:-1]],
        [max(probabilities, default=0.0)] * count,
    ]
    table = array("d", bytes(8 * len(columns) * count))
    for place, column in enumerate(columns):
        table[place :: len(columns)] = array("d", column)
    return table


def _shifted(column: Sequence[float], shift: int) -> list[float]:
    """Return the column shifted by *shift* places, padded with -1."""
    missing = [-1.0] * min(abs(shift), len(column))
    return [*missing, *column[:shift]] if shift < 0 else [*column[shift:], *missing]


def _windowed(mass: Sequence[float], chars: Sequence[float], size: int) -> list[float]:
    """Return the mean probability of a character up to *size* blocks away, from prefix sums."""
    count = len(mass) - 1
    bounds = [(max(0, place - size), min(count, place + size + 1)) for place in range(count)]
    return [(mass[b] - mass[a]) / (chars[b] - chars[a] or 1.0) for a, b in bounds]


def _grouped(
    keys: Sequence[tuple[float, ...]],
    mass: Sequence[float],
    probabilities: Sequence[float],
    chars: Sequence[float],
) -> tuple[list[float], list[float], list[float]]:
    """Return mean probability, largest probability and characters of the group of each block."""
    numbers: dict[tuple[float, ...], int] = {}
    group = [numbers.setdefault(key, len(numbers)) for key in keys]
    masses, bests, sizes = ([0.0] * len(numbers) for _ in range(3))
    for number, part, probability, size in zip(group, mass, probabilities, chars, strict=True):
        masses[number] += part
        sizes[number] += size
        bests[number] = max(bests[number], probability)
    means = [part / (size or 1.0) for part, size in zip(masses, sizes, strict=True)]
    return (
        [means[number] for number in group],
        [bests[number] for number in group],
        [sizes[number] for number in group],
    )
