"""Publication day of an article compared with its label."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from newscrawl.corpora.metrics import same_day

if TYPE_CHECKING:
    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.items import Article


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
