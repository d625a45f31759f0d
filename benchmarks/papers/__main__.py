"""Writes the tables of NCE, CoreEx and ECON with published and today's figures.

python -m benchmarks.papers --out DIR [--method nce|coreex|econ ...] [--limit N]

Needs the labelled corpora; CoreEx R6 needs html5lib (extra ``train``). Uses no network.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.papers import coreex_paper, coreex_tables, econ_paper, nce_paper, texts
from benchmarks.papers.measured_pages import by_group, measured_pages
from benchmarks.result_page import write_page
from newscrawl.lab.corpora.corpus import CorpusError
from newscrawl.lab.corpora.map_pages import map_pages
from newscrawl.lab.corpora.tables import Table, print_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.result_page import Part
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.map_pages import PageOutcome

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
COMMAND = "python -m benchmarks.papers --out docs/results"


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: how its figures are measured and shown."""

    #: ``package.module:name`` of the function that measures one page in a worker
    function: str
    #: converts the plain result of that function to a value
    read: Callable[[Mapping[str, Any]], Any]
    #: value of a page that could not be measured
    failed: Callable[[LabelledPage], Any]
    #: figures of a group of pages as JSON values
    summarise: Callable[[Sequence[PageOutcome[Any]]], dict[str, Any]]
    #: tables and charts of the summaries by group of corpora; the last group holds all pages
    tables: Callable[[Mapping[str, Mapping[str, Any]]], Iterable[Part]]
    #: heading and introduction of the results page
    introduction: str
    #: notes of its tables, by the beginning of the title
    notes: Mapping[str, str]

    def measure(self, pages: Sequence[LabelledPage], workers: int) -> list[PageOutcome[Any]]:
        """Measure *pages*."""
        return map_pages(self.function, pages, self.read, self.failed, workers=workers)


PAPERS: Mapping[str, Paper] = {
    "nce": Paper(
        "benchmarks.papers.nce_paper:measure_page",
        nce_paper.NcePage.from_plain,
        lambda _: nce_paper.NcePage(),
        nce_paper.summarise_nce,
        nce_paper.nce_tables,
        texts.NCE,
        texts.NCE_NOTES,
    ),
    "coreex": Paper(
        "benchmarks.papers.coreex_paper:measure_page",
        coreex_paper.CoreExPage.from_plain,
        coreex_paper.failed,
        coreex_paper.summarise_coreex,
        coreex_tables.coreex_tables,
        texts.COREEX,
        texts.COREEX_NOTES,
    ),
    "econ": Paper(
        "benchmarks.papers.econ_paper:measure_page",
        lambda plain: econ_paper.EconPage(**plain),
        lambda _: econ_paper.EconPage(),
        econ_paper.summarise_econ,
        econ_paper.econ_tables,
        texts.ECON,
        texts.ECON_NOTES,
    ),
}
"""Papers by the name of their method."""


def main() -> None:
    """Write the selected pages."""
    parser = _parser()
    options = parser.parse_args()
    try:
        pages = measured_pages(options.corpora, options.limit)
    except CorpusError as error:
        parser.error(str(error))
    for method in options.method:
        _write(method, pages, options.out, options.workers)


def _write(method: str, pages: Sequence[LabelledPage], out: Path, workers: int) -> None:
    """Write the page of a method, and print the failed pages."""
    paper = PAPERS[method]
    outcomes = paper.measure(pages, workers)
    columns = {name: paper.summarise(group) for name, group in by_group(outcomes).items()}
    start = paper.introduction.format(
        command=COMMAND,
        pages=f"{len(outcomes):,}",
        sites=f"{len({outcome.page.site for outcome in outcomes}):,}",
    )
    write_page(out / f"{method}.md", COMMAND, start, paper.tables(columns), paper.notes)
    failures = [
        [outcome.page.corpus, outcome.page.id, outcome.error]
        for outcome in outcomes
        if outcome.error is not None
    ]
    print_tables([Table("Failed pages", ("corpus", "page", "error"), failures)], sys.stdout)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers")
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write the pages to")
    add("--method", nargs="+", choices=PAPERS, default=list(PAPERS),
        help="methods to measure (default: all)")  # fmt: skip
    add("--limit", type=int, metavar="N", help="pages per corpus, evenly spaced")
    add("--corpora", type=Path, default=CORPORA, metavar="DIR", help="folder of the corpora")
    add("--workers", type=int, default=os.cpu_count() or 1, metavar="N",
        help="worker processes; 0: measure in this process (default: %(default)s)")  # fmt: skip
    return parser


if __name__ == "__main__":
    main()
