"""Media queries for a screen of 1280 by 800 pixels, light, with a mouse.

https://drafts.csswg.org/mediaqueries-4/
"""

from __future__ import annotations

import re
from functools import lru_cache

WIDTH, HEIGHT = 1280.0, 800.0
"""Size of the viewport in px."""

_MAX_LENGTH = 4096
_MAX_DEPTH = 6
_KEYWORDS = {
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference",
    "forced-colors": "none",
    "scripting": "none",
    "update": "fast",
    "display-mode": "browser",
}
_RANGES = {
    "width": WIDTH,
    "device-width": WIDTH,
    "height": HEIGHT,
    "device-height": HEIGHT,
    "aspect-ratio": WIDTH / HEIGHT,
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
    "color": 8.0,
    "monochrome": 0.0,
}
_UNITS = {"px": 1, "em": 16, "rem": 16, "pt": 4 / 3, "dppx": 1, "x": 1, "dpi": 1 / 96, "": 1}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([a-z]*)(?:\s*/\s*(\d+\.?\d*))?")
_TYPED = re.compile(
    r"(?:(not|only)\s+)?(?!(?:not|only|and|or)\b)([a-z][\w-]*)(?:\s+and\b(.*))?", re.DOTALL
)
_INNERMOST = re.compile(r"\(([^()]*)\)")
_COMPARISON = re.compile(r"([<>]=?|=)")
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}


@lru_cache(1024)
def media_applies(queries: str) -> bool:
    """Return whether a media query list (of ``@media`` or a ``media`` attribute) applies."""
    queries = queries.strip().lower()
    return not queries or any(map(_query_applies, queries[:_MAX_LENGTH].split(",")))


def _query_applies(query: str) -> bool:
    """Return whether one media query applies; an invalid one does not."""
    typed = _TYPED.fullmatch(query.strip())
    if typed is None:
        return _condition(query)
    negation, kind, condition = typed.groups()
    result = kind in {"all", "screen"} and (condition is None or _condition(condition))
    return result is not (negation == "not")


def _condition(text: str) -> bool:
    """Return whether a condition is true: features in parentheses, ``not``, ``and``, ``or``.

    Parentheses are replaced by their results from the inside outwards.
    """
    for _ in range(_MAX_DEPTH):
        text = _INNERMOST.sub(lambda match: f" {_inner(match[1])} ", text)
    return _inner(text) == "T"


def _inner(text: str) -> str:
    """Return "T", "F" or "?" (unknown) for the content of a parenthesis."""
    words = text.split()
    if not words or not {"T", "F", "?"}.intersection(words):
        result = _feature(text.strip())
        return "?" if result is None else "FT"[result]
    if words[0] == "not":
        return {"T": "F", "F": "T"}.get(words[-1], "?")
    found, operators = words[::2], set(words[1::2])
    if operators == {"or"}:
        return "T" if "T" in found else found[0]
    if operators - {"and"}:
        return "?"
    return "F" if "F" in found else "?" if "?" in found else "T"


def _feature(text: str) -> bool | None:
    """Return whether a media feature is true, None if it is unknown."""
    name, colon, value = (part.strip() for part in text.partition(":"))
    name = name.removeprefix("-webkit-")
    if name in _KEYWORDS:
        actual = _KEYWORDS[name]
        return value == actual if colon else actual not in {"none", "no-preference"}
    if colon:
        sign = {"min-": ">=", "max-": "<="}.get(name[:4], "=")
        return _compare(name[4:] if sign != "=" else name, sign, value)
    parts = [part.strip() for part in _COMPARISON.split(text)]
    if len(parts) == 1:
        return bool(_RANGES[name]) if name in _RANGES else None
    if parts[0] in _RANGES:
        return _compare(parts[0], parts[1], parts[2])
    low = _compare(parts[2], _MIRRORED[parts[1]], parts[0])
    if len(parts) == 3 or low is None:
        return low
    high = _compare(parts[2], parts[3], parts[4])
    return None if high is None else low and high


def _compare(name: str, sign: str, text: str) -> bool | None:
    """Return the result of a comparison with a number, None if it is unknown."""
    name = name.removeprefix("-webkit-").removeprefix("-moz-")
    number = _NUMBER.fullmatch(text)
    if name not in _RANGES or number is None or number[2] not in _UNITS:
        return None
    expected = float(number[1]) * _UNITS[number[2]] / (float(number[3] or 1) or 1)
    difference = round(_RANGES[name] - expected, 6)
    if not difference:
        return "=" in sign
    return (difference > 0) == (sign[0] == ">") if sign != "=" else False
