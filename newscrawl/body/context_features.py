"""Features of candidate blocks in the context of the page, for the second pass of the classifier.

The first pass rates blocks one by one. The second sees the probabilities of neighbours, of blocks
with the same markup and of the page (stacking); it corrects pages with a wrong level, such as a feed
below a short article.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

from newscrawl.body.block_features import FEATURES
from newscrawl.compiled import compiled

if TYPE_CHECKING:
    from newscrawl.ensemble.ensemble import Columns

# Distance to another block, and number of blocks on each side.
_NEIGHBOURS = {f"probability{shift:+d}": shift for shift in (-3, -2, -1, 1, 2, 3)}
_MAX_SHIFT = max(_NEIGHBOURS.values())
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
    "newscrawl.body._block_features", neighbours=_NEIGHBOURS, windows=_WINDOWS, groups=_GROUPS
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
    count = len(probabilities)
    mass = [probability * size for probability, size in zip(probabilities, chars, strict=True)]
    mass_before = list(accumulate(mass, initial=0.0))
    chars_before = list(accumulate(chars, initial=0.0))
    whole, total = mass_before[-1] or 1.0, chars_before[-1] or 1.0
    beyond = [-1.0] * _MAX_SHIFT
    padded = [*beyond, *probabilities, *beyond]
    columns = {
        "probability": probabilities,
        "above_cut": [probability - cut for probability in probabilities],
        "earlier": [before / whole for before in mass_before[:-1]],
    }
    for name, shift in _NEIGHBOURS.items():
        columns[name] = padded[_MAX_SHIFT + shift : _MAX_SHIFT + shift + count]
    for name, reach in _WINDOWS.items():
        columns[name] = _window_means(mass_before, chars_before, reach)
    for name, keys in _GROUPS.items():
        sums: dict[tuple[float, ...], list[float]] = {}
        blocks = zip(*map(features.__getitem__, keys), strict=True)
        groups = [sums.setdefault(key, [0.0, 0.0, 0.0]) for key in blocks]
        for group, own, size, probability in zip(groups, mass, chars, probabilities, strict=True):
            group[0] += own
            group[1] += size
            group[2] = max(group[2], probability)
        columns[f"{name}_probability"] = [own / (size or 1.0) for own, size, _ in groups]
        columns[f"{name}_best"] = [best for _, _, best in groups]
        columns[f"{name}_share"] = [size / total for _, size, _ in groups]
    for name, value in (
        ("expected_f1", expected_f1),
        ("cut", cut),
        ("best", max(probabilities)),
        ("level", mass_before[-1] / total),
    ):
        columns[name] = [value] * count
    return {name: array("d", column) for name, column in columns.items()}


def _window_means(mass_before: list[float], chars_before: list[float], reach: int) -> list[float]:
    """Return the mean probability of a character up to *reach* blocks away, from prefix sums."""
    mass, chars = (
        [0.0] * reach + before + before[-1:] * reach for before in (mass_before, chars_before)
    )
    span = 2 * reach + 1
    return [
        (mass_end - mass_first) / (end - first or 1.0)
        for mass_end, mass_first, end, first in zip(
            mass[span:], mass, chars[span:], chars, strict=False
        )
    ]
