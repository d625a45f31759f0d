"""What is learned from a page: the attributes of its text nodes, and which hold its labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from newscrawl import clock
from newscrawl.body.nce import nce
from newscrawl.css.style import Stylesheets
from newscrawl.document import parse_document
from newscrawl.evaluation.corpora import LabelledPage
from newscrawl.evaluation.run import map_pages
from newscrawl.evaluation.sheets import corpus_sheets
from newscrawl.fields.attributes import TextNodes, evaluated_rows
from newscrawl.fields.metadata import read_metadata
from newscrawl.fields.spanfeatures import Candidates, find_candidates
from newscrawl.fields.spans import LEVELS
from newscrawl.text import squeeze
from newscrawl.training.bodies import BodyExample, body_example, variant_examples
from newscrawl.training.labels import Labels, align

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from newscrawl.document import Document
    from newscrawl.fields.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Example:
    """A page as the classifiers see it."""

    #: the nodes that are evaluated
    nodes: TextNodes
    labels: Labels
    #: text of the nodes labelled title and date, also of those that are not evaluated
    title: str
    date: str
    #: text of the ``title`` element
    head_title: str
    #: position of the title node labelled
    position: int | None
    #: the candidates for the default's title, with their style where no sheet is missing
    candidates: Candidates
    #: and those that were left if the page did not show its title, all wrong; none where that is in
    #: no ``h1``: the label of some pages is a headline for search engines, and their own were wrong
    wrong: Candidates
    #: the candidates for the default's body; None where that is not labelled
    body: BodyExample | None = None
    #: the same of pages made of this one
    body_variants: tuple[BodyExample, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return the example as JSON values."""
        again = {
            "title_again": sorted(self.labels.title_again),
            "date_again": sorted(self.labels.date_again),
        }
        return asdict(self) | {"labels": asdict(self.labels) | again}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Example:
        """Return the example that :meth:`to_plain` made *plain* of, also after a trip through JSON."""
        labels, body = plain["labels"], plain["body"]
        return cls(
            **{
                **plain,
                "nodes": TextNodes(**plain["nodes"]),
                "labels": Labels(
                    tuple(labels["title"]),
                    tuple(labels["date"]),
                    frozenset(labels["title_again"]),
                    frozenset(labels["date_again"]),
                ),
                "candidates": Candidates.from_plain(plain["candidates"]),
                "body": None if body is None else BodyExample.from_plain(body),
                "body_variants": tuple(map(BodyExample.from_plain, plain["body_variants"])),
                "wrong": Candidates.from_plain(plain["wrong"]),
            }
        )


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
) -> Candidates:
    heading = next(iter(_headings(document, labels.title)), None)
    if heading is None or document.tag[heading] != "h1":
        return Candidates([], [], {})
    shown = {*labels.title, *labels.title_again}
    unseen = shown.union(*map(document.text_nodes, _headings(document, shown)))
    return find_candidates(document, metadata, page.url, forest, unseen=unseen)


def _headings(document: Document, rows: Iterable[int]) -> set[int]:
    """Return the headings that any of the text nodes *rows* is in."""
    return {
        above for row in rows for above in document.ancestors(row) if document.tag[above] in LEVELS
    }


def _text(document: Document, rows: Iterable[int]) -> str:
    return " ".join(squeeze(document.text[row]) for row in rows)
