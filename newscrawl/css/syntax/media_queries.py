"""Media queries, evaluated for a fixed desktop screen.

Implements Media Queries 4 and the features of level 5 in common use. A query with an unknown
feature does not apply.
"""

from __future__ import annotations

import operator
import re
from functools import lru_cache
from typing import Final

from newscrawl.css.syntax.conditions import (
    MAX_CONDITION_LENGTH,
    evaluate_condition,
    split_at_top_level,
)
from newscrawl.css.syntax.masking import SPACE
from newscrawl.css.syntax.math_functions import LENGTH, NUMBER, Quantity, parse_quantity

WIDTH: Final = 1280.0
"""Width of the viewport, in px."""

HEIGHT: Final = 800.0
"""Height of the viewport, in px."""

FONT_SIZE: Final = 16.0
"""Initial font size, in px: the em of a media query."""

_PX = {
    "px": 1.0,
    "em": FONT_SIZE,
    "rem": FONT_SIZE,
    "ex": FONT_SIZE / 2,
    "ch": FONT_SIZE / 2,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 96 / 25.4,
    "q": 96 / 101.6,
    "vw": WIDTH / 100,
    "vh": HEIGHT / 100,
    "vmin": HEIGHT / 100,
    "vmax": WIDTH / 100,
}
_DPPX = {"dppx": 1.0, "x": 1.0, "dpi": 1 / 96, "dpcm": 2.54 / 96}
_NUMBER = {"": 1.0}
# Feature -> its value, and the accepted units with their size.
_RANGES: dict[str, tuple[float, dict[str, float]]] = {
    "width": (WIDTH, _PX),
    "height": (HEIGHT, _PX),
    "device-width": (WIDTH, _PX),
    "device-height": (HEIGHT, _PX),
    "aspect-ratio": (WIDTH / HEIGHT, _NUMBER),
    "device-aspect-ratio": (WIDTH / HEIGHT, _NUMBER),
    "resolution": (1.0, _DPPX),
    "-webkit-device-pixel-ratio": (1.0, _NUMBER),
    "color": (8.0, _NUMBER),
    "color-index": (0.0, _NUMBER),
    "monochrome": (0.0, _NUMBER),
    "horizontal-viewport-segments": (1.0, _NUMBER),
    "vertical-viewport-segments": (1.0, _NUMBER),
}
# Feature -> matching values; values in _NONE_VALUES make the feature false without a value.
_KEYWORDS = {
    "orientation": {"landscape"},
    "hover": {"hover"},
    "any-hover": {"hover"},
    "pointer": {"fine"},
    "any-pointer": {"fine"},
    "prefers-color-scheme": {"light"},
    "prefers-reduced-motion": {"no-preference"},
    "prefers-reduced-transparency": {"no-preference"},
    "prefers-contrast": {"no-preference"},
    "forced-colors": {"none"},
    "scripting": {"none"},
    "update": {"fast"},
    "overflow-block": {"scroll"},
    "overflow-inline": {"scroll"},
    "color-gamut": {"srgb"},
    "dynamic-range": {"standard"},
    "device-posture": {"continuous"},
    "display-mode": {"browser"},
    "grid": {"0"},
    "-webkit-transform-3d": {"1"},
}
_NONE_VALUES = {"none", "no-preference", "0"}
_COMPARE = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*)")
_DECIMAL = r"(\d++(?:\.\d++)?|\.\d++)"
_RATIO = re.compile(rf"{_DECIMAL}[{SPACE}]*/[{SPACE}]*{_DECIMAL}")
_PREFIXED = re.compile(r"(-webkit-)?(min|max)-(.+)")
_TYPED = re.compile(
    rf"(?:(not|only)[{SPACE}]+)?(?!(?:not|only|and|or|layer)\b)([a-z-][\w-]*)"
    rf"(?:[{SPACE}]+and[{SPACE}]+(?=\()(.*)|[{SPACE}]+and[{SPACE}]+(not[{SPACE}].*))?",
    re.DOTALL,
)
# The usual form: a conjunction of features with values, for a screen.
_SIMPLE_QUERY = re.compile(
    r"(?:(?:only )?(?:screen|all) and )?\(([\w-]+: ?[\w.]+(?:\) and \([\w-]+: ?[\w.]+)*+)\)"
)
_COMPARISON = re.compile(r"([<>]=?|=)")


@lru_cache(maxsize=1024)
def media_applies(queries: str) -> bool:
    """Return whether a media query list (of ``@media`` or a ``media`` attribute) applies."""
    if not queries.strip(SPACE):
        return True
    if len(queries) > MAX_CONDITION_LENGTH:
        return False
    queries = queries.lower()
    if "," not in queries:
        return _query_applies(queries.strip(SPACE))
    return any(_query_applies(query) for query in split_at_top_level(queries, ","))


def _query_applies(query: str) -> bool:
    """Return whether one media query, in lower case, applies; an invalid one does not."""
    if (simple := _SIMPLE_QUERY.fullmatch(query)) is not None:
        return all(_feature(text) for text in simple[1].split(") and ("))
    typed = _TYPED.fullmatch(query)
    if typed is None:
        return bool(evaluate_condition(query, _feature))
    prefix, kind, *conditions = typed.groups()
    result: bool | None = kind in {"all", "screen"}
    condition = conditions[0] or conditions[1]
    if condition:
        # "or" is not allowed after a media type
        held = (
            None
            if "or" in split_at_top_level(condition, SPACE)
            else evaluate_condition(condition, _feature)
        )
        result = held if result else (None if held is None else result)
    return result is False if prefix == "not" else bool(result)


@lru_cache(maxsize=1024)
def _feature(text: str) -> bool | None:
    """Return whether a media feature is true, None if it is unknown."""
    name, colon, value = text.partition(":")
    name, value = name.strip(SPACE), value.strip(SPACE)
    if colon:
        return _feature_with_value(name, value)
    parts = [part.strip(SPACE) for part in _COMPARISON.split(text)]
    if len(parts) == 1:
        return _feature_without_value(name)
    if len(parts) == 3 and parts[0] in _RANGES:
        return _compare(parts[0], parts[1], parts[2])
    if len(parts) == 3:
        return _compare(parts[2], _MIRRORED[parts[1]], parts[0])
    if len(parts) == 5 and parts[1][0] == parts[3][0] != "=":
        low = _compare(parts[2], _MIRRORED[parts[1]], parts[0])
        high = _compare(parts[2], parts[3], parts[4])
        return None if low is None or high is None else low and high
    return None


def _feature_without_value(name: str) -> bool | None:
    """Return whether ``(name)`` is true: the feature's value is not zero or none."""
    if name in _RANGES:
        return _RANGES[name][0] != 0
    return not _KEYWORDS[name] & _NONE_VALUES if name in _KEYWORDS else None


def _feature_with_value(name: str, value: str) -> bool | None:
    """Return whether ``(name: value)`` is true."""
    if name in _KEYWORDS:
        return value in _KEYWORDS[name]
    prefixed = _PREFIXED.fullmatch(name)
    if prefixed is None:
        return _compare(name, "=", value)
    return _compare(
        (prefixed[1] or "") + prefixed[3], ">=" if prefixed[2] == "min" else "<=", value
    )


def _compare(name: str, sign: str, value: str) -> bool | None:
    """Return the result of ``(name sign value)``, None if it is unknown."""
    if name not in _RANGES:
        return None
    actual, units = _RANGES[name]
    wanted = _quantity(value, units)
    if wanted is None:
        return None
    equal = abs(actual - wanted) < 1e-6
    if sign == "=" or (equal and len(sign) == 2):
        return equal
    return not equal and bool(_COMPARE[sign](actual, wanted))


def _quantity(text: str, units: dict[str, float]) -> float | None:
    """Return a number, ratio, length or resolution in the base unit of the feature."""
    ratio = _RATIO.fullmatch(text)
    if ratio is not None and units is _NUMBER:
        return float(ratio[1]) / float(ratio[2]) if float(ratio[2]) else float("inf")
    quantity = _QUANTITY.fullmatch(text)
    if quantity is None:
        return _calculated(text, units)
    number, unit = float(quantity[1]), quantity[2]
    if unit in units:
        return number * units[unit]
    return 0.0 if number == 0 and not unit else None


def _calculated(text: str, units: dict[str, float]) -> float | None:
    """Return the value of a math function in the base unit of the feature."""
    kind = NUMBER if units is _NUMBER else LENGTH
    found = parse_quantity(
        text, lambda value, unit: Quantity(value * units[unit], kind) if unit in units else None
    )
    return found.value if found is not None and found.kind == kind else None
