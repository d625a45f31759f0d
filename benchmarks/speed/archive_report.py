"""Report of the archive benchmark: tables, ratios and plot."""

from __future__ import annotations

from platform import python_version
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.speed.pages import RIGHT
from benchmarks.speed.report_parts import (
    Runs,
    corpora_text,
    cpu,
    middle,
    rate,
    ratios,
    speed_chart,
    spread,
    write_page,
)
from newscrawl.lab.corpora.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Results = dict[tuple[str, int], Runs]

LABELS = {
    "newscrawl": "newscrawl extract",
    "resiliparse": "fastwarc + resiliparse",
    "trafilatura": "warcio + trafilatura",
}
#: goals of the CPU time of newscrawl, as a multiple of that of another tool
LIMITS = {"trafilatura": 1 / 3, "resiliparse": 2.5}

_HEAD = """\
<!-- Written by `make bench-archive ARGS='--out docs/results/archive-benchmark.md'`: do not edit. -->

# Archives by other tools

    make bench-archive ARGS='--out docs/results/archive-benchmark.md'

One WARC archive of {pages:,} pages ({megabytes:.0f} MB; {corpora}), a gzip member each, extracted to
JSON Lines on one core and on two. The labelled pages are repeated under made hosts. Costs are those of
the whole command, imports included, of all its processes together.

- **newscrawl**: `newscrawl extract ARCHIVE -o FILE --jobs N`, with a worker process for each core.
  It writes all fields, and drops pages that it does not hold for articles.
- **fastwarc + resiliparse**: `extract_plain_text(tree, main_content=True, comments=False, ...)`: title
  and body. **warcio + trafilatura**: `bare_extraction(html, url=url, with_metadata=True,
  include_comments=False)`. With two cores the first process reads, and a pool of two extracts.
- **Body F1**: bag of words, mean over pages, a missing page counts as 0. *Unseen*: on pages that no
  model of newscrawl is fitted to; most of the others are in its training. *Right*: share of pages with
  an F1 of at least {right}. {{doc}}`peers` compares out of fold.

Python {python}.

![Pages a second by tool](archive-benchmark.svg)
"""


def cost_table(results: Results) -> Table:
    """Return the table of costs and quality."""
    rows = []
    for (name, cores), runs in results.items():
        last = runs[-1]
        rows.append(
            [
                LABELS[name],
                str(cores),
                spread(runs, rate, ".1f"),
                spread(runs, cpu, ".2f"),
                f"{middle(runs, lambda run: run['memory']):.0f}",
                f"{last['f1']:.3f}",
                f"{last['unseen']:.3f}" if last["unseen"] else "",
                f"{100 * last['right'] / last['pages']:.1f} %",
            ]
        )
    head = ("tool", "cores", "pages/s", "CPU ms/page", "MB", "F1", "unseen", "right")
    return Table("Costs and quality", head, rows)


def ratio_table(results: Results) -> Table:
    """Return the table of the CPU time of newscrawl as a multiple of that of the others."""
    rows = []
    for name, label in LABELS.items():
        for cores in (1, 2):
            ours, runs = results.get(("newscrawl", cores), []), results.get((name, cores), [])
            found = ratios(ours, runs, cpu)
            if name == "newscrawl" or not found:
                continue
            goal = f"at most {LIMITS[name]:.2g}" if name in LIMITS and cores == 1 else ""
            ratio = median(found)
            rows.append([label, str(cores), f"{ratio:.2f}", f"{1 / ratio:.2f}", goal])
    head = ("newscrawl to", "cores", "CPU time", "pages per CPU second", "goal of the CPU time")
    return Table("Ratios, by round", head, rows)


def write_report(
    results: Results, *, pages: Mapping[str, int], megabytes: float, out: Path | None
) -> None:
    """Print the tables; write them to *out* with the plot next to it."""
    head = _HEAD.format(
        pages=sum(pages.values()),
        megabytes=megabytes,
        corpora=corpora_text(pages),
        right=RIGHT,
        python=python_version(),
    )
    tables = [cost_table(results), ratio_table(results)]
    shown = {
        f"{LABELS[name]}, {cores} core{'s' * (cores > 1)}": runs
        for (name, cores), runs in results.items()
    }
    chart = speed_chart("One archive, the same pages", shown)
    write_page(head, tables, results.values(), chart, out)
