"""Plot of quality against cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.peers import score
from benchmarks.peers.tables import family_groups, news_groups
from benchmarks.peers.tools import OURS
from benchmarks.svg import INVERTED
from newscrawl.lab.corpora.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.peers.score import Result
    from benchmarks.peers.tables import Group, Results
    from benchmarks.peers.tool_types import Field

mpl.rcParams["svg.hashsalt"] = "newscrawl"  # reproducible bytes
mpl.rcParams["svg.fonttype"] = "none"  # text elements, not paths

_TICKS = (1, 2, 5, 10, 20, 50, 100)


def quality(group: Group, field: Field) -> dict[str, float]:
    """Return the plotted score of each tool."""
    scores: dict[Field, Callable[[Sequence[Result]], float]] = {
        "title": lambda results: score.titles(results, score.in_nodes).f1,
        "date": lambda results: score.days(results, doubtful=False).right,
        "body": lambda results: score.bodies(results).score.f1,
        "authors": lambda results: mean(
            [result.metadata["authors"].right for result in results if result.page.authors]
        ),
    }
    return {name: scores[field](results) for name, results in group.of(field).items()}


_AXES: dict[Field, str] = {
    "title": "title, news: F1 of words",
    "date": "date, news: share of right days",
    "body": "body, all families: mean F1 of words",
    "authors": "authors, news: share of right pages",
}


def plot(results: Results, fields: Sequence[Field], path: Path) -> None:
    """Plot quality against the cost on news; the suffix of *path* is the format."""
    news, every_family = news_groups(results)[-1], family_groups(results)[-1]
    costs = {name: score.cost(results).median for name, results in news.results.items()}
    fields = [field for field in fields if field in _AXES]
    figure = Figure(figsize=(5 * len(fields) + 2, 5), layout="constrained")
    panels = figure.subplots(1, len(fields), squeeze=False)[0]
    for panel, field in zip(panels, fields, strict=True):
        values = quality(every_family if field == "body" else news, field)
        for number, name in enumerate(results):
            # Tools without the field get a point at NaN, so that one legend has all tools.
            point = (costs[name], values.get(name, float("nan")))
            panel.plot(*point, label=name, linestyle="", **_marker(name, number))
        panel.set(xscale="log", xlabel="CPU time, lxml parses (median)", title=_AXES[field])
        panel.set_xticks(_TICKS, map(str, _TICKS))
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    if path.suffix == ".svg":
        start, mark, rest = path.read_text(encoding="utf-8").partition(" <metadata>")
        path.write_text(f"{start} {INVERTED}\n{mark}{rest}", encoding="utf-8")


def _marker(name: str, number: int) -> dict[str, Any]:
    if name == OURS:
        return {"marker": "*", "markersize": 14, "color": "black"}
    return {"marker": "osD^vPX"[number % 7], "markersize": 7, "color": f"C{number % 10}"}
