"""Colours: names, hexadecimal digits, functions, and what old pages write instead.

https://drafts.csswg.org/css-color-5/
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

from newscrawl.css.syntax.math_functions import (
    ANGLE,
    NUMBER,
    PERCENT,
    InvalidValueError,
    Quantity,
    Reader,
    Token,
    tokenize,
)
from newscrawl.css.values.color_names import DARK_SYSTEM_COLORS, NAMED_COLORS, SYSTEM_COLORS
from newscrawl.css.values.color_spaces import RGB_SPACES, SPACES, Vector, convert


class Color(NamedTuple):
    """A colour in sRGB: red, green and blue in 0..255, alpha in 0..1."""

    red: int
    green: int
    blue: int
    alpha: float = 1.0


BLACK = Color(0, 0, 0)
TRANSPARENT = Color(0, 0, 0, 0.0)

_HEX = re.compile(r"#([0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})")
# A number with an exponent is no integer.
_HASHLESS = re.compile(r"(?!\d+e\d)(?:[0-9a-f]{6}|[0-9a-f]{3}|\d[0-9a-f]{0,5})")
_NOT_HEX = re.compile("[^0-9a-f]")
_HUES = {"hsl": 0, "hwb": 0, "lch": 2, "oklch": 2}
#: function -> (space, name and size of 100 % of each component)
_SPACE_FUNCTIONS = {
    "rgb": ("srgb", "rgb", (255.0, 255.0, 255.0)),
    "rgba": ("srgb", "rgb", (255.0, 255.0, 255.0)),
    "hsl": ("hsl", "hsl", (360.0, 100.0, 100.0)),
    "hsla": ("hsl", "hsl", (360.0, 100.0, 100.0)),
    "hwb": ("hwb", "hwb", (360.0, 100.0, 100.0)),
    "lab": ("lab", "lab", (100.0, 125.0, 125.0)),
    "lch": ("lch", "lch", (100.0, 150.0, 360.0)),
    "oklab": ("oklab", "lab", (1.0, 0.4, 0.4)),
    "oklch": ("oklch", "lch", (1.0, 0.4, 360.0)),
}
_XYZ = ("xyz", "xyz-d50", "xyz-d65")
_RECTANGULAR = frozenset(("srgb", *RGB_SPACES, *_XYZ))
_HUE_METHODS = ("shorter", "longer", "increasing", "decreasing")


class _Mixed(NamedTuple):
    """A colour in any space, as mixing and relative colours need it."""

    space: str
    vector: Vector
    alpha: float


@lru_cache(8192)
def parse_color(
    text: str, *, current: Color = BLACK, quirks: bool = False, dark: bool = False
) -> Color | None:
    """Return the colour that *text* is, None where it is none.

    *current* stands for ``currentcolor``; *quirks* allows hexadecimal digits without ``#``
    (https://quirks.spec.whatwg.org/#the-hashless-hex-color-quirk); *dark* is the colour scheme of
    system colours and ``light-dark()``. Colours outside of sRGB are clipped.
    """
    text = text.strip().lower()
    if (word := _keyword(text, current, dark=dark)) is not None:
        return word
    if _HEX.fullmatch(text):
        return _of_digits(text[1:])
    if quirks and _HASHLESS.fullmatch(text):
        return _of_digits(text if len(text) == 3 and not text[0].isdigit() else text.zfill(6))
    try:
        reader = _ColorReader(tokenize(text), current, dark=dark)
        found = reader.color()
        reader.end()
    except (ValueError, ArithmeticError, RecursionError, TypeError):
        return None
    return _rounded(found)


def _keyword(text: str, current: Color, *, dark: bool) -> Color | None:
    if text == "currentcolor":
        return current
    if text == "transparent":
        return TRANSPARENT
    digits = (dark and DARK_SYSTEM_COLORS.get(text)) or SYSTEM_COLORS.get(text)
    digits = digits or NAMED_COLORS.get(text)
    return _of_digits(digits) if digits else None


def _of_digits(digits: str) -> Color:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, *alpha = (int(digits[i : i + 2], 16) for i in range(0, len(digits), 2))
    return Color(red, green, blue, alpha[0] / 255 if alpha else 1.0)


def _rounded(color: _Mixed) -> Color:
    red, green, blue = (
        math.floor(min(1.0, max(0.0, value)) * 255 + 0.5)
        for value in convert(color.vector, color.space, "srgb")
    )
    return Color(red, green, blue, min(1.0, max(0.0, color.alpha)))


def _percent_or_nothing(value: float, unit: str) -> Quantity | None:
    return Quantity(value, PERCENT) if unit == "%" else None


class _ColorReader(Reader):
    """Reads the tokens of one colour."""

    def __init__(self, tokens: list[Token], current: Color, *, dark: bool) -> None:
        super().__init__(tokens, _percent_or_nothing)
        self._current = current
        self._dark = dark
        self._level = 0

    def color(self) -> _Mixed:
        """Return the colour that comes next."""
        self.skip_space()
        token = self.next()
        if token.kind != "function":
            text = f"#{token.text}" if token.kind == "hash" else token.text
            found = parse_color(text, current=self._current, dark=self._dark)
            if found is None or token.kind not in ("hash", "ident"):
                raise InvalidValueError(token.text)
            return _of_color(found)
        self._level += 1
        if self._level > 10:
            raise InvalidValueError("nested too deep")
        found_in_function = self._color_function(token.text)
        self._level -= 1
        self.close()
        return found_in_function

    def _color_function(self, name: str) -> _Mixed:
        if name == "color-mix":
            return self._mix()
        if name == "light-dark":
            light = self.color()
            self._comma()
            dark = self.color()
            return dark if self._dark else light
        if name == "color":
            return self._components("", "", (1.0, 1.0, 1.0))
        if name in _SPACE_FUNCTIONS:
            return self._components(*_SPACE_FUNCTIONS[name])
        raise InvalidValueError(name)

    def _comma(self) -> None:
        if not self.accept(","):
            raise InvalidValueError("comma expected")

    def _word(self, *words: str) -> str:
        """Return the identifier that comes next if it is one of *words*, else ""."""
        start = self.place
        self.skip_space()
        if self.kind == "ident" and self.tokens[self.place].text in words:
            return self.next().text
        self.place = start
        return ""

    def _components(self, space: str, names: str, sizes: Vector) -> _Mixed:
        origin = self.color() if self._word("from") else None
        if not space:
            space = self._word(*_RECTANGULAR)
            names = "xyz" if space in _XYZ else "rgb"
        if space not in SPACES:
            raise InvalidValueError("unknown colour space")
        scale = 255.0 if names == "rgb" and sizes[0] == 255.0 else 1.0
        if origin is not None:
            vector = convert(origin.vector, origin.space, space)
            self._names = {
                name: Quantity(value * scale, NUMBER)
                for name, value in zip(names, vector, strict=True)
            } | {"alpha": Quantity(origin.alpha, NUMBER)}
        found = [self._component()]
        legacy = origin is None and self.accept(",")
        for left in (1, 0):
            found.append(self._component(legacy=legacy))
            if legacy and left:
                self._comma()
        alpha = origin.alpha if origin else 1.0
        if self.accept("," if legacy else "/"):
            quantity = self._component(legacy=legacy)
            alpha = quantity.value / 100 if quantity.kind == PERCENT else quantity.value
        if legacy:
            _check_legacy(space, [quantity.kind for quantity in found])
        x, y, z = (
            _scaled(quantity, size, hue=_HUES.get(space) == i) / scale
            for i, (quantity, size) in enumerate(zip(found, sizes, strict=True))
        )
        self._names = {}
        return _Mixed(space, (x, y, z), alpha)

    def _component(self, *, legacy: bool = False) -> Quantity:
        if not legacy and self._word("none"):
            return Quantity(0.0, NUMBER)
        found = self.quantity()
        return Quantity(0.0 if math.isnan(found.value) else found.value, found.kind)

    def _mix(self) -> _Mixed:
        """Return a colour of ``color-mix()``; without a space it is mixed in oklab."""
        space, method = "oklab", "shorter"
        if self._word("in"):
            space = self._word(*SPACES)
            if space in _HUES and (chosen := self._word(*_HUE_METHODS)):
                method = chosen
                self._word("hue")
            self._comma()
        (first, first_share), (second, second_share) = self._share(), self._second_share()
        if not space:
            raise InvalidValueError("unknown colour space")
        a, b = _shares(first_share, second_share)
        mixed = _interpolate(first, second, b / (a + b), space, method)
        return mixed._replace(alpha=mixed.alpha * min(1.0, a + b))

    def _second_share(self) -> tuple[_Mixed, float | None]:
        self._comma()
        return self._share()

    def _share(self) -> tuple[_Mixed, float | None]:
        before = self._percentage()
        color = self.color()
        after = self._percentage()
        return color, after if before is None else before

    def _percentage(self) -> float | None:
        self.skip_space()
        if self.kind != "number" and not (
            self.kind == "function" and self.tokens[self.place].text == "calc"
        ):
            return None
        found = self.quantity()
        if found.kind != PERCENT or not 0 <= found.value <= 100:
            raise InvalidValueError("percentage expected")
        return found.value / 100


def _of_color(color: Color) -> _Mixed:
    return _Mixed("srgb", (color.red / 255, color.green / 255, color.blue / 255), color.alpha)


def _check_legacy(space: str, kinds: list[str]) -> None:
    """Check the syntax with commas, which only rgb() and hsl() have."""
    if space == "srgb" and len(set(kinds)) == 1 and ANGLE not in kinds:
        return
    if space != "hsl" or kinds[1:] != [PERCENT, PERCENT]:
        raise InvalidValueError("not to be written with commas")


def _scaled(quantity: Quantity, size: float, *, hue: bool) -> float:
    if hue:
        if quantity.kind == PERCENT:
            raise InvalidValueError("a hue in per cent")
        return quantity.value % 360 if math.isfinite(quantity.value) else 0.0
    if quantity.kind == ANGLE:
        raise InvalidValueError("an angle")
    return quantity.value * size / 100 if quantity.kind == PERCENT else quantity.value


def _shares(first: float | None, second: float | None) -> tuple[float, float]:
    """Return the shares of two colours (CSS Color 5, 2.1)."""
    if first is None:
        first = 0.5 if second is None else 1 - second
    if second is None:
        second = 1 - first
    if first + second <= 0:
        raise InvalidValueError("shares of nothing")
    return first, second


def _interpolate(first: _Mixed, second: _Mixed, part: float, space: str, method: str) -> _Mixed:
    """Return the colour at *part* of the way in *space*, alpha premultiplied (CSS Color 4, 12)."""
    a, b = convert(first.vector, first.space, space), convert(second.vector, second.space, space)
    alpha = first.alpha + (second.alpha - first.alpha) * part
    hue = _HUES.get(space)
    mixed = [
        _hue(a, b, part, hue, method)
        if axis == hue
        else _weighted(a[axis] * first.alpha, b[axis] * second.alpha, part, alpha)
        for axis in range(3)
    ]
    return _Mixed(space, (mixed[0], mixed[1], mixed[2]), alpha)


def _weighted(first: float, second: float, part: float, alpha: float) -> float:
    return (first + (second - first) * part) / alpha if alpha else 0.0


def _hue(first: Vector, second: Vector, part: float, axis: int, method: str) -> float:
    """Return the hue between two, that of the other where one colour is a grey."""
    a, b = first[axis], second[axis]
    if abs(first[1]) < 1e-4:
        return b
    if abs(second[1]) < 1e-4:
        return a
    turn = (b - a) % 360
    backwards = {"shorter": turn > 180, "longer": 0 < turn < 180, "decreasing": True}
    if backwards.get(method):
        turn -= 360
    return (a + turn * part) % 360


def parse_legacy_color(text: str) -> Color | None:
    """Return the colour of an HTML attribute such as ``<font color>``.

    https://html.spec.whatwg.org/#rules-for-parsing-a-legacy-colour-value
    """
    text = text.strip(" \t\n\f\r").lower()
    if not text or text == "transparent":
        return None
    if text in NAMED_COLORS:
        return _of_digits(NAMED_COLORS[text])
    if re.fullmatch("#[0-9a-f]{3}", text):
        return _of_digits(text[1:])
    astral = "".join("00" if ord(character) > 0xFFFF else character for character in text)
    digits = _NOT_HEX.sub("0", astral[:128].removeprefix("#")) or "0"
    third = -(-len(digits) // 3)
    digits = digits.ljust(third * 3, "0")
    parts = [digits[i : i + third][-8:] for i in range(0, third * 3, third)]
    while len(parts[0]) > 2 and all(part[0] == "0" for part in parts):
        parts = [part[1:] for part in parts]
    red, green, blue = (int(part[:2], 16) for part in parts)
    return Color(red, green, blue)
