"""Plots of a report: coordinates of lines and bars in a drawing of 320 by 150."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 312.0, 10.0, 125.0


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line, or the left upper corner of a bar."""

    x: float
    y: float
    label: str
    width: float = 0.0
    height: float = 0.0


@dataclass(slots=True)
class Plot:
    """A plot; its texts are labels of the axes."""

    title: str
    #: description for screen readers
    label: str
    top: str
    bottom: str
    first: str
    last: str
    points: list[Point] = field(default_factory=list)
    bars: list[Point] = field(default_factory=list)


def line_plot(
    title: str,
    dates: Sequence[str],
    values: Sequence[float | None],
    show: Callable[[float], str],
    *,
    highest: float | None = None,
) -> Plot | None:
    """Return the plot of *values* by crawl, from 0; None without values."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    top = highest or max(known) or 1.0
    step = (_RIGHT - _LEFT - 16) / max(1, len(values) - 1)
    points = [
        Point(round(_LEFT + 8 + place * step, 1), _height(value, top), f"{date}: {show(value)}")
        for place, (date, value) in enumerate(zip(dates, values, strict=True))
        if value is not None
    ]
    label = f"{title} by crawl: {', '.join(point.label for point in points[-12:])}"
    return Plot(title, label, show(top), "0", dates[0], dates[-1], points)


def histogram(title: str, values: Sequence[float], *, bins: int = 20) -> Plot | None:
    """Return the histogram of *values* in 0..1; None without values."""
    if not values:
        return None
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int(value * bins))] += 1
    width, top = (_RIGHT - _LEFT) / bins, max(counts)
    bars = [
        Point(
            round(_LEFT + place * width + 1, 1),
            _height(count, top),
            f"{place / bins:.2f} to {(place + 1) / bins:.2f}: {count}",
            round(width - 2, 1),
            round(_BOTTOM - _height(count, top), 1),
        )
        for place, count in enumerate(counts)
        if count
    ]
    label = f"{title}: {', '.join(bar.label for bar in bars)}"
    return Plot(title, label, str(top), "0", "0", "1", bars=bars)


def _height(value: float, top: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * min(1.0, value / top), 1)
