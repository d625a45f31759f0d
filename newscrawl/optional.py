"""Checks for optional dependencies."""

from __future__ import annotations

from importlib.util import find_spec

from scrapy.exceptions import UsageError


def require(module: str, name: str, extra: str = "train") -> None:
    """Raise ``UsageError`` if *module*, of the package *name* in the extra *extra*, is missing."""
    if find_spec(module) is None:
        raise UsageError(f"this needs {name}: pip install 'newscrawl[{extra}]'", print_help=False)
