"""Extraction by us and by other tools on the same pages: quality, cost, failures.

Each page is read in a worker process with a deadline, so that a tool that hangs or crashes fails
on that page only. Our learned methods are fitted to the corpora that may train
(:mod:`newscrawl.evaluation.families`), to the folds that a page's site is not in.

    python -m benchmarks.peers [--corpora DIR] [--fields title,date,body] [--tools NAME,...]
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
from newscrawl.evaluation.families import FAMILIES, FAMILY_OF, MAY_TRAIN
from newscrawl.evaluation.result_cache import default_cache_dir

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchmarks.peers.tools import Field
    from newscrawl.corpora.corpus import LabelledPage

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"


def main() -> None:
    """Run the tools, print the tables, write the page."""
    options = _parser().parse_args()
    try:
        pages = load_pages(options.corpora)
    except CorpusError as error:
        sys.exit(str(error))
    if options.limit:
        pages = pages[:: max(1, len(pages) // options.limit)][: options.limit]
    names = _wanted(options.tools, options.fields)
    results = measure(pages, names, options.workers, options.cache)
    found = list(tables(results, options.fields))
    print_tables(found, sys.stdout)
    if options.out:
        write_document(results, options.fields, found, options.out)


def load_pages(folder: Path) -> list[LabelledPage]:
    """Return the pages of the families and of the training corpora in *folder*, where present."""
    names = [*FAMILY_OF, *sorted(MAY_TRAIN - FAMILY_OF.keys())]
    present = [folder / name for name in names if (folder / name).is_dir()]
    pages = [page for corpus in present for page in load_corpus(corpus).pages]
    if not any(page.corpus in FAMILIES[0].corpora for page in pages):
        raise CorpusError(f"{folder} holds none of {', '.join(FAMILIES[0].corpora)}")
    return pages


def measure(
    pages: Sequence[LabelledPage], names: Sequence[str], workers: int, cache: Path | None
) -> dict[str, list[Result]]:
    """Return the results of the tools *names* on those of *pages* that are scored, in order."""
    scored = [page for page in pages if page.corpus in FAMILY_OF]
    learn_from = [page for page in pages if page.corpus in MAY_TRAIN]
    gold = gold_titles(scored, workers=workers)
    results = {}
    for name in names:
        sys.stderr.write(f"{name}\n")
        found = answers(name, scored, learn_from=learn_from, workers=workers, cache_dir=cache)
        results[name] = list(map(Result, scored, gold, found))
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
    parser.add_argument(
        "--corpora", type=Path, default=CORPORA, metavar="DIR", help="folder that holds the corpora"
    )
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
        default=default_cache_dir(),
        metavar="DIR",
        help="keep answers of other tools there, by version; empty it when a call of theirs changes "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.md", help="write tables there, and a plot beside"
    )
    return parser


def _names(known: Collection[str], text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}; there are: {', '.join(known)}")
    return names


if __name__ == "__main__":
    main()
