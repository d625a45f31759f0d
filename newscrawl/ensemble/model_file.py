"""Model files: tree ensembles as ``.npz``, read without pickle.

A file holds the nodes of all trees, the feature names with their hash, and the sites whose pages
the model was trained on.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


LEAF = -1
"""Value of ``feature`` for leaves."""

_FORMAT = "newscrawl forest 1"
_DTYPES = {
    "feature": np.int16,
    "threshold": np.float32,
    "left": np.int32,
    "right": np.int32,
    "value": np.float32,
    "offset": np.int32,
}
# The earliest time of the zip format: equal models give equal files.
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)

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
    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    #: child nodes
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    #: root of each tree, then the number of nodes
    offset: NDArray[np.int32]
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

    Raises ``ValueError`` for another format, and the errors of zipfile and numpy.
    """
    if not data.startswith(b"PK"):
        raise ValueError("not an .npz file")
    with np.load(BytesIO(data), allow_pickle=False) as arrays:
        about = json.loads(str(arrays["about"]))
        if about["format"] != _FORMAT:
            raise ValueError(f"format is {about['format']!r}, expected {_FORMAT!r}")
        nodes = {name: arrays[name] for name in _DTYPES}
    for name, dtype in _DTYPES.items():
        if nodes[name].dtype != dtype:
            raise ValueError(f"{name!r} has dtype {nodes[name].dtype}")
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


def encode(ensemble: EnsembleData) -> bytes:
    """Return the file contents of *ensemble*: equal ensembles give equal bytes."""
    about: dict[str, Any] = {
        "format": _FORMAT,
        "features": ensemble.feature_names,
        "schema": ensemble.schema_hash,
        "sites": ensemble.sites,
        "calibration": ensemble.calibration,
    }
    if ensemble.link != "mean":
        about |= {"link": ensemble.link, "base": ensemble.base}
    arrays = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    arrays |= {name: getattr(ensemble, name) for name in _DTYPES}
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(_member(name), _npy(array), compresslevel=9)
    return data.getvalue()


def schema_hash(feature_names: Iterable[str]) -> str:
    """Return the SHA-256 hash of the feature names, which identifies the schema."""
    return hashlib.sha256("\n".join(feature_names).encode()).hexdigest()


def check(ensemble: EnsembleData) -> None:
    """Raise :class:`ModelError` unless every path ends at a leaf of its own tree."""
    size = len(ensemble.feature)
    columns = (ensemble.feature, ensemble.threshold, ensemble.left, ensemble.right, ensemble.value)
    if any(column.shape != (size,) for column in columns) or ensemble.offset.ndim != 1:
        raise ModelError("arrays of different lengths")
    sizes = np.diff(ensemble.offset)
    if (
        not len(sizes)
        or ensemble.offset[0] != 0
        or ensemble.offset[-1] != size
        or (sizes < 1).any()
    ):
        raise ModelError("tree offsets do not match the nodes")
    if (ensemble.feature < LEAF).any() or (ensemble.feature >= len(ensemble.feature_names)).any():
        raise ModelError("feature index out of range")
    if ensemble.link not in get_args(Link):
        raise ModelError(f"unknown link {ensemble.link!r}")
    if not np.isfinite([*ensemble.value, ensemble.base]).all():
        raise ModelError("leaf values are not finite")
    if ensemble.link == "mean" and not ((ensemble.value >= 0) & (ensemble.value <= 1)).all():
        raise ModelError("probabilities outside 0..1")
    curve = np.asarray(ensemble.calibration, dtype=np.float64).reshape(-1, 2)
    if not ((curve >= 0) & (curve <= 1)).all() or (np.diff(curve, axis=0) < 0).any():
        raise ModelError("calibration does not increase")
    (inner,) = np.nonzero(ensemble.feature != LEAF)
    after = np.repeat(ensemble.offset[1:], sizes)[inner]
    for child in (ensemble.left[inner], ensemble.right[inner]):
        if (child <= inner).any() or (child >= after).any():
            raise ModelError("child nodes before their parents")


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(f"{name}.npy", date_time=_FIXED_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # not that of the platform
    return info


def _npy(array: NDArray[Any]) -> bytes:
    data = BytesIO()
    np.lib.format.write_array(data, array, allow_pickle=False)
    return data.getvalue()
