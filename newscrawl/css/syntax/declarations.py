"""Declarations that affect the appearance of text (thesis, 3.1).

Relevant properties are those of fonts, ``color``, ``display`` and ``visibility``, and those that
set them indirectly: ``all``, ``color-scheme`` and custom properties. All others are dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from newscrawl.css.syntax.masking import BAD, SPACE, hide_braces, mask, unescape, unmask

_S = rf"[{SPACE}]*+"
_RELEVANT = r"font(?:-(?:size|weight|family|style))?|color(?:-scheme)?|display|visibility|all"
# A name with an escape may be any property, so it is checked again after unescaping.
_NAMES = rf"(?i:{_RELEVANT})|--[^{SPACE}:;{{}}]*+|[\w-]*+\\[^:;{{}}]*+"
RELEVANT_START = rf"{_S}(?=[fFcCdDvVaA\\-])(?:{_NAMES}){_S}:"
"""Pattern of the start of a possibly relevant declaration, up to its colon."""

# ASCII letters, digits, "-", "_", escapes, and all that is not ASCII.
_ESCAPED = rf"\\(?:[0-9a-fA-F]{{1,6}}+[{SPACE}]?+|.)"
_CHARACTERS = rf"(?:[^\x00-\x2c\x2e\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]++|{_ESCAPED})"
_NAME = rf"(?i:{_RELEVANT})|--{_CHARACTERS}*+|[\w-]*+{_ESCAPED}{_CHARACTERS}*+"
_DECLARATION = re.compile(rf";{_S}({_NAME}){_S}:([^;]*+)")
_ANY_NAME = rf"(?!-?\d){_CHARACTERS}++"
_ANY_DECLARATION = re.compile(rf";{_S}({_ANY_NAME}){_S}:([^;]*+)")
_AT_RULE = re.compile(r"@[^;{}]*+(?:\{[^{}]*+\}?+|;|\Z)")
_RELEVANT_NAME = re.compile(_RELEVANT, re.IGNORECASE)
_IMPORTANT = re.compile(rf"(?<![{SPACE}]){_S}!{_S}important\Z", re.IGNORECASE)
# A value that is valid and as written: without escapes, strings or nested parentheses.
_PLAIN = r"[^()\[\]!\\\"'\x01-\x05]*+"
_PLAIN_VALUE = re.compile(rf"{_PLAIN}(?:\({_PLAIN}\){_PLAIN})*+")
_PART = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\\.|[()\[\]!]""", re.DOTALL)
_OPENER = {")": "(", "]": "["}
_STARTS_RELEVANT = re.compile(f";{RELEVANT_START}")
RELEVANT_START_PATTERN = re.compile(RELEVANT_START)
# Longer texts are rare and would fill the caches.
_MAX_CACHED_LENGTH = 512


class Declaration(NamedTuple):
    """A declaration: name in lower case (custom properties: as written) and text of the value."""

    name: str
    value: str
    important: bool = False


def parse_declarations(text: str) -> tuple[Declaration, ...]:
    """Return the relevant declarations of a ``style`` attribute, in order."""
    return block_declarations(hide_braces(_AT_RULE.sub("", mask(text))))


def has_relevant_declarations(block: str) -> bool:
    """Return whether a masked *block* may contain relevant declarations."""
    return _STARTS_RELEVANT.search(f";{block}") is not None


def block_declarations(block: str, *, keep_all: bool = False) -> tuple[Declaration, ...]:
    """Return the relevant declarations of a masked *block* without braces, in order.

    With *keep_all*, return all declarations.
    """
    if len(block) > _MAX_CACHED_LENGTH:
        return _block_declarations(block, keep_all)
    return _cached_block(block, keep_all)


def _block_declarations(block: str, keep_all: bool) -> tuple[Declaration, ...]:  # noqa: FBT001
    found = (_ANY_DECLARATION if keep_all else _DECLARATION).findall(f";{block}")
    return tuple(
        [
            declaration
            for name, value in found
            if (
                declaration := _declaration(name, value)
                if len(value) > _MAX_CACHED_LENGTH
                else _cached_declaration(name, value)
            )
        ]
    )


def _declaration(name: str, value: str) -> Declaration | None:
    """Return the declaration with a masked *value*, None if it is invalid."""
    if "\\" in name:
        name = unescape(name)
        if not (name.startswith("--") or _RELEVANT_NAME.fullmatch(name)):
            return None
    custom = name.startswith("--")
    if not custom:
        name = name.lower()
    value = value.strip(SPACE)
    if not value and not custom:
        return None
    if _PLAIN_VALUE.fullmatch(value):
        return Declaration(name, value)
    important = _IMPORTANT.search(value) if "!" in value else None
    if important is not None:
        value = value[: important.start()]
    if not (value or custom) or not _is_value(value):
        return None
    return Declaration(name, unmask(value), important is not None)


# Most declarations of a site are repeated.
_cached_declaration = lru_cache(maxsize=4096)(_declaration)
_cached_block = lru_cache(maxsize=4096)(_block_declarations)


def _is_value(value: str) -> bool:
    """Return whether *value* has no bad token, unbalanced bracket or "!" at the top level."""
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
