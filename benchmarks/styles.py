"""CPU time of styling the text of a page, relative to ``lxml.html`` parsing.

Measures the savings of two restrictions (thesis, section 3.1): styling only relevant nodes (NCE's
forest and all nodes before it), and dropping rules without relevant properties. States:

- new process: empty caches;
- cold: new sheets in a process that has styled pages of other sites;
- stored: new process with parsed sheets on disk;
- cached: the process has already used the same sheets.

The time of a step is the minimum CPU time of three interleaved rounds. The garbage collector is
configured as in a worker (:func:`~newscrawl.workers.child.tune_garbage_collector`). Chromium's time is that
of its process tree for loading the page and reading the computed style of its text.

    python -m benchmarks.styles [--limit N] [--browser-pages N] [--json FILE] [--plot FILE.svg]
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import bar_chart
from benchmarks.browser_cost import browser_costs
from benchmarks.cardoso.readings import spread
from benchmarks.style_steps import CACHED, COLD, PARSE, Subject
from newscrawl.css import decode_sheet, sheet_hash
from newscrawl.css.parser import mask, parse_declarations
from newscrawl.lab.corpora.chromium import missing
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.lab.evaluation.bootstrap import percentile
from newscrawl.workers.child import tune_garbage_collector
from tests.oracle.pages import Page, corpus_pages, sample_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
ROUNDS = 3
OTHERS = 8
"""Number of pages of other sites styled before a cold page."""

PLAIN_BROWSER, IMAGE_BROWSER = "Chromium, no images", "Chromium, images"
BUDGETS = {CACHED: 2.0, COLD: 20.0}
# A style rule without inner blocks.
_BLOCK = re.compile(r"[^@{};]++\{([^{}]*+)\}")
MIN_BROWSER_RATIO = 10.0
"""Minimum ratio of Chromium's CPU time to that of the cached visual step."""


def read_pages(limit: int | None) -> dict[str, list[Page]]:
    """Return the pages to time: of the corpora or, if they are missing, the samples."""
    if CORPORA.is_dir():
        names = ("css-complete", "css-sites")
        return {name: spread(corpus_pages(CORPORA, name), limit) for name in names}
    sys.stderr.write(f"{CORPORA} not found: timing the (few and small) sample pages\n")
    return {"samples": spread(sample_pages(), limit)}


def subjects_of(pages: Sequence[Page]) -> list[Subject]:
    """Return the pages of a group, which share their sheets, as subjects."""
    decoded = {url: decode_sheet(data) for page in pages for url, data in page.sheets.items()}
    texts = {url: (sheet_hash(text), text) for url, text in decoded.items()}
    return [Subject(page, texts) for page in pages]


def measure(subjects: Sequence[Subject], strangers: Sequence[Subject], browser_pages: int) -> None:
    """Time the steps on all subjects; *strangers* are pages to be styled before a cold page."""
    for subject in subjects:
        others = spread([other for other in strangers if other.host != subject.host], OTHERS)
        for _ in range(ROUNDS):
            subject.measure(others)
    if browser_pages:
        shown = spread(list(subjects), browser_pages)
        for name, images in ((PLAIN_BROWSER, False), (IMAGE_BROWSER, True)):
            costs = browser_costs([subject.page for subject in shown], images=images)
            for subject, cost in zip(shown, costs, strict=True):
                if cost is not None:
                    subject.times[name] = cost.cpu


def figures(subjects: Sequence[Subject]) -> dict[str, Any]:
    """Return the figures of a group of pages."""
    names = dict.fromkeys(name for subject in subjects for name in subject.times)
    return {
        "pages": len(subjects),
        "steps": [step_figures(name, [s for s in subjects if name in s.times]) for name in names],
        "dropped": dropped({text for subject in subjects for text in subject.sheets()}),
    }


def step_figures(name: str, subjects: Sequence[Subject]) -> dict[str, Any]:
    """Return the figures of one step."""
    ratios = sorted(subject.times[name] / subject.times[PARSE] for subject in subjects)
    visual = [subject.times[name] / subject.times[CACHED] for subject in subjects]
    return {
        "step": name,
        "pages": len(subjects),
        "median": statistics.median(ratios),
        "p95": percentile(ratios, 0.95),
        "milliseconds": 1000 * statistics.median(subject.times[name] for subject in subjects),
        "by_cached": statistics.median(visual),
    }


def dropped(texts: set[str]) -> dict[str, float]:
    """Return the shares of rules and declarations that the filter drops, over distinct sheets."""
    blocks = [block for text in texts for block in _BLOCK.findall(mask(text))]
    kept = [len(parse_declarations(block)) for block in blocks]
    declarations = sum(bool(part.strip()) for block in blocks for part in block.split(";"))
    return {
        "sheets": len(texts),
        "rules": 1 - sum(map(bool, kept)) / len(blocks),
        "declarations": 1 - sum(kept) / declarations,
    }


def tables(group: str, found: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of a group of pages."""
    parts = ("median", "p95", "milliseconds", "by_cached")
    yield Table(
        f"{group}: CPU time by {PARSE} parsing of the same bytes, {found['pages']} pages",
        ("step", "pages", "median", "p95", "median ms", "by relevant cached", "budget"),
        [
            [step["step"], str(step["pages"]), *(f"{step[part]:.2f}" for part in parts),
             budget(step["step"])]
            for step in found["steps"]
        ],
    )  # fmt: skip
    share = found["dropped"]
    yield Table(
        f"{group}: dropped by the filter, {share['sheets']} distinct sheets",
        ("", "per cent", "thesis 3.1"),
        [
            ["rules", f"{100 * share['rules']:.1f}", "70"],
            ["declarations", f"{100 * share['declarations']:.1f}", "80"],
        ],
    )


def budget(step: str) -> str:
    """Return the budget of a step, empty if there is none."""
    if step in (PLAIN_BROWSER, IMAGE_BROWSER):
        return f">= {MIN_BROWSER_RATIO:.0f} times relevant cached"
    return f"<= {BUDGETS[step]:.1f}" if step in BUDGETS else ""


def chart(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the medians as an SVG chart."""
    series = {
        group: {step["step"]: step["median"] for step in found[group]["steps"][1:]}
        for group in found
    }
    title = "Cost of a page relative to parsing with lxml.html (median over pages)"
    return bar_chart(title, "CPU time, logarithmic", series)


def main() -> None:
    """Print the tables and draw the chart."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.styles")
    parser.add_argument("--limit", type=int, metavar="N", default=100,
                        help="pages of a group to time, spread evenly (default: %(default)s)")  # fmt: skip
    parser.add_argument("--browser-pages", type=int, default=40, metavar="N",
                        help="pages of a group that Chromium loads (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the medians, SVG")
    options = parser.parse_args()
    if options.browser_pages and (reason := missing()):
        sys.stderr.write(f"Chromium is skipped: {reason}\n")
        options.browser_pages = 0
    groups = {name: subjects_of(pages) for name, pages in read_pages(options.limit).items()}
    strangers = next(iter(groups.values()))
    tune_garbage_collector()
    found = {}
    for name, subjects in groups.items():
        measure(subjects, strangers, options.browser_pages)
        found[name] = figures(subjects)
        print_tables(tables(name, found[name]), sys.stdout)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.plot:
        options.plot.write_text(chart(found), encoding="utf-8")


if __name__ == "__main__":
    main()
