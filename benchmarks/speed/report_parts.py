"""Figures of runs, and the page, for the reports of the benchmarks of crawls and archives."""

from __future__ import annotations

import os
import sys
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.dots import Dot, dot_chart
from newscrawl.lab.corpora.tables import Table, markdown, print_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

Runs = list[dict[str, Any]]
"""Figures of the runs of a tool, one of each round."""


def middle(runs: Runs, figure: Callable[[dict[str, Any]], float]) -> float:
    """Return the median of a figure."""
    return median(map(figure, runs))


def rate(run: dict[str, Any]) -> float:
    """Return the pages a second."""
    return float(run["pages"] / run["seconds"])


def cpu(run: dict[str, Any]) -> float:
    """Return the CPU milliseconds per page."""
    return float(1000 * run["cpu"] / run["pages"])


def spread(runs: Runs, figure: Callable[[dict[str, Any]], float], spec: str) -> str:
    """Return the median with the smallest and the largest value."""
    values = sorted(map(figure, runs))
    if len(values) == 1:
        return format(values[0], spec)
    return f"{median(values):{spec}} ({values[0]:{spec}}–{values[-1]:{spec}})"


def ratios(ours: Runs, others: Runs, figure: Callable[[dict[str, Any]], float]) -> list[float]:
    """Return the ratio of *figure* in *ours* to that in *others*, of each round with both."""
    by_round = {run["round"]: run for run in others}
    return sorted(
        figure(run) / figure(by_round[run["round"]]) for run in ours if run["round"] in by_round
    )


def speed_chart(title: str, runs: Mapping[str, Runs]) -> str:
    """Return the chart of the pages a second by label, with the slowest and the fastest run."""
    rates = {label: [rate(run) for run in found] for label, found in runs.items()}
    rows = {
        label: {"pages a second": Dot(median(found), min(found), max(found))}
        for label, found in rates.items()
    }
    return dot_chart(title, "pages a second", rows, log=True)


def run_line(run: dict[str, Any]) -> str:
    """Return the figures of a run for the terminal."""
    stall = f", stall {run['stall']:.2f} s" if run.get("stall") is not None else ""
    return (
        f"{rate(run):.1f} pages/s, {cpu(run):.2f} ms/page, {run['memory']:.0f} MB{stall}, "
        f"F1 {run['f1']:.3f}, {run['right']} right"
    )


def corpora_text(pages: Mapping[str, int]) -> str:
    """Return the numbers of *pages* by corpus."""
    return ", ".join(f"{number} of {name}" for name, number in pages.items())


def write_page(
    head: str, tables: Sequence[Table], runs: Iterable[Runs], chart: str, out: Path | None
) -> None:
    """Print the tables; write them to *out*, after *head*, with the chart next to it."""
    print_tables(tables, sys.stdout)
    if out is None:
        return
    texts = [head, *map(markdown, tables), _conditions([run for each in runs for run in each])]
    out.write_text("\n".join(texts), encoding="utf-8")
    out.with_suffix(".svg").write_text(chart, encoding="utf-8")


def _conditions(runs: Runs) -> str:
    """Return a line about the machine during *runs*."""
    loads = sorted(run["load"] for run in runs)
    rounds = max(run["round"] for run in runs)
    return (
        f"Rounds: {rounds}. Load average of the machine during the runs: {loads[0]:.1f} to "
        f"{loads[-1]:.1f} on {os.cpu_count()} processors. Above their number, only the ratios and the "
        "CPU times are of use.\n"
    )
