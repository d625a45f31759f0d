"""Parts of the SVG charts: colours for light and dark themes, texts, legend and scales."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MAX_TICKS = 8

_LIGHT = ("#ffffff", "#222222", "#dddddd", "#2b6cb0", "#c05621", "#2f855a", "#805ad5")
_DARK = ("#1c1f22", "#e2e2e2", "#44484c", "#7ab4f0", "#f0a35e", "#77cf9c", "#b99cf0")


def _rules(colors: Sequence[str]) -> str:
    back, front, grid, *series = colors
    marks = "".join(
        f".s{number}{{fill:{color};stroke:{color}}}" for number, color in enumerate(series)
    )
    return f".back{{fill:{back}}}text{{fill:{front}}}.grid{{stroke:{grid}}}{marks}"


_STYLE = f"<style>{_rules(_LIGHT)}@media (prefers-color-scheme:dark){{{_rules(_DARK)}}}</style>"


INVERTED = (
    "<style>@media (prefers-color-scheme:dark){svg{filter:invert(.93) hue-rotate(180deg)}}</style>"
)
"""Inverts colours, but for their hue, in pictures without such rules."""


class Scale(NamedTuple):
    """Horizontal axis: where values are drawn, and its ticks with their labels."""

    place: Callable[[float], float]
    ticks: list[tuple[float, str]]


def document(width: int, height: float, parts: Iterable[str]) -> str:
    """Return the SVG document with a background, so that it is readable on any page."""
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" '
        'font-family="sans-serif" font-size="12">'
    )
    background = '<rect class="back" width="100%" height="100%" rx="6"/>'
    return "\n".join([start, _STYLE, background, *parts, "</svg>", ""])


def label(x: float, y: float, content: str, *, anchor: str = "start", weight: str = "") -> str:
    """Return a text."""
    bold = f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{bold}>{escape(content)}</text>'


def grid(scale: Scale, top: float, bottom: float) -> list[str]:
    """Return the vertical lines of *scale* and the labels below them."""
    parts = []
    for value, shown in scale.ticks:
        x = scale.place(value)
        parts.append(f'<path class="grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>')
        parts.append(label(x, bottom + 15, shown, anchor="middle"))
    return parts


def logarithmic(values: Iterable[float], left: float, width: float) -> Scale:
    """Return a scale of powers of 10 around positive *values*."""
    shown = list(values)
    low, high = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))
    span = max(high - low, 1)
    ticks = [(10.0**power, f"{10.0**power:g}") for power in range(low, low + span + 1)]
    return Scale(lambda value: left + width * (math.log10(value) - low) / span, ticks)


def linear(values: Iterable[float], left: float, width: float) -> Scale:
    """Return a scale from 0, or from below the lowest of *values*, to above the highest."""
    shown = [0.0, *values]
    span = max(shown) - min(shown) or 1.0
    power = 10.0 ** math.floor(math.log10(span))
    step = next(
        part * power for part in (0.2, 0.5, 1.0, 2.0) if span / (part * power) <= _MAX_TICKS
    )
    first = math.floor(min(shown) / step + 1e-9)
    last = max(math.ceil(max(shown) / step - 1e-9), first + 1)
    ticks = [(number * step, f"{number * step:.4g}") for number in range(first, last + 1)]
    return Scale(lambda value: left + width * (value / step - first) / (last - first), ticks)
