"""Tree ensembles of titles and dates, fitted with scikit-learn (extra ``train``).

DocEng 2011 used "an ensemble of decision tree models" of Weka "with default values": random
forests of :data:`TREES` trees.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from newscrawl.ensemble.ensemble import LEAF
from newscrawl.fields.cardoso import (
    DATE_FEATURES,
    INDEPENDENT_DATE_FEATURES,
    TITLE_FEATURES,
    Models,
)
from newscrawl.lab.training.boosting import feature_rows
from newscrawl.lab.training.training_errors import TooFewPagesError
from newscrawl.lab.training.trees import Tree, ensemble_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    from newscrawl.ensemble.ensemble import Columns, TreeEnsemble
    from newscrawl.lab.corpora.labels import LabelName
    from newscrawl.lab.training.example_types import Example

TREES = 100

MAX_NEGATIVES: Mapping[LabelName, int] = {"title": 240, "date": 60}
"""Maximum number of negative examples from one page."""

MIN_LEAF = 1
"""Minimum examples in a leaf."""


class Data(NamedTuple):
    """Rows of the features *names*, and their classes."""

    names: Sequence[str]
    rows: list[NDArray[np.float32]]
    truth: list[int]

    def add(self, example: Example, features: Columns, label: LabelName) -> None:
        """Add the labelled nodes of a page, and other nodes that do not repeat the label."""
        labelled, repeats = example.labels.of(label)
        if not labelled:
            return
        rows, limit = example.nodes.rows, MAX_NEGATIVES[label]
        negatives = [i for i, row in enumerate(rows) if row not in labelled and row not in repeats]
        if len(negatives) > limit:
            # seeded by the page: independent of the other pages
            negatives = random.Random(example.head_title).sample(negatives, limit)  # noqa: S311
        positives = [i for i, row in enumerate(rows) if row in labelled]
        self.rows.extend(feature_rows(features, self.names)[positives + negatives])
        self.truth.extend([1] * len(positives) + [0] * len(negatives))


def fit_models(examples: Sequence[Example], sites: Iterable[str] = ()) -> Models:
    """Fit the models of method ``papers``; deterministic for the same order of *examples*."""
    sites = list(sites)
    return Models(
        fit(title_data(examples), sites),
        fit(date_data(examples), sites),
        fit(date_data(examples, INDEPENDENT_DATE_FEATURES), sites),
    )


def fit(data: Data, sites: Iterable[str] = ()) -> TreeEnsemble:
    """Fit a random forest to *data*. Raises :class:`TooFewPagesError`."""
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415  # an extra

    model = RandomForestClassifier(TREES, min_samples_leaf=MIN_LEAF, random_state=0, n_jobs=-1)
    return fit_ensemble(model, data, sites)


def fit_ensemble(
    model: RandomForestClassifier | ExtraTreesClassifier,
    data: Data,
    sites: Iterable[str] = (),
    weights: Sequence[float] | None = None,
) -> TreeEnsemble:
    """Fit *model* to *data* and convert it. Raises :class:`TooFewPagesError`."""
    if len(set(data.truth)) < 2:
        raise TooFewPagesError("too few labelled pages to train on")
    model.fit(np.asarray(data.rows), data.truth, sample_weight=weights)
    return to_ensemble(model, data.names, sites)


def title_data(examples: Iterable[Example], names: Sequence[str] = TITLE_FEATURES) -> Data:
    """Return title nodes and other nodes with the attributes *names*."""
    data = Data(names, [], [])
    for example in examples:
        data.add(example, example.nodes.features, "title")
    return data


def date_data(examples: Iterable[Example], names: Sequence[str] = DATE_FEATURES) -> Data:
    """Return date nodes and other nodes with the attributes *names* (8: distance to the label)."""
    data = Data(names, [], [])
    for example in examples:
        data.add(example, example.nodes.date_features(example.position), "date")
    return data


def to_ensemble(
    model: RandomForestClassifier | ExtraTreesClassifier,
    feature_names: Iterable[str],
    sites: Iterable[str] = (),
) -> TreeEnsemble:
    """Convert a fitted binary scikit-learn ensemble."""
    return ensemble_of([_tree(tree) for tree in model.estimators_], feature_names, sites)


def _tree(fitted: DecisionTreeClassifier) -> Tree:
    tree = fitted.tree_
    leaf = tree.children_left == -1
    weights = tree.value[:, 0, :]  # counts or shares, depending on the version
    return Tree(
        np.where(leaf, LEAF, tree.feature),
        tree.threshold,
        tree.children_left,
        tree.children_right,
        weights[:, 1] / weights.sum(axis=1),
    )
