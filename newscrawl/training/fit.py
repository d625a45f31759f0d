"""Ensembles of decision trees, fitted with scikit-learn (extra ``train``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from newscrawl.forest import LEAF, Forest, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier


def to_forest(
    model: RandomForestClassifier, feature_names: Iterable[str], sites: Iterable[str] = ()
) -> Forest:
    """Return a fitted ensemble of two classes, 0 and 1, as arrays."""
    return Forest.of_trees([_tree(one) for one in model.estimators_], feature_names, sites)


def _tree(fitted: DecisionTreeClassifier) -> Tree:
    tree = fitted.tree_
    leaf = tree.children_left == -1
    weights = tree.value[:, 0, :]  # counts or shares, as the version has it
    return Tree(
        np.where(leaf, LEAF, tree.feature),
        tree.threshold,
        tree.children_left,
        tree.children_right,
        weights[:, 1] / weights.sum(axis=1),
    )
