"""Ensembles of decision trees as arrays, walked with numpy or compiled.

Nothing of scikit-learn is needed to predict. What their files hold, and how it is checked, stands
in :mod:`newscrawl.ensemble.model_file`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from math import exp
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from newscrawl.compiled import compiled_module
from newscrawl.ensemble import model_file
from newscrawl.ensemble.model_file import LEAF, EnsembleData, Link, ModelError, check, schema_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = [
    "FEW",
    "LEAF",
    "Arrays",
    "Link",
    "Model",
    "ModelError",
    "Tree",
    "TreeEnsemble",
    "load_model",
    "schema_hash",
    "tree_arrays",
    "walk",
    "walk_in_python",
]

_MOST_ODDS = 500.0  # the exponential function has its limits
FEW = 8
"""Most rows that are walked one by one in Python: up to here numpy's calls cost more than the
steps. The compiled walk is always faster."""

_ABREAST = 4
"""Steps after which those who have come to a leaf are told to stay: fewer cost more."""


class Tree(NamedTuple):
    """One decision tree; arrays of one entry a node, children counted from the tree's root."""

    #: place of the feature that a node asks for, :data:`LEAF` for a leaf
    feature: NDArray[Any]
    #: rows whose feature is at most this go left; compared as 32-bit floats
    threshold: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    #: probability of class 1 in a leaf, 0..1; log-odds to be added, with link ``logistic``
    value: NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class TreeEnsemble(EnsembleData):
    """An ensemble of binary decision trees."""

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.offset) - 1

    @classmethod
    def of_trees(
        cls,
        trees: Sequence[Tree],
        feature_names: Iterable[str],
        sites: Iterable[str] = (),
        *,
        link: Link = "mean",
        base: float = 0.0,
    ) -> TreeEnsemble:
        """Return the ensemble of *trees*. Raises :class:`ModelError` for trees that are none."""
        sizes = [len(tree.feature) for tree in trees]
        offset = np.cumsum([0, *sizes], dtype=np.int32)
        columns = [np.concatenate(column) for column in zip(*trees, strict=True)]
        feature, threshold, left, right, value = columns
        shift = np.repeat(offset[:-1], sizes)
        ensemble = cls(
            tuple(feature_names),
            tuple(sorted(set(sites))),
            feature.astype(np.int16),
            _rounded_down(threshold),
            (left + shift).astype(np.int32),
            (right + shift).astype(np.int32),
            value.astype(np.float32),
            offset,
            link=link,
            base=base,
        )
        check(ensemble)
        return ensemble

    @classmethod
    def load(cls, path: Traversable, *, schema: str | None = None) -> TreeEnsemble:
        """Return the ensemble in the file *path*.

        Raises :class:`ModelError` where it is damaged or no ensemble, or, if the hash *schema* is
        given, one for other features; ``OSError`` where it cannot be read.
        """
        data = path.read_bytes()
        try:
            ensemble = cls(**model_file.read(data))
            check(ensemble)
        except Exception as error:  # what zipfile and numpy raise for wrong bytes has no end
            raise ModelError(f"{path} is no model, or a damaged one: {error}") from error
        if schema is not None and ensemble.schema_hash != schema:
            names = ", ".join(ensemble.feature_names)
            raise ModelError(f"{path} is a model for other features: {names}")
        return ensemble

    def predict(self, rows: Sequence[Sequence[float]] | array[float]) -> list[float]:
        """Return the probability of class 1 for each of *rows*, by all trees and the link.

        A row holds one finite number a feature; an array holds one row after the other. The same
        as ``predict_proba(rows)[:, 1]`` of the scikit-learn ensemble that the trees were taken
        from, but for rounding (1e-6).
        """
        width = len(self.feature_names)
        if isinstance(rows, array):
            table, fits = rows, len(rows) % width == 0
        else:
            table = array("d", chain.from_iterable(rows))
            fits = all(len(row) == width for row in rows)
        if not fits:
            raise ValueError(f"rows of {width} features expected")
        if walk is not walk_in_python or len(table) <= FEW * width:
            return self._linked(walk(tree_arrays(self), table, width))
        leaves = self._leaves(np.array(table, dtype=np.float32).reshape(-1, width))
        sums = self.value[leaves.reshape(-1, self.trees)].sum(axis=1, dtype=np.float64)
        return self._linked(sums.tolist())

    def _linked(self, totals: Iterable[float]) -> list[float]:
        """Return the probabilities that the *totals* of the leaves' values stand for."""
        if self.link == "mean":
            return [total / self.trees for total in totals]
        odds = (self.base + total for total in totals)
        return [1 / (1 + exp(-one if one > -_MOST_ODDS else _MOST_ODDS)) for one in odds]

    def calibrated(self, probability: float) -> float:
        """Return how often a row of that *probability* is of class 1, by :attr:`calibration`."""
        if not self.calibration:
            return probability
        place = bisect_right(self.calibration, probability, key=itemgetter(0))
        if place in {0, len(self.calibration)}:
            return self.calibration[max(place - 1, 0)][1]
        (low, before), (high, after) = self.calibration[place - 1 : place + 1]
        return (after - before) / (high - low) * (probability - low) + before

    def _leaves(self, table: NDArray[np.float32]) -> NDArray[np.intp]:
        """Return the leaf of each row in each tree, a row's trees together: all walk abreast."""
        feature, threshold, children, inner = _steps(self)
        values, width = table.ravel(), table.shape[1]
        place = node = np.tile(self.offset[:-1].astype(np.intp), len(table))
        start = np.repeat(np.arange(len(table)) * width, self.trees)
        walking = np.arange(len(place))
        while len(walking):
            for _ in range(_ABREAST):
                below = values.take(start + feature.take(node)) <= threshold.take(node)
                node = children.take(2 * node + below)
            place[walking] = node
            going = inner.take(node).nonzero()[0]
            walking, start, node = walking.take(going), start.take(going), node.take(going)
        return place

    def save(self, path: Path) -> None:
        """Write the ensemble to *path*: the same bytes for the same ensemble."""
        path.write_bytes(model_file.written(self))


class _Steps(NamedTuple):
    """The nodes as numpy walks them: a leaf is its own child. One entry a node, of children two."""

    feature: NDArray[np.intp]
    threshold: NDArray[np.float32]
    #: right child and left child
    children: NDArray[np.intp]
    inner: NDArray[np.bool_]


@lru_cache(maxsize=8)
def _steps(ensemble: TreeEnsemble) -> _Steps:
    inner = ensemble.feature != LEAF
    nodes = np.arange(len(inner))
    children = [np.where(inner, child, nodes) for child in (ensemble.right, ensemble.left)]
    return _Steps(
        np.where(inner, ensemble.feature, 0).astype(np.intp),
        ensemble.threshold,
        np.stack(children, axis=1).astype(np.intp).ravel(),
        inner,
    )


class Arrays(NamedTuple):
    """The nodes of an ensemble as plain arrays: small enough to stay in the processor's cache."""

    feature: array[int]
    threshold: array[float]
    left: array[int]
    right: array[int]
    value: array[float]
    roots: array[int]


@lru_cache(maxsize=8)
def tree_arrays(ensemble: TreeEnsemble) -> Arrays:
    """Return the nodes of *ensemble* as they are walked."""
    return Arrays(
        array("h", ensemble.feature.tolist()),
        array("f", ensemble.threshold.tolist()),
        array("i", ensemble.left.tolist()),
        array("i", ensemble.right.tolist()),
        array("f", ensemble.value.tolist()),
        array("i", ensemble.offset[:-1].tolist()),
    )


def walk_in_python(ensemble: Arrays, table: array[float], width: int) -> list[float]:
    """Return the sum over the trees for each row of *width* values in *table*."""
    features, thresholds, lefts, rights, leaves, roots = ensemble
    sums = []
    for first in range(0, len(table), width):
        values = array("f", table[first : first + width])  # rounded as the thresholds are
        total = 0.0
        for node in roots:
            place = node
            while (feature := features[place]) != LEAF:
                place = (lefts if values[feature] <= thresholds[place] else rights)[place]
            total += leaves[place]
        sums.append(total)
    return sums


_compiled = compiled_module("newscrawl.ensemble._predict")
walk: Callable[[Arrays, array[float], int], list[float]] = (
    _compiled.walk if _compiled else walk_in_python
)


class Model(NamedTuple):
    """An ensemble, and the name of the file that it is kept in."""

    ensemble: TreeEnsemble
    file: str

    @property
    def sites(self) -> frozenset[str]:
        """The sites whose pages it was trained on."""
        return frozenset(self.ensemble.sites)

    def save(self, folder: Path) -> None:
        """Write the model to *folder*. Raises ``OSError``."""
        self.ensemble.save(folder / self.file)


@cache
def load_model(file: str, features: tuple[str, ...], folder: Path | None = None) -> Model:
    """Return the model *file* of *folder*, or of the package; read once.

    Raises :class:`ModelError`, also where it is for other *features*, and ``OSError``.
    """
    place = folder or files("newscrawl") / "models"
    return Model(TreeEnsemble.load(place / file, schema=schema_hash(features)), file)


def _rounded_down(threshold: NDArray[Any]) -> NDArray[np.float32]:
    """Return the largest 32-bit floats that are not above: no 32-bit value changes sides."""
    rounded = threshold.astype(np.float32)
    return np.where(
        rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded
    ).astype(np.float32)
