"""Paired bootstrap over sites: confidence interval of the difference of two methods."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESAMPLES = 5000
SEED = 2009


class Comparison(NamedTuple):
    """Result of a paired bootstrap of two methods on the same pages."""

    pages: int
    sites: int
    #: mean over pages of (score of the first method - score of the second)
    difference: float
    #: 95 % confidence interval of :attr:`difference`
    low: float
    high: float
    #: numbers of pages on which the first method scores higher and lower
    wins: int
    losses: int


def compare(pairs: Iterable[tuple[str, float, float]], *, seed: int = SEED) -> Comparison:
    """Compare pages given as (site, score of the first method, score of the second method).

    Sites, not pages, are resampled, as pages of a site share a template and fail together. The
    interval is the 2.5th to 97.5th percentile of :data:`RESAMPLES` means over pages (Efron &
    Tibshirani, "An Introduction to the Bootstrap", ch. 13). Raises ``ValueError`` without pages.
    """
    by_site: dict[str, list[float]] = defaultdict(list)
    for site, first, second in pairs:
        by_site[site].append(first - second)
    if not by_site:
        raise ValueError("no pages to compare")
    differences = [difference for site in by_site.values() for difference in site]
    means = _resampled_means(
        [(sum(site), len(site)) for site in by_site.values()],
        random.Random(seed),  # noqa: S311  # reproducible
    )
    return Comparison(
        pages=len(differences),
        sites=len(by_site),
        difference=sum(differences) / len(differences),
        low=percentile(means, 0.025),
        high=percentile(means, 0.975),
        wins=sum(difference > 0 for difference in differences),
        losses=sum(difference < 0 for difference in differences),
    )


def _resampled_means(sites: Sequence[tuple[float, int]], rng: random.Random) -> list[float]:
    """Return the sorted means over pages of resampled *sites*, given as (sum, number of pages)."""
    means = []
    for _ in range(RESAMPLES):
        drawn = rng.choices(sites, k=len(sites))
        means.append(sum(total for total, _ in drawn) / sum(pages for _, pages in drawn))
    return sorted(means)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the quantile *share* (0..1) of the *ordered* values, linearly interpolated."""
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
