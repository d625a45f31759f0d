"""Boolean conditions of ``@media`` and ``@supports`` (CSS Conditional 3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from newscrawl.css.syntax.masking import SPACE

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 16
"""Nesting of parentheses beyond which a condition is unknown."""

MAX_CONDITION_LENGTH = 2**14
"""Length beyond which a condition is unknown."""

_PART = re.compile(
    rf"""[{SPACE}]++|"[^"]*+"?|'[^']*+'?|[()\[\],]|\\.|[^{SPACE}()\[\],"'\\]++""", re.DOTALL
)
_JOINED = re.compile(r"\)(?=(?:and|or)\b)", re.IGNORECASE)
_STARTS_CONDITION = re.compile(rf"\(|not[{SPACE}]|[\w-]++\(", re.IGNORECASE)


def split_at_top_level(text: str, separators: str) -> list[str]:
    """Split *text* at any of *separators* outside of parentheses, brackets and strings.

    A run of white space is one separator. The pieces are stripped.
    """
    pieces, depth, start = list[str](), 0, 0
    for match in _PART.finditer(text):
        part = match[0]
        if not depth and part[0] in separators:
            pieces.append(text[start : match.start()])
            start = match.end()
        else:
            depth = max(0, depth + (part in "([") - (part in ")]"))
    return [piece.strip(SPACE) for piece in (*pieces, text[start:])]


def evaluate_condition(
    condition: str, leaf: Callable[[str], bool | None], depth: int = 0
) -> bool | None:
    """Return whether *condition* is true, None if it is unknown or invalid.

    *leaf* evaluates the content of innermost parentheses, and functions including their name.
    """
    if depth > MAX_DEPTH or len(condition) > MAX_CONDITION_LENGTH:
        return None
    spaced = _JOINED.sub(") ", condition)
    items = [item for item in split_at_top_level(spaced, SPACE) if item]
    if not items:
        return None
    if items[0].lower() == "not":
        negated = _item(items[1], leaf, depth) if len(items) == 2 else None
        return None if negated is None else not negated
    operators = {word.lower() for word in items[1::2]}
    in_parentheses = all(item.endswith(")") for item in items[::2])
    if (
        len(items) % 2 == 0
        or len(operators) > 1
        or not operators <= {"and", "or"}
        or not in_parentheses
    ):
        return None
    results = [_item(item, leaf, depth) for item in items[::2]]
    decisive = operators == {"or"}
    if decisive in results:
        return decisive
    return None if None in results else not decisive


def _item(item: str, leaf: Callable[[str], bool | None], depth: int) -> bool | None:
    """Return the result of one parenthesis or function."""
    if not item.endswith(")"):
        return None
    if not item.startswith("("):
        return leaf(item)
    inner = item[1:-1].strip(SPACE)
    found = evaluate_condition(inner, leaf, depth + 1) if _STARTS_CONDITION.match(inner) else None
    return leaf(inner) if found is None else found  # "calc(1px) < width" starts like a function
