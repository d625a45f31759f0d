"""Reliability of confidences: mean confidence and mean result in each bin."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.lab.corpora.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Bounds of the bins; a bin includes its lower bound, the last one also its upper bound."""


class Bin(NamedTuple):
    """Cases with a confidence between two bounds."""

    low: float
    high: float
    #: results of the cases, in 0..1
    results: list[float]
    #: mean confidence
    confidence: float
    #: mean result
    result: float


def confidence_bins(
    cases: Iterable[tuple[float, float]], bounds: Sequence[float] = BINS
) -> list[Bin]:
    """Return the non-empty bins of *cases*, pairs of a confidence and a result."""
    binned: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for case in cases:
        binned[min(bisect_right(bounds, case[0]), len(bounds) - 1) - 1].append(case)
    bins = []
    for index, members in sorted(binned.items()):
        confidences, results = ([case[part] for case in members] for part in (0, 1))
        low, high = bounds[index], bounds[index + 1]
        bins.append(Bin(low, high, results, mean(confidences), mean(results)))
    return bins


def calibration_error(bins: Iterable[Bin]) -> float:
    """Return the expected calibration error: mean over cases of |confidence - result| of their bin.

    Guo et al., "On Calibration of Modern Neural Networks", ICML 2017, section 2.
    """
    bins = list(bins)
    cases = sum(len(it.results) for it in bins)
    error = sum(len(it.results) * abs(it.confidence - it.result) for it in bins)
    return error / cases if cases else 0.0
