"""Training of the kind classifiers: boosted trees on labelled pages and pages made from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from newscrawl.document.document import DocumentError
from newscrawl.extraction.extract import ExtractOptions, extract
from newscrawl.extraction.method import Trace
from newscrawl.fields.kind.kind_features import KIND_FEATURES, PAGE_FEATURES
from newscrawl.fields.kind.page_kind import KIND_MODEL_FILE, PAGE_KIND_MODEL_FILE
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.folds import FOLDS, extra_site, site_names
from newscrawl.lab.corpora.map_pages import map_pages
from newscrawl.lab.training.boosting import Boosting, feature_rows
from newscrawl.lab.training.bundle import fit_default
from newscrawl.lab.training.made_pages import corpus_stories, made_articles, made_indexes
from newscrawl.lab.training.model_writer import save_models
from newscrawl.lab.training.training_errors import TooFewPagesError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from newscrawl.ensemble.ensemble import Columns, Model
    from newscrawl.lab.training.example_types import Example

LISTS = frozenset({"collection", "listing"})
"""Page types that are indexes. Forums and documentation are not used for training, as users may want
them or not."""

WEIGHTS: Mapping[str, float] = {
    "article": 1.0,
    "list": 1.5,
    "made article": 0.1,
    "old style": 0.12,
    "made index": 0.5,
    "index in place": 0.75,
    "made section": 0.5,
    "made other": 0.04,
    "product": 0.4,
    "service": 0.1,
}
"""Total weight of the examples of each group after extraction."""

PAGE_WEIGHTS: Mapping[str, float] = {
    "article": 1.0,
    "list": 1.0,
    "made article": 0.1,
    "old style": 0.12,
    "made index": 1.0,
    "index in place": 1.5,
    "made other": 0.04,
}
"""Those before extraction, when small sections, products and services are too like articles."""

UNCALIBRATED = frozenset({"made article", "old style", "product", "service"})
"""Groups that the calibration leaves out, as crawls of news meet few of them."""

ARTICLES = frozenset({"article", "made article", "old style"})
"""Groups of articles."""

ARTICLE_SHARE = 0.8
"""Share of articles among the pages of a crawl, assumed by the calibration."""

_CURVE_POINTS = 41
_MAX_LOG_ODDS = 8.0

WHOLE = Boosting(KIND_MODEL_FILE, KIND_FEATURES, trees=80, leaves=24, rate=0.12, min_leaf=10)
PAGE = Boosting(PAGE_KIND_MODEL_FILE, PAGE_FEATURES, trees=60, leaves=8, rate=0.12, min_leaf=10)


@dataclass(frozen=True, slots=True)
class KindExample:
    """Features of a page, and its group (see :data:`WEIGHTS`)."""

    group: str
    features: dict[str, float]

    @property
    def is_article(self) -> bool:
        """Whether the page is an article."""
        return self.group in ARTICLES


class KindPage(NamedTuple):
    """A labelled page with its example and those of the pages made from it."""

    page: LabelledPage
    examples: list[KindExample]


class KindModels(NamedTuple):
    """Classifiers after and before extraction."""

    whole: Model
    page: Model


def read_kind_pages(
    pages: Sequence[LabelledPage],
    *,
    workers: int,
    models: Path | None = None,
    advance: Callable[[], object] | None = None,
) -> list[KindPage]:
    """Return the examples of the *pages* that can be read.

    *models* is the folder of the title and body models used to extract the pages.
    """
    outcomes = map_pages(
        "newscrawl.lab.training.kind_training:read_kind_page",
        pages,
        lambda plain: [KindExample(**example) for example in plain["examples"]],
        lambda _page: [],
        workers=workers,
        advance=advance,
        models=str(models) if models else None,
    )
    return [KindPage(outcome.page, outcome.value) for outcome in outcomes if outcome.value]


def read_kind_page(html: bytes, *, page: dict[str, Any], models: str | None) -> dict[str, Any]:
    """Return the examples of a :class:`LabelledPage`, both as JSON values."""
    labelled = LabelledPage.from_plain(page)
    options = ExtractOptions(models=Path(models) if models else None)
    examples = []
    for group, content, url in _contents(labelled, html):
        try:
            trace = Trace()
            extract(content, url, fetched_at=labelled.fetched_at, options=options, trace=trace)
        except DocumentError:  # a made page may be empty
            continue
        examples.append({"group": group, "features": dict(trace.kind_features)})
    return {"examples": examples}


def group_of(page: LabelledPage) -> str:
    """Return the group of *page*: ``article``, ``list`` or a type not used for training."""
    if page.page_type is None:
        return "article"
    return "list" if page.page_type in LISTS else page.page_type


def _contents(page: LabelledPage, html: bytes) -> Iterable[tuple[str, bytes, str | None]]:
    yield group_of(page), html, page.url
    if page.page_type or not (page.title and page.body):
        return
    stories = corpus_stories(page.path.parent.parent)
    for make in (made_articles, made_indexes):
        for group, content in make(page, html, stories):
            yield group, content, None


def read_out_of_fold(
    pages: Sequence[LabelledPage],
    examples: Sequence[Example],
    typed: Sequence[LabelledPage],
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[KindPage]:
    """Return the kind examples of *pages* and *typed*, each extracted with models of other sites.

    *examples* are those of *pages*. Models are more confident on the pages they were fitted to.
    """
    all_pages = [*pages, *typed]
    folds = extra_site(all_pages)
    read: list[KindPage] = []
    for fold in range(FOLDS):
        others = [i for i, other in enumerate(folds[: len(pages)]) if other != fold]
        members = [page for page, other in zip(all_pages, folds, strict=True) if other == fold]
        with TemporaryDirectory() as name:
            folder = Path(name)
            fitted = fit_default([pages[i] for i in others], [examples[i] for i in others])
            save_models(fitted, folder)
            read += read_kind_pages(members, workers=workers, models=folder, advance=advance)
    return read


def fit_kind_models(pages: Sequence[KindPage]) -> KindModels:
    """Fit both classifiers to *pages*; deterministic for the same order of pages.

    Raises :class:`~newscrawl.lab.training.training_errors.TooFewPagesError`.
    """
    return KindModels(
        _fit_calibrated(pages, KIND_MODEL_FILE), _fit_calibrated(pages, PAGE_KIND_MODEL_FILE)
    )


def _fit_calibrated(pages: Sequence[KindPage], file: str) -> Model:
    model = _fit(pages, file)
    try:
        curve = calibration_curve(list(predict_in_folds(pages, file)), weights_of(file))
    except TooFewPagesError:
        return model
    return model._replace(ensemble=replace(model.ensemble, calibration=curve))


def _classifier(file: str) -> Boosting:
    return WHOLE if file == KIND_MODEL_FILE else PAGE


def weights_of(file: str) -> Mapping[str, float]:
    """Return the weights of the groups that the model *file* is fitted to."""
    return WEIGHTS if file == KIND_MODEL_FILE else PAGE_WEIGHTS


def _fit(pages: Sequence[KindPage], file: str) -> Model:
    classifier, weights = _classifier(file), weights_of(file)
    pairs = [
        (page.page.corpus, example)
        for page in pages
        for example in page.examples
        if example.group in weights
    ]
    rows = feature_rows(_columns([example for _, example in pairs], file), classifier.names)
    sites = {name for page in pages for name in site_names(page.page)}
    return classifier.fit(
        rows,
        [example.is_article for _, example in pairs],
        _weights([(corpus, example.group) for corpus, example in pairs], weights),
        sites,
    )


def _columns(examples: Sequence[KindExample], file: str) -> Columns:
    names = _classifier(file).names
    return {name: [example.features[name] for example in examples] for name in names}


def _weights(
    members: Sequence[tuple[str, str]], of_groups: Mapping[str, float]
) -> NDArray[np.float64]:
    """Return the weights of examples given as (corpus, group); lower in large corpora."""
    sizes = Counter(members)
    totals: dict[str, float] = defaultdict(float)
    for (_, group), number in sizes.items():
        totals[group] += sqrt(number)
    weights = np.array(
        [
            of_groups[group] / (totals[group] * sqrt(sizes[corpus, group]))
            for corpus, group in members
        ]
    )
    scaled: NDArray[np.float64] = weights * len(weights) / weights.sum()
    return scaled


class KindPrediction(NamedTuple):
    """Uncalibrated out-of-fold probability of a page."""

    page: LabelledPage
    example: KindExample
    probability: float


def predict_in_folds(
    pages: Sequence[KindPage],
    file: str = KIND_MODEL_FILE,
    *,
    fitted: Callable[[LabelledPage], bool] | None = None,
) -> Iterable[KindPrediction]:
    """Yield the out-of-fold predictions of all examples.

    Models are fitted only to pages for which *fitted* is true, by default to all.
    """
    folds = extra_site([page.page for page in pages])
    for fold in sorted(set(folds)):
        others = [page for page, other in zip(pages, folds, strict=True) if other != fold]
        training = [page for page in others if fitted is None or fitted(page.page)]
        ensemble = _fit(training, file).ensemble
        for page, other in zip(pages, folds, strict=True):
            if other == fold:
                probabilities = ensemble.predict(_columns(page.examples, file))
                for example, probability in zip(page.examples, probabilities, strict=True):
                    yield KindPrediction(page.page, example, probability)


def calibration_curve(
    predictions: Iterable[KindPrediction], groups: Collection[str] = WEIGHTS.keys()
) -> tuple[tuple[float, float], ...]:
    """Return calibrated probabilities by probability: Platt scaling.

    Of the pages of *groups* it is fitted to real articles and to real and made lists, weighted for :data:`ARTICLE_SHARE`.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # an extra

    cases = [
        (it.example.group, it.example.is_article, it.probability)
        for it in predictions
        if it.example.group in groups and it.example.group not in UNCALIBRATED
    ]
    group_sizes = Counter(group for group, _, _ in cases)
    numbers = Counter(group in ARTICLES for group in group_sizes)
    shares = {True: ARTICLE_SHARE, False: 1 - ARTICLE_SHARE}
    weights = [
        len(cases) * shares[is_article] / numbers[is_article] / group_sizes[group]
        for group, is_article, _ in cases
    ]
    log_odds = [[_log_odds(probability)] for _, _, probability in cases]
    platt = LogisticRegression(C=1e6)
    platt.fit(log_odds, [is_article for _, is_article, _ in cases], sample_weight=weights)
    slope, base = max(float(platt.coef_[0, 0]), 0.0), float(platt.intercept_[0])
    points = np.linspace(-_MAX_LOG_ODDS, _MAX_LOG_ODDS, _CURVE_POINTS).tolist()
    return tuple((_logistic(point), _logistic(slope * point + base)) for point in points)


def _log_odds(probability: float) -> float:
    return log(probability / (1 - probability)) if 0 < probability < 1 else 0.0


def _logistic(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds))
