"""The default's title: an ensemble fitted to the candidates of labelled pages, and its calibration.

Each page is learned from twice, with its style and as if that were unknown, so that one model
serves both. The style of a page that misses a sheet is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from newscrawl.corpora.folds import extra_site, site_names
from newscrawl.corpora.title_match import TitleMatch
from newscrawl.ensemble.ensemble import Model
from newscrawl.fields.titles.title_features import TITLE_CANDIDATE_FEATURES
from newscrawl.fields.titles.title_model import TITLE_MODEL_FILE, choose_span
from newscrawl.text import words
from newscrawl.training.fit import Data, fit_ensemble
from newscrawl.training.training_errors import TooFewPagesError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.training.example_types import Example


TREES = 50
"""Half as many as of the papers' ensembles: on other sites no worse, and twice as fast."""

LEAST_LEAF = 4
"""Least examples in a leaf, each page counting twice: 1 to 6 are equal but for a page or two."""


def fit_title_model(pages: Sequence[LabelledPage], examples: Sequence[Example]) -> Model:
    """Return the model fitted to *examples*, those of *pages*: the same for the same.

    Its probabilities are calibrated on pages of sites that the ensembles of three folds have not
    seen. Raises :class:`~newscrawl.training.training_errors.TooFewPagesError`.
    """
    sites = {name for page in pages for name in site_names(page)}
    model = _fit(examples, sites)
    curve = _calibration(extra_site(pages), examples)
    return model._replace(ensemble=replace(model.ensemble, calibration=curve))


def _fit(examples: Iterable[Example], sites: Iterable[str] = ()) -> Model:
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415  # an extra

    model = ExtraTreesClassifier(TREES, min_samples_leaf=LEAST_LEAF, random_state=0, n_jobs=-1)
    return Model(
        fit_ensemble(model, _data(examples), TITLE_CANDIDATE_FEATURES, sites), TITLE_MODEL_FILE
    )


def _data(examples: Iterable[Example]) -> Data:
    """Return the candidates that are the title and those that are not.

    Left out are those that show the title's text elsewhere, and pages whose title is no text node.
    """
    data = Data([], [])
    for one in examples:
        if not one.labels.title:
            continue
        title = words(one.title)
        plain = one.candidates.without_style()
        for number, span in enumerate(one.candidates.spans):
            labelled = span.rows == one.labels.title
            if labelled or words(span.text) != title:
                data.rows.extend((one.candidates.features[number], plain.features[number]))
                data.truth.extend([int(labelled)] * 2)
        data.rows.extend(one.wrong.features)
        data.truth.extend([0] * len(one.wrong.features))
    return data


def _calibration(
    folds: Sequence[int], examples: Sequence[Example]
) -> tuple[tuple[float, float], ...]:
    """Return probabilities and how often the candidate chosen with them is the title.

    None where the pages are too few for folds.
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  # an extra

    try:
        told = list(_told_in_folds(folds, examples))
    except TooFewPagesError:
        return ()
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit([probability for probability, _ in told], [right for _, right in told])
    return tuple(zip(map(float, curve.X_thresholds_), map(float, curve.y_thresholds_), strict=True))


def _told_in_folds(
    folds: Sequence[int], examples: Sequence[Example]
) -> Iterator[tuple[float, bool]]:
    for fold in sorted(set(folds)):
        model = _fit(one for one, other in zip(examples, folds, strict=True) if other != fold)
        members = [one for one, other in zip(examples, folds, strict=True) if other == fold]
        yield from _told(members, model)


def _told(examples: Iterable[Example], model: Model) -> Iterator[tuple[float, bool]]:
    for one in examples:
        choice = choose_span(one.candidates, model)
        if choice is not None and one.title:
            yield choice.probability, TitleMatch.of(choice.span.text, one.title).exact
