"""Dot charts with confidence intervals, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks.svg import document, grid, label, linear, logarithmic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.svg import Scale

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
