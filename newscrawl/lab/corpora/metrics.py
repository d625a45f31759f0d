"""Precision, recall and F1 of bags of words, text nodes and weighted text nodes.

If both sides are empty the score is 1; if only one is, 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from newscrawl.items import Day


class Score(NamedTuple):
    """Precision, recall and F1, each in 0..1."""

    precision: float
    recall: float
    f1: float


ZERO = Score(0.0, 0.0, 0.0)
PERFECT = Score(1.0, 1.0, 1.0)


def score_of(common: float, output: float, gold: float) -> Score:
    """Return the score for the sizes of the intersection, of the output and of the gold set."""
    if not output and not gold:
        return PERFECT
    if not common:
        return ZERO
    return Score(common / output, common / gold, 2 * common / (output + gold))


def bag_score(output: Iterable[str], gold: Iterable[str]) -> Score:
    """Return the score of two bags of words (NCE, "Our Metric")."""
    output_bag, gold_bag = Counter(output), Counter(gold)
    return score_of((output_bag & gold_bag).total(), output_bag.total(), gold_bag.total())


def node_score(output: Collection[int], gold: Collection[int]) -> Score:
    """Return the node-based score of two sets of text nodes.

    DocEng 2011, section 3.5.1; CoreEx, section 3.3, measure 1.
    """
    return text_weighted_score(output, gold, None)


def text_weighted_score(
    output: Collection[int], gold: Collection[int], weights: Sequence[int] | None
) -> Score:
    """Return the score of two sets of text nodes, with node *i* weighted by ``weights[i]`` words.

    CoreEx, section 3.3, measure 2. Without *weights* all nodes have weight 1.
    """

    def size(nodes: Iterable[int]) -> int:
        return sum(1 if weights is None else weights[node] for node in nodes)

    output, gold = frozenset(output), frozenset(gold)
    return score_of(size(output & gold), size(output), size(gold))


def same_day(output: Day | datetime, gold: Day | datetime) -> bool:
    """Return whether *output* and *gold* are the same day.

    Two instants with a zone are compared in the zone of *gold*, other values as written.
    """
    if (
        isinstance(output, datetime)
        and isinstance(gold, datetime)
        and output.tzinfo
        and gold.tzinfo
    ):
        output = output.astimezone(gold.tzinfo)
    return _day(output) == _day(gold)


def _day(moment: Day | datetime) -> Day:
    return moment.date() if isinstance(moment, datetime) else moment


def mean(values: Collection[float]) -> float:
    """Return the mean of *values*, 0 if empty."""
    return sum(values) / len(values) if values else 0.0


def mean_score(scores: Collection[Score]) -> Score:
    """Return the means of precision, of recall and of F1."""
    return Score(*(mean([score[part] for score in scores]) for part in range(3)))


def site_mean(values: Iterable[tuple[str, float]]) -> float:
    """Return the mean over sites of the mean over pages, given (site, value of a page)."""
    pages = defaultdict(list)
    for site, value in values:
        pages[site].append(value)
    return mean([mean(pages[site]) for site in sorted(pages)])


def site_mean_score(scores: Iterable[tuple[str, Score]]) -> Score:
    """Return the mean over sites of the mean over pages (NCE, Table 1)."""
    pages = defaultdict(list)
    for site, score in scores:
        pages[site].append(score)
    return mean_score([mean_score(pages[site]) for site in sorted(pages)])
