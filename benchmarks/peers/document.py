"""Report of the comparison: its method, and tables."""

from __future__ import annotations

from platform import python_version
from typing import TYPE_CHECKING

import lxml.etree

from benchmarks.peers.tools import OURS, TOOLS
from newscrawl.lab.corpora.metadata_match import METADATA_FIELDS, MIN_DESCRIPTION_F1
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.corpora.title_match import EXACT_RATIO
from newscrawl.lab.evaluation.bootstrap import RESAMPLES
from newscrawl.lab.evaluation.families import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.peers.tables import Results
    from newscrawl.lab.corpora.corpus import LabelledPage

_HEAD = """\
---
orphan: true
---

<!-- Written by `python -m benchmarks.peers --out docs/results/peers.md`: do not edit. -->

# Comparison with other tools

    make peers ARGS='--out docs/results/peers.md'

Each tool extracts the same {pages} pages of {sites} sites, without access to the network, each page
in a process with a deadline. A page on which a tool fails or gives nothing counts as 0.
`{ours}` is the default method of newscrawl{folds}.
It also gets the time of the fetch, if known, as the reference for relative dates.
Rows are ordered by quality, so tools above `{ours}` are better than it in that table.

- **Families**: *news* is {news}, the others are one corpus each ({{doc}}`body`).
  Pages of other corpora are scored for their labelled metadata only.
  No model is fitted to {untrained}; they are for measuring only. *Suspects* are pages whose label
  is wrong according to two extractors.
- **Words** are those of `newscrawl.text.words`: case and punctuation ignored, a character each in
  scripts without spaces.
- **Body**: bag of words, mean over pages. *Given* is the share of pages with a body.
- **Title**: F1 of the words of all pages together, and the share of pages with the title of
  the label (a fuzzy ratio of at least {exact} of 100). *Nodes*: against the text of the page's nodes
  that the aligner of the training (`newscrawl.lab.corpora.labels`) finds for the label; *label*:
  against the label itself, which is not always the headline shown.
- **Day**: the share of pages whose day of publication is right, without and with labels that
  match nothing on the page. *Or modified*: also right if the label is the tool's day of last
  modification, since some labels hold that day.
- **Authors**: *right* is the share of pages with exactly the labelled names, in any order, and no
  other; *site right* its mean over sites. *P*, *R* and *F1* are of the names of all pages together,
  *mean F1* is by page, *silent* the share of pages without any name. Names are compared by their
  words.
- **Description**: *right* with an F1 of words of at least {description}. {unlabelled}
- **Metadata given**: share of the pages with labelled metadata, whether the value is right or wrong.
- **ours - it**: mean of the differences page by page, with the 95 % interval of a bootstrap over
  sites ({resamples} resamples).
- {{doc}}`stages` has the CPU time of some of the tools.

Labels of fundus were read from the publishers' metadata by parsers made for each: tools that read
metadata have an advantage there, above all with dates. The saved pages of postlight have `value` in
place of `content` in most `meta` elements, which no tool reads; their descriptions are standfirsts.
newspaper4k fails on Korean pages because it would have to download data at run time. justext has no stop words for Chinese, goose3 splits Chinese
only if configured to, and both newspaper4k and goose3 use English stop words where a page
declares no language.

Python {python}, lxml {lxml}.
"""

_FOLDS = ", with models that have seen no page of the same registered domain"


def document(results: Results, tables: Iterable[Table]) -> str:
    """Return the report in Markdown."""
    return "\n".join([_head(results), *map(markdown, tables), markdown(_calls(results))])


def _head(results: Results) -> str:
    pages = [result.page for result in next(iter(results.values()))]
    return _HEAD.format(
        pages=len(pages),
        sites=len({page.site for page in pages}),
        ours=OURS,
        folds=_FOLDS if TOOLS[OURS].learned else "",
        untrained=", ".join(family.name for family in FAMILIES if not family.may_train),
        news=" + ".join(FAMILIES[0].corpora),
        resamples=RESAMPLES,
        description=MIN_DESCRIPTION_F1,
        unlabelled=_unlabelled(pages),
        exact=EXACT_RATIO,
        python=python_version(),
        lxml=lxml.etree.__version__,
    )


def _unlabelled(pages: Sequence[LabelledPage]) -> str:
    """Return a sentence that lists the metadata without labels, empty if there are none."""
    names = [
        name.replace("_", " ")
        for name in METADATA_FIELDS
        if not any(getattr(page, name) for page in pages)
    ]
    return f"No corpus has labels of {', '.join(names)}." if names else ""


def _calls(results: Results) -> Table:
    rows = [[name, TOOLS[name].version or "", f"`{TOOLS[name].call}`"] for name in results]
    return Table("How each was called", ("tool", "version", "call"), rows)


def markdown(table: Table) -> str:
    """Return *table* in Markdown, with the name of our method in bold."""
    rows = [[f"**{row[0]}**", *row[1:]] if row[0] == OURS else row for row in table.rows]
    lines = [table.columns, ["---"] * len(table.columns), *rows]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"## {table.title}\n\n{body}\n"
