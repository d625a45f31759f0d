"""Report of ``scrapy train`` on the block classifier: label coverage, scores, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from newscrawl.lab.corpora.calibration import bin_rows, confidence_bins
from newscrawl.lab.corpora.metrics import mean, score_of
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.training.block_training import (
    BodyPrediction,
    Labelled,
    calibration_curve,
    predict_in_folds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")

BINS = (0.0, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Bounds of the confidence bins."""

FAILED = 0.5
"""F1 below which a body counts as failed."""


def body_tables(labelled: Sequence[Labelled]) -> Iterator[Table]:
    """Yield label coverage, out-of-fold scores and reliability."""
    yield _coverage(labelled)
    predictions = list(predict_in_folds(labelled))
    yield _scores(predictions)
    yield _reliability(predictions)


def _coverage(labelled: Sequence[Labelled]) -> Table:
    rows = []
    for corpus, members in _by_corpus(labelled, lambda page: page.page.corpus):
        examples = [page.example for page in members]
        best = [score_of(it.found, it.found, it.held + it.missing).f1 for it in examples]
        held = [it.f1(np.flatnonzero(it.labels).tolist()) for it in examples]
        counts = [len(it.labels) for it in examples], [sum(it.labels) for it in examples]
        rows.append(
            [
                corpus, str(len(members)), f"{mean(best):.3f}", f"{mean(held):.3f}",
                *(f"{mean(list(map(float, count))):.0f}" for count in counts),
            ]
        )  # fmt: skip
    columns = (
        "corpus", "pages", "F1 of labelled blocks", "F1 of labelled candidates",
        "candidates per page", "labelled",
    )  # fmt: skip
    return Table("Bodies found in blocks", columns, rows)


def _scores(predictions: Sequence[BodyPrediction]) -> Table:
    rows = []
    for corpus, members in _by_corpus(predictions, lambda it: it.labelled.page.corpus):
        trusted = [it for it in members if not it.labelled.page.body_suspect]
        for name, group in (("all", members), ("without suspect labels", trusted)):
            failed = mean([float(it.f1 < FAILED) for it in group])
            f1 = mean([it.f1 for it in group])
            rows.append([corpus, name, str(len(group)), f"{f1:.3f}", f"{100 * failed:.1f} %"])
    columns = ("corpus", "pages", "number", "F1", f"F1<{FAILED}")
    return Table("Bodies of method newscrawl: 3 folds, extra-site", columns, rows)


def _reliability(predictions: Sequence[BodyPrediction]) -> Table:
    """Return the F1 by confidence, each prediction calibrated on the other folds."""
    cases: list[tuple[float, float]] = []
    for fold in sorted({it.fold for it in predictions}):
        curve = np.array(calibration_curve(it for it in predictions if it.fold != fold)).T
        cases += [
            (float(np.interp(it.expected, *curve)), it.f1) for it in predictions if it.fold == fold
        ]
    columns = ("confidence", "pages", "mean confidence", "mean F1")
    return Table(
        "Bodies of method newscrawl: confidence, extra-site",
        columns,
        bin_rows(confidence_bins(cases, BINS)),
    )


def _by_corpus(
    members: Iterable[T], corpus_of: Callable[[T], str]
) -> Iterator[tuple[str, list[T]]]:
    members = list(members)
    for corpus in dict.fromkeys(map(corpus_of, members)):
        yield corpus, [member for member in members if corpus_of(member) == corpus]
