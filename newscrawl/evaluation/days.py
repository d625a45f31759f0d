"""How often the day of publication is right, and whether the confidence says so.

A label that is the day of our own date of modification counts as right, and is told apart: some
annotators copied the date of the last update, which is all that their pages display.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.evaluation.metrics import mean, same_day, score_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.evaluation.corpora import LabelledPage
    from newscrawl.evaluation.run import Outcome
    from newscrawl.evaluation.score import PageScores
    from newscrawl.items import Article

    PageOutcomes = Sequence[Outcome[PageScores]]

THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Confidences from which the share of pages, and of right ones among them, is told."""

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Borders of the bins of the reliability table, each with its lower one."""


class DayResult(NamedTuple):
    """What became of a labelled day."""

    returned: bool
    #: it is the day of publication returned
    correct: bool
    #: it is not, and it is the day of modification returned
    modified: bool = False
    #: in 0..1, of the day of publication
    confidence: float = 0.0

    @property
    def right(self) -> bool:
        """Return True if the label is one of the two days."""
        return self.correct or self.modified


NO_DAY = DayResult(returned=False, correct=False)


def day_result(page: LabelledPage, article: Article) -> DayResult | None:
    """Return what became of the day of *page* in *article*; None where it is not labelled."""
    if page.date is None:
        return None
    correct, modified = (
        found is not None and same_day(found, page.date)
        for found in (article.date, article.date_modified)
    )
    return DayResult(
        returned=article.date is not None,
        correct=correct,
        modified=modified and not correct,
        confidence=article.evidence["date"].confidence if article.date else 0.0,
    )


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
    """Return for each of :data:`BINS` that has days their mean confidence and how many are right."""
    binned: dict[int, list[DayResult]] = defaultdict(list)
    for day in days:
        if day.returned:
            binned[min(bisect_right(BINS, day.confidence), len(BINS) - 1) - 1].append(day)
    return [
        {
            "from": BINS[number],
            "to": BINS[number + 1],
            "pages": len(found),
            "confidence": mean([day.confidence for day in found]),
            "right": mean([day.right for day in found]),
        }
        for number, found in sorted(binned.items())
    ]


def calibration_error(days: Sequence[DayResult]) -> float:
    """Return the expected calibration error: how far, on average over days, a bin is off.

    Guo et al., "On Calibration of Modern Neural Networks", ICML 2017, section 2.
    """
    rows = reliability(days)
    pages = sum(row["pages"] for row in rows)
    off = sum(row["pages"] * abs(row["confidence"] - row["right"]) for row in rows)
    return off / pages if pages else 0.0
