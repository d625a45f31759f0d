"""Bar charts with a logarithmic scale, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.svg import document, grid, label, logarithmic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.svg import Scale

_LEFT, _WIDTH, _BAR, _GAP, _TOP = 270, 430, 13, 12, 58


def bar_chart(title: str, axis: str, series: Mapping[str, Mapping[str, float]]) -> str:
    """Return a chart of *series*: name -> (label -> positive value), labels in order of appearance."""
    names = list(dict.fromkeys(name for values in series.values() for name in values))
    shown = [value for values in series.values() for value in values.values()]
    scale = logarithmic(shown, _LEFT, _WIDTH)
    height = _TOP + len(names) * (len(series) * _BAR + _GAP) + 30
    parts = [
        label(10, 20, title, weight="bold"),
        label(10, height - 11, axis),
        *_legend(list(series)),
        *grid(scale, _TOP - 8, height - 26),
    ]
    for place, name in enumerate(names):
        top = _TOP + place * (len(series) * _BAR + _GAP)
        parts.append(label(_LEFT - 8, top + len(series) * _BAR / 2 + 4, name, anchor="end"))
        for number, values in enumerate(series.values()):
            if name in values:
                parts += _bar(top + number * _BAR, values[name], scale, number)
    return document(760, height, parts)


def _bar(top: float, value: float, scale: Scale, number: int) -> Sequence[str]:
    width = scale.place(value) - _LEFT
    return (
        f'<rect class="s{number}" x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR - 2}"/>',
        label(_LEFT + width + 5, top + _BAR - 3, f"{value:.3g}"),
    )


def _legend(names: Sequence[str]) -> Sequence[str]:
    parts = []
    for number, name in enumerate(names):
        x = _LEFT + 150 * number
        parts.append(f'<rect class="s{number}" x="{x}" y="31" width="11" height="11"/>')
        parts.append(label(x + 17, 41, name))
    return parts
