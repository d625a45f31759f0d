"""Compiled functions against the Python functions that they replace."""

import inspect
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any


def assert_equal_in_python(function: Callable[..., Any], *arguments: Any) -> Any:
    """Assert that *function* and its Python counterpart agree; return the result."""
    result = function(*arguments)
    assert result == inspect.unwrap(function)(*arguments)
    return result


def python_module(module: ModuleType) -> ModuleType:
    """Return the Python source of a compiled *module*, as another module."""
    name = module.__name__.rpartition(".")[2]
    assert module.__file__ is not None
    path = Path(module.__file__).with_name(f"{name}.py")
    spec = spec_from_file_location(f"python_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    source = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(source)
    return source
