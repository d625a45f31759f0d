"""The classifiers of kinds: boosted trees fitted to labelled pages and to pages made of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from newscrawl.corpora.corpus import LabelledPage
from newscrawl.corpora.folds import FOLDS, extra_site, site_names
from newscrawl.corpora.map_pages import map_pages
from newscrawl.document.document import DocumentError
from newscrawl.extraction.extract import ExtractOptions, extract_features
from newscrawl.fields.kind.kind_features import KIND_FEATURES, PAGE_FEATURES
from newscrawl.fields.kind.page_kind import KIND_MODEL_FILE, PAGE_KIND_MODEL_FILE
from newscrawl.training.boosting import Boosting
from newscrawl.training.bundle import fit_default
from newscrawl.training.made_pages import corpus_stories, made_articles, made_indexes
from newscrawl.training.training_errors import TooFewPagesError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from newscrawl.ensemble.ensemble import Model
    from newscrawl.training.example_types import Example

LISTS = frozenset({"collection", "listing"})
"""Types of pages that are indexes. All others that are no articles are not learned from: forums,
documentation, products and services are what users of the classifier may want or not."""

WEIGHTS: Mapping[str, float] = {
    "article": 1.0,
    "list": 1.0,
    "made article": 0.1,
    "old style": 0.12,
    "made index": 1.0,
    "index in place": 1.5,
    "made other": 0.04,
}
"""Sum of the weights of the examples of a group."""

ARTICLES = frozenset({"article", "made article", "old style"})
"""Groups of articles."""

SHARE_OF_ARTICLES = 0.8
"""Of the pages of a crawl, for which the probabilities are calibrated."""

_CURVE = 41
"""Points of the curve of calibration."""
_LARGEST_ODDS = 8.0


WHOLE = Boosting(KIND_MODEL_FILE, KIND_FEATURES, trees=80, leaves=24, rate=0.12, min_leaf=10)
PAGE = Boosting(PAGE_KIND_MODEL_FILE, PAGE_FEATURES, trees=60, leaves=8, rate=0.12, min_leaf=10)


@dataclass(frozen=True, slots=True)
class KindExample:
    """The features of a page, and its group in :data:`WEIGHTS`."""

    group: str
    features: list[float]

    @property
    def is_article(self) -> bool:
        """Whether the page is an article."""
        return self.group in ARTICLES


class KindPage(NamedTuple):
    """A labelled page, its example and those of the pages made of it."""

    page: LabelledPage
    examples: list[KindExample]


class KindModels(NamedTuple):
    """The classifiers of extracted pages, and of pages before extraction."""

    whole: Model
    page: Model

    def save(self, folder: Path) -> None:
        """Write both to *folder*. Raises ``OSError``."""
        self.whole.save(folder)
        self.page.save(folder)


def read_kind_pages(
    pages: Sequence[LabelledPage],
    *,
    workers: int,
    models: Path | None = None,
    advance: Callable[[], object] | None = None,
) -> list[KindPage]:
    """Return the examples of *pages*, those that can be read.

    *models* is the folder of the models of title and body that the pages are extracted with.
    """
    outcomes = map_pages(
        "newscrawl.training.kind_training:read_kind_page",
        pages,
        lambda plain: [KindExample(**one) for one in plain["examples"]],
        lambda _page: [],
        workers=workers,
        advance=advance,
        models=str(models) if models else None,
    )
    return [KindPage(one.page, one.value) for one in outcomes if one.value]


def read_kind_page(html: bytes, *, page: dict[str, Any], models: str | None) -> dict[str, Any]:
    """Return the examples of a page as JSON values; *page* is a :class:`LabelledPage` in them."""
    labelled = LabelledPage.from_plain(page)
    options = ExtractOptions(models=Path(models) if models else None)
    examples = []
    for group, content, url in _contents(labelled, html):
        try:
            features = extract_features(
                content, url, fetched_at=labelled.fetched_at, options=options
            )
        except DocumentError:  # a made page may be empty
            continue
        examples.append({"group": group, "features": features})
    return {"examples": examples}


def group_of(page: LabelledPage) -> str:
    """Return the group of *page*: ``article``, ``list``, or its type where that is not learned from."""
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
    """Return the examples of *pages* and *typed*, each extracted with models of other sites.

    The *examples* are those of *pages*. What a model says of pages that it was fitted to is surer
    than what it says of others.
    """
    everything = [*pages, *typed]
    folds = extra_site(everything)
    read: list[KindPage] = []
    for fold in range(FOLDS):
        kept = [i for i, other in enumerate(folds[: len(pages)]) if other != fold]
        own = [page for page, other in zip(everything, folds, strict=True) if other == fold]
        others, known = [pages[i] for i in kept], [examples[i] for i in kept]
        with TemporaryDirectory() as folder:
            fit_default(others, known).save(Path(folder))
            read += read_kind_pages(own, workers=workers, models=Path(folder), advance=advance)
    return read


def fit_kind_models(pages: Sequence[KindPage]) -> KindModels:
    """Return the models fitted to *pages*: the same for the same, in the same order.

    Raises :class:`~newscrawl.training.training_errors.TooFewPagesError`.
    """
    return KindModels(
        _fit_calibrated(pages, KIND_MODEL_FILE), _fit_calibrated(pages, PAGE_KIND_MODEL_FILE)
    )


def _fit_calibrated(pages: Sequence[KindPage], file: str) -> Model:
    model = _fit(pages, file)
    try:
        told = list(told_in_folds(pages, file))
    except TooFewPagesError:
        return model
    return model._replace(ensemble=replace(model.ensemble, calibration=curve_of(told)))


def _classifier(file: str) -> Boosting:
    return WHOLE if file == KIND_MODEL_FILE else PAGE


def _fit(pages: Sequence[KindPage], file: str) -> Model:
    classifier = _classifier(file)
    learned = [(it.page, one) for it in pages for one in it.examples if one.group in WEIGHTS]
    width = len(classifier.names)
    rows = np.asarray([one.features[:width] for _, one in learned], dtype=np.float32)
    sites = {name for it in pages for name in site_names(it.page)}
    return classifier.fit(
        rows,
        [one.is_article for _, one in learned],
        _weights([(page.corpus, one.group) for page, one in learned]),
        sites,
    )


def _weights(members: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Return a weight an example, of (corpus, group): less for those of large corpora."""
    sizes = Counter(members)
    totals: dict[str, float] = defaultdict(float)
    for (_, group), number in sizes.items():
        totals[group] += sqrt(number)
    weights = np.array(
        [WEIGHTS[group] / (totals[group] * sqrt(sizes[corpus, group])) for corpus, group in members]
    )
    scaled: NDArray[np.float64] = weights * len(weights) / weights.sum()
    return scaled


class KindPrediction(NamedTuple):
    """What a model that has not seen the site of a page says of it, uncalibrated."""

    page: LabelledPage
    example: KindExample
    probability: float


def told_in_folds(
    pages: Sequence[KindPage],
    file: str = KIND_MODEL_FILE,
    *,
    fitted: Callable[[LabelledPage], bool] | None = None,
) -> Iterable[KindPrediction]:
    """Yield what is told of each example by the models of other folds.

    They are fitted to pages of which *fitted* is true, by default to all.
    """
    folds = extra_site([it.page for it in pages])
    width = len(_classifier(file).names)
    for fold in sorted(set(folds)):
        others = [it for it, other in zip(pages, folds, strict=True) if other != fold]
        forest = _fit([it for it in others if fitted is None or fitted(it.page)], file).ensemble
        for it, other in zip(pages, folds, strict=True):
            if other == fold:
                rows = [one.features[:width] for one in it.examples]
                for one, probability in zip(it.examples, forest.predict(rows), strict=True):
                    yield KindPrediction(it.page, one, probability)


def curve_of(told: Iterable[KindPrediction]) -> tuple[tuple[float, float], ...]:
    """Return how often pages of a probability are articles, in a crawl: Platt's logistic curve.

    Real articles against real lists and made ones, :data:`SHARE_OF_ARTICLES` of them articles.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # an extra

    learned = [one for one in told if one.example.group not in {"made article", "old style"}]
    learned = [one for one in learned if one.example.group in WEIGHTS]
    counts = Counter((one.example.group, one.example.is_article) for one in learned)
    groups = Counter(is_article for _, is_article in counts)
    shares = {True: SHARE_OF_ARTICLES, False: 1 - SHARE_OF_ARTICLES}
    weights = [
        len(learned) * shares[one.example.is_article] / groups[one.example.is_article]
        / counts[one.example.group, one.example.is_article]
        for one in learned
    ]  # fmt: skip
    odds = [[_log_odds(one.probability)] for one in learned]
    platt = LogisticRegression(C=1e6)
    platt.fit(odds, [one.example.is_article for one in learned], sample_weight=weights)
    slope, base = max(float(platt.coef_[0, 0]), 0.0), float(platt.intercept_[0])
    places = np.linspace(-_LARGEST_ODDS, _LARGEST_ODDS, _CURVE).tolist()
    return tuple((_logistic(place), _logistic(slope * place + base)) for place in places)


def _log_odds(probability: float) -> float:
    return log(probability / (1 - probability)) if 0 < probability < 1 else 0.0


def _logistic(odds: float) -> float:
    return 1 / (1 + exp(-odds))
