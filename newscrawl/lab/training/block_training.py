"""Training of the default method's block classifier: boosted trees in two passes, calibration.

Pages made from labelled pages (:mod:`newscrawl.lab.training.made_pages`) are used as well, as the
corpora have few old layouts, and pages with inserted constructs
(:mod:`newscrawl.lab.training.transplants`). The second pass is fitted to out-of-fold probabilities
of the first (stacking).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from newscrawl.body.block_features import (
    CONTEXT_FEATURES,
    FEATURES,
    best_subset,
    shared_probabilities,
)
from newscrawl.body.blocks import find_blocks
from newscrawl.body.classifier import (
    CONTEXT_FILE,
    FILE,
    BodyModels,
    body_candidates,
    in_context,
)
from newscrawl.body.nce import find_region
from newscrawl.document.document import parse_document
from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS
from newscrawl.lab.corpora.folds import extra_site, site_names
from newscrawl.lab.corpora.metrics import score_of
from newscrawl.lab.training.block_labels import label_blocks
from newscrawl.lab.training.boosting import Boosting, feature_rows
from newscrawl.lab.training.made_pages import corpus_stories, made_articles
from newscrawl.lab.training.training_errors import TooFewPagesError
from newscrawl.lab.training.transplants import transplant
from newscrawl.text import squeeze, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Columns, Model
    from newscrawl.lab.corpora.corpus import LabelledPage


_FURNITURE = {"furniture": -1, "furniture_share": -1}
MONOTONIC = {"chars": 1, "link_density": -1, "home_long": 1, "up_long": 1, "votes": 1, **_FURNITURE}
"""Features that increase (1) or decrease (-1) the probability monotonically, as in the papers."""

FIRST = Boosting(FILE, FEATURES, trees=200, leaves=31, rate=0.07, min_leaf=20, monotonic=MONOTONIC)
SECOND = Boosting(
    CONTEXT_FILE,
    CONTEXT_FEATURES,
    trees=120,
    leaves=12,
    rate=0.06,
    min_leaf=20,
    monotonic=_FURNITURE,
)
MADE_WEIGHT, TRANSPLANT_WEIGHT = 0.25, 0.12
"""Weights of a made page, and of one with transplanted constructs, relative to a labelled one."""


@dataclass(frozen=True, slots=True)
class BodyExample:
    """Candidate blocks of a page, labelled as part of the body or not."""

    #: columns of the features of the first pass
    features: Columns
    #: weighted characters of each candidate
    chars: list[float]
    #: number of words of each candidate
    words: list[int]
    labels: list[bool]
    #: words of the labelled body outside the labelled candidates
    missing: int
    #: words of all labelled blocks, candidates or not
    found: int
    #: weight relative to a labelled page
    weight: float = 1.0

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> BodyExample:
        """Convert the fields as JSON values."""
        return cls(**plain)

    @property
    def held(self) -> int:
        """Number of words of the labelled candidates."""
        return sum(n for n, label in zip(self.words, self.labels, strict=True) if label)

    def f1(self, chosen: Iterable[int]) -> float:
        """Return the F1, in words, of the candidates *chosen*."""
        chosen = list(chosen)
        correct = sum(self.words[index] for index in chosen if self.labels[index])
        output = sum(self.words[index] for index in chosen)
        return score_of(correct, output, self.held + self.missing).f1


def body_example(
    document: Document, body: str, inserted: Mapping[str, bool] | None = None
) -> BodyExample:
    """Return the candidates that extraction finds in *document*, labelled with *body*.

    *inserted* are labels of texts that were inserted into the page.
    """
    document = METHODS[DEFAULT_METHOD].prepare(document)
    candidates = body_candidates(document, find_region(document).forest)
    bags = [
        words(" ".join(document.text[row] for row in rows)) for rows in find_blocks(document).rows
    ]
    gold = words(body)
    labels = label_blocks(bags, gold)
    if inserted:
        for place, rows in enumerate(find_blocks(document).rows):
            known = [inserted.get(squeeze(document.text[row])) for row in rows]
            if None not in known:
                labels[place] = all(known)
    held = sum(len(bags[place]) for place in candidates.places if labels[place])
    found = sum(len(bag) for bag, label in zip(bags, labels, strict=True) if label)
    return BodyExample(
        {name: list(column) for name, column in candidates.features.items()},
        candidates.chars,
        [len(bags[place]) for place in candidates.places],
        [labels[place] for place in candidates.places],
        max(0, len(gold) - held),
        found,
    )


class Labelled(NamedTuple):
    """A page with a labelled body and its examples."""

    page: LabelledPage
    example: BodyExample
    #: examples of the pages made from it
    variants: Sequence[BodyExample] = ()

    @property
    def trusted(self) -> bool:
        """Whether the page is used for training: it has candidates and a credible label."""
        return not self.page.body_suspect and bool(self.example.chars)

    @property
    def weighted(self) -> Iterator[tuple[BodyExample, float]]:
        """Training examples with their weights."""
        for example in (self.example, *self.variants):
            if example.chars:
                yield example, example.weight


def variant_examples(
    page: LabelledPage, html: bytes, without: Collection[str] = ()
) -> tuple[BodyExample, ...]:
    """Return the examples of pages made from *page* with the bytes *html*.

    The kinds of constructs *without* are not inserted.
    """
    if not (page.title and page.body):
        return ()
    stories = corpus_stories(page.path.parent.parent)
    made = made_articles(page, html, stories)
    examples = [(body_example(parse_document(it), page.body), MADE_WEIGHT) for _, it in made]
    for number, base in enumerate((html, made[0][1], None, None)):
        if found := transplant(page, base, stories, number, without):
            example = body_example(parse_document(found.html), page.body, found.labels)
            examples.append((example, TRANSPLANT_WEIGHT))
    return tuple(replace(example, weight=weight) for example, weight in examples)


Probabilities = tuple[list[float], ...]
"""First-pass probabilities of the candidates, for each example of a page."""


def fit_body_models(labelled: Sequence[Labelled]) -> BodyModels:
    """Fit both passes to *labelled* pages; deterministic for the same order of pages.

    Pages with suspect labels are left out. The expected F1 is calibrated out of fold, by site.
    Raises :class:`~newscrawl.lab.training.training_errors.TooFewPagesError`.
    """
    sites = {name for page in labelled for name in site_names(page.page)}
    blocks = _fit_first(labelled, sites)
    first = _predict_first_in_folds(labelled)
    context = _fit_second(labelled, first, sites)
    curve = calibration_curve(_predict_second_in_folds(labelled, first))
    return BodyModels(
        blocks, context._replace(ensemble=replace(context.ensemble, calibration=curve))
    )


def _fit_first(labelled: Iterable[Labelled], sites: Iterable[str] = ()) -> Model:
    examples = [
        (page, example, weight)
        for page in labelled
        if page.trusted
        for example, weight in page.weighted
    ]
    rows = [feature_rows(example.features, FEATURES) for _, example, _ in examples]
    return _fit(rows, examples, FIRST, sites)


def _fit_second(
    labelled: Sequence[Labelled], first: Sequence[Probabilities], sites: Iterable[str] = ()
) -> Model:
    examples, rows = [], []
    for page, by_example in zip(labelled, first, strict=True):
        if page.trusted:
            for (example, weight), probabilities in zip(page.weighted, by_example, strict=True):
                examples.append((page, example, weight))
                columns = in_context(example.features, probabilities, example.chars)
                rows.append(feature_rows(columns, CONTEXT_FEATURES))
    return _fit(rows, examples, SECOND, sites)


def _fit(
    rows: Sequence[NDArray[np.float32]],
    examples: Sequence[tuple[Labelled, BodyExample, float]],
    one_pass: Boosting,
    sites: Iterable[str],
) -> Model:
    if not examples:
        raise TooFewPagesError("too few labelled pages to train the block classifier")
    truth = [label for _, example, _ in examples for label in example.labels]
    return one_pass.fit(np.concatenate(rows), truth, _weights(examples), sites)


def _weights(examples: Sequence[tuple[Labelled, BodyExample, float]]) -> list[float]:
    """Return the weight of each block: proportional to the root of its words within a page.

    The total of a site or corpus grows with the root of its pages, so that no large one dominates.
    """
    pages = {id(page): page.page for page, _, _ in examples}.values()
    sites = Counter(page.site for page in pages)
    corpora = Counter(page.corpus for page in pages)
    weights: list[float] = []
    for page, example, weight in examples:
        roots = [sqrt(1 + n) for n in example.words]
        total = sum(roots) * sqrt(sites[page.page.site] * corpora[page.page.corpus]) / weight
        weights += [root / total for root in roots]
    scale = len(weights) / sum(weights)
    return [weight * scale for weight in weights]


def _predict_first_in_folds(labelled: Sequence[Labelled]) -> list[Probabilities]:
    """Return out-of-fold probabilities of the first pass for each page."""
    folds = extra_site([page.page for page in labelled])
    first: list[Probabilities] = [()] * len(labelled)
    for fold in sorted(set(folds)):
        others = [page for page, other in zip(labelled, folds, strict=True) if other != fold]
        ensemble = _fit_first(others).ensemble
        for index, other in enumerate(folds):
            if other == fold:
                examples = labelled[index].weighted
                first[index] = tuple(ensemble.predict(example.features) for example, _ in examples)
    return first


Curve = tuple[tuple[float, float], ...]
"""Pairs of expected F1 and mean F1, in increasing order."""


class BodyPrediction(NamedTuple):
    """Out-of-fold prediction of the body of a page."""

    labelled: Labelled
    fold: int
    #: expected F1, uncalibrated
    expected: float
    #: F1 against the label
    f1: float


def calibration_curve(predictions: Iterable[BodyPrediction]) -> Curve:
    """Return the F1 by expected F1: isotonic regression, weighted by site."""
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  # an extra

    predictions = list(predictions)
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    sites = [prediction.labelled.page.site for prediction in predictions]
    pages = Counter(sites)
    curve.fit(
        [prediction.expected for prediction in predictions],
        [prediction.f1 for prediction in predictions],
        sample_weight=[1 / sqrt(pages[site]) for site in sites],
    )
    return tuple(zip(map(float, curve.X_thresholds_), map(float, curve.y_thresholds_), strict=True))


def predict_in_folds(labelled: Sequence[Labelled]) -> Iterator[BodyPrediction]:
    """Yield the out-of-fold predictions of all pages with candidates."""
    return _predict_second_in_folds(labelled, _predict_first_in_folds(labelled))


def _predict_second_in_folds(
    labelled: Sequence[Labelled], first: Sequence[Probabilities]
) -> Iterator[BodyPrediction]:
    folds = extra_site([page.page for page in labelled])
    for fold in sorted(set(folds)):
        others = [index for index, other in enumerate(folds) if other != fold]
        ensemble = _fit_second([labelled[i] for i in others], [first[i] for i in others]).ensemble
        for page, by_example, other in zip(labelled, first, folds, strict=True):
            if other == fold and page.example.chars:
                columns = in_context(page.example.features, by_example[0], page.example.chars)
                rated = ensemble.predict(columns)
                shared = shared_probabilities(page.example.features, rated, page.example.chars)
                chosen, expected = best_subset(shared, page.example.chars)
                yield BodyPrediction(page, fold, expected, page.example.f1(chosen))
