"""The pages of corpora as the classifiers see them, the whole tree beside the relevant nodes."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

from newscrawl.body.nce import nce
from newscrawl.corpora.corpus import load_corpus
from newscrawl.corpora.corpus_sheets import corpus_sheets
from newscrawl.css.cascade.style import Stylesheets
from newscrawl.document.document import DocumentError, parse_document
from newscrawl.fields.attributes import TextNodes, evaluated_rows
from newscrawl.training.examples import Examples, example

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.training.example_types import Example

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading:
    """A page as the classifiers see it."""

    page: LabelledPage
    #: the relevant nodes and all before them
    relevant: Example
    #: every text node
    whole: Example
    #: row from which on the nodes evaluated are NCE's: the first of its forest
    start: int

    def body(self, *, after: int | None = None, without: Sequence[int] = ()) -> str:
        """Return the text of the relevant nodes, those *after* a row, *without* some rows."""
        least = self.start if after is None else max(self.start, after + 1)
        nodes = self.relevant.nodes
        return " ".join(
            text
            for row, text in zip(nodes.rows, nodes.texts, strict=True)
            if row >= least and row not in without
        )


def labelled_pages(folders: Sequence[Path], limit: int | None = None) -> list[LabelledPage]:
    """Return the pages with a title or a date, at most *limit* of a corpus, spread evenly.

    Raises :exc:`~newscrawl.corpora.corpus.CorpusError`.
    """
    found = []
    for folder in folders:
        found += spread([one for one in load_corpus(folder).pages if one.title or one.date], limit)
    return found


def spread(pages: Sequence[T], most: int | None) -> list[T]:
    """Return at most *most* of *pages*, taken at equal distances."""
    if most is None or len(pages) <= most:
        return list(pages)
    return [pages[place * len(pages) // most] for place in range(most)]


def read_pages(pages: Sequence[LabelledPage], workers: int) -> list[Reading]:
    """Return the readings of *pages*, in order; those that are no pages are left out."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [found for found in pool.map(read_page, pages, chunksize=8) if found is not None]


def read_page(page: LabelledPage) -> Reading | None:
    """Return the reading of *page*; None where it is no page."""
    try:
        document = parse_document(page.html())
    except DocumentError:
        return None
    relevant = example(document, page)
    sheets = corpus_sheets(page.path.parent.parent)
    styles = Stylesheets(document, sheets, base_url=page.url)
    nodes = TextNodes.of(document, evaluated_rows(document, ()), styles.style_of)
    forest = nce(document).forest
    return Reading(page, relevant, replace(relevant, nodes=nodes), forest[0] if forest else 0)


def examples_of(readings: Sequence[Reading], *, whole: bool = False) -> Examples:
    """Return what is learned from *readings*: of the relevant nodes, or of the whole tree."""
    examples = [one.whole if whole else one.relevant for one in readings]
    return Examples([one.page for one in readings], examples, [])
