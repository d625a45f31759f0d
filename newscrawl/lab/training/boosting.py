"""Binary gradient boosting, fitted with scikit-learn (extra ``train``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from newscrawl.ensemble.ensemble import LEAF, Model
from newscrawl.lab.training.training_errors import TooFewPagesError
from newscrawl.lab.training.trees import Tree, ensemble_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.ensemble import HistGradientBoostingClassifier

    from newscrawl.ensemble.ensemble import Columns, TreeEnsemble

L2_REGULARIZATION = 5.0
MAX_BINS = 64
FEATURE_SHARE = 0.4
"""Share of the features, drawn at random, considered for each split."""


@dataclass(frozen=True, slots=True)
class Boosting:
    """Hyperparameters of a boosted classifier, its features and its file."""

    file: str
    names: tuple[str, ...]
    trees: int
    leaves: int
    rate: float
    min_leaf: int
    #: features that increase (1) or decrease (-1) the probability monotonically
    monotonic: Mapping[str, int] = field(default_factory=dict)

    def fit(
        self,
        rows: NDArray[np.float32],
        truth: Sequence[bool],
        weights: Sequence[float] | NDArray[np.float64],
        sites: Iterable[str],
    ) -> Model:
        """Fit a model to *rows* of features with the classes *truth*; deterministic.

        *sites* are the sites of the examples, stored in the model. Raises
        :class:`~newscrawl.lab.training.training_errors.TooFewPagesError` if *truth* has one class.
        """
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  # an extra

        if len(set(truth)) < 2:
            raise TooFewPagesError(f"too few labelled pages to train {self.file}")
        model = HistGradientBoostingClassifier(
            learning_rate=self.rate,
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=self.min_leaf,
            l2_regularization=L2_REGULARIZATION,
            max_bins=MAX_BINS,
            max_features=FEATURE_SHARE,
            monotonic_cst=[self.monotonic.get(name, 0) for name in self.names],
            early_stopping=False,
            random_state=0,
        )
        model.fit(rows, truth, sample_weight=weights)
        return Model(boosted_ensemble(model, self.names, sites), self.file)


def feature_rows(columns: Columns, names: Sequence[str]) -> NDArray[np.float32]:
    """Return a row of the features *names* for each row of *columns*."""
    if not columns:
        return np.empty((0, len(names)), dtype=np.float32)
    return np.array([columns[name] for name in names], dtype=np.float32).T


def boosted_ensemble(
    model: HistGradientBoostingClassifier, feature_names: Iterable[str], sites: Iterable[str] = ()
) -> TreeEnsemble:
    """Convert a fitted binary scikit-learn model."""
    trees = [_tree(stage[0].nodes) for stage in model._predictors]  # noqa: SLF001  # not public
    base = float(model._baseline_prediction.item())  # noqa: SLF001
    return ensemble_of(trees, feature_names, sites, link="logistic", base=base)


def _tree(nodes: Any) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    return Tree(
        np.where(leaf, LEAF, nodes["feature_idx"]),
        nodes["num_threshold"],
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        nodes["value"],
    )
