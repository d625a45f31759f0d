"""Near-duplicate detection: clusters copies, trimmed copies and versions of stories.

:class:`Index` clusters stories as they arrive; :mod:`newscrawl.neardup.batch` clusters a whole
collection.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newscrawl.near_duplicate_options import Options
from newscrawl.neardup.story import Story, Verdict

if TYPE_CHECKING:
    from newscrawl.neardup.database import NearDuplicateIndexError
    from newscrawl.neardup.index import Index

__all__ = ["Index", "NearDuplicateIndexError", "Options", "Story", "Verdict"]

#: imported on first use: they import numpy
_MODULES = {"Index": "index", "NearDuplicateIndexError": "database"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"newscrawl.neardup.{_MODULES[name]}"), name)
