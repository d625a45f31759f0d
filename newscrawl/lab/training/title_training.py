"""Training of the default method's title ensemble, and its calibration.

Each page is used twice, with its style and with unknown style, so that one model serves both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from newscrawl.ensemble.ensemble import Model
from newscrawl.fields.titles.title_features import TITLE_CANDIDATE_FEATURES
from newscrawl.fields.titles.title_model import TITLE_MODEL_FILE, choose_span
from newscrawl.lab.corpora.folds import extra_site, site_names
from newscrawl.lab.corpora.title_match import TitleMatch
from newscrawl.lab.training.boosting import feature_rows
from newscrawl.lab.training.example_types import without_style
from newscrawl.lab.training.fit import Data, fit_ensemble
from newscrawl.lab.training.training_errors import TooFewPagesError
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from newscrawl.fields.titles.title_features import TitleCandidates
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example


TREES = 50
MIN_LEAF = 4
"""Minimum examples in a leaf."""

VARIANT_WEIGHT = 0.6
"""Weight of a candidate of a made page; those of a labelled page count twice."""


def fit_title_model(pages: Sequence[LabelledPage], examples: Sequence[Example]) -> Model:
    """Fit a model to the *examples* of *pages*; deterministic.

    Probabilities are calibrated out of fold, by site. Raises
    :class:`~newscrawl.lab.training.training_errors.TooFewPagesError`.
    """
    sites = {name for page in pages for name in site_names(page)}
    model = _fit(examples, sites)
    curve = _calibration(extra_site(pages), examples)
    return model._replace(ensemble=replace(model.ensemble, calibration=curve))


def _fit(examples: Iterable[Example], sites: Iterable[str] = ()) -> Model:
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415  # an extra

    model = ExtraTreesClassifier(TREES, min_samples_leaf=MIN_LEAF, random_state=0, n_jobs=-1)
    data, weights = _data(examples)
    return Model(fit_ensemble(model, data, sites, weights), TITLE_MODEL_FILE)


def _data(examples: Iterable[Example]) -> tuple[Data, list[float]]:
    """Return the title candidates of pages whose title is one of them, and their weights.

    Other pages, with the title of a teaser, would teach that their headlines are none.
    """
    data, weights = Data(TITLE_CANDIDATE_FEATURES, [], []), list[float]()
    for example in examples:
        candidates = example.candidates
        labelled = list(_labelled(candidates, example.labels.title, example.title))
        if not any(is_title for _, is_title in labelled):
            continue
        styled, plain = _rows(candidates), _rows(without_style(candidates))
        for number, is_title in labelled:
            data.rows.extend((styled[number], plain[number]))
            data.truth.extend([is_title] * 2)
        data.rows.extend(_rows(example.wrong))
        data.truth.extend([0] * len(example.wrong.spans))
        weights += [1.0] * (len(data.rows) - len(weights))
        for variant in example.title_variants:
            rows = _rows(variant.candidates)
            for number, is_title in _labelled(variant.candidates, variant.rows, variant.title):
                data.rows.append(rows[number])
                data.truth.append(is_title)
        weights += [VARIANT_WEIGHT] * (len(data.rows) - len(weights))
    return data, weights


def _rows(candidates: TitleCandidates) -> NDArray[np.float32]:
    return feature_rows(candidates.features, TITLE_CANDIDATE_FEATURES)


def _labelled(
    candidates: TitleCandidates, rows: tuple[int, ...], text: str
) -> Iterator[tuple[int, int]]:
    """Yield number and class of the candidates, except those that repeat the title elsewhere."""
    title = words(text)
    for number, span in enumerate(candidates.spans):
        same_text = words(span.text) == title
        if span.rows == rows or not same_text:
            yield number, int(span.rows == rows and same_text)


def _calibration(
    folds: Sequence[int], examples: Sequence[Example]
) -> tuple[tuple[float, float], ...]:
    """Return the calibration curve: pairs of probability and share of correct titles.

    Empty if there are too few pages for folds.
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  # an extra

    try:
        predictions = list(_predict_in_folds(folds, examples))
    except TooFewPagesError:
        return ()
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit(
        [probability for probability, _ in predictions], [correct for _, correct in predictions]
    )
    return tuple(zip(map(float, curve.X_thresholds_), map(float, curve.y_thresholds_), strict=True))


def _predict_in_folds(
    folds: Sequence[int], examples: Sequence[Example]
) -> Iterator[tuple[float, bool]]:
    """Yield the probability of each page's best candidate, and whether it is the title."""
    for fold in sorted(set(folds)):
        pairs = list(zip(examples, folds, strict=True))
        model = _fit(example for example, other in pairs if other != fold)
        for example in (example for example, other in pairs if other == fold):
            choice = choose_span(example.candidates, model)
            if choice is not None and example.title:
                yield choice.probability, TitleMatch.of(choice.span.text, example.title).exact
