"""Extraction by us and by other tools on the same pages: quality, cost, failures.

Each page is read in a worker process with a deadline, so that a tool that hangs or crashes fails
on that page only. Our learned methods are fitted to the folds that a page's site is not in.

    python -m benchmarks.peers [--corpora DIR...] [--fields title,date,body] [--tools NAME,...]
        [--limit N] [--workers N] [--cache DIR] [--out FILE.md]

The other tools are those of the extra ``peers``, in an environment of its own: ``make peers``.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers.document import write_document
from benchmarks.peers.run import answers, gold_titles
from benchmarks.peers.score import Result
from benchmarks.peers.tables import tables
from benchmarks.peers.tools import FIELDS, OURS, TOOLS
from newscrawl.corpora.corpus import CorpusError, load_corpus
from newscrawl.corpora.tables import print_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.peers.tools import Field
    from newscrawl.corpora.corpus import LabelledPage

SHARED = Path(__file__).resolve().parents[3] / "shared" / "corpora"
CORPORA = [SHARED / "news212", SHARED / "fundus"]


def main() -> None:
    """Run the tools, print the tables, write the page."""
    options = _parser().parse_args()
    try:
        pages = [page for folder in options.corpora for page in load_corpus(folder).pages]
    except CorpusError as error:
        sys.exit(str(error))
    if options.limit:
        pages = pages[:: max(1, len(pages) // options.limit)][: options.limit]
    results = measure(pages, _wanted(options.tools, options.fields), options.workers, options.cache)
    found = list(tables(results, options.fields))
    print_tables(found, sys.stdout)
    if options.out:
        write_document(results, options.fields, found, options.out)


def measure(
    pages: Sequence[LabelledPage], names: Sequence[str], workers: int, cache: Path | None
) -> dict[str, list[Result]]:
    """Return the results of the tools *names* on *pages*, in order."""
    gold = gold_titles(pages, workers=workers)
    results = {}
    for name in names:
        sys.stderr.write(f"{name}\n")
        found = answers(name, pages, workers=workers, cache_dir=cache)
        results[name] = list(map(Result, pages, gold, found))
    return results


def _wanted(asked: Sequence[str] | None, fields: Sequence[Field]) -> list[str]:
    """Return the tools *asked* for; without any, those installed that give one of *fields*."""
    names = asked or [n for n, tool in TOOLS.items() if not set(tool.fields).isdisjoint(fields)]
    if missing := [name for name in names if TOOLS[name].version is None]:
        message = f"not installed: {', '.join(missing)}; try `make peers`"
        if asked:
            sys.exit(message)
        sys.stderr.write(f"{message}\n")
    return [name for name in names if name not in missing]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--corpora", type=Path, nargs="+", default=CORPORA, metavar="DIR")
    parser.add_argument(
        "--fields", type=partial(_names, FIELDS), default=FIELDS, help="(default: all)"
    )
    parser.add_argument(
        "--tools", type=partial(_names, TOOLS), help=f"ours is {OURS!r} (default: all installed)"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="N pages, evenly spread")
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="keep what other tools say there, by version; empty it when a call of theirs changes",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.md", help="write tables there, and a plot beside"
    )
    return parser


def _names(known: Sequence[str], text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}; there are: {', '.join(known)}")
    return names


if __name__ == "__main__":
    main()
