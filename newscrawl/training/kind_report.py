"""Tables of the classifiers of kinds: pages kept by threshold, and how far the probability is right."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from newscrawl.corpora.metrics import mean
from newscrawl.corpora.tables import Table
from newscrawl.fields.kind.kind_features import KIND_FEATURES, PAGE_FEATURES
from newscrawl.fields.kind.page_kind import (
    KIND_MODEL_FILE,
    KIND_THRESHOLD,
    PAGE_KIND_MODEL_FILE,
    PAGE_KIND_THRESHOLD,
    is_undated,
)
from newscrawl.training.kind_training import ARTICLES, WEIGHTS, curve_of, told_in_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.training.kind_training import KindPage, KindPrediction

THRESHOLDS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)
BINS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0)
NAMES = {
    KIND_MODEL_FILE: f"Kinds: share of pages kept, by threshold (default {KIND_THRESHOLD})",
    PAGE_KIND_MODEL_FILE: f"Kinds before extraction: share of pages kept (default {PAGE_KIND_THRESHOLD})",
}


def kind_tables(
    pages: Sequence[KindPage],
    *,
    families: Mapping[str, str] | None = None,
    fitted: Callable[[LabelledPage], bool] | None = None,
) -> Iterator[Table]:
    """Yield what models tell of *pages* of other folds, fitted to those of which *fitted* is true.

    *families* are the names under which the articles of corpora are counted together.
    """
    for file in (KIND_MODEL_FILE, PAGE_KIND_MODEL_FILE):
        told = list(told_in_folds(pages, file, fitted=fitted))
        curve = np.array(curve_of(one for one in told if fitted is None or fitted(one.page))).T
        sure = [(float(np.interp(one.probability, *curve)), one) for one in told]
        width = len(KIND_FEATURES if file == KIND_MODEL_FILE else PAGE_FEATURES)
        yield _kept(NAMES[file], sure, families or {}, width)
        if file == KIND_MODEL_FILE:
            yield _reliability([pair for pair in sure if fitted is None or fitted(pair[1].page)])


def _kept(
    title: str,
    sure: Sequence[tuple[float, KindPrediction]],
    families: Mapping[str, str],
    width: int,
) -> Table:
    groups: dict[str, list[float]] = {}
    for probability, one in sure:
        corpus, group = one.page.corpus, one.example.group
        name = families.get(corpus, corpus) if group == "article" else group
        kept = 0.0 if is_undated(one.example.features[:width]) else probability
        groups.setdefault(name, []).append(kept)
    rows = [
        [name, str(len(own)), *(f"{mean([p >= at for p in own]):.3f}" for at in THRESHOLDS)]
        for name, own in groups.items()
    ]
    return Table(title, ("pages", "number", *map(str, THRESHOLDS)), rows)


def _reliability(sure: Iterable[tuple[float, KindPrediction]]) -> Table:
    """Return how many of real pages, lists as they come and articles, are articles."""
    learned = [pair for pair in sure if pair[1].example.group in WEIGHTS]
    rows = []
    for low, high in pairwise(BINS):
        inside = [pair for pair in learned if low <= pair[0] < high or pair[0] == high == 1]
        articles = mean([one.example.group in ARTICLES for _, one in inside])
        confidence = mean([probability for probability, _ in inside])
        rows.append(
            [f"{low:.2f} to {high:.2f}", str(len(inside)), f"{confidence:.3f}", f"{articles:.3f}"]
        )
    columns = ("probability", "pages", "mean probability", "articles")
    return Table("Kinds: probability, extra-site, real and made pages", columns, rows)
