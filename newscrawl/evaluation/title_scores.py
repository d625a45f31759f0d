"""How often the title is right: against the label, and against the text nodes that hold it.

Some labels are not what the page shows (a headline for search engines, another version's); the
nodes are what an extractor can find. :mod:`newscrawl.corpora.labels` finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.corpora.title_match import (
    GOLDS,
    Gold,
    match_means,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.corpora.map_pages import PageOutcome
    from newscrawl.evaluation.page_scores import PageScores

    PageOutcomes = Sequence[PageOutcome[PageScores]]


def title_means(outcomes: PageOutcomes) -> dict[Gold, dict[str, Any]]:
    """Return the means against each of :data:`GOLDS`."""
    return {
        gold: match_means([one.value.titles[gold] for one in outcomes if gold in one.value.titles])
        for gold in GOLDS
    }
