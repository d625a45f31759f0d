"""Media queries for a screen of 1280 by 800 pixels, light, with a mouse.

https://drafts.csswg.org/mediaqueries-4/, without ``or`` and nested conditions.
"""

from __future__ import annotations

import re
from functools import lru_cache

WIDTH, HEIGHT = 1280.0, 800.0
"""Size of the viewport in px."""

_MAX_LENGTH = 4096
_KEYWORDS = {
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
}
_RANGES = {
    "width": WIDTH,
    "device-width": WIDTH,
    "height": HEIGHT,
    "device-height": HEIGHT,
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
}
_UNITS = {"px": 1, "em": 16, "rem": 16, "pt": 4 / 3, "dppx": 1, "x": 1, "dpi": 1 / 96, "": 1}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([a-z]*)")
_QUERY = re.compile(r"(?:(not|only)\s++)?([\w-]*+)((?:\s*+(?:and\b\s*+)?\([^()]*+\))*+)")
_FEATURE = re.compile(r"\(\s*+(?:-\w+-)?([a-z-]++)\s*+(?:(:|[<>]=?|=)([^()<>=]*+))?\)")


@lru_cache(1024)
def media_applies(queries: str) -> bool:
    """Return whether a media query list (of ``@media`` or a ``media`` attribute) applies."""
    queries = queries.strip().lower()
    return not queries or any(map(_query_applies, queries[:_MAX_LENGTH].split(",")))


def _query_applies(query: str) -> bool:
    """Return whether one media query applies; an invalid or unknown one does not."""
    found = _QUERY.fullmatch(query := query.strip())
    if found is None or not query:
        return False
    negation, kind, condition = found.groups()
    results = [_feature(*feature) for feature in _FEATURE.findall(condition)]
    if None in results or len(results) != condition.count("("):
        return False
    applies = kind in {"", "all", "screen"} and all(results)
    return applies is not (negation == "not")


def _feature(name: str, sign: str, value: str) -> bool | None:
    """Return whether a media feature is true, None if it is unknown."""
    value = value.strip()
    if name in _KEYWORDS:
        return value == _KEYWORDS[name] if sign else _KEYWORDS[name] != "no-preference"
    if sign == ":":
        sign = {"min-": ">=", "max-": "<="}.get(name[:4], "=")
        name = (name[4:] if sign != "=" else name).removeprefix("-moz-")
    number = _NUMBER.fullmatch(value)
    if name not in _RANGES or number is None or number[2] not in _UNITS:
        return None
    difference = round(_RANGES[name] - float(number[1]) * _UNITS[number[2]], 6)
    if not difference:
        return "=" in sign
    return sign != "=" and (difference > 0) == (sign[0] == ">")
