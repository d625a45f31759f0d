"""Scores of titles against the label and against the text nodes that hold it.

Some labels differ from the visible title (a headline for search engines, another version). The
text nodes are found by :mod:`newscrawl.lab.corpora.labels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.title_match import GOLDS, Gold, match_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.page_scores import PageScores

    PageOutcomes = Sequence[PageOutcome[PageScores]]


def title_means(outcomes: PageOutcomes) -> dict[Gold, dict[str, Any]]:
    """Return the means against each of :data:`GOLDS`."""
    return {
        gold: match_means([it.value.titles[gold] for it in outcomes if gold in it.value.titles])
        for gold in GOLDS
    }
