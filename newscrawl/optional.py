"""Optional dependencies."""

from __future__ import annotations

from importlib.util import find_spec

from scrapy.exceptions import UsageError


def require(module: str, name: str, extra: str = "train") -> None:
    """Raise ``UsageError`` where the *module* of the package *name*, of *extra*, is missing."""
    if find_spec(module) is None:
        raise UsageError(f"this needs {name}: pip install 'newscrawl[{extra}]'", print_help=False)
