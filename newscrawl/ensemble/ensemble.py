"""Ensembles of decision trees: model files and prediction, without scikit-learn and pickle.

A model file is an ``.npz`` with the nodes of all trees, the feature names with their hash, and the
sites whose pages the model was trained on.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from math import exp
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from newscrawl.compiled import LazyModule, compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any] | array[Any]
    """numpy's arrays in training, Python's in extraction, which does not import numpy."""
else:
    np = LazyModule("numpy")

Columns: TypeAlias = "Mapping[str, Sequence[float]]"
"""Feature name -> one number for each row."""

_MAX_LOG_ODDS = 500.0  # keeps exp() in its range

LEAF = -1
"""Value of ``feature`` for leaves."""
# A compiled node has 16 bits for the place of a child, and of a feature of eight rows.
_MAX_NODES, _MAX_FEATURES = 1 << 16, 1 << 13

FORMAT = "newscrawl forest 1"
# The type of each column in numpy's files, and of Python's arrays.
DTYPES = {
    "feature": ("<i2", "h"),
    "threshold": ("<f4", "f"),
    "left": ("<i4", "i"),
    "right": ("<i4", "i"),
    "value": ("<f4", "f"),
    "offset": ("<i4", "i"),
}
# The format of one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
_NPY = re.compile(
    rb"\x93NUMPY\x01\0..\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(\d*,?\), \} *\n",
    re.DOTALL,
)

Link = Literal["mean", "logistic"]
"""Probability from the leaf values of a row: their mean (random forest) or the logistic function of
their sum (gradient boosting)."""


class ModelError(ValueError):
    """The file is damaged, not a model, or a model for other features."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeEnsemble:
    """An ensemble of binary decision trees."""

    #: feature names, in the order of a row's values
    feature_names: tuple[str, ...]
    #: sites whose pages the model was trained on, sorted
    sites: tuple[str, ...]
    #: tested feature of each node of all trees; :data:`LEAF` for a leaf
    feature: Numbers
    threshold: Numbers
    #: child nodes
    left: Numbers
    right: Numbers
    value: Numbers
    #: root of each tree, then the number of nodes
    offset: Numbers
    #: increasing (probability, share of class 1 among rows of that probability); empty: identity
    calibration: tuple[tuple[float, float], ...] = ()
    link: Link = "mean"
    #: log-odds to which the leaf values are added
    base: float = 0.0

    @property
    def schema_hash(self) -> str:
        """Hash of the feature names."""
        return schema_hash(self.feature_names)

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
            ensemble = cls(**_decode(data))
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
        used = list(map(columns.__getitem__, self.feature_names))
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


def _decode(data: bytes) -> dict[str, Any]:
    """Return the fields of the ensemble in the file contents *data*, without validation.

    Raises ``ValueError`` for another format, and the errors of zipfile.
    """
    if not data.startswith(b"PK"):
        raise ValueError("not an .npz file")
    with zipfile.ZipFile(BytesIO(data)) as arrays:
        dtype, about_text = _read_npy(arrays, "about")
        if not dtype.startswith("<U"):
            raise ValueError(f"'about' has dtype {dtype}")
        about = json.loads(about_text.decode("utf-32-le"))
        if about["format"] != FORMAT:
            raise ValueError(f"format is {about['format']!r}, expected {FORMAT!r}")
        nodes = {name: _column(arrays, name, *types) for name, types in DTYPES.items()}
    if about["schema"] != schema_hash(about["features"]):
        raise ValueError("the hash does not match the features")
    curve = about.get("calibration", ())
    return nodes | {
        "feature_names": tuple(about["features"]),
        "sites": tuple(about["sites"]),
        "calibration": tuple((float(low), float(high)) for low, high in curve),
        "link": about.get("link", "mean"),
        "base": float(about.get("base", 0.0)),
    }


def _read_npy(arrays: zipfile.ZipFile, name: str) -> tuple[str, bytes]:
    """Return the dtype and the data of the array *name*."""
    data = arrays.read(f"{name}.npy")
    start = _NPY.match(data)
    if not start:
        raise ValueError(f"{name!r} is not an array of one dimension")
    return start[1].decode(), data[start.end() :]


def _column(arrays: zipfile.ZipFile, name: str, dtype: str, code: str) -> array[Any]:
    found, data = _read_npy(arrays, name)
    if found != dtype:
        raise ValueError(f"{name!r} has dtype {found}")
    column: array[Any] = array(code, data)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def schema_hash(feature_names: Iterable[str]) -> str:
    """Return the SHA-256 hash of the feature names, which identifies the schema."""
    return hashlib.sha256("\n".join(feature_names).encode()).hexdigest()


def check(ensemble: TreeEnsemble) -> None:
    """Raise :class:`ModelError` unless every path ends at a leaf of its own tree."""
    size = len(ensemble.feature)
    feature, threshold, left, right, value, offset = (
        np.asarray(getattr(ensemble, name)) for name in DTYPES
    )
    columns = (feature, threshold, left, right, value)
    if any(column.shape != (size,) for column in columns) or offset.ndim != 1:
        raise ModelError("arrays of different lengths")
    sizes = np.diff(offset)
    if not len(sizes) or offset[0] != 0 or offset[-1] != size or (sizes < 1).any():
        raise ModelError("tree offsets do not match the nodes")
    features = min(len(ensemble.feature_names), _MAX_FEATURES)
    if (feature < LEAF).any() or (feature >= features).any() or (sizes > _MAX_NODES).any():
        raise ModelError("feature index out of range, or too many nodes in a tree")
    if ensemble.link not in get_args(Link):
        raise ModelError(f"unknown link {ensemble.link!r}")
    if not np.isfinite([*value, ensemble.base]).all():
        raise ModelError("leaf values are not finite")
    if ensemble.link == "mean" and not ((value >= 0) & (value <= 1)).all():
        raise ModelError("probabilities outside 0..1")
    curve = np.asarray(ensemble.calibration, dtype=np.float64).reshape(-1, 2)
    if not ((curve >= 0) & (curve <= 1)).all() or (np.diff(curve, axis=0) < 0).any():
        raise ModelError("calibration does not increase")
    (inner,) = np.nonzero(feature != LEAF)
    after = np.repeat(offset[1:], sizes)[inner]
    for child in (left[inner], right[inner]):
        if (child <= inner).any() or (child >= after).any():
            raise ModelError("child nodes before their parents")


@compiled("newscrawl.ensemble._ensemble", max_log_odds=_MAX_LOG_ODDS)
def probabilities(ensemble: TreeEnsemble, columns: list[Sequence[float]]) -> list[float]:
    """Return the probability of class 1 for each row; *columns* are the features of *ensemble*."""
    sums = _sum_leaves(ensemble, columns)
    if ensemble.link == "mean":
        return [total / ensemble.trees for total in sums]
    log_odds = (max(ensemble.base + total, -_MAX_LOG_ODDS) for total in sums)
    return [1 / (1 + exp(-value)) for value in log_odds]


def _sum_leaves(ensemble: TreeEnsemble, columns: list[Sequence[float]]) -> list[float]:
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
