"""Print the tables of a method's paper with its figures and ours.

python -m benchmarks.papers CORPUS... --method nce|coreex|econ [--page FILE] [--json FILE]
    [--workers N]

Run it from the root of the repository: worker processes import this package. CoreEx R6 needs
html5lib (extra ``train``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.papers.paper import PAPERS, results_page
from newscrawl.corpora.corpus import CorpusError, load_corpus
from newscrawl.corpora.tables import Table, print_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.papers.paper import Paper
    from newscrawl.corpora.map_pages import PageOutcome


def main() -> None:
    """Measure the corpora, print the tables and write the files named by options."""
    options = _parse_options()
    paper = PAPERS[options.method]
    outcomes = {
        folder.name: paper.measure(load_corpus(folder).pages, workers=options.workers)
        for folder in options.corpora
    }
    summaries = _summarise(paper, outcomes)
    tables = list(paper.tables(summaries))
    failures = [
        [name, outcome.page.id, outcome.error]
        for name, group in outcomes.items()
        for outcome in group
        if outcome.error is not None
    ]
    if options.page:
        options.page.write_text(results_page(paper, _command(options), tables), encoding="utf-8")
    if options.json:
        report = {"method": options.method, "corpora": summaries, "failures": failures}
        options.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print_tables(
        [*tables, Table("Failed pages", ("corpus", "page", "error"), failures)], sys.stdout
    )


def _summarise(
    paper: Paper, outcomes: Mapping[str, Sequence[PageOutcome[Any]]]
) -> dict[str, dict[str, Any]]:
    """Return the summary of each corpus that has labelled pages, and of several together."""
    groups = {name: group for name, group in outcomes.items() if group}
    if len(groups) > 1:
        groups["all corpora"] = [outcome for group in groups.values() for outcome in group]
    return {name: paper.summarise(group) for name, group in groups.items()}


def _command(options: argparse.Namespace) -> str:
    corpora = " ".join(map(str, options.corpora))
    return f"python -m benchmarks.papers {corpora} --method {options.method} --page {options.page}"


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers")
    add = parser.add_argument
    add("corpora", nargs="+", type=Path, metavar="CORPUS", help="folder of labelled pages")
    add("--method", choices=PAPERS, required=True, help="method of the paper")
    add("--page", type=Path, metavar="FILE", help="write the tables as Markdown")
    add("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    add("--workers", type=int, default=os.cpu_count() or 1, metavar="N",
        help="worker processes; 0: measure in this process (default: %(default)s)")  # fmt: skip
    options = parser.parse_args()
    for folder in options.corpora:
        try:
            load_corpus(folder)
        except CorpusError as error:
            parser.error(str(error))
    return options


if __name__ == "__main__":
    main()
