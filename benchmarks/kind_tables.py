"""Tables of the kind classifiers: pages kept by threshold, and reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from newscrawl.fields.kind.page_kind import (
    KIND_MODEL_FILE,
    KIND_THRESHOLD,
    PAGE_KIND_MODEL_FILE,
    PAGE_KIND_THRESHOLD,
)
from newscrawl.lab.corpora.calibration import confidence_bins
from newscrawl.lab.corpora.metrics import mean
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.training.kind_training import (
    LABELLED,
    calibration_curve,
    predict_in_folds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.kind_training import KindPage, KindPrediction

THRESHOLDS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)
BINS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0)
NAMES = {
    KIND_MODEL_FILE: f"Kinds: share of pages kept, by threshold (default {KIND_THRESHOLD})",
    PAGE_KIND_MODEL_FILE: "Kinds before extraction: share of pages kept "
    f"(default {PAGE_KIND_THRESHOLD})",
}


def kind_tables(
    pages: Sequence[KindPage],
    *,
    families: Mapping[str, str] | None = None,
    fitted: Callable[[LabelledPage], bool] | None = None,
) -> Iterator[Table]:
    """Yield tables of out-of-fold predictions for *pages*.

    Models are fitted only to pages for which *fitted* is true. *families* maps corpora to the
    names under which their articles are reported.
    """
    for file in (KIND_MODEL_FILE, PAGE_KIND_MODEL_FILE):
        predictions = list(predict_in_folds(pages, file, fitted=fitted))
        known = [it for it in predictions if fitted is None or fitted(it.page)]
        calibrated: list[tuple[float, KindPrediction]] = []
        for fold in sorted({it.fold for it in predictions}):
            others = [it for it in known if it.fold != fold]
            curve = np.array(calibration_curve(others)).T
            calibrated += [
                (float(np.interp(it.probability, *curve)), it)
                for it in predictions
                if it.fold == fold
            ]
        yield _kept(NAMES[file], calibrated, families or {})
        if file == KIND_MODEL_FILE:
            yield _reliability(
                [case for case in calibrated if fitted is None or fitted(case[1].page)]
            )


def _kept(
    title: str,
    predictions: Iterable[tuple[float, KindPrediction]],
    families: Mapping[str, str],
) -> Table:
    groups: dict[str, list[float]] = {}
    for probability, it in predictions:
        corpus, group = it.page.corpus, it.example.group
        name = families.get(corpus, corpus) if group == "article" else group
        groups.setdefault(name, []).append(probability)
    rows = [
        [name, str(len(group)), *(f"{mean([p >= at for p in group]):.3f}" for at in THRESHOLDS)]
        for name, group in groups.items()
    ]
    return Table(title, ("pages", "number", *map(str, THRESHOLDS)), rows)


def _reliability(predictions: Iterable[tuple[float, KindPrediction]]) -> Table:
    cases = [
        (probability, float(it.example.is_article))
        for probability, it in predictions
        if it.example.group in LABELLED
    ]
    columns = ("probability", "pages", "mean probability", "articles")
    return Table(
        "Kinds: probability, extra-site, labelled pages",
        columns,
        [
            [f"{it.low:.2f} to {it.high:.2f}", str(len(it.results)), f"{it.confidence:.3f}",
             f"{it.result:.3f}"]
            for it in confidence_bins(cases, BINS)
        ],
    )  # fmt: skip
