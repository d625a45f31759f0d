"""Media queries for a light screen of 1280 by 800 pixels with a mouse."""

import pytest

from newscrawl.css.parser import media_applies


@pytest.mark.parametrize(
    "query",
    [
        "", "all", "SCREEN", "only screen", "screen and (min-width: 600px)", "(max-width: 80em)",
        "print, screen", "not print", "not all and (min-width: 2000px)", "(width >= 1280px)",
        "(orientation: landscape) and (hover)", "(-webkit-min-device-pixel-ratio: 1)",
        "not (max-width: 600px)", "(prefers-color-scheme: light)", "(min-resolution: 96dpi)",
        "(600px <= width <= 2000px)", "(600px < width)", "(max-width: 300px) or (width >= 1000px)",
        "screen and (not ((max-width: 500px) and (hover)))", "screen and ((min-width: 1px))",
    ],
)  # fmt: skip
def test_applies(query: str):
    assert media_applies(query)


@pytest.mark.parametrize(
    "query",
    [
        "print", "speech", "not screen", "(max-width: 600px)", "screen and (min-width: 1281px)",
        "(width < 1280px)", "(orientation: portrait)", "(prefers-color-scheme: dark)", "(hover: none)",
        "(unknown)", "not (unknown)", "screen and", "(min-width: 1px", "(min-resolution: 2dppx)",
        "(prefers-reduced-motion)", "(min-width: calc(1px))", "(" * 5000, "(2000px < width < 3000px)",
        "(min-width: 1px) or (width)", "(min-width: 1px) and (width > 0) or (hover)", "(color)",
    ],
)  # fmt: skip
def test_does_not_apply(query: str):
    assert not media_applies(query)
