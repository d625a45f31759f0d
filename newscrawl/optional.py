"""Checks for optional dependencies."""

from __future__ import annotations

from importlib.util import find_spec


class MissingPackageError(ImportError):
    """An optional package is not installed; the message names the extra that installs it."""


def require(module: str, name: str, extra: str = "train") -> None:
    """Raise if *module*, of the package *name* in the extra *extra*, is missing."""
    if find_spec(module) is None:
        raise MissingPackageError(f"this needs {name}: pip install 'newscrawl[{extra}]'")
