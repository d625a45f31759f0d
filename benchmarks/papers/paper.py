"""Papers whose experiments are repeated: how their figures are measured and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.papers import coreex_paper, coreex_tables, econ_paper, nce_paper, texts
from benchmarks.papers.measured_pages import by_group
from newscrawl.lab.corpora.map_pages import map_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.result_page import Part
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.map_pages import PageOutcome


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: how its figures are measured and shown."""

    #: ``package.module:name`` of the function that measures one page in a worker
    function: str
    #: converts the plain result of that function to a value
    read: Callable[[Mapping[str, Any]], Any]
    #: value of a page that could not be measured
    failed: Callable[[LabelledPage], Any]
    #: figures of a group of pages as JSON values
    summarise: Callable[[Sequence[PageOutcome[Any]]], dict[str, Any]]
    #: tables and charts of the summaries by group of corpora; the last group holds all pages
    tables: Callable[[Mapping[str, Mapping[str, Any]]], Iterable[Part]]
    #: heading and introduction of the results page
    introduction: str
    #: notes of its tables, by the beginning of the title
    notes: Mapping[str, str]

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

    def summarise_groups(self, outcomes: Sequence[PageOutcome[Any]]) -> dict[str, dict[str, Any]]:
        """Return the summary of each group of corpora, and of all pages."""
        return {name: self.summarise(group) for name, group in by_group(outcomes).items()}


PAPERS: Mapping[str, Paper] = {
    "nce": Paper(
        "benchmarks.papers.nce_paper:measure_page",
        nce_paper.NcePage.from_plain,
        lambda _: nce_paper.NcePage(),
        nce_paper.summarise_nce,
        nce_paper.nce_tables,
        texts.NCE,
        texts.NCE_NOTES,
    ),
    "coreex": Paper(
        "benchmarks.papers.coreex_paper:measure_page",
        coreex_paper.CoreExPage.from_plain,
        coreex_paper.failed,
        coreex_paper.summarise_coreex,
        coreex_tables.coreex_tables,
        texts.COREEX,
        texts.COREEX_NOTES,
    ),
    "econ": Paper(
        "benchmarks.papers.econ_paper:measure_page",
        lambda plain: econ_paper.EconPage(**plain),
        lambda _: econ_paper.EconPage(),
        econ_paper.summarise_econ,
        econ_paper.econ_tables,
        texts.ECON,
        texts.ECON_NOTES,
    ),
}
"""Papers by the name of their method."""
