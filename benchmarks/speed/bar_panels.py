"""Horizontal bars in panels next to each other, as SVG for light and dark pages."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_STYLE = """\
<style>
svg { background: #fff } text { fill: #222 } .grid { stroke: #ddd }
.bar { fill: #8aa4bf } .ours { fill: #35618f }
@media (prefers-color-scheme: dark) {
  svg { background: #131416 } text { fill: #ddd } .grid { stroke: #444 }
  .bar { fill: #5d7690 } .ours { fill: #8fbbe6 }
}
</style>"""
_FONT = 'font-family="sans-serif" font-size="12"'
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
    labels = list(panels[0].values)
    width, height = _LEFT + len(panels) * _PANEL + 10, _TOP + len(labels) * _ROW + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {_FONT}>',
        _STYLE,
        f"<title>{escape(title)}</title>",
        f'<text x="10" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for row, label in enumerate(labels):
        y = _TOP + row * _ROW + _BAR - 3
        weight = ' font-weight="bold"' if label in highlighted else ""
        parts.append(
            f'<text x="{_LEFT - 10}" y="{y}" text-anchor="end"{weight}>{escape(label)}</text>'
        )
    for number, panel in enumerate(panels):
        parts += _panel(panel, labels, _LEFT + number * _PANEL, height, highlighted)
    return "\n".join([*parts, "</svg>", ""])


def _panel(
    panel: Panel, labels: Sequence[str], left: float, height: float, ours: frozenset[str]
) -> list[str]:
    longest = max(panel.values.values(), default=0.0) or 1.0
    parts = [
        f'<text x="{left}" y="{_TOP - 12}">{escape(panel.title)}</text>',
        f'<path class="grid" d="M{left} {_TOP - 6}V{height - 8}"/>',
    ]
    for row, label in enumerate(labels):
        y = _TOP + row * _ROW
        if label not in panel.values:
            parts.append(f'<text x="{left + 5}" y="{y + _BAR - 3}">–</text>')
            continue
        value = panel.values[label]
        length = max(1.0, (_PANEL - _VALUE - 15) * value / longest)
        style = "ours" if label in ours else "bar"
        parts.append(
            f'<rect class="{style}" x="{left}" y="{y}" width="{length:.1f}" height="{_BAR}"/>'
        )
        shown = format(value, panel.spec)
        parts.append(f'<text x="{left + length + 5:.1f}" y="{y + _BAR - 3}">{shown}</text>')
    return parts
