"""The loops over every character of a sheet: compiled, or in Python where they cannot be had.

The compiled ones take a quarter of the time. The environment variable ``NEWSCRAWL_NO_EXTENSIONS``
turns them off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from newscrawl.compiled import compiled_module
from newscrawl.css.selectors import rule_keys as keys
from newscrawl.css.sheets import scan
from newscrawl.css.syntax import tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from newscrawl.css.selectors.rule_keys import Filed
    from newscrawl.css.sheets.scan import Taken

__all__ = ["COMPILED", "file_rules", "separated", "take_rules"]


class _Loops(NamedTuple):
    separated: Callable[[str], str]
    take_rules: Callable[..., Taken]
    file_rules: Callable[..., Filed]


_compiled = compiled_module("newscrawl.css.sheets._scan")
COMPILED = _compiled is not None
"""Whether the compiled loops are in use."""

separated, take_rules, file_rules = (
    _Loops(_compiled.separated, _compiled.take_rules, _compiled.file_rules)
    if _compiled
    else _Loops(tokens.separated, scan.take_rules, keys.file_rules)
)
