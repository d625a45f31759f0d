"""Parser of colours: names, hexadecimal digits, functions and legacy HTML attributes.

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
    Token,
    ValueReader,
    resolve_percentage,
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

_MAX_DEPTH = 10
_HEX = re.compile(r"#([0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})")
# A number with an exponent is not an integer.
_HASHLESS = re.compile(r"(?!\d+e\d)(?:[0-9a-f]{6}|[0-9a-f]{3}|\d[0-9a-f]{0,5})")
_NOT_HEX = re.compile("[^0-9a-f]")
_HUE_AXES = {"hsl": 0, "hwb": 0, "lch": 2, "oklch": 2}
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
_XYZ_SPACES = ("xyz", "xyz-d50", "xyz-d65")
_RECTANGULAR_SPACES = ("srgb", *RGB_SPACES, *_XYZ_SPACES)
_HUE_METHODS = ("shorter", "longer", "increasing", "decreasing")
_LIGHTNESS = {"lab": 100.0, "lch": 100.0, "oklab": 1.0, "oklch": 1.0}
"""Space -> highest lightness."""
_MIN_CHROMA = {"hsl": 1e-3, "lch": 1e-2, "oklch": 1e-4}
"""Space -> chroma or saturation below which a colour has no hue."""


class _Coordinates(NamedTuple):
    """A colour before rounding, in any space."""

    space: str
    vector: Vector
    alpha: float


@lru_cache(8192)
def parse_color(
    text: str, *, current: Color = BLACK, quirks: bool = False, dark: bool = False
) -> Color | None:
    """Return the colour that *text* specifies, None if it is invalid.

    *current* is the value of ``currentcolor``; *quirks* allows hexadecimal digits without ``#``
    (https://quirks.spec.whatwg.org/#the-hashless-hex-color-quirk); *dark* selects the colour
    scheme of system colours and ``light-dark()``. Colours outside of sRGB are clipped.
    """
    text = text.strip().lower()
    if (color := _keyword(text, current, dark=dark)) is not None:
        return color
    if _HEX.fullmatch(text):
        return _of_digits(text[1:])
    if quirks and _HASHLESS.fullmatch(text):
        return _of_digits(text if len(text) == 3 and not text[0].isdigit() else text.zfill(6))
    try:
        reader = _ColorReader(tokenize(text), current, dark=dark)
        found = reader.color()
        reader.end()
    except (ValueError, ArithmeticError, RecursionError):
        return None
    red, green, blue = (math.floor(value * 255 + 0.5) for value in _clipped(found).vector)
    return Color(red, green, blue, _clip(found.alpha))


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


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


class _ColorReader(ValueReader):
    """Parser of the tokens of one colour."""

    def __init__(self, tokens: list[Token], current: Color, *, dark: bool) -> None:
        super().__init__(tokens, resolve_percentage)
        self._current = current
        self._dark = dark
        self._level = 0

    def color(self) -> _Coordinates:
        """Return the next colour."""
        self.skip_space()
        token = self.next()
        if token.kind != "function":
            text = f"#{token.text}" if token.kind == "hash" else token.text
            found = parse_color(text, current=self._current, dark=self._dark)
            if found is None or token.kind not in ("hash", "ident"):
                raise InvalidValueError(token.text)
            return _Coordinates(
                "srgb", (found.red / 255, found.green / 255, found.blue / 255), found.alpha
            )
        self._level += 1
        if self._level > _MAX_DEPTH:
            raise InvalidValueError("nested too deeply")
        result = self._color_function(token.text)
        self._level -= 1
        self.close()
        return result

    def _color_function(self, name: str) -> _Coordinates:
        if name == "color-mix":
            return self._mix()
        if name == "light-dark":
            light = self.color()
            self._comma()
            dark = self.color()
            return dark if self._dark else light
        if name == "contrast-color":
            return _contrast(self.color())
        if name == "color":
            return self._components("", "", (1.0, 1.0, 1.0))
        if name in _SPACE_FUNCTIONS:
            return self._components(*_SPACE_FUNCTIONS[name])
        raise InvalidValueError(name)

    def _comma(self) -> None:
        if not self.accept(","):
            raise InvalidValueError("comma expected")

    def _components(self, space: str, names: str, sizes: Vector) -> _Coordinates:
        """Return a colour of three components and alpha, with or without commas.

        *names* are those of the components in a relative colour. An empty *space* is the first
        argument.
        """
        origin = self.color() if self.accept_word("from") else None
        if not space:
            space = self.accept_word(*_RECTANGULAR_SPACES)
            names = "xyz" if space in _XYZ_SPACES else "rgb"
        if not space:
            raise InvalidValueError("unknown colour space")
        scale = 255.0 if sizes[0] == 255.0 else 1.0
        if origin is not None:
            self._name_components(origin, space, names, scale)
        found = [self._component()]
        legacy = origin is None and self.accept(",")
        found.append(self._component(legacy=legacy))
        if legacy:
            self._comma()
        found.append(self._component(legacy=legacy))
        alpha = origin.alpha if origin else 1.0
        if self.accept("," if legacy else "/"):
            quantity = self._component(legacy=legacy)
            alpha = quantity.value / 100 if quantity.kind == PERCENT else quantity.value
        if legacy:
            _check_legacy(space, [quantity.kind for quantity in found])
        self.names = {}
        x, y, z = (
            _coordinate(quantity, size, is_hue=_HUE_AXES.get(space) == axis) / scale
            for axis, (quantity, size) in enumerate(zip(found, sizes, strict=True))
        )
        if (highest := _LIGHTNESS.get(space)) is not None:
            x = min(highest, max(0.0, x))
            y = max(0.0, y) if space in _HUE_AXES else y
        return _Coordinates(space, (x, y, z), _clip(alpha))

    def _name_components(self, origin: _Coordinates, space: str, names: str, scale: float) -> None:
        """Let the names of the components stand for those of the *origin* of a relative colour."""
        vector = convert(origin.vector, origin.space, space)
        values = [*(value * scale for value in vector), origin.alpha]
        self.names = {
            name: Quantity(value, NUMBER)
            for name, value in zip([*names, "alpha"], values, strict=True)
        }

    def _component(self, *, legacy: bool = False) -> Quantity:
        if not legacy and self.accept_word("none"):
            return Quantity(0.0, NUMBER)
        found = self.quantity()
        return Quantity(0.0 if math.isnan(found.value) else found.value, found.kind)

    def _mix(self) -> _Coordinates:
        """Return the colour of ``color-mix()`` (CSS Color 5, 2)."""
        space, method = "oklab", "shorter"
        if self.accept_word("in"):
            space = self.accept_word(*SPACES)
            if space in _HUE_AXES and (word := self.accept_word(*_HUE_METHODS)):
                method = word
                self.accept_word("hue")
            self._comma()
        first, first_share = self._share()
        self._comma()
        second, second_share = self._share()
        if first_share is None:
            first_share = 0.5 if second_share is None else 1 - second_share
        if second_share is None:
            second_share = 1 - first_share
        total = first_share + second_share
        if total <= 0 or not space:
            raise InvalidValueError("shares of zero, or unknown colour space")
        mixed = _interpolate(first, second, second_share / total, space, method)
        return mixed._replace(alpha=mixed.alpha * min(1.0, total))

    def _share(self) -> tuple[_Coordinates, float | None]:
        """Return a colour and its share, which may precede or follow it."""
        before = self._optional_percentage()
        color = self.color()
        after = self._optional_percentage()
        return color, after if before is None else before

    def _optional_percentage(self) -> float | None:
        self.skip_space()
        if self.kind != "number" and not (
            self.kind == "function" and self.tokens[self.position].text == "calc"
        ):
            return None
        found = self.quantity()
        if found.kind != PERCENT or not 0 <= found.value <= 100:
            raise InvalidValueError("percentage expected")
        return found.value / 100


def _check_legacy(space: str, kinds: list[str]) -> None:
    """Check the syntax with commas, which only rgb() and hsl() have."""
    if space == "srgb" and len(set(kinds)) == 1 and ANGLE not in kinds:
        return
    if space != "hsl" or kinds[1:] != [PERCENT, PERCENT]:
        raise InvalidValueError("commas are not allowed")


def _coordinate(quantity: Quantity, size: float, *, is_hue: bool) -> float:
    if is_hue:
        if quantity.kind == PERCENT:
            raise InvalidValueError("hue as a percentage")
        return quantity.value % 360 if math.isfinite(quantity.value) else 0.0
    if quantity.kind == ANGLE:
        raise InvalidValueError("angle for a component that is not a hue")
    return quantity.value * size / 100 if quantity.kind == PERCENT else quantity.value


def _interpolate(
    first: _Coordinates, second: _Coordinates, part: float, space: str, method: str
) -> _Coordinates:
    """Return the colour at *part* of the way, alpha premultiplied (CSS Color 4, 12)."""
    a, b = convert(first.vector, first.space, space), convert(second.vector, second.space, space)
    alpha = first.alpha + (second.alpha - first.alpha) * part
    x, y, z = (
        _interpolate_hue(a, b, part, space, method)
        if axis == _HUE_AXES.get(space)
        else (a[axis] * first.alpha * (1 - part) + b[axis] * second.alpha * part) / (alpha or 1.0)
        for axis in range(3)
    )
    return _Coordinates(space, (x, y, z), alpha)


def _interpolate_hue(first: Vector, second: Vector, part: float, space: str, method: str) -> float:
    """Return the hue between two colours; that of the other colour if one is grey."""
    a, b = first[_HUE_AXES[space]], second[_HUE_AXES[space]]
    if _is_grey(first, space):
        return b
    if _is_grey(second, space):
        return a
    turn = round(b - a, 4) % 360
    if method == "longer" and not turn:
        turn = 360.0
    backwards = {"shorter": turn > 180, "longer": turn < 180, "decreasing": turn > 0}
    return (a + (turn - 360 * backwards.get(method, False)) * part) % 360


def _is_grey(vector: Vector, space: str) -> bool:
    """Return whether a colour of a space with a hue has none."""
    return vector[1] + vector[2] >= 99.999 if space == "hwb" else vector[1] < _MIN_CHROMA[space]


def _clipped(color: _Coordinates) -> _Coordinates:
    """Return the colour in sRGB, clipped."""
    red, green, blue = map(_clip, convert(color.vector, color.space, "srgb"))
    return _Coordinates("srgb", (red, green, blue), color.alpha)


def _contrast(color: _Coordinates) -> _Coordinates:
    """Return white or black, by the contrast of WCAG 2."""
    light = 0.05 + convert(_clipped(color).vector, "srgb", "xyz")[1]
    value = 1.0 if 1.05 / light >= light / 0.05 else 0.0
    return _Coordinates("srgb", (value, value, value), 1.0)


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
