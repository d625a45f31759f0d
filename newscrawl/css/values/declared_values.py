"""Parser of declared values: from a declaration to the values of its longhands.

https://drafts.csswg.org/css-cascade-5/#value-stages
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from newscrawl.css.syntax.masking import unescape
from newscrawl.css.syntax.math_functions import ANGLE, LENGTH, NUMBER, PERCENT, parse_quantity
from newscrawl.css.syntax.variables import has_reference
from newscrawl.css.values.colors import TRANSPARENT, Color, parse_color
from newscrawl.css.values.fonts import (
    parse_families,
    parse_font,
    parse_font_size,
    parse_font_style,
    parse_font_weight,
    resolve_length,
)

FONT_LONGHANDS = ("font-style", "font-weight", "font-size", "font-family")
PROPERTIES = (*FONT_LONGHANDS, "color", "color-scheme", "display", "visibility")
"""The supported longhand properties."""

INHERITED = frozenset(PROPERTIES) - {"display"}


class WideKeyword(Enum):
    """CSS-wide keywords, valid for every property (CSS Cascade 5, 7.3)."""

    INHERIT = "inherit"
    INITIAL = "initial"
    UNSET = "unset"
    REVERT = "revert"
    REVERT_LAYER = "revert-layer"


_WIDE = {keyword.value: keyword for keyword in WideKeyword}


class PendingValue(NamedTuple):
    """A value with ``var()``, parsed when the custom properties are known."""

    text: str
    shorthand: bool = False
    """Whether it is the value of the ``font`` shorthand."""


class DependentColor(NamedTuple):
    """A colour that depends on the element, through ``currentcolor`` or its colour scheme."""

    text: str


Value = Any
"""A :class:`WideKeyword`, a :class:`PendingValue` or the result of the property's parser."""

_DISPLAYS = frozenset(
    (
        "none", "contents", "block", "inline", "flow", "flow-root", "table", "flex", "grid",
        "math", "ruby", "list-item", "inline-block", "inline-table", "inline-flex",
        "inline-grid", "inline-math", "table-row-group", "table-header-group",
        "table-footer-group", "table-row", "table-cell", "table-column-group", "table-column",
        "table-caption", "ruby-text", "grid-lanes", "inline-grid-lanes", "-webkit-box",
        "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex",
    )
)  # fmt: skip
_OUTSIDES = frozenset(("block", "inline"))
_INSIDES = frozenset(("flow", "flow-root", "table", "flex", "grid", "math", "ruby"))
_VISIBILITIES = frozenset(("visible", "hidden", "collapse"))


_QUANTITY_SYNTAXES = {
    "<number>": {NUMBER},
    "<integer>": {NUMBER},
    "<length>": {LENGTH},
    "<percentage>": {PERCENT},
    "<length-percentage>": {LENGTH, PERCENT},
    "<angle>": {ANGLE},
}
_ESCAPED_UNIT = re.compile(r"\d\\")


def parse_wide_keyword(text: str) -> WideKeyword | None:
    """Return the CSS-wide keyword *text*, None if it is not one."""
    return _WIDE.get(text.lower()) if len(text) <= 12 else None


@lru_cache(16384)
def parse_declaration(
    name: str, text: str, *, quirks: bool = False
) -> tuple[tuple[str, Value], ...]:
    """Return (longhand, value) for every longhand set by a declaration, () if it is invalid.

    The value of a custom property is its text.
    """
    if name.startswith("--"):
        return ((name, parse_wide_keyword(text) or text),)
    longhands = _LONGHANDS.get(name)
    if longhands is None:
        return ()
    value: Value = parse_wide_keyword(text)
    if name == "all":
        return tuple((longhand, value) for longhand in longhands) if value else ()
    if value is None and has_reference(text):
        value = PendingValue(text, shorthand=name == "font")
    if value is not None:
        return tuple((longhand, value) for longhand in longhands)
    return parse_value(name, text, quirks=quirks)


_LONGHANDS = {name: (name,) for name in PROPERTIES} | {"font": FONT_LONGHANDS, "all": PROPERTIES}


@lru_cache(2048)
def has_syntax(text: str, syntax: str) -> bool:
    """Return whether *text* has the *syntax* of ``@property``; colours and numbers are checked."""
    if syntax == "<color>":
        return parse_color(text) is not None
    if syntax not in _QUANTITY_SYNTAXES:
        return True
    found = parse_quantity(text, lambda value, unit: resolve_length(16.0, 16.0, value, unit))
    if found is None:
        return False
    is_zero = found.kind == NUMBER and not found.value and "length" in syntax
    return is_zero or found.kind in _QUANTITY_SYNTAXES[syntax]


def parse_value(name: str, text: str, *, quirks: bool) -> tuple[tuple[str, Value], ...]:
    """Return (longhand, value) for a value without ``var()`` that is no CSS-wide keyword."""
    if name == "font":
        font = parse_font(text)
        return tuple(zip(FONT_LONGHANDS, font, strict=True)) if font else ()
    if "\\" in text and name != "font-family":
        # An escape in a keyword is a letter; after a digit it starts an unknown unit.
        text = "" if _ESCAPED_UNIT.search(text) else unescape(text)
    value = _parse(name, text, quirks=quirks)
    return () if value is None else ((name, value),)


def _parse(name: str, text: str, *, quirks: bool) -> Value:  # noqa: PLR0911  # one line each
    if name == "font-size":
        return parse_font_size(text, quirks=quirks)
    if name == "font-weight":
        return parse_font_weight(text)
    if name == "font-family":
        return parse_families(text)
    if name == "font-style":
        return parse_font_style(text)
    if name == "color":
        return _parse_color(text, quirks=quirks)
    if name == "display":
        return _parse_display(text)
    if name == "visibility":
        return text.lower() if text.lower() in _VISIBILITIES else None
    return _parse_color_scheme(text)


def _parse_color(text: str, *, quirks: bool) -> Color | DependentColor | None:
    """Return a colour, or a :class:`DependentColor` if it differs between elements."""
    color = parse_color(text, quirks=quirks)
    if color is None:
        return None
    dark = parse_color(text, current=TRANSPARENT, quirks=quirks, dark=True)
    fixed = color == dark and "currentcolor" not in text.lower()
    return color if fixed else DependentColor(text)


def _parse_display(text: str) -> bool | None:
    """Return whether ``display`` is ``none``; None for an invalid value."""
    words = text.lower().split()
    if len(words) == 1 and words[0] in _DISPLAYS:
        return words[0] == "none"
    outsides = [word for word in words if word in _OUTSIDES]
    insides = [word for word in words if word in _INSIDES]
    items = words.count("list-item")
    known = len(outsides) + len(insides) + items == len(words)
    return False if words and known and max(len(outsides), len(insides), items) == 1 else None


def _parse_color_scheme(text: str) -> bool | None:
    """Return whether a light screen uses the dark scheme; None for an invalid value."""
    words = text.lower().split()
    if not words or "," in text:
        return None
    return "dark" in words and "light" not in words
