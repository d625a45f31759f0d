"""The default's body: boosted trees fitted to the blocks of labelled pages, and their calibration."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from newscrawl.body.blocks import find_blocks
from newscrawl.body.choice import FILE, best_subset, body_candidates
from newscrawl.body.featurenames import FEATURES
from newscrawl.body.nce import find_region
from newscrawl.evaluation.metrics import score_of
from newscrawl.forest import LEAF, Forest, Model, Tree
from newscrawl.methods import prepare
from newscrawl.text import words
from newscrawl.training.blocklabels import label_blocks
from newscrawl.training.fit import TooFewPagesError
from newscrawl.training.folds import extra_site, site_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sklearn.ensemble import HistGradientBoostingClassifier

    from newscrawl.document import Document
    from newscrawl.evaluation.corpora import LabelledPage

TREES = 60
LEAVES = 16
"""Most leaves of a tree. 80 trees are better by 0.0003, 100 of 12 leaves and 150 of half the rate are not."""
RATE = 0.12
LEAST_LEAF = 15
L2 = 5.0
BINS = 64
MONOTONIC = {"chars": 1, "link_density": -1, "home_long": 1, "up_long": 1, "votes": 1}
"""Features with which the probability rises (1) or falls (-1), whatever else is the case: what the
papers say of them. What a page or two of the training seem to say against it is chance."""
SHARE = 0.4
"""Share of the features, drawn anew, that a split is chosen from. Together they gain 0.0006."""


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
    document = prepare(document)
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


def fit_body_model(labelled: Sequence[Labelled]) -> Model:
    """Return the model fitted to *labelled* pages: the same for the same, in the same order.

    Pages whose label is doubted are left out. The expected F1 is calibrated on pages of sites that
    the ensembles of three folds have not seen. Raises :class:`~newscrawl.training.fit.TooFewPagesError`.
    """
    sites = {name for one in labelled for name in site_names(one.page)}
    model = _fit(labelled, sites)
    return model._replace(forest=replace(model.forest, calibration=_calibration(labelled)))


def _fit(labelled: Iterable[Labelled], sites: Iterable[str] = ()) -> Model:
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  # an extra

    trusted = [one for one in labelled if not one.page.body_suspect and one.example.features]
    truth = [label for one in trusted for label in one.example.labels]
    if len(set(truth)) < 2:
        raise TooFewPagesError("too few labelled pages to learn bodies from")
    model = HistGradientBoostingClassifier(
        learning_rate=RATE,
        max_iter=TREES,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAST_LEAF,
        l2_regularization=L2,
        max_bins=BINS,
        max_features=SHARE,
        monotonic_cst=[MONOTONIC.get(name, 0) for name in FEATURES],
        early_stopping=False,
        random_state=0,
    )
    rows = np.asarray([row for one in trusted for row in one.example.features], dtype=np.float32)
    model.fit(rows, truth, sample_weight=_weights(trusted))
    return Model(boosted_forest(model, FEATURES, sites), FILE)


def _weights(labelled: Sequence[Labelled]) -> list[float]:
    """Return a weight a block: the root of its words, equal sums over pages, less for large sites."""
    pages = Counter(one.page.site for one in labelled)
    weights = []
    for page, example in labelled:
        roots = [sqrt(1 + n) for n in example.words]
        whole = sum(roots) * sqrt(pages[page.site])
        weights += [root / whole for root in roots]
    scale = len(weights) / sum(weights)
    return [weight * scale for weight in weights]


def boosted_forest(
    model: HistGradientBoostingClassifier, feature_names: Iterable[str], sites: Iterable[str] = ()
) -> Forest:
    """Return a fitted gradient boosting model of two classes, 0 and 1, as arrays."""
    trees = [_tree(stage[0].nodes) for stage in model._predictors]  # noqa: SLF001  # not public
    base = float(model._baseline_prediction.item())  # noqa: SLF001
    return Forest.of_trees(trees, feature_names, sites, link="logistic", base=base)


def _tree(nodes: Any) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    return Tree(
        np.where(leaf, LEAF, nodes["feature_idx"]),
        nodes["num_threshold"],
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        nodes["value"],
    )


Curve = tuple[tuple[float, float], ...]
"""Expected F1 and mean F1 of the bodies of which it is expected, in increasing order."""


class Told(NamedTuple):
    """What a model that has not seen the site of a page says of its body."""

    labelled: Labelled
    fold: int
    #: F1 that the body is expected to have, and the one it has
    expected: float
    f1: float


def _calibration(labelled: Sequence[Labelled]) -> Curve:
    """Return the curve of pages in folds; none where they are too few."""
    try:
        return curve_of(told_in_folds(labelled))
    except TooFewPagesError:
        return ()


def curve_of(told: Iterable[Told]) -> Curve:
    """Return how good bodies are by what is expected of them: isotonic regression."""
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  # an extra

    told = list(told)
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit([one.expected for one in told], [one.f1 for one in told])
    return tuple(zip(map(float, curve.X_thresholds_), map(float, curve.y_thresholds_), strict=True))


def told_in_folds(labelled: Sequence[Labelled]) -> Iterator[Told]:
    """Yield what is told of each page that has candidates, by the models of other folds."""
    folds = extra_site([one.page for one in labelled])
    for fold in sorted(set(folds)):
        model = _fit(one for one, other in zip(labelled, folds, strict=True) if other != fold)
        for one, other in zip(labelled, folds, strict=True):
            if other == fold and one.example.features:
                probabilities = model.forest.predict(one.example.features)
                chosen, expected = best_subset(probabilities, one.example.chars)
                yield Told(one, fold, expected, one.example.f1(chosen))
