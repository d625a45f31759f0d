"""Block classifier of the default method: boosted trees in two passes, and their calibration.

Each labelled page is learned from with pages made of it (:mod:`newscrawl.training.made_pages`): old
layouts, short stories among teasers. Without them the classifier takes whole feeds on such pages.
The second pass is fitted to probabilities of sites that the first had not seen (stacking).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from newscrawl.body.blocks import find_blocks
from newscrawl.body.classifier import (
    CONTEXT_FILE,
    FILE,
    BodyModels,
    best_subset,
    body_candidates,
    in_context,
)
from newscrawl.body.context_features import CONTEXT_FEATURES
from newscrawl.body.feature_names import FEATURES
from newscrawl.body.nce import find_region
from newscrawl.corpora.folds import extra_site, site_names
from newscrawl.corpora.metrics import score_of
from newscrawl.document.document import parse_document
from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS
from newscrawl.text import words
from newscrawl.training.block_labels import label_blocks
from newscrawl.training.boosting import Boosting
from newscrawl.training.made_pages import corpus_stories, made_articles
from newscrawl.training.training_errors import TooFewPagesError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model


MONOTONIC = {"chars": 1, "link_density": -1, "home_long": 1, "up_long": 1, "votes": 1}
"""Features with which the probability rises (1) or falls (-1), whatever else is the case: what the
papers say of them. What a page or two of the training seem to say against it is chance."""


FIRST = Boosting(FILE, FEATURES, trees=100, leaves=24, rate=0.1, min_leaf=15, monotonic=MONOTONIC)
SECOND = Boosting(CONTEXT_FILE, CONTEXT_FEATURES, trees=80, leaves=10, rate=0.06, min_leaf=15)
"""Larger ensembles gain nothing on the families of corpora."""
VARIANT_WEIGHT = 0.2
"""Weight of a page made of a labelled one. 0.1 and 0.4 are no better."""


@dataclass(frozen=True, slots=True)
class BodyExample:
    """The candidates of a page, and which of them are of its labelled body."""

    features: Sequence[Sequence[float]]
    #: weighted characters of each
    chars: list[float]
    #: words of each
    words: list[int]
    labels: list[bool]
    #: words of the label that no labelled candidate holds
    missing: int
    #: words of all labelled blocks, candidates or not
    found: int

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> BodyExample:
        """Return the example of its fields as JSON values."""
        return cls(**plain)

    @property
    def held(self) -> int:
        """Words of the labelled candidates."""
        return sum(n for n, label in zip(self.words, self.labels, strict=True) if label)

    def f1(self, chosen: Iterable[int]) -> float:
        """Return the F1 of the candidates *chosen*, in words."""
        chosen = list(chosen)
        hit = sum(self.words[place] for place in chosen if self.labels[place])
        labelled = sum(n for n, label in zip(self.words, self.labels, strict=True) if label)
        return score_of(hit, sum(self.words[place] for place in chosen), labelled + self.missing).f1


def body_example(document: Document, body: str) -> BodyExample:
    """Return what is learned from *document* with the labelled *body*: what extraction sees of it."""
    document = METHODS[DEFAULT_METHOD].prepare(document)
    candidates = body_candidates(document, find_region(document).forest)
    bags = [
        words(" ".join(document.text[row] for row in rows)) for rows in find_blocks(document).rows
    ]
    gold = words(body)
    labels = label_blocks(bags, gold)
    held = sum(len(bags[place]) for place in candidates.places if labels[place])
    found = sum(len(bag) for bag, label in zip(bags, labels, strict=True) if label)
    return BodyExample(
        np.reshape(candidates.features, (-1, len(FEATURES))).tolist(),
        candidates.chars,
        [len(bags[place]) for place in candidates.places],
        [labels[place] for place in candidates.places],
        max(0, len(gold) - held),
        found,
    )


class Labelled(NamedTuple):
    """A page and what is learned from it."""

    page: LabelledPage
    example: BodyExample
    #: examples of pages made of it
    variants: Sequence[BodyExample] = ()

    @property
    def trusted(self) -> bool:
        """Whether the page is learned from."""
        return not self.page.body_suspect and bool(self.example.features)

    @property
    def weighted(self) -> Iterator[tuple[BodyExample, float]]:
        """The examples to learn from, and their weights."""
        yield self.example, 1.0
        for one in self.variants:
            if one.features:
                yield one, VARIANT_WEIGHT


def variant_examples(page: LabelledPage, html: bytes) -> tuple[BodyExample, ...]:
    """Return the examples of pages made of *page*, whose bytes are *html*."""
    if not (page.title and page.body):
        return ()
    made = made_articles(page, html, corpus_stories(page.path.parent.parent))
    return tuple(body_example(parse_document(content), page.body) for _, content in made)


def read_labelled(page: LabelledPage) -> Labelled:
    """Return *page* with what is learned from it and from the pages made of it."""
    html = page.html()
    example = body_example(parse_document(html), page.body or "")
    return Labelled(page, example, variant_examples(page, html))


Rated = tuple[list[float], ...]
"""Probabilities by the first pass, of the candidates of each example of a page."""


def fit_body_models(labelled: Sequence[Labelled]) -> BodyModels:
    """Return the models fitted to *labelled* pages: the same for the same, in the same order.

    Pages whose label is doubted are left out. The expected F1 is calibrated on pages of sites that
    the ensembles of three folds have not seen. Raises :class:`~newscrawl.training.training_errors.TooFewPagesError`.
    """
    sites = {name for one in labelled for name in site_names(one.page)}
    blocks = _fit_first(labelled, sites)
    rated = _rate_in_folds(labelled)
    context = _fit_second(labelled, rated, sites)
    curve = curve_of(_told(labelled, rated))
    return BodyModels(
        blocks, context._replace(ensemble=replace(context.ensemble, calibration=curve))
    )


def _fit_first(labelled: Iterable[Labelled], sites: Iterable[str] = ()) -> Model:
    examples = [(one, it, weight) for one in labelled if one.trusted for it, weight in one.weighted]
    rows = [np.asarray(it.features, dtype=np.float32) for _, it, _ in examples]
    return _fit(rows, examples, FIRST, sites)


def _fit_second(
    labelled: Sequence[Labelled], rated: Sequence[Rated], sites: Iterable[str] = ()
) -> Model:
    examples, rows = [], []
    for one, probabilities in zip(labelled, rated, strict=True):
        if one.trusted:
            for (it, weight), alone in zip(one.weighted, probabilities, strict=True):
                examples.append((one, it, weight))
                rows.append(_in_context(it, alone).astype(np.float32))
    return _fit(rows, examples, SECOND, sites)


def _in_context(example: BodyExample, probabilities: Sequence[float]) -> NDArray[np.float64]:
    flat = [value for row in example.features for value in row]
    table = in_context(flat, probabilities, example.chars)
    return np.reshape(table, (-1, len(CONTEXT_FEATURES)))


def _fit(
    rows: Sequence[NDArray[np.float32]],
    examples: Sequence[tuple[Labelled, BodyExample, float]],
    one_pass: Boosting,
    sites: Iterable[str],
) -> Model:
    if not examples:
        raise TooFewPagesError("too few labelled pages to learn bodies from")
    truth = [label for _, it, _ in examples for label in it.labels]
    return one_pass.fit(np.concatenate(rows), truth, _weights(examples), sites)


def _weights(examples: Sequence[tuple[Labelled, BodyExample, float]]) -> list[float]:
    """Return a weight a block: the root of its words, equal sums over the pages of a site.

    Sites and corpora count by the root of their pages, so that no large one rules.
    """
    pages = {id(one): one.page for one, _, _ in examples}.values()
    sites = Counter(page.site for page in pages)
    corpora = Counter(page.corpus for page in pages)
    weights: list[float] = []
    for one, it, weight in examples:
        roots = [sqrt(1 + n) for n in it.words]
        whole = sum(roots) * sqrt(sites[one.page.site] * corpora[one.page.corpus]) / weight
        weights += [root / whole for root in roots]
    scale = len(weights) / sum(weights)
    return [weight * scale for weight in weights]


def _rate_in_folds(labelled: Sequence[Labelled]) -> list[Rated]:
    """Return what the first passes of other folds say of the examples of each page."""
    folds = extra_site([one.page for one in labelled])
    rated: list[Rated] = [()] * len(labelled)
    for fold in sorted(set(folds)):
        others = [one for one, other in zip(labelled, folds, strict=True) if other != fold]
        forest = _fit_first(others).ensemble
        for place, other in enumerate(folds):
            if other == fold:
                one = labelled[place]
                rated[place] = tuple(forest.predict(it.features) for it, _ in one.weighted)
    return rated


Curve = tuple[tuple[float, float], ...]
"""Expected F1 and mean F1 of the bodies of which it is expected, in increasing order."""


class BodyPrediction(NamedTuple):
    """What a model that has not seen the site of a page says of its body."""

    labelled: Labelled
    fold: int
    #: F1 that the body is expected to have, and the one it has
    expected: float
    f1: float


def curve_of(told: Iterable[BodyPrediction]) -> Curve:
    """Return how good bodies are by what is expected of them: isotonic regression.

    Sites count by the root of their pages.
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  # an extra

    told = list(told)
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    pages = Counter(one.labelled.page.site for one in told)
    curve.fit(
        [one.expected for one in told],
        [one.f1 for one in told],
        sample_weight=[1 / sqrt(pages[one.labelled.page.site]) for one in told],
    )
    return tuple(zip(map(float, curve.X_thresholds_), map(float, curve.y_thresholds_), strict=True))


def told_in_folds(labelled: Sequence[Labelled]) -> Iterator[BodyPrediction]:
    """Yield the results on each page that has candidates, by the models of other folds."""
    return _told(labelled, _rate_in_folds(labelled))


def _told(labelled: Sequence[Labelled], rated: Sequence[Rated]) -> Iterator[BodyPrediction]:
    folds = extra_site([one.page for one in labelled])
    for fold in sorted(set(folds)):
        others = [place for place, other in enumerate(folds) if other != fold]
        forest = _fit_second([labelled[i] for i in others], [rated[i] for i in others]).ensemble
        for one, alone, other in zip(labelled, rated, folds, strict=True):
            if other == fold and one.example.features:
                rows = _in_context(one.example, alone[0]).tolist()
                chosen, expected = best_subset(forest.predict(rows), one.example.chars)
                yield BodyPrediction(one, fold, expected, one.example.f1(chosen))
