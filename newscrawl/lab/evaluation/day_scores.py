"""Scores of publication dates and the reliability of their confidence.

A label equal to the extracted modification date counts as right but is also reported separately:
some pages display only the date of the last update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.calibration import calibration_error, confidence_bins
from newscrawl.lab.corpora.metrics import mean, score_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.page_scores import PageScores

    PageOutcomes = Sequence[PageOutcome[PageScores]]


def day_means(outcomes: PageOutcomes) -> dict[str, Any]:
    """Return the means over pages with a labelled date: all, and without doubtful dates."""
    labelled = [outcome for outcome in outcomes if outcome.value.day is not None]
    return {
        "trusted": _means([outcome for outcome in labelled if not outcome.page.date_doubtful]),
        "all": _means(labelled),
    }


def _means(outcomes: PageOutcomes) -> dict[str, Any]:
    """Return precision (over extracted dates), recall (over labelled dates) and reliability."""
    days = [outcome.value.day for outcome in outcomes if outcome.value.day is not None]
    bins = confidence_bins((day.confidence, day.right) for day in days if day.returned)
    correct = sum(day.correct for day in days)
    returned = sum(day.returned for day in days)
    return {
        "pages": len(days),
        "returned": returned,
        "correct": correct,
        **score_of(correct, returned, len(days))._asdict(),
        "modified": mean([day.modified for day in days]),
        "right": mean([day.right for day in days]),
        "reliability": [
            {
                "from": it.low,
                "to": it.high,
                "pages": len(it.results),
                "confidence": it.confidence,
                "right": it.result,
            }
            for it in bins
        ],
        "calibration_error": calibration_error(bins),
    }
