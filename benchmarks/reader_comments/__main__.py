"""Removal of readers' comments by newscrawl and other tools: writes the page of results.

    python -m benchmarks.reader_comments --out docs/results/comments.md [--tools NAME...]

The other tools are in the extra ``peers``.
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.reader_comments.labels import precision_table
from benchmarks.reader_comments.measure import OURS, made_pages, peer, real_pages, score
from benchmarks.reader_comments.pages import WITHOUT
from benchmarks.reader_comments.tables import MAX_LOST, MIN_REMOVED, tables
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.tables import markdown, print_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.reader_comments.measure import RemovalScore, Scored
    from newscrawl.lab.corpora.tables import Table

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
PEERS = ("trafilatura", "trafilatura fast", "resiliparse")

_CORPORA_CHECKED = ("news212", "fundus", "css-sites", "wcxb", "l3sgn1", "daniel", "dragnet")

_HEAD = """\
<!-- Written by `python -m benchmarks.reader_comments --out docs/results/comments.md`: do not edit. -->

# Readers' comments

    python -m benchmarks.reader_comments --out docs/results/comments.md

- **Generated pages**: {made} pages with comments in the markup of {systems} comment systems and CMSs, in
  {languages} languages, and {without} pages without comments whose bodies have their structure or tone (opinion,
  interviews, letters, live blogs). `benchmarks/reader_comments/systems.json` has the markup, after the public
  templates of the software; texts, labels and pages are ours, so these figures show coverage of markup, not a
  rate on the web.
- **Unseen systems**: no rule of the default method names a system, so every system is unseen in the sense of
  leaving one out. Thresholds and words were chosen on one half of the systems (*tune*) and on the corpora; the
  systems of the other half (*report*) were looked at only to score them. Both halves share the words of the
  labels ("Reply", "Comments") in each language.
- **Corpora**: the {real} pages of the corpora with comments in their markup. The labels
  (`benchmarks/comments.json`) are XPaths of sections found by their names and checked by the start and end of their text, so sections without
  a telling name are missing, and *newscrawl* does well on them by construction; *no names at all* does not.
- **Words removed**: mean over pages of the share of comment words (names, dates, buttons, headings and house rules
  included) in text nodes that the body does not contain. **Documents removed**: pages with at least
  {removed:.0%} of the words removed.
- **Body lost**: share of the label, in word trigrams, that the tool finds on the same page without the comments
  (for newscrawl also with the removal off), but not on the page. **Documents that lose**: more than {lost:.0%}.
  **Body kept**: recall of the label, whatever the reason of a loss.
- **newscrawl, no names at all**: the same pages without any class, id or microdata: structure, dates and words alone.
- trafilatura {trafilatura} and resiliparse {resiliparse} are called to leave comments out ({{doc}}`peers`).

Phase 2 of NCE changes {changed} of the pages: its limits keep it from cutting stories. Most of what `nce` removes, phase 1
leaves out with the rest of the page. It is no vote of the default method: on {left} pages newscrawl keeps more than
{kept:.0%} of the comments, and phase 2 changes {helped} of these. The NCE paper states that phase 2 removes the comments of "more than 70%" of the
documents that have some, and that relevant content is lost on "less than 4%"; it does not say from which share of the words
on. `nce:published` has its conditions without limits, `nce:ancestor` the cut of the thesis ({{doc}}`../internals/methods`).

"""


def main() -> None:
    """Run the tools, print the tables and write the page."""
    options = _parser().parse_args()
    pages = [*made_pages(), *real_pages(options.corpora)]
    scores = {name: _run(name, pages) for name in options.tools}
    checked = (
        page for name in _CORPORA_CHECKED for page in load_corpus(options.corpora / name).pages
    )
    found = [*tables(scores), precision_table(checked, _CORPORA_CHECKED)]
    print_tables(found, sys.stdout)
    if options.out:
        options.out.write_text(_page(pages, found, *_phase_2(scores)), encoding="utf-8")


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


def _page(
    pages: Sequence[Scored], tables: Sequence[Table], changed: int, left: int, helped: int
) -> str:
    """Return the page of results.

    Phase 2 of NCE has *changed* so many pages. On *left* pages newscrawl leaves comments; phase 2
    has changed *helped* of these.
    """
    made = [page for page in pages if page.half != "corpora" and page.system != WITHOUT]
    head = _HEAD.format(
        made=len(made),
        systems=len({page.system for page in made}),
        languages=len({page.language for page in made}),
        without=sum(page.system == WITHOUT for page in pages),
        real=sum(page.half == "corpora" for page in pages),
        changed=changed,
        left=left,
        helped=helped,
        kept=1 - MIN_REMOVED,
        removed=MIN_REMOVED,
        lost=MAX_LOST,
        trafilatura=version("trafilatura"),
        resiliparse=version("resiliparse"),
    )
    return head + "\n".join(map(markdown, tables))


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
