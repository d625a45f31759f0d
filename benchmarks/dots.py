"""Dot charts with confidence intervals, as SVG, in colours for light and dark themes."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_MAX_TICKS = 8
_WIDTH, _PLOT, _ROW, _TOP = 760, 440, 20, 62
_CHARACTER = 6.4
"""Mean width of a character, in px."""
_SPREAD = 5
"""Vertical distance of the dots of a row if they have intervals, in px."""


class Dot(NamedTuple):
    """A value and its confidence interval."""

    value: float
    low: float | None = None
    high: float | None = None


Rows = dict[str, dict[str, Dot]]
"""Label of the row -> name of the series -> dot."""


def dot_chart(
    title: str, axis: str, rows: Mapping[str, Mapping[str, Dot]], *, log: bool = False
) -> str:
    """Return a chart with one line for each of *rows*."""
    names = list(dict.fromkeys(name for dots in rows.values() for name in dots))
    left = _WIDTH - _PLOT - 30
    values = [value for dots in rows.values() for dot in dots.values() for value in dot
              if value is not None]  # fmt: skip
    scale = (logarithmic if log else linear)(values, left, _PLOT)
    bottom = _TOP + len(rows) * _ROW
    parts = [
        label(10, 20, title, weight="bold"),
        *_legend(names),
        *grid(scale, _TOP - 6, bottom),
        label(left, bottom + 32, axis),
    ]
    for place, (name, dots) in enumerate(rows.items()):
        y = _TOP + place * _ROW + _ROW / 2
        parts.append(label(left - 10, y + 4, _shortened(name, left - 20), anchor="end"))
        parts += _dots(dots, names, scale, y)
    return document(_WIDTH, bottom + 42, parts)


def _dots(dots: Mapping[str, Dot], names: Sequence[str], scale: Scale, y: float) -> Iterator[str]:
    spread = _SPREAD if any(dot.low is not None for dot in dots.values()) else 0
    for number, name in enumerate(names):
        if name not in dots:
            continue
        dot, height = dots[name], y + spread * (number - (len(names) - 1) / 2)
        if dot.low is not None and dot.high is not None:
            start, end = scale.place(dot.low), scale.place(dot.high)
            yield f'<path class="s{number}" d="M{start:.1f} {height:.1f}H{end:.1f}" stroke-width="2"/>'
        yield _mark(number, scale.place(dot.value), height)


def _mark(number: int, x: float, y: float) -> str:
    """Return a mark that differs between series in shape, too."""
    if number % 3 == 0:
        return f'<circle class="s{number}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    corners = (
        ((0, -5), (5, 0), (0, 5), (-5, 0)) if number % 3 == 1 else ((0, -4.5), (4.5, 4), (-4.5, 4))
    )
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon class="s{number}" points="{points}"/>'


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = 16.0
    for number, name in enumerate(names):
        yield _mark(number, x, 38)
        yield label(x + 10, 42, name)
        x += 36 + _CHARACTER * len(name)


def _shortened(name: str, width: float) -> str:
    limit = int(width / _CHARACTER)
    return name if len(name) <= limit else f"{name[: limit - 1]}…"


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
