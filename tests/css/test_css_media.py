"""Media queries and feature conditions for a desktop screen of 1280 by 800 px."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.css.sheets.supports import condition_supported
from newscrawl.css.syntax.conditions import split_at_top_level
from newscrawl.css.syntax.media_queries import media_applies

WORDS = "not and or only screen print ( ) (width) (min-width:1px) (x:y) , < = 1px layer a".split()  # noqa: SIM905


@pytest.mark.parametrize(
    "query",
    [
        "",
        "all",
        "screen",
        "Screen , print",
        "only screen and (min-width: 768px)",
        "not print",
        "not screen and (max-width: 100px)",
        "screen and not (hover: none)",
        "(min-width: 48em) and (max-width: 80em)",
        "(min-width:1px)and (max-width:2000px)",
        "(400px <= width <= 1280px)",
        "(width >= 1280px)",
        "(1281px > width)",
        "(width)",
        "(max-width: 1px) or (hover)",
        "not (max-width: 1px)",
        "((min-width: 1px) and (not (monochrome)))",
        "(min-aspect-ratio: 16/10)",
        "(orientation: landscape)",
        "(prefers-color-scheme: light)",
        "(prefers-reduced-motion: no-preference)",
        "(any-pointer: fine)",
        "(max-resolution: 96dpi)",
        "(-webkit-max-device-pixel-ratio: 1)",
        "(color-gamut: srgb)",
        "(min-width: 0)",
        "nonsense, screen",
    ],
)
def test_query_applies(query: str):
    assert media_applies(query)


@pytest.mark.parametrize(
    "query",
    [
        "print",
        "not all",
        "not all and (min-width: 1px)",
        "not screen",
        "only print",
        "screen and (max-width: 1279.98px)",
        "screen and(min-width: 1px)",
        "screen (min-width: 1px)",
        "screen and (min-width: 1px) or (hover)",
        "(min-width: 1px) and (hover) or (color)",
        "(min-width: 20)",
        "(width < 1280px)",
        "(400px < width > 1px)",
        "(prefers-color-scheme: dark)",
        "(prefers-reduced-motion)",
        "(hover: none)",
        "(min-resolution: 1.5dppx)",
        "(unknown: 1)",
        "not (unknown: 1)",
        "not all and (unknown)",
        "(-ms-high-contrast: active)",
        r"\0screen",
        r"screen\9",
        "only",
        "and",
        "()",
        "(",
        "scripting",
        "(" * 1000 + "hover" + ")" * 1000,
    ],
)
def test_query_does_not_apply(query: str):
    """False, unknown and invalid queries do not apply."""
    assert not media_applies(query)


@pytest.mark.parametrize(
    "condition",
    [
        "(display: grid)",
        "not (-moz-appearance: none)",
        "(display: -ms-grid) or (display: grid)",
        "((position: -webkit-sticky) or (position: sticky)) and (--a: b)",
        "selector(:focus-visible)",
        "not selector(::-moz-range-thumb)",
        "(background: url('a)b'))",
    ],
)
def test_condition_is_supported(condition: str):
    assert condition_supported(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "not (display: grid)",
        "(-webkit-touch-callout: none)",
        "(-ms-ime-align: auto)",
        "(display: grid) and (not (display: inline-grid))",
        "(display)",
        "display: grid",
        "selector()",
        "",
    ],
)
def test_condition_is_not_supported(condition: str):
    """Prefixes of other browsers and invalid conditions are not supported."""
    assert not condition_supported(condition)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text())
def test_never_raises(condition: str):
    assert media_applies(condition) in {True, False}
    assert condition_supported(condition) in {True, False}


def test_splits_at_top_level_only():
    assert split_at_top_level(r"""a, b(c, d) ,[e=","], 'f,g', \,h""", ",") == [
        "a",
        "b(c, d)",
        '[e=","]',
        "'f,g'",
        r"\,h",
    ]
