"""Report of the crawl benchmark: tables, ratios and plot."""

from __future__ import annotations

from platform import python_version
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.speed.contestants import CONCURRENT, CONCURRENT_PER_HOST
from benchmarks.speed.pages import RIGHT
from benchmarks.speed.report_parts import (
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

    from benchmarks.speed.report_parts import Runs

LABELS = {
    "newscrawl": "newscrawl",
    "newscrawl-sites": "newscrawl, with discovery",
    "trafilatura-pool": "Scrapy, trafilatura in a pool",
    "trafilatura-inline": "Scrapy, trafilatura inline",
    "news-please": "news-please",
    "fundus": "Fundus",
    "scrapy": "Scrapy alone",
}
OURS = "newscrawl"
STALL_LIMIT = 0.5
#: contestant -> minimum ratio of the pages a second of newscrawl to its own
LIMITS = {"trafilatura-inline": 4.0, "trafilatura-pool": 2.0}

_HEAD = """\
<!-- Written by `make bench-crawl ARGS='--out docs/results/crawl-benchmark.md'`: do not edit. -->

# Crawls by other tools

    make bench-crawl ARGS='--out docs/results/crawl-benchmark.md'

{pages} labelled pages ({corpora}) on {hosts} made hosts, served gzipped by a local server that does
no work per request, and crawled on {cores} cores, which the server shares. Each round runs all
contestants, every second round in reverse order. Medians, in brackets the smallest and the largest.

- **Politeness** is the same for all: robots.txt obeyed (except by news-please, which does not read
  it for lists of URLs, and Fundus, whose publishers are on other hosts here), no delay, at most
  {concurrent} requests at once and {per_host} to a host (news-please and Fundus: a thread per host
  or publisher). Names are resolved in each process; other hosts do not exist.
- **Costs** count from the first request to the end of the process, all processes together; the
  server is not included. Memory shared by processes is counted once. *Stall*: the longest delay of a
  ticker of 10 ms on the event loop, the waits for a busy processor included; *CPU, s*: the longest CPU
  time of its thread between two ticks, without them. The limit is {stall:g} s.
- **Body F1**: bag of words, mean over all pages, a missing page counts as 0. *Unseen*: on pages that
  no model of newscrawl is fitted to. *Right*: pages with an F1 of at least {right}. newscrawl also
  drops pages that it does not hold for articles; here every page is one.
- **newscrawl** is the spider `urllist` with its default settings and a state file, without style
  sheets, which the archived pages have not; *with discovery* is the spider `sitelist`, which finds the
  pages in the sitemaps. All others get the list of URLs.
- **Scrapy, trafilatura**: `bare_extraction(html, url=url, with_metadata=True, include_comments=False)`
  in an item pipeline, on the event loop or in a `ProcessPoolExecutor` with a process per core.
- **news-please**: `NewsPlease.from_urls(urls, fetch_images=False)`. **Fundus**: its parsers on the
  pages of their publishers only; its bodies are the labels of these pages, so its F1 is no comparison.

Python {python}.

![Pages a second by tool](crawl-benchmark.svg)
"""


def cost_table(results: Mapping[str, Runs]) -> Table:
    """Return the table of costs and quality."""
    rows = []
    for name, runs in results.items():
        last = runs[-1]
        stalls = [run for run in runs if run["stall"] is not None]
        rows.append(
            [
                LABELS[name],
                str(last["pages"]),
                spread(runs, rate, ".1f"),
                spread(runs, cpu, ".1f"),
                spread(stalls, lambda run: float(run["stall"]), ".2f") if stalls else "",
                spread(stalls, lambda run: float(run["stall_cpu"]), ".2f") if stalls else "",
                f"{middle(runs, lambda run: run['memory']):.0f}",
                *_quality_cells(name, last),
            ]
        )
    head = (
        "crawl",
        "pages",
        "pages/s",
        "CPU ms/page",
        "stall, s",
        "CPU, s",
        "MB",
        "F1",
        "unseen",
        "right",
    )
    return Table("Costs and quality", head, rows)


def _quality_cells(name: str, run: Mapping[str, Any]) -> list[str]:
    if name == "scrapy":
        return ["", "", ""]
    unseen = f"{run['unseen']:.3f}" if run["unseen"] else ""
    return [f"{run['f1']:.3f}", unseen, str(run["right"])]


def ratio_table(results: Mapping[str, Runs]) -> Table:
    """Return the table of newscrawl's ratios to the others, within a round."""
    rows = []
    for name in results:
        ours, runs = results.get(OURS, []), results[name]
        faster, cheaper = ratios(ours, runs, rate), ratios(ours, runs, cpu)
        if name == OURS or not faster or name == "fundus":
            continue
        rows.append(
            [
                LABELS[name],
                f"{median(faster):.2f} ({faster[0]:.2f}–{faster[-1]:.2f})",
                f"at least {LIMITS[name]:g}" if name in LIMITS else "",
                f"{1 / median(cheaper):.2f}",
            ]
        )
    head = ("newscrawl to", "pages/s", "goal", "pages per CPU second")
    return Table("Ratios, by round", head, rows)


def write_report(
    results: Mapping[str, Runs],
    *,
    pages: Mapping[str, int],
    hosts: int,
    cores: int,
    out: Path | None,
) -> None:
    """Print the tables; write them to *out* with the plot next to it."""
    head = _HEAD.format(
        pages=f"{sum(pages.values()):,}",
        corpora=corpora_text(pages),
        hosts=hosts,
        cores=cores,
        concurrent=CONCURRENT,
        per_host=CONCURRENT_PER_HOST,
        right=RIGHT,
        stall=STALL_LIMIT,
        python=python_version(),
    )
    tables = [cost_table(results), ratio_table(results)]
    shown = {LABELS[name]: results[name] for name in LABELS if name in results}
    chart = speed_chart("The same pages, crawled on two cores", shown)
    write_page(head, tables, results.values(), chart, out)
