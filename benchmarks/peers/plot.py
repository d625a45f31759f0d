"""Quality against cost, as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.peers import score
from benchmarks.peers.tables import family_groups, news_groups
from benchmarks.peers.tools import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.peers.score import Result
    from benchmarks.peers.tables import Group, Results
    from benchmarks.peers.tools import Field

mpl.rcParams["svg.hashsalt"] = "newscrawl"  # same figures, same bytes
mpl.rcParams["svg.fonttype"] = "none"  # texts as texts

_TICKS = (1, 2, 5, 10, 20, 50, 100)


def quality(group: Group, field: Field) -> dict[str, float]:
    """Return the figure of each tool that the plot shows."""
    measures: dict[Field, Callable[[Sequence[Result]], float]] = {
        "title": lambda found: score.titles(found, score.in_nodes).f1,
        "date": lambda found: score.days(found, doubtful=False).right,
        "body": lambda found: score.bodies(found).score.f1,
    }
    return {name: measures[field](found) for name, found in group.of(field).items()}


_AXES: dict[Field, str] = {
    "title": "title, news: F1 of words",
    "date": "date, news: share of right days",
    "body": "body, all families: mean F1 of words",
}


def plot(results: Results, fields: Sequence[Field], path: Path) -> None:
    """Write quality against the cost on news to *path* (its suffix is the format)."""
    news, whole = news_groups(results)[-1], family_groups(results)[-1]
    costs = {name: score.cost(found).median for name, found in news.results.items()}
    figure = Figure(figsize=(5 * len(fields) + 2, 5), layout="constrained")
    panels = figure.subplots(1, len(fields), squeeze=False)[0]
    for panel, field in zip(panels, fields, strict=True):
        values = quality(whole if field == "body" else news, field)
        for number, name in enumerate(results):
            # Those that do not give the field are drawn nowhere, so that all are in one legend.
            point = (costs[name], values.get(name, float("nan")))
            panel.plot(*point, label=name, linestyle="", **_look(name, number))
        panel.set(xscale="log", xlabel="CPU time, lxml parses (median)", title=_AXES[field])
        panel.set_xticks(_TICKS, map(str, _TICKS))
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _look(name: str, number: int) -> dict[str, Any]:
    if name == OURS:
        return {"marker": "*", "markersize": 14, "color": "black"}
    return {"marker": "osD^vPX"[number % 7], "markersize": 7, "color": f"C{number % 10}"}
