"""CPU time of each stage of ``extract()``, in parses of the same bytes by ``lxml.html``.

A stage's time is its own, without that of the stages that it calls; the sums of the medians of five
rounds are printed. ``--json FILE`` keeps the figures, and ``--against FILE`` prints those of another
commit beside them: one run of each on an idle machine.

    python -m benchmarks.stages [--corpus DIR] [--limit N] [--json FILE] [--against FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lxml.html

from benchmarks.extraction import read_pages
from newscrawl.extraction.extract import extract
from newscrawl.lab.corpora.tables import Table, print_tables
from newscrawl.workers.child import tune_garbage_collector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: stage -> functions, where they are called
STAGES = {
    "document": ["extraction.extract.parse_document"],
    "hidden article": ["extraction.method.reveal_hidden_article"],
    "comments": ["extraction.method.comment_rows"],
    "metadata": ["extraction.extract.read_metadata"],
    "region by NCE": ["extraction.default_method.find_region"],
    "title": [
        "extraction.default_method.find_candidates",
        "extraction.default_method.find_headline",
    ],
    "candidates of blocks": ["extraction.default_method.body_candidates"],
    "choice of blocks": ["extraction.default_method.choose_blocks"],
    "embedded article": ["extraction.default_method.find_embedded_article"],
    "dates": ["extraction.extract.page_dates"],
    "body": ["extraction.extract._select_body"],
    "paywall": ["extraction.extract.find_paywall"],
    "kind": ["extraction.extract.kind_features", "extraction.extract._kind"],
    "description": ["extraction.extract._set_description"],
    "language": ["extraction.extract.detect_language"],
    "authors": ["extraction.extract._set_authors"],
    "further pages": ["extraction.extract.find_further_pages"],
}
REST = "rest"
ROUNDS = 5
URL = "https://www.site.example/2026/03/14/headline-of-the-story"


class Clock:
    """CPU time by stage."""

    def __init__(self) -> None:
        #: nanoseconds
        self.spent: Counter[str] = Counter()
        self._stage, self._since = "", 0

    def enter(self, stage: str) -> str:
        """Count the time until now for the stage before, and return it; *stage* goes on."""
        now = time.thread_time_ns()
        before, self._stage = self._stage, stage
        self.spent[before] += now - self._since
        self._since = now
        return before

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return *function* as a part of *stage*."""

        @wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            before = self.enter(stage)
            try:
                return function(*arguments, **options)
            finally:
                self.enter(before)

        return run

    def watch(self) -> None:
        """Time the functions of all stages."""
        for stage, places in STAGES.items():
            for place in places:
                module, _, name = f"newscrawl.{place}".rpartition(".")
                caller = import_module(module)
                setattr(caller, name, self.timed(stage, getattr(caller, name)))


def time_page(clock: Clock, html: bytes) -> dict[str, float]:
    """Return the median CPU time of the parser and of each stage on a page, in milliseconds."""
    rounds = []
    for _ in range(ROUNDS):
        clock.enter("lxml.html")
        clock.spent.clear()
        lxml.html.document_fromstring(html)
        clock.enter(REST)
        extract(html, URL)
        clock.enter("")
        rounds.append(dict(clock.spent))
    names = ["lxml.html", *STAGES, REST]
    return {name: statistics.median(one.get(name, 0) for one in rounds) / 1e6 for name in names}


def table_of(sums: Mapping[str, float], pages: int, before: Mapping[str, float] | None) -> Table:
    """Return the table of *sums*, of *pages*; *before* has the milliseconds a page of another run."""
    parser = sums["lxml.html"]
    total = sum(sums.values()) - parser
    rows = [*(name for name in sums if name != "lxml.html"), "extract"]
    shown = {**sums, "extract": total}
    cells = [
        [name, f"{shown[name] / pages:.2f}", f"{shown[name] / parser:.2f}",
         f"{shown[name] / total:.0%}", *([f"{before.get(name, 0):.2f}"] if before else [])]
        for name in rows
    ]  # fmt: skip
    header = ("stage", "ms a page", "parses", "share", *(["ms before"] if before else []))
    return Table(f"CPU time of extract() by stage, {pages} pages", header, cells)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, help="folder of labelled pages (default: news212)")
    parser.add_argument("--limit", type=int, help="time only the first LIMIT pages")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--against", type=Path, metavar="FILE", help="figures of a run before")
    options = parser.parse_args(arguments)
    pages = read_pages(options.corpus)[: options.limit]
    for html in pages[:1]:
        extract(html)  # loads the models
    tune_garbage_collector()
    clock = Clock()
    clock.watch()
    times = [time_page(clock, html) for html in pages]
    sums = {name: sum(page[name] for page in times) for name in times[0]}
    before = json.loads(options.against.read_text()) if options.against else None
    print_tables([table_of(sums, len(pages), before)], sys.stdout)
    if options.json:
        figures = {name: value / len(pages) for name, value in sums.items()}
        figures["extract"] = sum(figures.values()) - figures["lxml.html"]
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
