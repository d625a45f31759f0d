"""Choice between compiled functions and the Python functions that they replace.

Cython also compiles Python modules that have types in a ``.pxd`` file.
"""

from __future__ import annotations

import logging
import os
import sys
from functools import partial, update_wrapper
from importlib import import_module
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

F = TypeVar("F", bound="Callable[..., Any]")

logger = logging.getLogger(__name__)

failed = False
"""Whether a compiled module could not be loaded, which is logged once."""


class _SourceFinder:
    """Finder of the Python sources of this package, also of compiled ones."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, _: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not (path and name.startswith("newscrawl.")):
            return None
        return FileFinder(path[0], (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)


if os.environ.get("NEWSCRAWL_NO_EXTENSIONS"):
    sys.meta_path.insert(0, _SourceFinder)


def compiled(module: str, **constants: Any) -> Callable[[F], F]:
    """Replace a Python function with the function of the same name in the compiled *module*.

    *constants* are keyword arguments that only the compiled function takes. The Python function is
    the reference and the fallback (see :func:`compiled_module`); :func:`inspect.unwrap` returns it.
    """

    def choose(function: F) -> F:
        extension = compiled_module(module)
        if extension is None:
            return function
        replacement = partial(getattr(extension, function.__name__), **constants)
        return cast("F", update_wrapper(replacement, function))

    return choose


def is_compiled(function: Callable[..., Any]) -> bool:
    """Return whether *function* was replaced by :func:`compiled`."""
    return isinstance(function, partial)


def compiled_module(name: str) -> ModuleType | None:
    """Import the compiled module *name*; return None if it cannot be used.

    The reasons: it was not built, which is logged once, or the environment variable
    ``NEWSCRAWL_NO_EXTENSIONS`` is set.
    """
    if os.environ.get("NEWSCRAWL_NO_EXTENSIONS"):
        return None
    try:
        return import_module(name)
    except ImportError as error:
        global failed  # noqa: PLW0603
        if not failed:
            logger.warning("Could not load compiled modules, extraction is slower (%s)", error)
            failed = True
        return None


class LazyModule:
    """The module *name*, imported when one of its names is used: numpy, of the Python functions."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
