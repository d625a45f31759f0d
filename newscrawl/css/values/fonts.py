"""Values of the font properties.

https://drafts.csswg.org/css-fonts-4/, with the font sizes of Chromium: 16 px by default, 13 px
for ``font-family: monospace``.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

from newscrawl.css.syntax.masking import unescape
from newscrawl.css.syntax.math_functions import (
    LENGTH,
    NUMBER,
    PERCENT,
    Quantity,
    parse_quantity,
    resolve_percentage,
)
from newscrawl.css.syntax.media_queries import HEIGHT, WIDTH

DEFAULT_SIZE, DEFAULT_FIXED_SIZE = 16.0, 13.0
MAX_FONT_SIZE = 10_000.0
MIN_RELATIVE_SIZE = 6.0
"""Chromium's minimum for font sizes that do not derive from an absolute length."""

SIZE_KEYWORDS = (
    "xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large",
)  # fmt: skip
MEDIUM = SIZE_KEYWORDS.index("medium")
_SIZES = (9.0, 10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0)
_FIXED_SIZES = (9.0, 10.0, 12.0, 13.0, 16.0, 20.0, 26.0, 39.0)
_FIXED_SIZES_QUIRKS = (9.0, 9.0, 10.0, 13.0, 16.0, 20.0, 26.0, 40.0)

_PIXELS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54,
    "q": 2.4 / 2.54,
}  # fmt: skip
_SIDES = {
    "w": WIDTH, "i": WIDTH, "h": HEIGHT, "b": HEIGHT,
    "min": min(WIDTH, HEIGHT), "max": max(WIDTH, HEIGHT),
}  # fmt: skip
# Without a size container, units such as cqw are relative to the small viewport.
_PIXELS |= {
    kind + side: pixels / 100
    for kind in ("v", "sv", "lv", "dv", "cq")
    for side, pixels in _SIDES.items()
}
# ex, ch, cap and lh of Chromium's default font, as the fonts of the page are not loaded.
_EMS = {"em": 1.0, "%": 0.01, "ex": 0.459, "ch": 0.5, "cap": 0.655, "ic": 1.0}
_LINE = 1.125

_WEIGHTS = {"normal": 400, "bold": 700}
_STRETCHES = frozenset(
    f"{degree}{direction}"
    for degree in ("ultra-", "extra-", "", "semi-")
    for direction in ("condensed", "expanded")
)
_SYSTEM_FONTS = frozenset(("caption", "icon", "menu", "message-box", "small-caption", "status-bar"))
_SMALL_CONTROL = 40 / 3
_CONTROL_FONTS = frozenset(("-webkit-control", "-webkit-mini-control", "-webkit-small-control"))
_WIDE_KEYWORDS = frozenset(("inherit", "initial", "unset", "revert", "revert-layer", "default"))
# Possessive quantifiers and disjoint alternatives keep the time linear in the length of the text.
_SPACE = r"[ \t\r\n\f]"
_ESCAPED = rf"\\(?:[0-9a-f]{{1,6}}+{_SPACE}?+|[^0-9a-f\n\r\f])"
_LETTER = r"[^\x00-\x40\x5b-\x5e\x60\x7b-\x7f]"
_CHARACTER = r"[^\x00-\x2c\x2e\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]"
_IDENT = rf"(?:--|-?+(?:{_LETTER}|{_ESCAPED}))(?:{_CHARACTER}|{_ESCAPED})*+"
_IDENTS = re.compile(_IDENT, re.IGNORECASE)
_STRING = r"\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|'(?:[^'\\]|\\.)*+(?:'|\Z)"
_FAMILY = re.compile(
    rf"{_SPACE}*+(?:(?P<string>{_STRING})|(?P<name>{_IDENT}(?:{_SPACE}++{_IDENT})*+))"
    rf"{_SPACE}*+(?P<comma>,|\Z)",
    re.IGNORECASE | re.DOTALL,
)


class FontSize(NamedTuple):
    """A declared ``font-size``."""

    kind: str
    """``keyword`` (number: index in SIZE_KEYWORDS), ``px``, ``em``, ``rem`` or ``math``."""
    number: float
    text: str = ""


class ComputedFontSize(NamedTuple):
    """A computed font size, with the state that the sizes of children depend on."""

    pixels: float
    keyword: int | None
    """Index in SIZE_KEYWORDS, if it was specified or inherited as a keyword."""
    absolute: bool
    """Whether it derives from an absolute length."""

    @property
    def rendered(self) -> float:
        """The size in px with Chromium's minimum applied."""
        if self.absolute or self.pixels == 0:
            return self.pixels
        return max(self.pixels, MIN_RELATIVE_SIZE)


INITIAL_SIZE = ComputedFontSize(DEFAULT_SIZE, MEDIUM, absolute=False)


class FontFamilies(NamedTuple):
    """A list of font families."""

    names: tuple[str, ...]
    """Names in lower case, without quotes."""
    monospace: bool = False
    """Whether the list is the generic ``monospace`` alone, which has its own default size."""


@lru_cache(2048)
def parse_families(text: str) -> FontFamilies | None:
    """Return the value of ``font-family``, None if it is invalid."""
    names: list[str] = []
    position = 0
    while found := _FAMILY.match(text, position):
        position = found.end()
        if found["string"] is not None:
            quote = found["string"][0]
            names.append(unescape(found["string"][1:].removesuffix(quote)).lower())
        else:
            name = " ".join(map(unescape, _IDENTS.findall(found["name"]))).lower()
            if name in _WIDE_KEYWORDS:
                return None
            names.append(name)
        if not found["comma"]:
            generic = names == ["monospace"] and found["string"] is None
            return FontFamilies(tuple(names), generic) if position == len(text) else None
    return None


def resolve_length(em: float, rem: float, value: float, unit: str) -> Quantity | None:
    """Return a length in px or, for ``%``, of the font size; None for another unit."""
    if (pixels := _PIXELS.get(unit)) is not None:
        return Quantity(value * pixels, LENGTH)
    if (ems := _EMS.get(unit)) is not None:
        return Quantity(value * ems * em, LENGTH)
    if unit.startswith("r") and (ems := _EMS.get(unit[1:])) is not None:
        return Quantity(value * ems * rem, LENGTH)
    if unit in ("lh", "rlh"):
        return Quantity(value * _LINE * (rem if unit == "rlh" else em), LENGTH)
    return None


_DIMENSION = re.compile(r"([+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)([a-z]+|%)?", re.IGNORECASE)


@lru_cache(4096)
def parse_font_size(text: str, *, quirks: bool = False) -> FontSize | None:
    """Return a ``font-size``, None if it is invalid; *quirks* allows numbers without a unit."""
    text = text.lower()
    if text in SIZE_KEYWORDS:
        return FontSize("keyword", SIZE_KEYWORDS.index(text))
    if text in ("larger", "smaller"):
        return FontSize("em", 1.2 if text == "larger" else 1 / 1.2)
    if found := _DIMENSION.fullmatch(text):
        return _dimension(float(found[1]), found[2], quirks=quirks)
    if not text.endswith(")"):
        return None
    percentage = parse_quantity(text, resolve_percentage)
    if percentage is not None and percentage.kind == PERCENT:
        return FontSize("em", max(0.0, percentage.value / 100))
    return FontSize("math", 0.0, text) if _evaluate_length(text, 16.0, 16.0) is not None else None


def _dimension(number: float, unit: str | None, *, quirks: bool) -> FontSize | None:
    if number < 0:
        return None
    if unit is None:
        return FontSize("px", number) if quirks or number == 0 else None
    if unit in _PIXELS:
        return FontSize("px", number * _PIXELS[unit])
    if unit in _EMS:
        return FontSize("em", number * _EMS[unit])
    if unit == "rem":
        return FontSize("rem", number)
    found = resolve_length(1.0, 1.0, number, unit)
    return FontSize("math", 0.0, f"{number}{unit}") if found else None


def _evaluate_length(text: str, em: float, rem: float) -> float | None:
    found = parse_quantity(text, lambda value, unit: resolve_length(em, rem, value, unit))
    if found is None or found.kind != LENGTH:
        return None
    return 0.0 if math.isnan(found.value) else max(0.0, found.value)


def compute_font_size(size: FontSize, parent: ComputedFontSize, rem: float) -> ComputedFontSize:
    """Return the computed font size; keywords are those of a proportional font.

    *parent* is the size of the parent, *rem* that of the root element in px.
    """
    if size.kind == "keyword":
        keyword = int(size.number)
        return ComputedFontSize(_SIZES[keyword], keyword, absolute=False)
    if size.kind == "em":
        return ComputedFontSize(
            min(MAX_FONT_SIZE, size.number * parent.pixels), None, parent.absolute
        )
    if size.kind == "math":
        pixels = _evaluate_length(size.text, parent.pixels, rem) or 0.0
    else:
        pixels = size.number * (rem if size.kind == "rem" else 1.0)
    return ComputedFontSize(min(MAX_FONT_SIZE, pixels), None, absolute=True)


def adapt_to_family(
    size: ComputedFontSize, *, monospace: bool, parent_monospace: bool, quirks: bool
) -> ComputedFontSize:
    """Return *size* adjusted for a change between monospace (13 px) and other fonts (16 px)."""
    if size.absolute or (monospace == parent_monospace and size.keyword is None):
        return size
    if size.keyword is not None:
        fixed_sizes = _FIXED_SIZES_QUIRKS if quirks else _FIXED_SIZES
        pixels = (fixed_sizes if monospace else _SIZES)[size.keyword]
    elif monospace:
        pixels = size.pixels * DEFAULT_FIXED_SIZE / DEFAULT_SIZE
    else:
        pixels = size.pixels * DEFAULT_SIZE / DEFAULT_FIXED_SIZE
    return size._replace(pixels=pixels)


def _number(text: str) -> float | None:
    found = parse_quantity(text, lambda _value, _unit: None)
    return found.value if found is not None and found.kind == NUMBER else None


@lru_cache(512)
def parse_font_weight(text: str) -> float | str | None:
    """Return a ``font-weight``: a number, ``bolder`` or ``lighter``; None if it is invalid."""
    text = text.lower()
    if text in _WEIGHTS:
        return _WEIGHTS[text]
    if text in ("bolder", "lighter"):
        return text
    weight = _number(text)
    if weight is None or math.isnan(weight):
        return None
    if text.endswith(")"):
        weight = max(1.0, min(1000.0, weight))
    return weight if 1 <= weight <= 1000 else None


def relative_weight(weight: str, parent: float) -> float:
    """Return the weight of ``bolder`` or ``lighter`` in a *parent* weight (CSS Fonts 4, 2.4.1)."""
    if weight == "bolder":
        if parent < 350:
            return 400
        return 700 if parent < 550 else max(parent, 900)
    if parent < 550:
        return min(parent, 100)
    return 400 if parent < 750 else 700


@lru_cache(256)
def parse_font_style(text: str) -> str | None:
    """Return a ``font-style``: normal, italic or oblique; None if it is invalid."""
    words = text.lower().split()
    if len(words) == 1 and words[0] in ("normal", "italic", "oblique"):
        return words[0]
    if len(words) == 2 and words[0] == "oblique":
        found = parse_quantity(words[1], lambda _value, _unit: None)
        if found is not None and found.kind == "angle" and abs(found.value) <= 90:
            return "oblique" if found.value else "normal"
    return None


class FontShorthand(NamedTuple):
    """The longhands of ``font``."""

    style: str
    weight: float | str
    size: FontSize
    families: FontFamilies


@lru_cache(2048)
def parse_font(text: str) -> FontShorthand | None:
    """Return the longhands of ``font``, None if it is invalid."""
    system = text.strip().lower()
    if system in _SYSTEM_FONTS:
        return FontShorthand("normal", 400, FontSize("px", DEFAULT_SIZE), FontFamilies(("arial",)))
    if system in _CONTROL_FONTS:
        control = FontSize("px", _SMALL_CONTROL)
        return FontShorthand("normal", 400, control, FontFamilies(("arial",)))
    return _longhands(text)


def _longhands(text: str) -> FontShorthand | None:
    found: dict[str, str] = {}
    word, rest = _first_word(text)
    for _ in range(4):
        kind = _kind(word.lower())
        if not kind or (kind in found and kind != "normal"):
            break
        found[kind] = word
        word, rest = _first_word(rest)
        if parse_font_style(slanted := f"{found[kind]} {word}") is not None:
            found[kind] = slanted
            word, rest = _first_word(rest)
    size, families = parse_font_size(word), _after_line_height(rest)
    if size is None or families is None:
        return None
    style = parse_font_style(found.get("style", "normal")) or "normal"
    return FontShorthand(
        style, parse_font_weight(found.get("weight", "normal")) or 400, size, families
    )


def _kind(word: str) -> str:
    """Return the longhand that a word before the size belongs to, "" if it is not allowed there."""
    if word == "normal":
        return "normal"
    if word in ("italic", "oblique"):
        return "style"
    if word == "small-caps":
        return "variant"
    if word in _STRETCHES:
        return "stretch"
    return "weight" if parse_font_weight(word) is not None else ""


_WORD = re.compile(r"\s*+((?:[^\s/\"'(),\\]|\\.)*+)", re.DOTALL)
_FUNCTION_END = re.compile(r"[()]")


def _first_word(text: str) -> tuple[str, str]:
    """Return the first word or function with its arguments, and the rest."""
    found = _WORD.match(text)
    end = found.end() if found else 0
    start = found.start(1) if found else 0
    depth = 0
    if text[end : end + 1] == "(":
        for bracket in _FUNCTION_END.finditer(text, end):
            depth += 1 if bracket[0] == "(" else -1
            if depth == 0:
                end = bracket.end()
                break
        else:
            end = len(text)
    return text[start:end], text[end:]


def _after_line_height(text: str) -> FontFamilies | None:
    text = text.lstrip()
    if text.startswith("/"):
        height, text = _first_word(text[1:])
        if not _is_line_height(height.lower()):
            return None
    return parse_families(text)


def _is_line_height(text: str) -> bool:
    if text == "normal":
        return True
    found = parse_quantity(text, lambda value, unit: resolve_length(16.0, 16.0, value, unit))
    negative = found is not None and found.value < 0 and not text.endswith(")")
    return found is not None and found.kind in (LENGTH, NUMBER, PERCENT) and not negative
