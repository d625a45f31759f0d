"""Papers whose experiments are repeated: measurement, tables and the text of the results page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.papers import coreex_paper, econ_paper, nce_paper
from newscrawl.body.coreex import CoreExParameters
from newscrawl.corpora.map_pages import map_pages
from newscrawl.corpora.tables import Table, markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.corpora.map_pages import PageOutcome


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: how its figures are measured and shown."""

    #: ``package.module:name`` of the function that measures one page in a worker
    function: str
    #: converts the plain result of that function to a value
    read: Callable[[Mapping[str, Any]], Any]
    #: value of a page that could not be measured
    failed: Callable[[LabelledPage], Any]
    #: figures of a corpus as JSON values
    summarise: Callable[[Sequence[PageOutcome[Any]]], dict[str, Any]]
    #: tables of the summaries by corpus; the last column may hold all corpora together
    tables: Callable[[Mapping[str, Mapping[str, Any]]], Iterator[Table]]
    #: heading and introduction of the results page
    introduction: str

    def measure(
        self,
        pages: Sequence[LabelledPage],
        *,
        workers: int,
        advance: Callable[[], object] | None = None,
    ) -> list[PageOutcome[Any]]:
        """Measure the *pages* whose title and body are labelled."""
        return map_pages(
            self.function,
            [page for page in pages if page.relevant_content is not None],
            self.read,
            self.failed,
            workers=workers,
            advance=advance,
        )


_NCE = f"""\
# NCE

Figures that Laber and others publish for their News Content Extractor (CIKM 2009), and those of
method `nce`. The relevant content is the title and the body; a title is retrieved when the
article's title, or a paragraph of its body, holds {nce_paper.VERY_HIGH} of its words.
"""

_COREEX = f"""\
# CoreEx

Figures that Prasad and Paepcke publish for CoreEx (2008), measured on 1,120 pages of 27 sources,
and those of today. R1 to R6 have the paper's constants (weight_text .01, threshold .9); *today* is
method `coreex`, with weight_text {CoreExParameters.TODAY.weight_text} and two decisions that the paper leaves open: hidden text
does not count, and a form that holds half of the page does. R6 is R5 on a page cleaned by html5lib;
the paper used TagSoup.

The core content is title, date, byline and body: the text nodes that the training's aligner
finds for title and date, the short node nearest to the title that names an author, and the nodes
that at least half of the body's words were taken from. Text-based figures weigh a node by its words
(section 3.3); they are means over pages, and a page without output scores 0. A part is recalled if
the output holds {coreex_paper.RECALLED} of its words. Copyright lines, of which the paper recalls 20 %, are not
labelled here.

In 2008 pages had few scripts; today their scripts hold far more words than their text, and R1 to
R4, which count them, find little else.
"""

_ECON = f"""\
# ECON

Figures that Guo and others publish for ECON and for CoreEx, on pages of 30 Chinese sites judged by
hand, and those of today. `econ:literal` follows the paper to the letter, `coreex:R5` is CoreEx as
published; `econ` and `coreex` have the constants and interpretations that work best today.

*Correctly*: the output holds {econ_paper.COMPLETE_RECALL} of the words of the body, and {econ_paper.CLEAN_PRECISION} of its words are the
body's or the title's. *Wrongly*: the first without the second. *Missed*: the rest. A short-page has
a body of less than {econ_paper.SHORT_PAGE_LIMIT} weighted characters. A pieces-page has a body of at least {econ_paper.MIN_PIECES} text
nodes, {econ_paper.MIN_INLINE_SHARE} of them in or next to an inline element. The language is the one that the page
declares.
"""

PAPERS: Mapping[str, Paper] = {
    "nce": Paper(
        "benchmarks.papers.nce_paper:measure_page",
        nce_paper.NcePage.from_plain,
        lambda _: nce_paper.NcePage(),
        nce_paper.summarise_nce,
        nce_paper.nce_tables,
        _NCE,
    ),
    "coreex": Paper(
        "benchmarks.papers.coreex_paper:measure_page",
        coreex_paper.CoreExPage.from_plain,
        coreex_paper.failed,
        coreex_paper.summarise_coreex,
        coreex_paper.coreex_tables,
        _COREEX,
    ),
    "econ": Paper(
        "benchmarks.papers.econ_paper:measure_page",
        lambda plain: econ_paper.EconPage(**plain),
        lambda _: econ_paper.EconPage(),
        econ_paper.summarise_econ,
        econ_paper.econ_tables,
        _ECON,
    ),
}
"""Papers by the name of their method."""


def results_page(paper: Paper, command: str, tables: Iterable[Table]) -> str:
    """Return the page of ``docs/results`` that *command* writes with *tables*."""
    written = f"<!-- Written by `{command}`: do not edit. -->"
    return "\n".join(
        [written, "", paper.introduction, f"    {command}", "", *map(markdown, tables)]
    )
