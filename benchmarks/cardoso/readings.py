"""Examples of labelled pages with the relevant nodes and with all text nodes."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

from newscrawl.body.nce import nce
from newscrawl.css import Stylesheets
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.fields.cardoso import TextNodes, evaluated_rows
from newscrawl.lab.corpora.corpus import load_corpus
from newscrawl.lab.corpora.corpus_sheets import corpus_sheets
from newscrawl.lab.training.examples import Examples, example

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading:
    """Two examples of one page."""

    page: LabelledPage
    #: relevant nodes and all nodes before them
    relevant: Example
    #: all text nodes
    whole: Example
    #: first row of NCE's forest
    start: int

    def body(
        self, *, after: int | None = None, without: Sequence[int] = (), gap: bool = False
    ) -> str:
        """Return the text of NCE's relevant nodes *after* a row, *without* some rows.

        With *gap*, the nodes between that row and the first relevant node are included.
        """
        first = self.start if after is None else max(self.start, after + 1)
        if gap and after is not None:
            first = after + 1
        nodes = self.relevant.nodes
        return " ".join(
            text
            for row, text in zip(nodes.rows, nodes.texts, strict=True)
            if row >= first and row not in without
        )


def labelled_pages(folders: Sequence[Path], limit: int | None = None) -> list[LabelledPage]:
    """Return the pages with a labelled title or date, at most *limit* per corpus, evenly spaced.

    Raises :exc:`~newscrawl.lab.corpora.corpus.CorpusError`.
    """
    found = []
    for folder in folders:
        pages = load_corpus(folder).pages
        found += spread([page for page in pages if page.title or page.date], limit)
    return found


def spread(pages: Sequence[T], limit: int | None) -> list[T]:
    """Return at most *limit* evenly spaced elements of *pages*."""
    if limit is None or len(pages) <= limit:
        return list(pages)
    return [pages[number * len(pages) // limit] for number in range(limit)]


def read_pages(pages: Sequence[LabelledPage], workers: int) -> list[Reading]:
    """Return the readings of *pages* in order, without pages that cannot be parsed."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [found for found in pool.map(read_page, pages, chunksize=8) if found is not None]


def read_page(page: LabelledPage) -> Reading | None:
    """Return the reading of *page*, None if it cannot be parsed."""
    try:
        document = parse_document(page.html())
    except DocumentError:
        return None
    relevant = example(document, page)
    sheets = corpus_sheets(page.path.parent.parent)
    styles = Stylesheets(document, sheets, base_url=page.url or "")
    nodes = TextNodes.of(document, evaluated_rows(document, ()), styles.style_of)
    forest = nce(document).forest
    return Reading(page, relevant, replace(relevant, nodes=nodes), forest[0] if forest else 0)


def examples_of(readings: Sequence[Reading], *, whole: bool = False) -> Examples[Example]:
    """Return the examples of *readings*, with relevant nodes or all text nodes."""
    examples = [reading.whole if whole else reading.relevant for reading in readings]
    return Examples([reading.page for reading in readings], examples, [])
