"""Chooses between the compiled and the Python scanner of style sheets.

The Python functions serve where the extensions are not built and where the environment variable
``NEWSCRAWL_NO_EXTENSIONS`` is set; they take about four times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.compiled import compiled_module
from newscrawl.css.sheets import rule_scanner
from newscrawl.css.syntax import masking

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMPILED", "mask_and_separate", "mask_relevant", "scan_rules"]

_masking = compiled_module("newscrawl.css.sheets._masking")
_rule_scanner = compiled_module("newscrawl.css.sheets._rule_scanner")
COMPILED = _masking is not None and _rule_scanner is not None
"""Whether the compiled functions are in use."""

mask_and_separate: Callable[[str], str] = (_masking or masking).mask_and_separate
# The Python scanner skips irrelevant rules faster than it could remove them.
mask_relevant: Callable[[str], str] = (
    _masking.mask_relevant if _masking else masking.mask_and_separate
)
scan_rules: Callable[..., int] = (_rule_scanner or rule_scanner).scan_rules
