"""Report of ``scrapy train`` on the default method's title: scores in folds, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from newscrawl.fields.titles.title_model import choose_span, title_text
from newscrawl.lab.corpora.calibration import bin_rows, confidence_bins
from newscrawl.lab.corpora.folds import FOLDS, KINDS, Kind, folds
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.corpora.title_match import TitleMatch, match_means
from newscrawl.lab.training.example_types import without_style
from newscrawl.lab.training.title_training import fit_title_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.ensemble.ensemble import Model
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example
    from newscrawl.lab.training.examples import Examples

COLUMNS = (
    "", "folds", "corpus", "pages", "P", "R", "F1", "F1 over pages", "exact",
    "pages with a label", "F1", "exact",
)  # fmt: skip

BINS = (0.0, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Bounds of the confidence bins."""

STYLED = "style known"


class TitleResult(NamedTuple):
    """Titles predicted for one page by a model of the other folds."""

    page: LabelledPage
    example: Example
    #: predicted title with style
    styled: str
    #: predicted title with unknown style
    unstyled: str
    #: confidence and text of the best candidate with unknown style
    confidence: float
    best: str


def title_tables(examples: Examples[Example]) -> Iterator[Table]:
    """Yield out-of-fold scores and reliability of the default method's title."""
    rows: list[list[str]] = []
    for kind in KINDS:
        results = list(_out_of_fold(examples, kind))
        rows += [row for name in ("", STYLED) for row in _rows(results, kind, name)]
        if kind == "extra-site":
            reliability = _reliability(results)
    yield Table("Titles of method newscrawl: against text nodes, and against labels", COLUMNS, rows)
    yield reliability


def _out_of_fold(examples: Examples[Example], kind: Kind) -> Iterator[TitleResult]:
    fold_of = folds(examples.pages, kind)
    pairs = list(zip(examples.pages, examples.examples, strict=True))
    for fold in range(FOLDS):
        others = [pair for pair, other in zip(pairs, fold_of, strict=True) if other != fold]
        model = fit_title_model([page for page, _ in others], [example for _, example in others])
        for (page, example), other in zip(pairs, fold_of, strict=True):
            if other == fold:
                yield _result(page, example, model)


def _result(page: LabelledPage, example: Example, model: Model) -> TitleResult:
    unstyled = without_style(example.candidates)
    choice = choose_span(unstyled, model)
    return TitleResult(
        page,
        example,
        title_text(example.candidates, model),
        title_text(unstyled, model),
        0.0 if choice is None else model.ensemble.calibrated(choice.probability),
        "" if choice is None else choice.span.text,
    )


def _rows(results: Sequence[TitleResult], kind: Kind, style: str) -> Iterator[list[str]]:
    """Yield the scores of all pages and of each corpus, or with *style* of pages with known style."""
    if style:
        known = [
            result for result in results if any(result.example.candidates.features["style_known"])
        ]
        yield _row("without style", kind, STYLED, [(result, result.unstyled) for result in known])
        yield _row("with style", kind, STYLED, [(result, result.styled) for result in known])
        return
    yield _row("without style", kind, "all", [(result, result.unstyled) for result in results])
    yield _row("with style", kind, "all", [(result, result.styled) for result in results])
    for corpus in dict.fromkeys(result.page.corpus for result in results):
        members = [(result, result.unstyled) for result in results if result.page.corpus == corpus]
        yield _row("without style", kind, corpus, members)


def _row(
    name: str, kind: Kind, corpus: str, titles: Sequence[tuple[TitleResult, str]]
) -> list[str]:
    by_nodes = match_means(
        [TitleMatch.of(text, it.example.title) for it, text in titles if it.example.title]
    )
    by_label = match_means(
        [TitleMatch.of(text, it.page.title) for it, text in titles if it.page.title]
    )
    figures = ("micro_precision", "micro_recall", "micro_f1", "f1", "exact")
    return [
        name, kind, corpus, str(by_nodes["pages"]), *(f"{by_nodes[part]:.3f}" for part in figures),
        str(by_label["pages"]), *(f"{by_label[part]:.3f}" for part in ("micro_f1", "exact")),
    ]  # fmt: skip


def _reliability(results: Iterable[TitleResult]) -> Table:
    cases = [
        (result.confidence, TitleMatch.of(result.best, result.example.title).exact)
        for result in results
        if result.best and result.example.title
    ]
    columns = ("confidence", "pages", "mean confidence", "exact")
    return Table(
        "Titles of method newscrawl: confidence, extra-site",
        columns,
        bin_rows(confidence_bins(cases, BINS)),
    )
