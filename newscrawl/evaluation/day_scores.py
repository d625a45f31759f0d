"""How often the day of publication is right, and whether the confidence says so.

A label that is the day of our own date of modification counts as right, and is told apart: some
annotators copied the date of the last update, which is all that their pages display.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.corpora import calibration
from newscrawl.corpora.calibration import confidence_bins
from newscrawl.corpora.metrics import mean, score_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.corpora.calibration import Bin
    from newscrawl.corpora.day_match import DayResult
    from newscrawl.corpora.map_pages import PageOutcome
    from newscrawl.evaluation.page_scores import PageScores

    PageOutcomes = Sequence[PageOutcome[PageScores]]

THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Confidences from which the share of pages, and of right ones among them, is told."""


def day_means(outcomes: PageOutcomes) -> dict[str, Any]:
    """Return the means over the pages with a labelled day: without the doubtful ones, and all."""
    labelled = [one for one in outcomes if one.value.day is not None]
    return {
        "trusted": _means([one for one in labelled if not one.page.date_doubtful]),
        "all": _means(labelled),
    }


def _means(outcomes: PageOutcomes) -> dict[str, Any]:
    """Return precision (right of the days returned), recall (of those labelled) and more."""
    days = [one.value.day for one in outcomes if one.value.day is not None]
    correct = sum(day.correct for day in days)
    returned = sum(day.returned for day in days)
    return {
        "pages": len(days),
        "returned": returned,
        "correct": correct,
        **score_of(correct, returned, len(days))._asdict(),
        "modified": mean([day.modified for day in days]),
        "right": mean([day.right for day in days]),
        "sure": [_sure(days, least) for least in THRESHOLDS],
        "reliability": reliability(days),
        "calibration_error": calibration_error(days),
    }


def _sure(days: Sequence[DayResult], least: float) -> dict[str, float]:
    sure = [day.right for day in days if day.confidence >= least]
    share = len(sure) / len(days) if days else 0.0
    return {"confidence": least, "share": share, "right": mean(sure)}


def reliability(days: Sequence[DayResult]) -> list[dict[str, float]]:
    """Return for each bin of confidence that has days their mean confidence and share of right ones."""
    return [
        {
            "from": one.low,
            "to": one.high,
            "pages": len(one.results),
            "confidence": one.confidence,
            "right": one.result,
        }
        for one in _bins(days)
    ]


def calibration_error(days: Sequence[DayResult]) -> float:
    """Return the expected calibration error of the confidences of *days*."""
    return calibration.calibration_error(_bins(days))


def _bins(days: Sequence[DayResult]) -> list[Bin]:
    return confidence_bins((day.confidence, day.right) for day in days if day.returned)
