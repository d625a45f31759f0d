"""Tolerant reader of JSON and of the object literals of JavaScript."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

MAX_TOKENS = 200_000
"""Tokens that are read of a literal."""
_MAX_DEPTH = 200

# A quote that is not followed by the next value or the end of its container belongs to the text.
_OWN_QUOTE = r'"(?!\s*+(?:[:)}\]]|\Z|,\s*+(?:["{\[}\]]|-?\d|(?:true|false|null)\b|[\w$]++\s*+:)))'
# By whether quotes are repaired: a comment, a string or word, a colon after it, the mark of a container.
_TOKENS = [
    re.compile(
        rf"""[\s,:;]*+(?://[^\n]*+|/\*.*?(?:\*/|\Z)|("[^"\\]*+(?:(?:\\.{own_quote})[^"\\]*+)*+(?:"|\\?\Z)"""
        r"""|'[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)|`[^`\\]*+(?:\\.[^`\\]*+)*+(?:`|\\?\Z)"""
        r"""|[^\s{}\[\](),:;"'`]++)(\s*+:)?+|([{}\[\]()])|\Z)""",
        re.DOTALL,
    )
    for own_quote in ("", f"|{_OWN_QUOTE}")
]
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""}
_WORDS = {
    "true": True, "false": False, "!0": True, "!1": False, "null": None, "undefined": None, "NaN": None,
    "void": None,
}  # fmt: skip
_OPENED: dict[str, type[Any]] = {"{": dict, "[": list, "(": list}
_QUOTES, _NUMBERS = "\"'`", "-0123456789"
_CLOSED: dict[str, type[Any]] = {"}": dict, "]": list, ")": list}


class Name(str):
    """An identifier in a literal."""

    __slots__ = ()


def read_literal(text: str, start: int = 0, *, repair: bool = False) -> tuple[Any, int]:
    """Return the value that begins at *start* and its end.

    Accepts unquoted names, quotes of any kind, comments, surplus or missing commas, a cut end and
    ``undefined``; with *repair*, also quotes in strings that are not escaped. Raises ``ValueError``
    without a value.
    """
    values: list[Any] = []
    opened: list[Any] = [values]
    key = None
    for token in islice(_TOKENS[repair].finditer(text, start), MAX_TOKENS):
        start = token.end()
        raw, colon, mark = token.groups()
        if colon and isinstance(opened[-1], dict):
            key = _unquoted(raw)
        elif raw or mark in _OPENED:
            value = _OPENED[mark]() if mark else _scalar(raw)
            if isinstance(opened[-1], list):
                opened[-1].append(value)
            elif key is not None:
                opened[-1].setdefault(key, value)
            key = None
            if mark:
                opened.append(value)
        elif mark:
            _close(opened, _CLOSED[mark])
            key = None
        if (len(opened) == 1 and values) or len(opened) > _MAX_DEPTH:
            break
    if not values:
        raise ValueError("no value")
    return values[0], start


def _close(opened: list[Any], kind: type) -> None:
    """End the innermost container of this *kind*, if one is open."""
    if any(isinstance(container, kind) for container in opened[1:]):
        while not isinstance(opened.pop(), kind):
            pass


def _scalar(raw: str) -> Any:
    if raw[0] in _QUOTES:
        return _unquoted(raw)
    if raw in _WORDS:
        return _WORDS[raw]
    try:
        return json.loads(raw) if raw[0] in _NUMBERS else Name(raw)
    except ValueError:
        return Name(raw)


def _unquoted(raw: str) -> str:
    if raw[0] not in _QUOTES:
        return raw
    text = raw[1:-1] if raw.endswith(raw[0], 1) else raw[1:]
    if "\\" in text:
        data = _ESCAPE.sub(_unescaped, text).encode("utf-16", "surrogatepass")
        text = data.decode("utf-16", "surrogatepass")  # joins pairs of surrogates
    return text


def _unescaped(found: re.Match[str]) -> str:
    *codes, character = found.groups()
    if character is not None:
        return _ESCAPED.get(character, character)
    number = int(next(filter(None, codes)), 16)
    return chr(number) if number <= 0x10FFFF else ""


def join_surrogates(text: str) -> str:
    """Return *text* with pairs of surrogates joined and single ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
