"""Reliability of confidences: mean confidence and mean result of the cases in each bin."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.corpora.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Iterable

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Borders of the bins, each with its lower one."""


class Bin(NamedTuple):
    """Cases whose confidence is between two of :data:`BINS`."""

    low: float
    high: float
    #: result of each case, in 0..1
    results: list[float]
    #: mean over the cases
    confidence: float
    result: float


def confidence_bins(cases: Iterable[tuple[float, float]]) -> list[Bin]:
    """Return the bins that hold any of *cases*: pairs of a confidence and a result."""
    binned: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for case in cases:
        binned[min(bisect_right(BINS, case[0]), len(BINS) - 1) - 1].append(case)
    bins = []
    for number, members in sorted(binned.items()):
        confidences, results = ([case[part] for case in members] for part in (0, 1))
        bins.append(Bin(BINS[number], BINS[number + 1], results, mean(confidences), mean(results)))
    return bins


def calibration_error(bins: Iterable[Bin]) -> float:
    """Return the expected calibration error: mean distance of confidence and result over cases.

    Guo et al., "On Calibration of Modern Neural Networks", ICML 2017, section 2.
    """
    bins = list(bins)
    cases = sum(len(one.results) for one in bins)
    off = sum(len(one.results) * abs(one.confidence - one.result) for one in bins)
    return off / cases if cases else 0.0
