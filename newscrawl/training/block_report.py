"""What ``scrapy train`` prints of the default's body: labels, scores in folds, and confidence."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from newscrawl.corpora.metrics import mean, score_of
from newscrawl.corpora.tables import Table
from newscrawl.training.block_training import BodyPrediction, Labelled, curve_of, told_in_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")

BINS = (0.0, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Bounds of the confidences that are told apart."""

FAILED = 0.5
"""Bodies of a smaller F1 have failed."""


def body_tables(labelled: Sequence[Labelled]) -> Iterator[Table]:
    """Yield how good labels and candidates are, and what is told of pages of other folds."""
    yield _coverage(labelled)
    told = list(told_in_folds(labelled))
    yield _scores(told)
    yield _reliability(told)


def _coverage(labelled: Sequence[Labelled]) -> Table:
    rows = []
    for corpus, members in _by_corpus(labelled, lambda one: one.page.corpus):
        examples = [one.example for one in members]
        best = [score_of(one.found, one.found, one.held + one.missing).f1 for one in examples]
        held = [one.f1(np.flatnonzero(one.labels).tolist()) for one in examples]
        counts = [len(one.labels) for one in examples], [sum(one.labels) for one in examples]
        rows.append(
            [
                corpus, str(len(members)), f"{mean(best):.3f}", f"{mean(held):.3f}",
                *(f"{mean(list(map(float, count))):.0f}" for count in counts),
            ]
        )  # fmt: skip
    columns = (
        "corpus", "pages", "F1 of all blocks labelled", "of candidates labelled",
        "candidates a page", "labelled of them",
    )  # fmt: skip
    return Table("Bodies found in blocks", columns, rows)


def _scores(told: Sequence[BodyPrediction]) -> Table:
    rows = []
    for corpus, members in _by_corpus(told, lambda one: one.labelled.page.corpus):
        for name, those in (
            ("all", members),
            ("label not doubted", [one for one in members if not one.labelled.page.body_suspect]),
        ):
            failed = mean([float(one.f1 < FAILED) for one in those])
            f1 = mean([one.f1 for one in those])
            rows.append([corpus, name, str(len(those)), f"{f1:.3f}", f"{100 * failed:.1f} %"])
    columns = ("corpus", "pages", "number", "F1", f"under {FAILED}")
    return Table("Bodies of method newscrawl: 3 folds, extra-site", columns, rows)


class ConfidenceBin(NamedTuple):
    """The bodies whose confidence is between two bounds."""

    low: float
    high: float
    members: list[BodyPrediction]
    #: mean confidence, and mean F1
    confidence: float
    f1: float


def confidence_bins(told: Sequence[BodyPrediction]) -> list[ConfidenceBin]:
    """Return how good bodies are by their confidence, each calibrated on the other folds."""
    sure = [
        (float(np.interp(one.expected, *np.array(curve).T)), one)
        for fold in sorted({one.fold for one in told})
        for curve in [curve_of(one for one in told if one.fold != fold)]
        for one in told
        if one.fold == fold
    ]
    bins = []
    for low, high in pairwise(BINS):
        inside = [pair for pair in sure if low <= pair[0] < high or pair[0] == high == 1]
        confidence = mean([confidence for confidence, _ in inside])
        members = [one for _, one in inside]
        bins.append(
            ConfidenceBin(low, high, members, confidence, mean([one.f1 for one in members]))
        )
    return bins


def _reliability(told: Sequence[BodyPrediction]) -> Table:
    rows = [
        [
            f"{one.low:.2f} to {one.high:.2f}", str(len(one.members)), f"{one.confidence:.3f}",
            f"{one.f1:.3f}",
        ]
        for one in confidence_bins(told)
    ]  # fmt: skip
    columns = ("confidence", "pages", "mean confidence", "mean F1")
    return Table("Bodies of method newscrawl: confidence, extra-site", columns, rows)


def _by_corpus(
    members: Iterable[T], corpus_of: Callable[[T], str]
) -> Iterator[tuple[str, list[T]]]:
    members = list(members)
    for corpus in dict.fromkeys(map(corpus_of, members)):
        yield corpus, [one for one in members if corpus_of(one) == corpus]
