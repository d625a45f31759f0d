"""The loops over every character of a sheet: compiled, or in Python where they cannot be had.

The compiled ones take a quarter of the time. The environment variable ``NEWSCRAWL_NO_EXTENSIONS``
turns them off.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.css import keys, scan, tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from newscrawl.css.keys import Filed
    from newscrawl.css.scan import Taken

__all__ = ["COMPILED", "file_rules", "separated", "take_rules"]

logger = logging.getLogger(__name__)


class _Loops(NamedTuple):
    separated: Callable[[str], str]
    take_rules: Callable[..., Taken]
    file_rules: Callable[..., Filed]


_PYTHON = _Loops(tokens.separated, scan.take_rules, keys.file_rules)


def _fastest_loops() -> _Loops:
    if os.environ.get("NEWSCRAWL_NO_EXTENSIONS"):
        return _PYTHON
    try:
        from newscrawl.css import _scan  # noqa: PLC0415  # not there without a compiler
    except ImportError as reason:
        logger.debug("Style sheets are scanned in Python: %s", reason)
        return _PYTHON
    return _Loops(_scan.separated, _scan.take_rules, _scan.file_rules)


_loops = _fastest_loops()
COMPILED = _loops is not _PYTHON
"""Whether the compiled loops are in use."""

separated, take_rules, file_rules = _loops
