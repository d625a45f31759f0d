"""The page of the manual: what was measured, how, and the tables."""

from __future__ import annotations

from platform import python_version
from typing import TYPE_CHECKING

import lxml.etree

from benchmarks.peers.tables import groups
from benchmarks.peers.tools import OURS, TOOLS
from newscrawl.corpora.tables import Table
from newscrawl.corpora.title_match import EXACT_RATIO
from newscrawl.evaluation.bootstrap import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchmarks.peers.tables import Results
    from benchmarks.peers.tools import Field

_HEAD = """\
---
orphan: true
---

<!-- Written by `python -m benchmarks.peers --out docs/results/peers.md`: do not edit. -->

# Comparison with other tools

    make peers ARGS='--out docs/results/peers.md'

All tools on the same {pages} pages of {sites} sites ({corpora}), none of them with access to the
network, each page in a process with a deadline. A page on which a tool fails or gives nothing
counts as 0. `{ours}` is ours{folds}; it is told when a page was fetched, where that is known, as
relative dates are told from there.

- **Words** are those of `newscrawl.text.words`: case and punctuation aside, a character each in
  scripts without spaces.
- **Title**: F1 of the words of all pages together, and the share of pages whose title is the label
  but for trifles (a fuzzy ratio of {exact} of 100). *Nodes*: against the text of the page's nodes
  that the aligner of the training (`newscrawl.corpora.labels`) finds for the label; *label*:
  against the label itself, which is not always the headline shown.
- **Day**: the share of pages whose day of publication is right, without and with labels that match
  nothing on the page. *Or modified*: a label that is the day which the tool states as that of the
  last modification counts as right, too, as some labels hold that day.
- **Body**: bag of words, mean over pages, with and without pages whose label two extractors agree
  to be wrong.
- **ours - it**: mean of the differences page by page, with the 95 % interval of a bootstrap over
  sites ({resamples} resamples).
- **Cost**: CPU time of the call divided by that of `lxml.html.document_fromstring` on the same
  bytes, in the same process, before and after.

Labels of fundus were read from the publishers' metadata by parsers made for each: who reads
metadata is at an advantage there, above all with dates. newspaper4k fails on Korean pages for
want of data that it would download at run time.

Python {python}, lxml {lxml}.

![Quality against cost]({plot})
"""


def write_document(
    results: Results, fields: Sequence[Field], found: Iterable[Table], path: Path
) -> None:
    """Write the page with the tables *found* to *path*, and its plot beside it."""
    from benchmarks.peers.plot import plot  # noqa: PLC0415  # matplotlib is in the extra

    picture = path.with_suffix(".svg")
    path.parent.mkdir(parents=True, exist_ok=True)
    plot(results, fields, picture)
    path.write_text(document(results, found, picture.name), encoding="utf-8")


def document(results: Results, found: Iterable[Table], picture: str) -> str:
    """Return the page with the tables *found*; *picture* is the name of the plot."""
    return "\n".join([_head(results, picture), *map(markdown, found), markdown(_calls(results))])


def _head(results: Results, picture: str) -> str:
    pages = [one.page for one in next(iter(results.values()))]
    return _HEAD.format(
        pages=len(pages),
        sites=len({page.site for page in pages}),
        corpora=groups(results)[-1].name,
        ours=OURS,
        folds=", by models of folds that the page's site is not in" if TOOLS[OURS].learned else "",
        resamples=RESAMPLES,
        exact=EXACT_RATIO,
        python=python_version(),
        lxml=lxml.etree.__version__,
        plot=picture,
    )


def _calls(results: Results) -> Table:
    rows = [[name, TOOLS[name].version or "", f"`{TOOLS[name].call}`"] for name in results]
    return Table("How each was called", ("tool", "version", "call"), rows)


def markdown(table: Table) -> str:
    """Return *table* in Markdown, the name of ours in bold."""
    rows = [[f"**{row[0]}**", *row[1:]] if row[0] == OURS else row for row in table.rows]
    lines = [table.columns, ["---"] * len(table.columns), *rows]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"## {table.title}\n\n{body}\n"
