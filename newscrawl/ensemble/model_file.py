"""Model files: tree ensembles as ``.npz``, read without pickle.

A file holds the nodes of all trees, the feature names with their hash, and the sites whose pages
the model was trained on.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from array import array
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from newscrawl.compiled import LazyModule

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[Any] | array[Any]
    """numpy's arrays in training, Python's in extraction, which does not import numpy."""
else:
    np = LazyModule("numpy")

LEAF = -1
"""Value of ``feature`` for leaves."""

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
class EnsembleData:
    """Contents of a model file: the nodes of an ensemble of binary decision trees."""

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


def decode(data: bytes) -> dict[str, Any]:
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


def check(ensemble: EnsembleData) -> None:
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
    if (feature < LEAF).any() or (feature >= len(ensemble.feature_names)).any():
        raise ModelError("feature index out of range")
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
