"""Quality against cost, as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.peers import score
from benchmarks.peers.tables import groups
from benchmarks.peers.tools import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.peers.score import Result
    from benchmarks.peers.tables import Group, Results
    from benchmarks.peers.tools import Field

mpl.rcParams["svg.hashsalt"] = "newscrawl"  # same figures, same bytes


def quality(group: Group, field: Field) -> dict[str, float]:
    """Return the figure of each tool that the plot shows."""
    measures: dict[Field, Callable[[Sequence[Result]], float]] = {
        "title": lambda found: score.titles(found, score.in_nodes).f1,
        "date": lambda found: score.days(found, doubtful=False).right,
        "body": lambda found: score.bodies(found, suspects=False).score.f1,
    }
    return {name: measures[field](found) for name, found in group.of(field).items()}


_AXES: dict[Field, str] = {
    "title": "title: F1 of words",
    "date": "date: share of right days",
    "body": "body: mean F1 of words",
}


def plot(results: Results, fields: Sequence[Field], path: Path) -> None:
    """Write quality against cost, all corpora together, to *path* (its suffix is the format)."""
    group = groups(results)[-1]
    costs = {name: score.cost(found).median for name, found in group.results.items()}
    figure = Figure(figsize=(5.5 * len(fields), 5), layout="constrained")
    panels = figure.subplots(1, len(fields), squeeze=False)
    for panel, field in zip(panels[0], fields, strict=True):
        for name, value in quality(group, field).items():
            color = "#b5442c" if name == OURS else "#35618f"
            panel.plot(costs[name], value, "o", color=color)
            panel.annotate(
                name,
                (costs[name], value),
                xytext=(5, 4),
                textcoords="offset points",
                fontsize=8,
                color=color,
            )
        panel.set(xscale="log", xlabel="CPU time, lxml parses (median)", title=_AXES[field])
        panel.margins(x=0.2)
        panel.grid(alpha=0.3)
    figure.suptitle(group.name)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
