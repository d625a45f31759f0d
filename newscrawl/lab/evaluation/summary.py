"""Means of page scores for ``scrapy evaluate``, as plain JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.lab.corpora.corpus import HALVES
from newscrawl.lab.corpora.metadata_match import metadata_means
from newscrawl.lab.corpora.metrics import mean, mean_score, site_mean_score
from newscrawl.lab.corpora.title_match import GOLDS, match_means
from newscrawl.lab.evaluation.day_scores import day_means
from newscrawl.lab.evaluation.page_scores import METRICS, TEXT_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.corpora.metrics import Score
    from newscrawl.lab.evaluation.page_scores import Metric, PageScores, TextField

    PageOutcomes = Sequence[PageOutcome[PageScores]]


def summarise(outcomes: PageOutcomes) -> dict[str, Any]:
    """Return the means over all *outcomes*, over each half, and without suspect bodies."""
    groups: dict[str, PageOutcomes] = {
        "all": outcomes,
        **{half: [o for o in outcomes if o.page.half == half] for half in HALVES},
        "without_suspects": [o for o in outcomes if not o.page.body_suspect],
    }
    return {name: {**_size(group), **means(group)} for name, group in groups.items()}


def _size(outcomes: PageOutcomes) -> dict[str, int]:
    return {
        "pages": len(outcomes),
        "sites": len({outcome.page.site for outcome in outcomes}),
        "failed": sum(outcome.error is not None for outcome in outcomes),
        "body_suspects": sum(outcome.page.body_suspect for outcome in outcomes),
        "dates_doubtful": sum(outcome.page.date_doubtful for outcome in outcomes),
    }


def means(outcomes: PageOutcomes) -> dict[str, Any]:
    """Return the means of all fields and metrics."""
    result: dict[str, Any] = {
        name: {metric: text_means(outcomes, name, metric) for metric in METRICS}
        for name in TEXT_FIELDS
    }
    matches = [(outcome.page.site, outcome.value.metadata) for outcome in outcomes]
    return result | {
        "date": day_means(outcomes),
        "titles": {
            gold: match_means([it.value.titles[gold] for it in outcomes if gold in it.value.titles])
            for gold in GOLDS
        },
        "metadata": metadata_means(matches),
    }


def text_means(outcomes: PageOutcomes, name: TextField, metric: Metric) -> dict[str, float]:
    """Return the means of one field by one metric, over pages and over sites."""
    scores = [
        (outcome.page.site, score)
        for outcome in outcomes
        if (score := outcome.value.score(name, metric)) is not None
    ]
    return {
        "pages": len(scores),
        **means_of(scores),
        "below_0.5": mean([score.f1 < 0.5 for _, score in scores]),
        "from_0.95": mean([score.f1 >= 0.95 for _, score in scores]),
    }


def means_of(scores: Sequence[tuple[str, Score]]) -> dict[str, float]:
    """Return the means of (site, page score) over pages and, as ``site_...``, over sites."""
    over_sites = site_mean_score(scores)._asdict()
    return {
        **mean_score([score for _, score in scores])._asdict(),
        **{f"site_{part}": value for part, value in over_sites.items()},
    }


def worst_pages(outcomes: Iterable[PageOutcome[PageScores]], count: int) -> list[dict[str, Any]]:
    """Return the *count* pages with the lowest body F1, in ascending order."""
    scored = [
        (score.f1, position, outcome)
        for position, outcome in enumerate(outcomes)
        if (score := outcome.value.score("body", "bag")) is not None
    ]
    return [page_row(outcome) for _, _, outcome in sorted(scored)[:count]]


def page_row(outcome: PageOutcome[PageScores]) -> dict[str, Any]:
    """Return the figures of one page."""
    page, value = outcome.page, outcome.value
    return {
        "corpus": page.corpus,
        "id": page.id,
        "site": page.site,
        "url": page.url,
        "half": page.half,
        "body_suspect": page.body_suspect,
        **{
            name: {metric: score._asdict() for metric, score in by_metric.items()}
            for name, by_metric in value.scores.items()
        },
        "language": value.language,
        "body_confidence": value.body_confidence,
        "date_doubtful": page.date_doubtful,
        "date": None if value.day is None else value.day._asdict(),
        "titles": {gold: match._asdict() for gold, match in value.titles.items()},
        "metadata": {name: match._asdict() for name, match in value.metadata.items()},
        "error": outcome.error,
    }
