"""Compiled functions against the Python functions that they replace."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def assert_equal_in_python(function: Callable[..., Any], *arguments: Any) -> Any:
    """Assert that *function* and its Python counterpart agree; return the result."""
    result = function(*arguments)
    assert result == inspect.unwrap(function)(*arguments)
    return result
