"""Training of the kind classifiers: boosted trees on labelled pages and pages made from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from newscrawl.ensemble.ensemble import Columns, Model
    from newscrawl.lab.training.example_types import Example

LISTS = frozenset({"collection", "listing"})
"""Page types that are indexes. Forums and documentation are not used for training."""

WEIGHTS: Mapping[str, float] = {
    "article": 1.0,
    "list": 2.0,
    "made article": 0.1,
    "old style": 0.12,
    "undated": 0.3,
    "made index": 0.5,
    "index in place": 0.75,
    "made section": 0.75,
    "made other": 0.2,
    "product": 0.4,
    "service": 0.3,
}
"""Total weight of the examples of each group after extraction."""

PAGE_WEIGHTS: Mapping[str, float] = {
    "article": 1.0,
    "list": 1.0,
    "made article": 0.1,
    "old style": 0.12,
    "undated": 0.2,
    "made index": 1.0,
    "index in place": 1.5,
    "made other": 0.04,
}
"""Those before extraction, when small sections, products and services are too like articles."""

ARTICLES = frozenset({"article", "made article", "old style", "undated"})
"""Groups of articles."""

LABELLED = frozenset({"article", "list", "product", "service"})
"""Groups of pages that are not made."""

_CURVE_POINTS = 41
_MAX_LOG_ODDS = 8.0
_KNOWN_ADDRESSES = 0.6
"""Share of made pages with a URL."""
_OWN_ADDRESSES = {True: 0.8, False: 0.3}
"""Share of articles, and of other pages, with the URL of an article, not of a folder."""

MONOTONIC: Mapping[str, int] = {
    "title_recall": 1,
    "date_confidence": 1,
    "same_links": -1,
    "span_linked_headings": -1,
}
"""Features that make an article more (1) or less (-1) likely."""

WHOLE = Boosting(
    KIND_MODEL_FILE,
    KIND_FEATURES,
    trees=80,
    leaves=24,
    rate=0.12,
    min_leaf=10,
    monotonic=MONOTONIC,
)
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
    random = Random(f"address {page.corpus} {page.id}")  # noqa: S311  # reproducible
    for make in (made_articles, made_indexes):
        for group, content in make(page, html, stories):
            yield group, content, _address(page.url, random, is_article=group in ARTICLES)


def _address(url: str | None, random: Random, *, is_article: bool) -> str | None:
    """Return the URL of a page made of that at *url*: the same or that of a folder; None for some.

    Addresses are no certain sign, so some articles have that of a folder and some lists that of an
    article.
    """
    if url is None or random.random() > _KNOWN_ADDRESSES:
        return None
    if random.random() < _OWN_ADDRESSES[is_article]:
        return url
    parts = urlsplit(url)
    folders = parts.path.split("/")[1:-1][: random.randint(0, 2)]
    return parts._replace(path="/".join(["", *folders, ""]), query="").geturl()


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
        curve = calibration_curve(predict_in_folds(pages, file))
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
    fold: int
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
                    yield KindPrediction(page.page, fold, example, probability)


def calibration_curve(predictions: Iterable[KindPrediction]) -> tuple[tuple[float, float], ...]:
    """Return the share of articles by probability among labelled pages: Platt scaling.

    Four in five labelled pages are articles, as in a crawl. The identity if all are.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # an extra

    cases = [it for it in predictions if it.example.group in LABELLED]
    if len({it.example.is_article for it in cases}) < 2:
        return ((0.0, 0.0), (1.0, 1.0))
    platt = LogisticRegression(C=1e6)
    platt.fit(
        [[_log_odds(it.probability)] for it in cases], [it.example.is_article for it in cases]
    )
    slope, base = max(float(platt.coef_[0, 0]), 0.0), float(platt.intercept_[0])
    points = np.linspace(-_MAX_LOG_ODDS, _MAX_LOG_ODDS, _CURVE_POINTS).tolist()
    return tuple((_logistic(point), _logistic(slope * point + base)) for point in points)


def _log_odds(probability: float) -> float:
    return log(probability / (1 - probability)) if 0 < probability < 1 else 0.0


def _logistic(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds))
