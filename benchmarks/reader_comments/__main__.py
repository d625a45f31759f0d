"""Removal of readers' comments by newscrawl and other tools: writes the page of results.

    python -m benchmarks.reader_comments --out docs/results/comments.md [--tools NAME...]

The other tools are in the extra ``peers``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.reader_comments.document import CORPORA_CHECKED, write_document
from benchmarks.reader_comments.labels import precision_table
from benchmarks.reader_comments.measure import OURS, made_pages, peer, real_pages, score
from benchmarks.reader_comments.tables import MIN_REMOVED, tables
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.tables import print_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.reader_comments.measure import RemovalScore, Scored

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
PEERS = ("trafilatura", "trafilatura fast", "resiliparse")


def main() -> None:
    """Run the tools, print the tables and write the page."""
    options = _parser().parse_args()
    pages = [*made_pages(), *real_pages(options.corpora)]
    scores = {name: _run(name, pages) for name in options.tools}
    checked = (
        page for name in CORPORA_CHECKED for page in load_corpus(options.corpora / name).pages
    )
    found = [*tables(scores), precision_table(checked, CORPORA_CHECKED)]
    print_tables(found, sys.stdout)
    if options.out:
        changed, left, helped = _phase_2(scores)
        write_document(pages, found, options.out, changed=changed, left=left, helped=helped)


def _phase_2(scores: Mapping[str, Sequence[RemovalScore]]) -> tuple[int, int, int]:
    """Return the numbers of pages that phase 2 changes, that newscrawl leaves, and of both."""
    methods = ("newscrawl", "nce", "nce without phase 2")
    changed = left = helped = 0
    for ours, one, other in zip(*(scores.get(it, ()) for it in methods), strict=False):
        is_changed = one.removed != other.removed
        is_left = ours.removed is not None and ours.removed < MIN_REMOVED
        changed += is_changed
        left += is_left
        helped += is_changed and is_left
    return changed, left, helped


def _run(name: str, pages: Sequence[Scored]) -> list[RemovalScore]:
    sys.stderr.write(f"{name}\n")
    extractor = OURS[name] if name in OURS else peer(name)
    return [score(page, extractor) for page in pages]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader_comments")
    names = [*OURS, *PEERS]
    parser.add_argument("--out", type=Path, metavar="FILE", help="page to write")
    parser.add_argument("--corpora", type=Path, default=CORPORA, help="folder of the corpora")
    parser.add_argument("--tools", nargs="+", choices=names, default=names, help="(default: all)")
    return parser


if __name__ == "__main__":
    main()
