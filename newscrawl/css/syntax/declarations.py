"""Declarations, and which of them bear on how a text looks (thesis, 3.1).

Kept are the properties of fonts, colour, ``display`` and ``visibility``, what sets them in bulk
(``all``) or from afar (``color-scheme``, custom properties), nothing else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from newscrawl.css.syntax.tokens import BAD, SPACE, hide_braces, mask, unescape, unmask

_S = rf"[{SPACE}]*+"
_KEPT = r"font(?:-(?:size|weight|family|style))?|color(?:-scheme)?|display|visibility|all"
# A name with an escape may be any; it is looked at again.
_NAMES = rf"(?i:{_KEPT})|--[^{SPACE}:;{{}}]*+|[\w-]*+\\[^:;{{}}]*+"
START = rf"{_S}(?=[fFcCdDvVaA\\-])(?:{_NAMES}){_S}:"
"""Pattern of the start of what may be a declaration that is kept: up to its colon."""

# ASCII letters, digits, "-", "_", escapes, and all that is not ASCII.
_ESCAPED = rf"\\(?:[0-9a-fA-F]{{1,6}}+[{SPACE}]?+|.)"
_CHARACTER = rf"(?:[^\x00-\x2c\x2e\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]|{_ESCAPED})"
_NAME = rf"(?i:{_KEPT})|--{_CHARACTER}*+|[\w-]*+{_ESCAPED}{_CHARACTER}*+"
_DECLARATION = re.compile(rf";{_S}({_NAME}){_S}:([^;]*+)")
_ANY_NAME = rf"(?!-?\d){_CHARACTER}++"
_ANY_DECLARATION = re.compile(rf";{_S}({_ANY_NAME}){_S}:([^;]*+)")
_AT_RULE = re.compile(r"@[^;{}]*+(?:\{[^{}]*+\}?+|;|\Z)")
_KEPT_NAME = re.compile(_KEPT, re.IGNORECASE)
_IMPORTANT = re.compile(rf"{_S}!{_S}important\Z", re.IGNORECASE)
_SPECIAL = re.compile(rf"[()\[\]!\\\"'{BAD}]")
_PART = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\\.|[()\[\]!]""", re.DOTALL)
_OPENER = {")": "(", "]": "["}
_STARTS_KEPT = re.compile(f";{START}")
START_PATTERN = re.compile(START)
# Characters; what is longer is rare, and would fill the caches.
_LONG = 512


class Declaration(NamedTuple):
    """A declaration: name in lower case (a custom property's as written) and text of the value."""

    name: str
    value: str
    important: bool = False


def parse_declarations(text: str) -> tuple[Declaration, ...]:
    """Return the kept declarations of a ``style`` attribute, in order."""
    return block_declarations(hide_braces(_AT_RULE.sub("", mask(text))))


def is_interesting(block: str) -> bool:
    """Return whether a masked *block* has declarations that are kept."""
    return _STARTS_KEPT.search(f";{block}") is not None


def block_declarations(block: str, *, keep_all: bool = False) -> tuple[Declaration, ...]:
    """Return the kept declarations of a masked *block* without braces, in order."""
    if len(block) > _LONG:
        return _block_declarations(block, keep_all)
    return _cached_block(block, keep_all)


def _block_declarations(block: str, keep_all: bool) -> tuple[Declaration, ...]:  # noqa: FBT001
    found = (_ANY_DECLARATION if keep_all else _DECLARATION).findall(f";{block}")
    return tuple(
        [
            declaration
            for name, value in found
            if (declaration := (_declaration if len(value) > _LONG else _cached)(name, value))
        ]
    )


def _declaration(name: str, value: str) -> Declaration | None:
    """Return the declaration of a masked *value*; None where it is wrong."""
    if "\\" in name:
        name = unescape(name)
        if not (name.startswith("--") or _KEPT_NAME.fullmatch(name)):
            return None
    custom = name.startswith("--")
    value = value.strip(SPACE)
    important = _IMPORTANT.search(value) if "!" in value else None
    if important is not None:
        value = value[: important.start()]
    if not (value or custom) or not _is_value(value):
        return None
    return Declaration(name if custom else name.lower(), unmask(value), important is not None)


# Four declarations in five are repeated, and two blocks in five.
_cached = lru_cache(maxsize=4096)(_declaration)
_cached_block = lru_cache(maxsize=4096)(_block_declarations)


def _is_value(value: str) -> bool:
    """Return whether *value* has neither bad tokens, nor a lone bracket, nor a lone "!"."""
    if not _SPECIAL.search(value):
        return True
    open_brackets: list[str] = []
    for part in _PART.findall(value):
        if part in {"(", "["}:
            open_brackets.append(part)
        elif part in _OPENER:
            if not open_brackets or open_brackets.pop() != _OPENER[part]:
                return False
        elif part == "!" and not open_brackets:
            return False
    return BAD not in value and not open_brackets
