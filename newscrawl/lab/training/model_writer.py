"""Writer of model files (:mod:`newscrawl.ensemble.ensemble`)."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from newscrawl.ensemble.ensemble import DTYPES, FORMAT, Model
from newscrawl.fields import cardoso

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from newscrawl.ensemble.ensemble import TreeEnsemble

# The earliest time of the zip format: equal models give equal files.
_FIXED_TIME: Final = (1980, 1, 1, 0, 0, 0)


def save_models(models: tuple[Any, ...], folder: Path) -> None:
    """Write a :class:`Model`, or all in a tuple of models, to *folder*. Raises ``OSError``.

    Of those of method ``papers`` it writes the title-dependent pair.
    """
    if isinstance(models, Model):
        save_ensemble(models.ensemble, folder / models.file)
    elif isinstance(models, cardoso.Models):
        save_ensemble(models.title, folder / cardoso.TITLE_FILE)
        save_ensemble(models.date, folder / cardoso.DATE_FILE)
    else:
        for part in models:
            save_models(part, folder)


def save_ensemble(ensemble: TreeEnsemble, path: Path) -> None:
    """Write *ensemble* to *path*: equal ensembles give equal bytes. Raises ``OSError``."""
    about: dict[str, Any] = {
        "format": FORMAT,
        "features": ensemble.feature_names,
        "schema": ensemble.schema_hash,
        "sites": ensemble.sites,
        "calibration": ensemble.calibration,
    }
    if ensemble.link != "mean":
        about |= {"link": ensemble.link, "base": ensemble.base}
    arrays = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    arrays |= {name: np.asarray(getattr(ensemble, name)) for name in DTYPES}
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, values in arrays.items():
            archive.writestr(_member(name), _npy(values), compresslevel=9)
    path.write_bytes(data.getvalue())


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(f"{name}.npy", date_time=_FIXED_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # not that of the platform
    return info


def _npy(values: NDArray[Any]) -> bytes:
    data = BytesIO()
    np.lib.format.write_array(data, values, allow_pickle=False)
    return data.getvalue()
