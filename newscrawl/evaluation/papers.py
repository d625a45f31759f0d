"""What each paper prints of its own method, beside ours today: tables, and pages of the manual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from newscrawl.body.coreex import CoreExParameters
from newscrawl.corpora.tables import Table, markdown
from newscrawl.evaluation import coreex_paper, econ_paper, nce_paper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.corpora.map_pages import PageOutcome


class Paper(NamedTuple):
    """How the figures of a paper are measured and shown."""

    #: pages, workers and advance as :func:`newscrawl.evaluation.page_scores.evaluate` takes them
    measure: Callable[..., list[PageOutcome[Any]]]
    #: JSON values of the outcomes of a corpus
    summarise: Callable[[Sequence[PageOutcome[Any]]], dict[str, Any]]
    #: tables of the summaries of each corpus, and of all together, by name
    tables: Callable[[Mapping[str, Mapping[str, Any]]], Iterator[Table]]
    #: how the page of the manual begins
    head: str


_NCE = f"""\
# NCE

What Laber and others print of their News Content Extractor (CIKM 2009), and what method `nce`
finds. The relevant content is the title and the body; a title is retrieved when the article's
title, or a paragraph of its body, holds {nce_paper.VERY_HIGH} of its words.
"""

_COREEX = f"""\
# CoreEx

What Prasad and Paepcke print of CoreEx (2008), measured on 1,120 pages of 27 sources, and what it
finds today. R1 to R6 have the paper's constants (weight_text .01, threshold .9); *today* is method
`coreex`, with weight_text {CoreExParameters.TODAY.weight_text} and two readings that the paper leaves open: hidden text
does not count, and a form that holds half of the page does. R6 is R5 on a page that html5lib made
clean, where the paper used TagSoup.

The core content is title, date, byline and body: the text nodes that the aligner of the training
finds for title and date, the short node nearest to the title that names an author, and the nodes
that at least half of the body's words were taken from. Text-based figures weigh a node by its words
(section 3.3); they are means over pages, a page with nothing found being 0. A part is recalled when
the output holds {coreex_paper.RECALLED} of its words. Copyright lines, of which the paper recalls 20 %, are not
labelled here.

Scripts were few in 2008; today those of a page hold far more words than its text, and R1 to R4,
which count them, find little else.
"""

_ECON = f"""\
# ECON

What Guo and others print of ECON and of CoreEx, on pages of 30 Chinese sites judged by hand, and
what both find today. `econ:literal` is the paper to the letter, `coreex:R5` CoreEx as published;
`econ` and `coreex` are the readings and constants that work best today.

*Correctly*: the output holds {econ_paper.ENTIRE} of the words of the body, and {econ_paper.ONLY} of its words are the
body's or the title's. *Wrongly*: the first without the second. *Missed*: the rest. A short-page has
a body of less than {econ_paper.SHORT} weighted characters. A pieces-page has a body of at least {econ_paper.LEAST_PIECES} text
nodes, {econ_paper.BROKEN} of them in an inline element or beside one. The language is that which the page
states.
"""

PAPERS: Mapping[str, Paper] = {
    "nce": Paper(nce_paper.measure, nce_paper.summarise_nce, nce_paper.nce_tables, _NCE),
    "coreex": Paper(
        coreex_paper.measure, coreex_paper.summarise_coreex, coreex_paper.coreex_tables, _COREEX
    ),
    "econ": Paper(econ_paper.measure, econ_paper.summarise_econ, econ_paper.econ_tables, _ECON),
}
"""By the method's name, without what follows a colon."""


def paper_of(method: str) -> Paper | None:
    """Return the paper of *method*, None where it has none."""
    return PAPERS.get(method.partition(":")[0])


def document(paper: Paper, command: str, tables: Iterable[Table]) -> str:
    """Return the page of the manual that *command* writes with *tables*."""
    written = f"<!-- Written by `{command}`: do not edit. -->"
    return "\n".join([written, "", paper.head, f"    {command}", "", *map(markdown, tables)])
