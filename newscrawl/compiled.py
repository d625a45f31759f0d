"""The compiled modules, each of which does what a Python one does, faster."""

from __future__ import annotations

import logging
import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

logger = logging.getLogger(__name__)


def compiled_module(name: str) -> ModuleType | None:
    """Return the compiled module *name*; None where Python is to serve.

    That is where there was no compiler, where the module was built for another lxml than the one
    here, and where the environment variable ``NEWSCRAWL_NO_EXTENSIONS`` is set.
    """
    if os.environ.get("NEWSCRAWL_NO_EXTENSIONS"):
        return None
    try:
        return import_module(name)
    except (ImportError, TypeError, ValueError) as reason:  # other structures: the latter two
        logger.debug("Without %s, in Python: %s", name, reason)
        return None
