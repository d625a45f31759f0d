"""Comparison of newscrawl with other extractors on the same pages: quality, failures.

Each page is extracted in a worker process with a deadline, so that a tool that hangs or crashes
fails only on that page. Learned methods of newscrawl are evaluated out of fold: they are fitted to
training corpora (:mod:`newscrawl.lab.evaluation.families`) without the site of the page.

    python -m benchmarks.peers [--corpora DIR] [--fields title,date,...] [--tools NAME,...]
        [--limit N] [--workers N] [--cache DIR] [--out FILE.md]

The other tools are in the extra ``peers``; ``make peers`` installs it in a separate environment.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers.document import document
from benchmarks.peers.run import answers, gold_titles
from benchmarks.peers.score import Result
from benchmarks.peers.tables import tables
from benchmarks.peers.tool_types import FIELDS
from benchmarks.peers.tools import OURS, TOOLS
from newscrawl.lab.corpora.corpus import CorpusError, load_corpus
from newscrawl.lab.corpora.tables import print_tables
from newscrawl.lab.evaluation.families import FAMILIES, FAMILY_OF, MAY_TRAIN
from newscrawl.lab.evaluation.result_cache import default_cache_dir

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchmarks.peers.tool_types import Field
    from newscrawl.lab.corpora.corpus import LabelledPage

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"


def main() -> None:
    """Run the tools, print the tables and write the report."""
    options = _parser().parse_args()
    try:
        pages = load_pages(options.corpora)
    except CorpusError as error:
        sys.exit(str(error))
    if options.limit:
        pages = pages[:: max(1, len(pages) // options.limit)][: options.limit]
    names = _select_tools(options.tools, options.fields)
    results = measure(pages, names, options.workers, options.cache)
    result_tables = list(tables(results, options.fields))
    print_tables(result_tables, sys.stdout)
    if options.out:
        options.out.write_text(document(results, result_tables), encoding="utf-8")


def load_pages(folder: Path) -> list[LabelledPage]:
    """Return the pages of the evaluated and of the training corpora that are in *folder*."""
    names = [*FAMILY_OF, *sorted(MAY_TRAIN - FAMILY_OF.keys())]
    present = [folder / name for name in names if (folder / name).is_dir()]
    pages = [page for corpus in present for page in load_corpus(corpus).pages]
    if not any(page.corpus in FAMILIES[0].corpora for page in pages):
        raise CorpusError(f"{folder} holds none of {', '.join(FAMILIES[0].corpora)}")
    return pages


def measure(
    pages: Sequence[LabelledPage], names: Sequence[str], workers: int, cache: Path | None
) -> dict[str, list[Result]]:
    """Return the results of the tools *names* on the scored pages, in order.

    These are the pages of evaluated corpora, and other pages with labelled metadata. Learned
    methods are fitted to the pages of training corpora among *pages*.
    """
    scored = [page for page in pages if page.corpus in FAMILY_OF or page.metadata_labelled]
    learn_from = [page for page in pages if page.corpus in MAY_TRAIN]
    gold = gold_titles(scored, workers=workers)
    results = {}
    for name in names:
        sys.stderr.write(f"{name}\n")
        outputs = answers(name, scored, learn_from=learn_from, workers=workers, cache_dir=cache)
        results[name] = list(map(Result, scored, gold, outputs))
    return results


def _select_tools(requested: Sequence[str] | None, fields: Sequence[Field]) -> list[str]:
    """Return the *requested* tools, by default all installed tools that extract one of *fields*.

    Exits if a requested tool is not installed.
    """
    names = requested or [n for n, tool in TOOLS.items() if not set(tool.fields).isdisjoint(fields)]
    if missing := [name for name in names if TOOLS[name].version is None]:
        message = f"not installed: {', '.join(missing)}; try `make peers`"
        if requested:
            sys.exit(message)
        sys.stderr.write(f"{message}\n")
    return [name for name in names if name not in missing]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "--corpora", type=Path, default=CORPORA, metavar="DIR", help="folder that holds the corpora"
    )
    parser.add_argument(
        "--fields",
        type=partial(_names, FIELDS),
        default=FIELDS,
        help="fields to compare (default: all)",
    )
    parser.add_argument(
        "--tools",
        type=partial(_names, TOOLS),
        help=f"tools to run; newscrawl is {OURS!r} (default: all installed)",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="use N pages, evenly spread")
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    parser.add_argument(
        "--cache",
        type=Path,
        default=default_cache_dir(),
        metavar="DIR",
        help="folder for the answers of other tools, by version; empty it if the call of a tool changes "
        "(default: %(default)s)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE.md", help="write the tables to this file")
    return parser


def _names(known: Collection[str], text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(
            f"unknown: {', '.join(unknown)}; choose from {', '.join(known)}"
        )
    return names


if __name__ == "__main__":
    main()
