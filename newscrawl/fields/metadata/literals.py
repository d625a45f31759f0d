"""Tolerant reader of JSON and of the object literals of JavaScript."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_TOKENS = 200_000
"""Tokens that are read of a literal."""
_MAX_DEPTH = 200

_TOKEN = re.compile(
    r"""\s*+(?:(?P<quote>["'`])|(?P<mark>[{}\[\](),:;])|(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<word>[^\s{}\[\](),:;"'`]+))""",
    re.DOTALL,
)
_STRINGS = {quote: re.compile(rf"(?:\\.|[^{quote}\\])*+(?={quote})", re.DOTALL) for quote in "\"'`"}
# A quote that is not followed by the next value or the end of its container belongs to the text.
_REPAIRED_STRING = re.compile(
    r"""(?:\\.|[^"\\]|"(?!\s*+(?:[:)}\]]|\Z|,\s*+(?:["{\[}\]]|-?\d|(?:true|false|null)\b|[\w$]++\s*+:))))*+(?=")""",
    re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""}
_WORDS = {
    "true": True, "false": False, "!0": True, "!1": False, "null": None, "undefined": None, "NaN": None,
    "void": None,
}  # fmt: skip
_OPENED: dict[str, type[Any]] = {"{": dict, "[": list, "(": list}
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
    keys: list[Any] = [None]
    for _ in range(MAX_TOKENS):
        token = _TOKEN.match(text, start)
        if token is None:
            break
        start = token.end()
        mark = token["mark"] or ""
        if mark in _OPENED:
            value = _OPENED[mark]()
            _add(opened[-1], keys, value)
            opened.append(value)
            keys.append(None)
        elif mark in _CLOSED:
            _close(opened, keys, _CLOSED[mark])
        elif mark == ",":
            keys[-1] = None
        elif token["quote"]:
            string, start = _read_string(text, start, token["quote"], repair=repair)
            _add(opened[-1], keys, string)
        elif token["word"]:
            _add(opened[-1], keys, _word(token["word"]))
        if (len(opened) == 1 and values) or len(opened) > _MAX_DEPTH:
            break
    if not values:
        raise ValueError("no value")
    return values[0], start


def _close(opened: list[Any], keys: list[Any], kind: type) -> None:
    """End the innermost container of this *kind*, if one is open."""
    if any(isinstance(container, kind) for container in opened[1:]):
        while not isinstance(opened.pop(), kind):
            keys.pop()
        keys.pop()


def _add(container: Any, keys: list[Any], value: Any) -> None:
    if isinstance(container, list):
        container.append(value)
    elif keys[-1] is None:
        keys[-1] = value if isinstance(value, str) else str(value)
    else:
        container.setdefault(keys[-1], value)
        keys[-1] = None


def _word(word: str) -> Any:
    if word in _WORDS:
        return _WORDS[word]
    try:
        return json.loads(word)
    except ValueError:
        return Name(word)


def _read_string(text: str, start: int, quote: str, *, repair: bool) -> tuple[str, int]:
    if repair and quote == '"':
        found = _REPAIRED_STRING.match(text, start)
    else:
        found = _STRINGS[quote].match(text, start)
    raw, end = (text[start:], len(text)) if found is None else (found[0], found.end() + 1)
    if "\\" in raw:
        data = _ESCAPE.sub(_unescaped, raw).encode("utf-16", "surrogatepass")
        raw = data.decode("utf-16", "surrogatepass")  # joins pairs of surrogates
    return raw, end


def _unescaped(found: re.Match[str]) -> str:
    *codes, character = found.groups()
    if character is not None:
        return _ESCAPED.get(character, character)
    number = int(next(filter(None, codes)), 16)
    return chr(number) if number <= 0x10FFFF else ""


def join_surrogates(text: str) -> str:
    """Return *text* with pairs of surrogates joined and single ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
