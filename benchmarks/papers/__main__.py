"""Writes the tables of NCE, CoreEx and ECON with published and today's figures.

python -m benchmarks.papers --out DIR [--method nce|coreex|econ ...] [--limit N] [--json FILE]

Needs the labelled corpora; CoreEx R6 needs html5lib (extra ``train``). Uses no network.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.papers.measured_pages import measured_pages
from benchmarks.papers.paper import PAPERS
from benchmarks.result_page import write_page
from newscrawl.lab.corpora.corpus import CorpusError
from newscrawl.lab.corpora.tables import Table, print_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.lab.corpora.corpus import LabelledPage

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
COMMAND = "python -m benchmarks.papers --out docs/results"


def main() -> None:
    """Write the selected pages."""
    parser = _parser()
    options = parser.parse_args()
    try:
        pages = measured_pages(options.corpora, options.limit)
    except CorpusError as error:
        parser.error(str(error))
    reports = {
        method: _report(method, pages, options.out, options.workers) for method in options.method
    }
    if options.json:
        options.json.write_text(json.dumps(reports, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _report(method: str, pages: Sequence[LabelledPage], out: Path, workers: int) -> dict[str, Any]:
    """Write the page of a method and return its figures and failed pages."""
    paper = PAPERS[method]
    outcomes = paper.measure(pages, workers=workers)
    columns = paper.summarise_groups(outcomes)
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
    return {"groups": columns, "failures": failures}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers")
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write the pages to")
    add("--method", nargs="+", choices=PAPERS, default=list(PAPERS),
        help="methods to measure (default: all)")  # fmt: skip
    add("--limit", type=int, metavar="N", help="pages per corpus, evenly spaced")
    add("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    add("--corpora", type=Path, default=CORPORA, metavar="DIR", help="folder of the corpora")
    add("--workers", type=int, default=os.cpu_count() or 1, metavar="N",
        help="worker processes; 0: measure in this process (default: %(default)s)")  # fmt: skip
    return parser


if __name__ == "__main__":
    main()
