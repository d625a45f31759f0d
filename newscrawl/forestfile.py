"""The files of ensembles of decision trees: ``.npz``, and no pickle is ever read.

A file holds the nodes of all trees one after the other, and says what it was made of: the names of
its features, a hash of them, and the sites whose pages it was trained on.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from newscrawl.forest import Forest

LEAF = -1
"""``feature`` of the nodes that are leaves."""

_FORMAT = "newscrawl forest 1"
_DTYPES = {
    "feature": np.int16,
    "threshold": np.float32,
    "left": np.int32,
    "right": np.int32,
    "value": np.float32,
    "offset": np.int32,
}
# Zip files have no earlier time; the real one would make every file differ.
_NO_TIME = (1980, 1, 1, 0, 0, 0)

Link = Literal["mean", "logistic"]
"""How the values of a row's leaves make a probability: their mean, as in a random forest, or the
logistic function of their sum, as in gradient boosting."""


class ModelError(ValueError):
    """A model file is damaged, no model, or one for other features."""


def read(data: bytes) -> dict[str, Any]:
    """Return the fields of the ensemble in the file of bytes *data*, unchecked.

    Raises :exc:`ValueError` for another format, and whatever zipfile and numpy do for no file.
    """
    if not data.startswith(b"PK"):
        raise ValueError("not an .npz file")
    with np.load(BytesIO(data), allow_pickle=False) as arrays:
        about = json.loads(str(arrays["about"]))
        if about["format"] != _FORMAT:
            raise ValueError(f"format {about['format']!r} in place of {_FORMAT!r}")
        nodes = {name: arrays[name] for name in _DTYPES}
    for name, dtype in _DTYPES.items():
        if nodes[name].dtype != dtype:
            raise ValueError(f"{name!r} is of {nodes[name].dtype}")
    if about["schema"] != schema_hash(about["features"]):
        raise ValueError("its hash is not that of its features")
    curve = about.get("calibration", ())
    return nodes | {
        "feature_names": tuple(about["features"]),
        "sites": tuple(about["sites"]),
        "calibration": tuple((float(low), float(high)) for low, high in curve),
        "link": about.get("link", "mean"),
        "base": float(about.get("base", 0.0)),
    }


def written(forest: Forest) -> bytes:
    """Return the file of *forest*: the same bytes for the same ensemble."""
    about: dict[str, Any] = {
        "format": _FORMAT,
        "features": forest.feature_names,
        "schema": forest.schema_hash,
        "sites": forest.sites,
        "calibration": forest.calibration,
    }
    if forest.link != "mean":
        about |= {"link": forest.link, "base": forest.base}
    arrays = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    arrays |= {name: getattr(forest, name) for name in _DTYPES}
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(_member(name), _npy(array), compresslevel=9)
    return data.getvalue()


def schema_hash(feature_names: Iterable[str]) -> str:
    """Return the hash by which a model says what its features are: SHA-256 of their names."""
    return hashlib.sha256("\n".join(feature_names).encode()).hexdigest()


def check(forest: Forest) -> None:
    """Raise :class:`ModelError` unless every walk ends at a leaf of its own tree."""
    size = len(forest.feature)
    columns = (forest.feature, forest.threshold, forest.left, forest.right, forest.value)
    if any(column.shape != (size,) for column in columns) or forest.offset.ndim != 1:
        raise ModelError("arrays of different lengths")
    sizes = np.diff(forest.offset)
    if not len(sizes) or forest.offset[0] != 0 or forest.offset[-1] != size or (sizes < 1).any():
        raise ModelError("trees that do not add up")
    if (forest.feature < LEAF).any() or (forest.feature >= len(forest.feature_names)).any():
        raise ModelError("features without a name")
    if forest.link not in get_args(Link):
        raise ModelError(f"link {forest.link!r}")
    if not np.isfinite([*forest.value, forest.base]).all():
        raise ModelError("values that are no numbers")
    if forest.link == "mean" and not ((forest.value >= 0) & (forest.value <= 1)).all():
        raise ModelError("probabilities outside 0..1")
    curve = np.asarray(forest.calibration, dtype=np.float64).reshape(-1, 2)
    if not ((curve >= 0) & (curve <= 1)).all() or (np.diff(curve, axis=0) < 0).any():
        raise ModelError("a calibration that does not increase")
    (inner,) = np.nonzero(forest.feature != LEAF)
    after = np.repeat(forest.offset[1:], sizes)[inner]
    for child in (forest.left[inner], forest.right[inner]):
        if (child <= inner).any() or (child >= after).any():
            raise ModelError("nodes that do not follow their parents")


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(f"{name}.npy", date_time=_NO_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # else the platform's
    return info


def _npy(array: NDArray[Any]) -> bytes:
    data = BytesIO()
    np.lib.format.write_array(data, array, allow_pickle=False)
    return data.getvalue()
