"""Bar charts with a logarithmic scale, as SVG."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_COLORS = ("#35618f", "#d98b36", "#6d9a4a")
_FONT = 'font-family="sans-serif" font-size="12" fill="#222"'
_LEFT, _WIDTH, _BAR, _GAP, _TOP = 270, 430, 13, 12, 58


def bar_chart(title: str, axis: str, series: Mapping[str, Mapping[str, float]]) -> str:
    """Return a chart of *series*: name -> (label -> positive value), labels in order of appearance."""
    labels = list(dict.fromkeys(label for values in series.values() for label in values))
    shown = [value for values in series.values() for value in values.values()]
    low, high = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))
    height = _TOP + len(labels) * (len(series) * _BAR + _GAP) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" {_FONT}>',
        '<rect width="100%" height="100%" fill="#fff"/>',
        _text(10, 20, title, weight="bold"),
        *_legend(list(series)),
        *_scale(axis, low, high, height),
    ]
    for place, label in enumerate(labels):
        top = _TOP + place * (len(series) * _BAR + _GAP)
        parts.append(_text(_LEFT - 8, top + len(series) * _BAR / 2 + 4, label, anchor="end"))
        for number, values in enumerate(series.values()):
            if label in values:
                parts += _bar(top + number * _BAR, values[label], low, high, _COLORS[number])
    return "\n".join([*parts, "</svg>", ""])


def _x(value: float, low: int, high: int) -> float:
    return _LEFT + _WIDTH * (math.log10(value) - low) / (high - low)


def _bar(top: float, value: float, low: int, high: int, color: str) -> Sequence[str]:
    width = _x(value, low, high) - _LEFT
    return (
        f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR - 2}" fill="{color}"/>',
        _text(_LEFT + width + 5, top + _BAR - 3, f"{value:.3g}"),
    )


def _legend(names: Sequence[str]) -> Sequence[str]:
    parts = []
    for number, name in enumerate(names):
        x = _LEFT + 150 * number
        parts.append(f'<rect x="{x}" y="31" width="11" height="11" fill="{_COLORS[number]}"/>')
        parts.append(_text(x + 17, 41, name))
    return parts


def _scale(axis: str, low: int, high: int, height: float) -> Sequence[str]:
    parts = [_text(10, height - 10, axis)]
    for power in range(low, high + 1):
        x = _x(10.0**power, low, high)
        parts.append(f'<path d="M{x:.1f} {_TOP - 8}V{height - 26}" stroke="#ddd"/>')
        parts.append(_text(x, height - 10, f"{10.0**power:g}", anchor="middle"))
    return parts


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">'
        f"{escape(text)}</text>"
    )
