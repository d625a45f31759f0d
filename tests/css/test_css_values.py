"""Values of declarations: colours, font sizes, weights, families, shorthands.

The expected values are those of Chromium.
"""

from __future__ import annotations

import string
from math import isfinite
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css.cascade.default_stylesheet import legacy_font_size
from newscrawl.css.syntax import math_functions, variables
from newscrawl.css.syntax.math_functions import parse_quantity
from newscrawl.css.syntax.variables import (
    Variables,
    substitute,
)
from newscrawl.css.values import colors, fonts
from newscrawl.css.values import declared_values as values
from newscrawl.css.values.colors import Color, parse_color, parse_legacy_color
from newscrawl.css.values.declared_values import (
    FONT_LONGHANDS,
    DependentColor,
    PendingValue,
    WideKeyword,
    parse_declaration,
)
from newscrawl.css.values.fonts import (
    INITIAL_SIZE,
    FontSize,
    compute_font_size,
    parse_families,
    parse_font,
    parse_font_size,
    parse_font_style,
    parse_font_weight,
    relative_weight,
)
from tests.helpers.operations import growth

if TYPE_CHECKING:
    from collections.abc import Callable


def pixels(size: str, parent: float = 20.0, rem: float = 10.0, *, quirks: bool = False):
    """Return the computed size with a parent of *parent* px, None for an invalid size."""
    parsed = parse_font_size(size, quirks=quirks)
    if parsed is None:
        return None
    return compute_font_size(parsed, INITIAL_SIZE._replace(pixels=parent), rem).pixels


class TestColor:
    @pytest.mark.parametrize(
        ("text", "color"),
        [
            ("RED", (255, 0, 0, 1)),
            ("transparent", (0, 0, 0, 0)),
            ("CanvasText", (0, 0, 0, 1)),
            ("#1af", (17, 170, 255, 1)),
            ("#12345680", (18, 52, 86, 128 / 255)),
            ("rgb(1.5,2.5,3.49)", (2, 3, 3, 1)),
            ("rgb(300,-5,0)", (255, 0, 0, 1)),
            ("rgb(10% 20 30%)", (26, 20, 77, 1)),
            ("rgba(0,0,0,.15)", (0, 0, 0, 0.15)),
            ("rgb(1 2 3/50%)", (1, 2, 3, 0.5)),
            ("rgb(calc(1 + 1),2,3)", (2, 2, 3, 1)),
            ("rgb(none 5 5)", (0, 5, 5, 1)),
            ("hsl(120,50%,50%)", (64, 191, 64, 1)),
            ("hsla(.5turn 50 50 / 20%)", (64, 191, 191, 0.2)),
            ("hwb(120 20% 20%)", (51, 204, 51, 1)),
            ("lab(41.9277 74.5607 -21.0676)", (193, 0, 136, 1)),
            ("oklch(0.539974 0.285457 326.643)", (186, 0, 194, 1)),
            ("color(srgb 1 0 .5)", (255, 0, 128, 1)),
            ("color(display-p3 .5 .6 .7)", (121, 154, 181, 1)),
            ("color-mix(in oklab, #fff 20%, transparent)", (255, 255, 255, 0.2)),
            ("color-mix(in lch shorter hue, red, red)", (255, 0, 0, 1)),
            ("color-mix(in srgb, red 30%, blue)", (77, 0, 179, 1)),
            ("color-mix(in srgb, red 20%, blue 20%)", (128, 0, 128, 0.4)),
            ("color-mix(in oklab, #fff 20%, #000)", (22, 22, 22, 1)),
            ("color-mix(in hsl longer hue, red, lime)", (0, 0, 255, 1)),
            ("color-mix(in lch, white, red)", (255, 159, 128, 1)),
            ("color-mix(in hsl decreasing hue, red, red)", (255, 0, 0, 1)),
            ("rgb(from #336699 r calc(g * 2) 0 / 50%)", (51, 204, 0, 0.5)),
            ("hsl(from red calc(h + 120) s l)", (0, 255, 0, 1)),
            ("color(rec2020 .5 .3 .1)", (163, 83, 25, 1)),
            ("color(xyz-d50 .3 .2 .1)", (198, 86, 96, 1)),
            ("contrast-color(yellow)", (0, 0, 0, 1)),
            ("contrast-color(navy)", (255, 255, 255, 1)),
            ("light-dark(red, blue)", (255, 0, 0, 1)),
            ("hsl(120 50% 50%", (64, 191, 64, 1)),
        ],
    )
    def test_parses_colors(self, text: str, color: tuple[float, ...]):
        assert parse_color(text) == pytest.approx(color)

    @pytest.mark.parametrize(
        "text",
        [
            "", "rouge", "#12", "#12345", "ff0000", "rgba(#1a1a1a,.7)", "rgb(10%,20,30%)",
            "rgb(1 2 3 4)", "rgb(1,2 3)", "rgb()", "rgb(", "rgb(calc(1+1),2,3)",
            "hsl(120,50,50)", "device-cmyk(0 1 1 0)", "color(nowhere 1 0 0)", "red blue", "(",
            "rgb(from red r, g, b)", "rgb(r g b)", "rgb(from r g b)", "color-mix(in, red, blue)",
        ],
    )  # fmt: skip
    def test_rejects_invalid_colors(self, text: str):
        assert parse_color(text) is None

    def test_substitutes_currentcolor(self):
        grey = Color(10, 20, 30)
        assert parse_color("currentColor", current=grey) == grey
        mixed = parse_color("color-mix(in srgb, currentcolor, transparent)", current=grey)
        assert mixed == Color(10, 20, 30, 0.5)
        assert parse_color("rgb(from currentcolor b g r)", current=grey) == Color(30, 20, 10)

    def test_colors_of_currentcolor_depend_on_the_element(self):
        """Even where they are the same for black and for white."""
        for text in ("hsl(from currentcolor 0 50% 50%)", "contrast-color(currentcolor)"):
            assert parse_declaration("color", text) == (("color", DependentColor(text)),)

    @pytest.mark.parametrize(
        ("text", "color"),
        [
            ("f00", (255, 0, 0)),
            ("123", (0, 1, 0x23)),
            ("80abc", (8, 0x0A, 0xBC)),
            ("12", (0, 0, 18)),
        ],
    )
    def test_accepts_hashless_digits_in_quirks_mode(self, text: str, color: tuple[int, int, int]):
        assert parse_color(text, quirks=True) == Color(*color)
        assert parse_color("1e3", quirks=True) is None

    @pytest.mark.parametrize(
        ("text", "color"),
        [
            ("chucknorris", (192, 0, 0)),
            ("#f00", (255, 0, 0)),
            ("336699", (51, 102, 153)),
            ("Navy ", (0, 0, 128)),
            ("#00000000ff", (0, 0, 255)),
        ],
    )
    def test_parses_legacy_colors(self, text: str, color: tuple[int, int, int]):
        assert parse_legacy_color(text) == Color(*color)

    @given(st.text(alphabet="rgbhslolabcmix(),/%.0123456789 +-*enoncalt#") | st.text())
    def test_never_raises(self, text: str):
        for color in (parse_color(text), parse_legacy_color(text), parse_color(f"rgb({text}")):
            assert color is None or all(0 <= part <= 255 for part in color)


class TestFontSize:
    @pytest.mark.parametrize(
        ("size", "expected"),
        [
            ("21px", 21), ("1.5em", 30), ("150%", 30), ("2rem", 20), ("12pt", 16), ("1pc", 16),
            ("1in", 96), ("2.54cm", 96), ("25.4mm", 96), ("40q", 37.795), ("1vw", 12.8),
            ("1vh", 8), ("1vmin", 8), ("1vmax", 12.8), ("1dvh", 8), ("1cqw", 12.8), ("1ch", 10),
            ("larger", 24), ("smaller", 16.667), ("xxx-large", 48), ("XX-Small", 9), ("0", 0),
            ("1e2px", 100), ("+12PX", 12), ("99999px", 10000),
            ("calc(1rem + 2 * (100vw - 320px) / 960)", 12), ("calc(100% + 1vw)", 32.8),
            ("calc(-5px)", 0), ("max(12px, min(1em, 15px))", 15), ("clamp(1px, 5vw, 30px)", 30),
            ("clamp(none, 12px, 2vw)", 12),
            ("calc(20px / 0)", 10000), ("calc(100%/4)", 5),
        ],
    )  # fmt: skip
    def test_computes_sizes(self, size: str, expected: float):
        """The parent has 20 px, the root 10 px."""
        assert pixels(size) == pytest.approx(expected, abs=0.001)

    @pytest.mark.parametrize(
        "size",
        ["5", "-5px", "1 px", "calc(20)", "calc(1px+2px)", "calc(1px * 1px)", "12foo", "big", "",
         "calc(1px", "min()", "calc(1px + 1)", "pow(2px, 2)"],
    )  # fmt: skip
    def test_rejects_invalid_sizes(self, size: str):
        assert pixels(size) is None

    def test_accepts_numbers_in_quirks_mode(self):
        """But not in the shorthand."""
        assert pixels("20", quirks=True) == 20
        assert pixels("-5", quirks=True) is None
        assert parse_font("20 Arial") is None

    @pytest.mark.parametrize(
        ("attribute", "step"),
        [("1", 1), ("7", 7), ("9", 7), ("+2", 5), ("-3", 1), (" +1", 4), ("4px", 4), ("-0", 3)],
    )
    def test_parses_legacy_sizes(self, attribute: str, step: int):
        assert legacy_font_size(attribute) == FontSize("keyword", step)
        assert legacy_font_size("big") is None

    @given(st.text(alphabet="calcminxp()+-*/ 0123456789.%e,rem") | st.text())
    def test_never_raises(self, text: str):
        for size in (pixels(text), pixels(f"calc({text})"), pixels(f"clamp({text}")):
            assert size is None or 0 <= size <= 10000

    def test_rejects_deep_nesting(self):
        assert pixels("calc(" * 5000 + "1px" + ")" * 5000) is None
        assert pixels("calc(" + " + ".join(["1px"] * 50_000) + ")") is None

    @given(st.floats(0, 1000), st.sampled_from("+-*/"), st.floats(1, 1000))
    def test_calculates_like_python(self, left: float, operator: str, right: float):
        text = f"calc({left:.6f} {operator} {right:.6f})"
        found = parse_quantity(text, lambda _value, _unit: None)
        left, right = round(left, 6), round(right, 6)
        results = {"+": left + right, "-": left - right, "*": left * right, "/": left / right}
        assert found is not None
        assert isfinite(found.value)
        assert found.value == pytest.approx(results[operator], abs=1e-5)


class TestFont:
    @pytest.mark.parametrize(
        ("text", "weight"),
        [("bold", 700), ("normal", 400), ("550.5", 550.5), ("1", 1), ("7e2", 700),
         ("calc(400 + 300)", 700), ("calc(2000)", 1000), ("Bolder", "bolder"), ("0", None),
         ("1001", None), ("heavy", None), ('"700"', None)],
    )  # fmt: skip
    def test_parses_weights(self, text: str, weight: float | str | None):
        assert parse_font_weight(text) == weight

    @pytest.mark.parametrize(
        ("parent", "bolder", "lighter"),
        [(50, 400, 50), (300, 400, 100), (400, 700, 100), (600, 900, 400), (800, 900, 700),
         (950, 950, 700)],
    )  # fmt: skip
    def test_relative_weights(self, parent: int, bolder: int, lighter: int):
        """The table of CSS Fonts 4."""
        assert (relative_weight("bolder", parent), relative_weight("lighter", parent)) == (
            bolder,
            lighter,
        )

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("Georgia, 'Times New Roman' , serif", ["georgia", "times new roman", "serif"]),
            ("a  b", ["a b"]),
            (r"\5FAE\8F6F\96C5\9ED1, Foo", ["微软雅黑", "foo"]),
            (r"Font\ Awesome\ 5", ["font awesome 5"]),
            (r"\33 com", ["3com"]),
            ('"a,b"', ["a,b"]),
            ('"unclosed', ["unclosed"]),
            ("微软雅黑", ["微软雅黑"]),
            ("a default", ["a default"]),
        ],
    )
    def test_parses_families(self, text: str, names: list[str]):
        found = parse_families(text)
        assert found is not None
        assert list(found.names) == names

    @pytest.mark.parametrize(
        "text", ["", "a,,b", ",a", "a,", "3com", "Font!", "inherit, serif", "Arial 'Foo'", "a/b"]
    )
    def test_rejects_invalid_families(self, text: str):
        assert parse_families(text) is None

    @pytest.mark.parametrize(
        ("unit", "end"),
        [("é", "!"), ("\\a", "!"), ("a ", "!"), ('"\\"', ""), ("a-", "!"), ("a\\ ", "!")],
    )
    @pytest.mark.parametrize(
        "read",
        [
            parse_families,
            lambda text: parse_font(f"12px/{text}"),
            lambda text: parse_declaration("color", text),
            lambda text: parse_declaration("font-size", text),
            lambda text: substitute(f"var(--x, {text}", Variables({}).get),
        ],
        ids=["families", "font", "color", "font-size", "var"],
    )
    def test_parses_hostile_values_in_linear_time(
        self, read: Callable[[str], object], unit: str, end: str
    ):
        modules = colors, fonts, math_functions, values, variables
        assert growth(lambda size: read(unit * size + end), 300, *modules) < 2.3

    def test_recognises_monospace_alone(self):
        alone = [parse_families(text) for text in ("monospace", '"monospace"', "monospace, a")]
        assert [found and found.monospace for found in alone] == [True, False, False]

    @pytest.mark.parametrize(
        ("text", "style"),
        [("Italic", "italic"), ("oblique 20deg", "oblique"), ("oblique 0deg", "normal"),
         ("oblique 100deg", None), ("slanted", None)],
    )  # fmt: skip
    def test_parses_styles(self, text: str, style: str | None):
        assert parse_font_style(text) == style

    @pytest.mark.parametrize(
        ("text", "style", "weight", "size", "family"),
        [
            ("12px Foo", "normal", 400, 12, "foo"),
            ("italic small-caps bold condensed 16px/30px Georgia", "italic", 700, 16, "georgia"),
            ("normal normal normal 14px/1 FontAwesome", "normal", 400, 14, "fontawesome"),
            ("bold 12px / 1.5 'Foo'", "normal", 700, 12, "foo"),
            ("12px'Foo'", "normal", 400, 12, "foo"),
            ("oblique 10deg 12px a", "oblique", 400, 12, "a"),
            ("calc(1px + 10px)/calc(1em + 1px) a", "normal", 400, 11, "a"),
            ("0/0 a", "normal", 400, 0, "a"),
            ("small/1 a", "normal", 400, 13, "a"),
            ("caption", "normal", 400, 16, "arial"),
        ],
    )
    def test_parses_shorthand(self, text: str, style: str, weight: float, size: float, family: str):
        found = parse_font(text)
        assert found is not None
        assert (found.style, found.weight, found.families.names[0]) == (style, weight, family)
        assert compute_font_size(found.size, INITIAL_SIZE, 16).pixels == size

    @pytest.mark.parametrize(
        "text",
        ["", "12px", "bold Foo", "12 Foo", "bold bold 12px Foo", "12px/-1 Foo", "12px/1.5 Foo,",
         "caption foo", "normal normal normal normal normal 12px Foo", "12px inherit", "none",
         "75% 12px Foo", "12px/2 'Foo'bar"],
    )  # fmt: skip
    def test_rejects_invalid_shorthand(self, text: str):
        assert parse_font(text) is None

    @given(st.text(alphabet=string.ascii_lowercase[:6] + "\"',/\\ 12px%()") | st.text())
    def test_never_raises(self, text: str):
        parse_font(text)
        parse_font(f"12px/{text}")
        parse_families(text)
        parse_font_weight(text)
        parse_font_style(text)


class TestDeclaration:
    def test_shorthand_sets_all_longhands(self):
        """``font`` sets four properties, ``all`` all but custom ones."""
        assert [name for name, _ in parse_declaration("font", "12px a")] == list(FONT_LONGHANDS)
        assert dict(parse_declaration("font", "inherit")) == dict.fromkeys(
            FONT_LONGHANDS, WideKeyword.INHERIT
        )
        assert ("color", WideKeyword.UNSET) in parse_declaration("all", "unset")
        assert parse_declaration("all", "red") == ()

    def test_values_with_variables_are_pending(self):
        assert parse_declaration("color", "var(--c)") == (("color", PendingValue("var(--c)")),)
        assert dict(parse_declaration("font", "var(--f)"))["font-size"] == PendingValue(
            "var(--f)", shorthand=True
        )

    @pytest.mark.parametrize(
        ("text", "none"),
        [("none", True), ("BLOCK", False), ("inline flow-root", False), ("list-item block", False),
         ("contents", False), ("-webkit-box", False), ("none block", None), ("-ms-grid", None),
         ("block block", None), ("", None)],
    )  # fmt: skip
    def test_parses_display(self, text: str, none: bool | None):
        assert dict(parse_declaration("display", text)).get("display") is none

    def test_resolves_escapes_in_keywords(self):
        """Escaped digits and units are invalid."""
        assert parse_declaration("color", r"\72 ed") == (("color", Color(255, 0, 0)),)
        assert parse_declaration("font-size", r"2\31px") == ()

    def test_ignores_unknown_properties(self):
        assert parse_declaration("margin", "0") == ()

    @given(
        st.sampled_from(["font", "font-size", "color", "display", "visibility", "color-scheme"]),
        st.text(),
    )
    def test_never_raises(self, name: str, text: str):
        parse_declaration(name, text)
        parse_declaration(name, text, quirks=True)
