"""Horizontal bars in panels next to each other, as SVG for light and dark pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.svg import document, label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LEFT, _PANEL, _BAR, _ROW, _TOP = 190, 190, 16, 26, 56
_VALUE = 46


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: a value for some of the labels."""

    title: str
    values: Mapping[str, float]
    #: format of the values
    spec: str = ".1f"


def bar_panels(title: str, panels: Sequence[Panel], *, ours: Iterable[str]) -> str:
    """Return the chart of *panels*; the bars of *ours* are highlighted.

    Labels are in the order of the first panel.
    """
    highlighted = frozenset(ours)
    names = list(panels[0].values)
    width, height = _LEFT + len(panels) * _PANEL + 10, _TOP + len(names) * _ROW + 10
    parts = [label(10, 20, title, weight="bold")]
    for row, name in enumerate(names):
        weight = "bold" if name in highlighted else ""
        parts.append(label(_LEFT - 10, _baseline(row), name, anchor="end", weight=weight))
    for number, panel in enumerate(panels):
        parts += _panel(panel, names, _LEFT + number * _PANEL, height, highlighted)
    return document(width, height, parts)


def _baseline(row: int) -> int:
    return _TOP + row * _ROW + _BAR - 3


def _panel(
    panel: Panel, names: Sequence[str], left: float, height: float, ours: frozenset[str]
) -> list[str]:
    longest = max(panel.values.values(), default=0.0) or 1.0
    parts = [
        label(left, _TOP - 12, panel.title),
        f'<path class="grid" d="M{left} {_TOP - 6}V{height - 8}"/>',
    ]
    for row, name in enumerate(names):
        if name not in panel.values:
            parts.append(label(left + 5, _baseline(row), "–"))
            continue
        value = panel.values[name]
        length = max(1.0, (_PANEL - _VALUE - 15) * value / longest)
        # The first series of the other charts is ours, too.
        series = 0 if name in ours else 1
        parts.append(
            f'<rect class="s{series}" x="{left}" y="{_TOP + row * _ROW}" width="{length:.1f}" '
            f'height="{_BAR}"/>'
        )
        parts.append(label(left + length + 5, _baseline(row), format(value, panel.spec)))
    return parts
