"""What is learned from a page: the attributes of its text nodes, and which hold its labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from newscrawl import clock
from newscrawl.body.nce import nce
from newscrawl.corpora.corpus import LabelledPage
from newscrawl.corpora.corpus_sheets import corpus_sheets
from newscrawl.corpora.labels import Labels, align
from newscrawl.corpora.map_pages import map_pages
from newscrawl.css.cascade.style import Stylesheets
from newscrawl.document.document import parse_document
from newscrawl.fields.attributes import TextNodes, evaluated_rows
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title_candidates import HEADING_LEVELS
from newscrawl.fields.titles.title_features import TitleCandidates, find_candidates
from newscrawl.text import squeeze
from newscrawl.training.block_training import body_example, variant_examples
from newscrawl.training.example_types import Example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from newscrawl.document.document import Document
    from newscrawl.fields.metadata.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Examples:
    """The pages that could be read, and what is learned from each."""

    pages: list[LabelledPage]
    examples: list[Example]
    #: those that could not, and the errors
    failed: list[tuple[LabelledPage, str]]


def read_examples(
    pages: Sequence[LabelledPage],
    *,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> Examples:
    """Return the examples of *pages*, in order; *advance* is called after each."""
    outcomes = map_pages(
        "newscrawl.training.examples:read_example",
        pages,
        Example.from_plain,
        lambda _page: None,
        workers=workers,
        advance=advance,
    )
    read = [(one.page, one.value) for one in outcomes if one.value is not None]
    failed = [(one.page, one.error) for one in outcomes if one.error is not None]
    return Examples([page for page, _ in read], [example for _, example in read], failed)


def read_example(html: bytes, *, page: dict[str, Any]) -> dict[str, Any]:
    """Return the example of a page as JSON values; *page* is a :class:`LabelledPage` in them."""
    labelled = LabelledPage.from_plain(page)
    variants = variant_examples(labelled, html)
    return replace(example(parse_document(html), labelled), body_variants=variants).to_plain()


def example(document: Document, page: LabelledPage) -> Example:
    """Return what is learned from *document*, styled with the sheets of the page's corpus."""
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
        # Last, since it shows what the page hides.
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
        return TitleCandidates([], [], {})
    shown = {*labels.title, *labels.title_again}
    unseen = shown.union(*map(document.text_nodes, _headings(document, shown)))
    return find_candidates(document, metadata, page.url, forest, unseen=unseen)


def _headings(document: Document, rows: Iterable[int]) -> set[int]:
    """Return the headings that any of the text nodes *rows* is in."""
    return {
        above
        for row in rows
        for above in document.ancestors(row)
        if document.tag[above] in HEADING_LEVELS
    }


def _text(document: Document, rows: Iterable[int]) -> str:
    return " ".join(squeeze(document.text[row]) for row in rows)
