"""Values of the properties that affect the appearance of text.

https://drafts.csswg.org/css-fonts-4/, https://drafts.csswg.org/css-values-4/ and
https://drafts.csswg.org/css-color-4/. A colour is a text: colours are only compared.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.css.parser import HEIGHT, WIDTH, end_of_arguments
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MEDIUM = 16.0
"""Default font size in px."""

MAX_FONT_SIZE = 10_000.0
MAX_VALUE_LENGTH = 2**16
"""Maximum length of a value, and of one with variables substituted."""

MAX_REFERENCES = 24
"""Limit of a chain of custom properties, and of nested fallbacks."""

_MAX_FORMULA = 1000
_MAX_DEPTH = 20

PROPERTIES = ("font-size", "font-weight", "font-family", "color", "display", "visibility")
_CLIPPED = lazy_regex(r"(?:rect\([01](?:px)?[\s,]|inset\((?:50|100)%|circle\(0)[^)]{0,60}\)")
_FAR = lazy_regex(r"-\d{3,}(?:\.\d+)?(?:px|r?em|vw)")
_ZERO = lazy_regex(r"0(?:\.0*)?(?:px|%)?")
REMOVING = {
    "clip": _CLIPPED, "clip-path": _CLIPPED, "left": _FAR, "top": _FAR, "text-indent": _FAR,
    "opacity": _ZERO, "height": _ZERO, "max-height": _ZERO,
}  # fmt: skip
"""Properties and their values that remove an element from the screen, alone or together."""

_LONGHANDS = {**{name: (name,) for name in (*PROPERTIES, *REMOVING)}, "font": PROPERTIES[:3]}
_SIZES = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": MEDIUM, "large": 18.0,
    "x-large": 24.0, "xx-large": 32.0, "xxx-large": 48.0,
}  # fmt: skip
_PIXELS = {
    "px": 1.0, "pt": 4 / 3, "vw": WIDTH / 100, "vh": HEIGHT / 100, "vmin": HEIGHT / 100,
    "vmax": WIDTH / 100,
}  # fmt: skip
_EMS = {"em": 1.0, "%": 0.01}
_WIDE = frozenset(("inherit", "initial", "unset", "revert", "revert-layer"))


class Pending(NamedTuple):
    """A declared value with ``var()``, parsed when the custom properties are known."""

    name: str
    text: str


class Wide(NamedTuple):
    """A CSS-wide keyword: ``inherit``, ``initial``, ``unset``, ``revert`` or ``revert-layer``."""

    keyword: str


class FontSize(NamedTuple):
    """A declared font size: pixels and multiples of the size of the parent and of the root."""

    px: float = 0.0
    em: float = 0.0
    rem: float = 0.0
    #: a formula of sizes that is not linear
    text: str = ""

    def pixels(self, parent: float, root: float) -> float:
        """Return the computed size."""
        if self.text:
            return clip_size(_calculate(self.text, parent, root) or 0.0)
        return clip_size(self.px + self.em * parent + self.rem * root)


Value = FontSize | Pending | Wide | float | str | bool | tuple[str, ...]
"""The value of a property: of the type that its parser returns, or not yet known."""


def clip_size(size: float) -> float:
    """Return a font size within the limits."""
    return min(MAX_FONT_SIZE, max(0.0, size))


@lru_cache(8192)
def parse_value(name: str, text: str) -> tuple[tuple[str, Value], ...]:
    """Return (longhand, value) for every longhand set by a declaration, () if it is invalid."""
    longhands = _LONGHANDS.get(name, ())
    lowered = text.lower()
    if lowered in _WIDE:
        return tuple((longhand, Wide(lowered)) for longhand in longhands)
    if len(text) > MAX_VALUE_LENGTH:
        return ()
    if "var(" in lowered:
        return tuple((longhand, Pending(name, text)) for longhand in longhands)
    if name == "font":
        return _parse_font(text)
    value = _PARSERS[name](lowered) if name in _PARSERS else None
    return () if value is None else ((name, value),)


_DIMENSION = lazy_regex(r"([+-]?(?:\d++(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?)([a-z]*|%)")


def parse_font_size(text: str) -> FontSize | None:
    """Return a ``font-size``, None if it is invalid."""
    if text in _SIZES:
        return FontSize(_SIZES[text])
    if text in {"larger", "smaller"}:
        return FontSize(em=1.2 if text == "larger" else 1 / 1.2)
    if text.endswith(")"):
        return None if _calculate(text, MEDIUM, MEDIUM) is None else FontSize(text=text)
    found = _DIMENSION.fullmatch(text)
    if found is None or text[0] == "-":
        return None
    return _size_of(float(found[1]), found[2])


def _size_of(number: float, unit: str) -> FontSize | None:
    if unit == "rem":
        return FontSize(rem=number)
    if unit in _EMS:
        return FontSize(em=number * _EMS[unit])
    known = unit in _PIXELS or not number
    return FontSize(number * _PIXELS.get(unit, 0.0)) if known else None


def parse_font_weight(text: str) -> float | str | None:
    """Return a ``font-weight``: a number, ``bolder`` or ``lighter``; None if it is invalid."""
    if text in {"normal", "bold"}:
        return 400.0 if text == "normal" else 700.0
    if text in {"bolder", "lighter"}:
        return text
    found = _DIMENSION.fullmatch(text)
    if found is None or found[2] or not 1 <= float(found[1]) <= 1000:
        return None
    return float(found[1])


def relative_weight(weight: str, parent: float) -> float:
    """Return the weight of ``bolder`` or ``lighter`` in a *parent* weight (CSS Fonts 4, 2.4.1)."""
    if weight == "bolder":
        if parent < 350:
            return 400.0
        return 700.0 if parent < 550 else max(parent, 900.0)
    if parent < 550:
        return min(parent, 100.0)
    return 400.0 if parent < 750 else 700.0


def parse_families(text: str) -> tuple[str, ...] | None:
    """Return the names of ``font-family``, None if it is invalid."""
    names = tuple(" ".join(name.strip(" \t\n\"'").split()) for name in text.split(","))
    return names if all(names) else None


_BEFORE_SIZE = lazy_regex(
    r"normal|italic|oblique|small-caps|(?:ultra-|extra-|semi-)?(?:condensed|expanded)"
)


def _parse_font(text: str) -> tuple[tuple[str, Value], ...]:
    """Return the longhands of ``font``, () if it is invalid."""
    words, position = text.lower(), 0
    weight: Value = 400.0
    for match in re.finditer(r"(?<!\S)\S++\s++", words):
        word = match[0].strip()
        if (found := parse_font_weight(word)) is not None:
            weight = found
        elif not _BEFORE_SIZE.fullmatch(word):
            break
        position = match.end()
    rest = _FONT_REST.fullmatch(words, position)
    size = parse_font_size(rest[1]) if rest else None
    families = parse_families(rest[2].strip()) if rest else None
    if size is None or families is None:
        return ()
    return ("font-size", size), ("font-weight", weight), ("font-family", families)


# The size, and the families after an optional line height.
_FONT_REST = lazy_regex(
    r"([\w-]+\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)|[^\s/(]++)"
    r"(?:\s*+/\s*+(?:[\w-]+\([^()]*+\)|[^\s(]++)|(?=\s))(.++)",
    re.DOTALL,
)
_DISPLAY = lazy_regex(r"[a-z-]+(?: [a-z-]+)?")


def _parse_display(text: str) -> bool | None:
    """Return whether ``display`` is ``none``, None for an invalid value."""
    if not _DISPLAY.fullmatch(text) or text.startswith(("-ms-", "-moz-")):
        return None
    return text == "none"


def _parse_visibility(text: str) -> bool | None:
    """Return whether ``visibility`` is ``visible``, None for an invalid value."""
    return text == "visible" if text in {"visible", "hidden", "collapse"} else None


_NAMED = {
    "black": "#000000", "white": "#ffffff", "red": "#ff0000", "green": "#008000",
    "blue": "#0000ff", "gray": "#808080", "grey": "#808080", "silver": "#c0c0c0",
    "navy": "#000080", "yellow": "#ffff00", "maroon": "#800000", "teal": "#008080",
}  # fmt: skip
_HEX = lazy_regex(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_RGB = lazy_regex(
    r"rgba?\(\s*+([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)(?:\s*[,/]\s*([\d.]+)(%?))?\s*\)"
)
_COLOR_FUNCTION = lazy_regex(
    r"(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark|contrast-color)\(.+\)"
)


def parse_color(text: str) -> str | None:
    """Return a colour: ``#rrggbb`` or ``#rrggbbaa`` if possible, else its notation.

    None for an invalid colour, ``currentcolor`` as it is.
    """
    if text[:1] == "#":
        if not _HEX.fullmatch(text):
            return None
        digits = text[1:]
        if len(digits) < 6:
            digits = "".join(digit * 2 for digit in digits)
        return f"#{digits[:6]}" if digits[6:] == "ff" else f"#{digits}"
    if (found := _RGB.fullmatch(text)) is not None:
        return _hexadecimal(found)
    if text.isalpha():
        return _NAMED.get(text, text)
    return " ".join(text.split()) if _COLOR_FUNCTION.fullmatch(text) else None


def _hexadecimal(rgb: re.Match[str]) -> str | None:
    try:
        *parts, alpha = (float(part or 1) for part in rgb.group(1, 2, 3, 4))
    except ValueError:
        return None
    parts.append(255 * alpha / (100 if rgb[5] else 1))
    digits = "".join(f"{round(min(255.0, part)):02x}" for part in parts)
    return f"#{digits[:6]}" if digits[6:] == "ff" else f"#{digits}"


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text) is not None


_PARSERS: dict[str, Callable[[str], Value | None]] = {
    "font-size": parse_font_size,
    "font-weight": parse_font_weight,
    "font-family": parse_families,
    "color": parse_color,
    "display": _parse_display,
    "visibility": _parse_visibility,
    **{name: partial(_matches, pattern) for name, pattern in REMOVING.items()},
}

_INNERMOST = lazy_regex(r"(?<![a-z-])([a-z-]*+)\(([^()]*+)\)")
# Plus and minus have white space on both sides.
_PLUS_OR_MINUS = lazy_regex(r"(?<=\s)([+-])(?=\s)")
_TIMES_OR_DIVIDE = lazy_regex(r"([*/])")
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "": lambda value: value,
    "calc": lambda value: value,
    "clamp": lambda low, value, high: max(low, min(value, high)),
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
}


@lru_cache(1024)
def _calculate(text: str, parent: float, root: float) -> float | None:
    """Return the length in px of a formula of ``calc()``, ``min()``, ``max()``, ``clamp()``.

    None if it is invalid. Kinds are not checked: a number counts as a length. Parentheses are
    replaced by their results from the inside outwards.
    """
    units = {"": 1.0, **_PIXELS, **{unit: ems * parent for unit, ems in _EMS.items()}, "rem": root}

    def value(number: str) -> float:
        found = _DIMENSION.fullmatch(number.strip())
        if found is None:
            raise ValueError(number)
        return float(found[1]) * units[found[2]]

    def product(formula: str) -> float:
        first, *rest = _TIMES_OR_DIVIDE.split(formula)
        result = value(first)
        for operator, factor in zip(rest[::2], rest[1::2], strict=True):
            result = result * value(factor) if operator == "*" else result / value(factor)
        return result

    def total(formula: str) -> float:
        first, *rest = _PLUS_OR_MINUS.split(formula)
        terms = zip(rest[::2], map(product, rest[1::2]), strict=True)
        return product(first) + sum(term if sign == "+" else -term for sign, term in terms)

    def result(match: re.Match[str]) -> str:
        function = _FUNCTIONS[match[1].removeprefix("-webkit-")]
        return repr(function(*map(total, match[2].split(","))))

    try:
        for _ in range(_MAX_DEPTH if len(text) <= _MAX_FORMULA else 0):
            text, replaced = _INNERMOST.subn(result, text)
            if not replaced:
                return value(text)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
    return None


class Variables:
    """The custom properties of an element: its own, and those inherited from *parent*.

    A value is resolved when it is requested. *budget* holds the number of characters in which
    variables may still be substituted on the page.
    """

    __slots__ = ("_budget", "_open", "_resolved", "own", "parent")

    def __init__(self, own: Mapping[str, str], parent: Variables | None, budget: list[int]) -> None:
        self.own = own
        self.parent = parent
        #: results by name of a property, and by text
        self._resolved: dict[str, str | None] = {}
        self._open: set[str] = set()
        self._budget = budget

    def get(self, name: str, depth: int = 0) -> str | None:
        """Return the value of a custom property, None if it has none."""
        frame: Variables | None = self
        while frame is not None and name not in frame.own:
            frame = frame.parent
        return None if frame is None else frame.resolve(name, depth)

    def resolve(self, name: str, depth: int) -> str | None:
        """Return the value of an own property."""
        if name in self._resolved:
            return self._resolved[name]
        if name in self._open or depth > MAX_REFERENCES:
            return None
        self._open.add(name)
        value = self.substitute(self.own[name], depth)
        self._open.discard(name)
        self._resolved[name] = value
        return value

    def substitute(self, text: str, depth: int = 0) -> str | None:
        """Return *text* with its ``var()`` replaced, None if one has no value."""
        if text in self._resolved:
            return self._resolved[text]
        self._budget[0] -= len(text)
        value = self._substitute(text, depth) if self._budget[0] >= 0 else None
        if not depth:
            self._resolved[text] = value
        return value

    def _substitute(self, text: str, depth: int) -> str | None:
        pieces: list[str] = []
        position = size = 0
        for reference in _REFERENCE.finditer(text):
            if reference.start() < position:
                continue  # inside the fallback of the one before
            end = end_of_arguments(text, reference.end())
            end = len(text) if end < 0 else end
            name, comma, fallback = text[reference.end() : end].partition(",")
            value = self.get(name.strip(), depth + 1)
            if value is None and comma and depth <= MAX_REFERENCES:
                value = self.substitute(fallback.strip(), depth + 1)
            if value is None:
                return None
            pieces += text[position : reference.start()], value
            position = end + 1
            size += len(value)
            if size > MAX_VALUE_LENGTH:
                return None
        return "".join((*pieces, text[position:])).strip() if pieces else text


_REFERENCE = lazy_regex(r"(?<![\w-])[vV][aA][rR]\(")
