"""Training data of labelled pages: features of text nodes and blocks, aligned with the labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from newscrawl import clock
from newscrawl.body.nce import nce
from newscrawl.css import Stylesheets
from newscrawl.document.document import parse_document
from newscrawl.fields.cardoso import TextNodes, evaluated_rows
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title_candidates import HEADING_LEVELS
from newscrawl.fields.titles.title_features import TitleCandidates, find_candidates
from newscrawl.lab.corpora.corpus import LabelledPage
from newscrawl.lab.corpora.corpus_sheets import corpus_sheets
from newscrawl.lab.corpora.labels import Labels, align
from newscrawl.lab.corpora.map_pages import map_pages
from newscrawl.lab.training.block_training import body_example, variant_examples
from newscrawl.lab.training.example_types import Example, TitleExample
from newscrawl.lab.training.made_pages import corpus_stories
from newscrawl.lab.training.title_pages import made_title_pages
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.metadata.metadata import Metadata
    from newscrawl.lab.corpora.map_pages import PageOutcome


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Examples(Generic[T]):
    """Pages and their examples, in the same order."""

    pages: list[LabelledPage]
    examples: list[T]
    #: pages that could not be read, with the error
    failed: list[tuple[LabelledPage, str]]

    @classmethod
    def of(cls, outcomes: Sequence[PageOutcome[T | None]]) -> Examples[T]:
        """Return the examples read by :func:`~newscrawl.lab.corpora.map_pages.map_pages`."""
        read = [(outcome.page, outcome.value) for outcome in outcomes if outcome.value is not None]
        failed = [
            (outcome.page, outcome.error) for outcome in outcomes if outcome.error is not None
        ]
        return Examples([page for page, _ in read], [example for _, example in read], failed)


def read_examples(
    pages: Sequence[LabelledPage],
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> Examples[Example]:
    """Return the examples of *pages* in order; *advance* is called after each page."""
    outcomes = map_pages(
        "newscrawl.lab.training.examples:read_example",
        pages,
        Example.from_plain,
        lambda _page: None,
        workers=workers,
        advance=advance,
    )
    return Examples.of(outcomes)


def read_example(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return the :class:`Example` of a :class:`LabelledPage`, both as JSON values."""
    labelled = LabelledPage.from_plain(page)
    return replace(
        example(parse_document(html), labelled),
        body_variants=variant_examples(labelled, html),
        title_variants=tuple(title_variants(labelled, html)),
    ).to_plain()


def title_variants(page: LabelledPage, html: bytes) -> Iterator[TitleExample]:
    """Yield the title examples of pages made from *page* with the bytes *html*."""
    if page.body is None:
        return
    for content in made_title_pages(page, html, corpus_stories(page.path.parent.parent)):
        document = parse_document(content)
        if rows := align(document, page).title:
            metadata = read_metadata(document, page.url, clock.now())
            candidates = find_candidates(document, metadata, page.url, nce(document).forest)
            yield TitleExample(candidates, rows, _text(document, rows))


def example(document: Document, page: LabelledPage) -> Example:
    """Return the example of *document*, styled with the sheets of the page's corpus."""
    sheets = corpus_sheets(page.path.parent.parent)
    styles = Stylesheets(document, sheets, base_url=page.url or "")
    forest = nce(document).forest
    rows = evaluated_rows(document, forest)
    labels = align(document, page)
    everything = list(document.text_nodes())
    metadata = read_metadata(document, page.url, clock.now())
    candidates = find_candidates(document, metadata, page.url, forest)
    return Example(
        TextNodes.of(document, rows, styles.style_of),
        labels,
        _text(document, labels.title),
        _text(document, labels.date),
        document.title,
        everything.index(labels.title[0]) if labels.title else None,
        candidates.with_style(rows, styles.style_of) if styles.complete else candidates,
        _wrong_candidates(document, page, metadata, forest, labels),
        body_example(document, page.body) if page.body else None,
    )


def _wrong_candidates(
    document: Document,
    page: LabelledPage,
    metadata: Metadata,
    forest: Sequence[int],
    labels: Labels,
) -> TitleCandidates:
    heading = next(iter(_headings(document, labels.title)), None)
    if heading is None or document.tag[heading] != "h1":
        return TitleCandidates([], {}, {})
    titles = {*labels.title, *labels.title_repeats}
    unseen = titles.union(*map(document.text_nodes, _headings(document, titles)))
    return find_candidates(document, metadata, page.url, forest, unseen=unseen)


def _headings(document: Document, rows: Iterable[int]) -> set[int]:
    """Return the headings that contain any of the text nodes *rows*."""
    return {
        ancestor
        for row in rows
        for ancestor in document.ancestors(row)
        if document.tag[ancestor] in HEADING_LEVELS
    }


def _text(document: Document, rows: Iterable[int]) -> str:
    return " ".join(squeeze(document.text[row]) for row in rows)
