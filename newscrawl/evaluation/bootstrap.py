"""Is one method better than another, or was it these sites? A paired bootstrap over sites."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESAMPLES = 5000
SEED = 2009


class Comparison(NamedTuple):
    """What a paired bootstrap says of two methods on the same pages."""

    pages: int
    sites: int
    #: mean over pages of (score of the first method - score of the second)
    difference: float
    #: 95 % confidence interval of :attr:`difference`
    low: float
    high: float
    #: pages on which the first method scores higher, and lower
    wins: int
    losses: int


def compare(pairs: Iterable[tuple[str, float, float]], *, seed: int = SEED) -> Comparison:
    """Return the comparison of (site, score of the first method, score of the second) of each page.

    Sites, not pages, are drawn with replacement: pages of one site share a template and fail
    together. The interval runs between the 2.5th and the 97.5th percentile of
    :data:`RESAMPLES` means over pages (Efron & Tibshirani, "An Introduction to the
    Bootstrap", ch. 13). Raises ``ValueError`` without pages.
    """
    by_site: dict[str, list[float]] = defaultdict(list)
    for site, first, second in pairs:
        by_site[site].append(first - second)
    if not by_site:
        raise ValueError("no pages to compare")
    differences = [difference for site in by_site.values() for difference in site]
    means = _resampled_means(
        [(sum(site), len(site)) for site in by_site.values()],
        random.Random(seed),  # noqa: S311  # a repeatable draw
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
    """Return the sorted means over pages of resamples of *sites*: (sum, number of pages)."""
    means = []
    for _ in range(RESAMPLES):
        drawn = rng.choices(sites, k=len(sites))
        means.append(sum(total for total, _ in drawn) / sum(pages for _, pages in drawn))
    return sorted(means)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which *share* of the *ordered* values lie, linearly interpolated."""
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
