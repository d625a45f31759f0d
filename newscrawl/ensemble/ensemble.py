"""Ensembles of decision trees: prediction from arrays, without scikit-learn.

:mod:`newscrawl.ensemble.model_file` describes the files and validates them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import exp
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from newscrawl.compiled import compiled
from newscrawl.ensemble import model_file
from newscrawl.ensemble.model_file import LEAF, EnsembleData, Link, ModelError, check, schema_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path


__all__ = [
    "LEAF",
    "Columns",
    "Link",
    "Model",
    "ModelError",
    "TreeEnsemble",
    "load_model",
    "schema_hash",
]

Columns: TypeAlias = "Mapping[str, Sequence[float]]"
"""Feature name -> one number for each row."""

_MAX_LOG_ODDS = 500.0  # keeps exp() in its range


@dataclass(frozen=True, slots=True, eq=False)
class TreeEnsemble(EnsembleData):
    """An ensemble of binary decision trees."""

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.offset) - 1

    @classmethod
    def load(
        cls, path: Traversable, *, schema: str | None = None, trusted: bool = False
    ) -> TreeEnsemble:
        """Read an ensemble from the file *path*; the nodes of a *trusted* one are not checked.

        Raises :class:`ModelError` if the file is damaged, or if its features do not have the hash
        *schema*; ``OSError`` if it cannot be read.
        """
        data = path.read_bytes()
        try:
            ensemble = cls(**model_file.decode(data))
            if not trusted:
                check(ensemble)
        except Exception as error:  # zipfile raises many types
            raise ModelError(f"{path} is not a model file, or damaged: {error}") from error
        if schema is not None and ensemble.schema_hash != schema:
            names = ", ".join(ensemble.feature_names)
            raise ModelError(f"{path} is a model for other features: {names}")
        return ensemble

    def predict(self, columns: Columns) -> list[float]:
        """Return the probability of class 1 for each row of *columns*, which has finite numbers.

        Columns that the ensemble does not use are ignored. Up to rounding (1e-6) the result is
        ``predict_proba`` of the scikit-learn ensemble that the trees come from.
        """
        if not columns:
            return []
        used = [
            column if isinstance(column, array) else array("d", column)
            for column in map(columns.__getitem__, self.feature_names)
        ]
        if len(set(map(len, used))) > 1:
            raise ValueError("columns of equal length expected")
        return probabilities(self, used)

    def calibrated(self, probability: float) -> float:
        """Return the share of class 1 among rows of that *probability*, by :attr:`calibration`."""
        if not self.calibration:
            return probability
        place = bisect_right(self.calibration, probability, key=itemgetter(0))
        if place in {0, len(self.calibration)}:
            return self.calibration[max(place - 1, 0)][1]
        (low, before), (high, after) = self.calibration[place - 1 : place + 1]
        return (after - before) / (high - low) * (probability - low) + before


@compiled("newscrawl.ensemble._ensemble", max_log_odds=_MAX_LOG_ODDS)
def probabilities(ensemble: TreeEnsemble, columns: list[array[float]]) -> list[float]:
    """Return the probability of class 1 for each row; *columns* are the features of *ensemble*."""
    sums = _sum_leaves(ensemble, columns)
    if ensemble.link == "mean":
        return [total / ensemble.trees for total in sums]
    log_odds = (max(ensemble.base + total, -_MAX_LOG_ODDS) for total in sums)
    return [1 / (1 + exp(-value)) for value in log_odds]


def _sum_leaves(ensemble: TreeEnsemble, columns: list[array[float]]) -> list[float]:
    """Return the sum over all trees for each row: the values of the leaves that the row reaches."""
    feature, threshold, left, right, value = _nodes(ensemble)
    sums = []
    # The features are rounded like the thresholds.
    for row in zip(*(array("f", column) for column in columns), strict=True):
        total = 0.0
        for node in ensemble.offset[:-1]:
            while (tested := feature[node]) != LEAF:
                node = (left if row[tested] <= threshold[node] else right)[node]  # noqa: PLW2901
            total += value[node]
        sums.append(total)
    return sums


@lru_cache(maxsize=8)
def _nodes(ensemble: TreeEnsemble) -> list[list[Any]]:
    """Return the columns of the nodes as lists, which Python reads fastest."""
    names = ("feature", "threshold", "left", "right", "value")
    return [getattr(ensemble, name).tolist() for name in names]


class Model(NamedTuple):
    """An ensemble and its file name."""

    ensemble: TreeEnsemble
    file: str

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages it was trained on."""
        return frozenset(self.ensemble.sites)


@cache
def load_model(file: str, features: tuple[str, ...], folder: Path | None = None) -> Model:
    """Load the model *file* from *folder*, or from the package; cached.

    Raises :class:`ModelError`, also if its features differ from *features*, and ``OSError``.
    """
    source = folder or files("newscrawl") / "models"
    # The check takes longer than the extraction of a page; a test checks those of the package.
    ensemble = TreeEnsemble.load(
        source / file, schema=schema_hash(features), trusted=folder is None
    )
    return Model(ensemble, file)
