"""Comparison of the extracted publication date with the labelled one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from newscrawl.lab.corpora.metrics import same_day

if TYPE_CHECKING:
    from newscrawl.items import Article
    from newscrawl.lab.corpora.corpus import LabelledPage


class DayResult(NamedTuple):
    """Result for one labelled date."""

    #: a publication date was extracted
    returned: bool
    #: the label is the extracted publication date
    correct: bool
    #: otherwise: the label is the extracted modification date
    modified: bool = False
    #: of the extracted publication date, in 0..1
    confidence: float = 0.0

    @property
    def right(self) -> bool:
        """Whether the label is the publication or the modification date."""
        return self.correct or self.modified


NO_DAY = DayResult(returned=False, correct=False)


def day_result(page: LabelledPage, article: Article) -> DayResult | None:
    """Compare the date of *article* with the label of *page*; None if the date is not labelled."""
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
