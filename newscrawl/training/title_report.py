"""What ``scrapy train`` prints of the default's title: scores in folds, and how sure it may be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.corpora.folds import FOLDS, KINDS, Kind, folds
from newscrawl.corpora.metrics import mean
from newscrawl.corpora.tables import Table
from newscrawl.corpora.title_match import TitleMatch, match_means
from newscrawl.fields.titles.title_model import choose_span, title_text
from newscrawl.training.title_training import fit_title_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.ensemble.ensemble import Model
    from newscrawl.training.example_types import Example
    from newscrawl.training.examples import Examples

COLUMNS = (
    "", "folds", "corpus", "pages", "P", "R", "F1", "F1 over pages", "exact",
    "pages with a label", "F1", "exact",
)  # fmt: skip

BINS = (0.0, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Bounds of the confidences that are told apart."""

STYLED = "style known"


class TitleResult(NamedTuple):
    """A page, and what a model that has not seen it says of it."""

    page: LabelledPage
    example: Example
    #: with the page's style, and as if that were unknown
    styled: str
    plain: str
    #: of the candidate chosen without style
    confidence: float
    #: text of that candidate
    chosen: str


def title_tables(examples: Examples) -> Iterator[Table]:
    """Yield the scores and the reliability of the default's title on pages of other folds."""
    rows: list[list[str]] = []
    for kind in KINDS:
        results = list(_out_of_fold(examples, kind))
        rows += [row for name in ("", STYLED) for row in _rows(results, kind, name)]
        if kind == "extra-site":
            reliability = _reliability(results)
    yield Table("Titles of method newscrawl: against text nodes, and against labels", COLUMNS, rows)
    yield reliability


def _out_of_fold(examples: Examples, kind: Kind) -> Iterator[TitleResult]:
    place = folds(examples.pages, kind)
    pairs = list(zip(examples.pages, examples.examples, strict=True))
    for fold in range(FOLDS):
        others = [pair for pair, other in zip(pairs, place, strict=True) if other != fold]
        model = fit_title_model([page for page, _ in others], [one for _, one in others])
        for (page, one), other in zip(pairs, place, strict=True):
            if other == fold:
                yield _result(page, one, model)


def _result(page: LabelledPage, one: Example, model: Model) -> TitleResult:
    plain = one.candidates.without_style()
    choice = choose_span(plain, model)
    return TitleResult(
        page,
        one,
        title_text(one.candidates, model),
        title_text(plain, model),
        0.0 if choice is None else model.ensemble.calibrated(choice.probability),
        "" if choice is None else choice.span.text,
    )


def _rows(results: Sequence[TitleResult], kind: Kind, style: str) -> Iterator[list[str]]:
    """Yield the scores of all pages and of each corpus; with *style*, of pages whose style is known."""
    if style:
        known = [one for one in results if one.example.candidates.style_known]
        yield _row("without style", kind, STYLED, [(one, one.plain) for one in known])
        yield _row("with style", kind, STYLED, [(one, one.styled) for one in known])
        return
    yield _row("without style", kind, "all", [(one, one.plain) for one in results])
    yield _row("with style", kind, "all", [(one, one.styled) for one in results])
    for corpus in dict.fromkeys(one.page.corpus for one in results):
        members = [(one, one.plain) for one in results if one.page.corpus == corpus]
        yield _row("without style", kind, corpus, members)


def _row(name: str, kind: Kind, corpus: str, found: Iterable[tuple[TitleResult, str]]) -> list[str]:
    found = list(found)
    nodes = [TitleMatch.of(text, one.example.title) for one, text in found if one.example.title]
    labels = [TitleMatch.of(text, one.page.title) for one, text in found if one.page.title]
    shown, labelled = match_means(nodes), match_means(labels)
    figures = ("micro_precision", "micro_recall", "micro_f1", "f1", "exact")
    return [
        name, kind, corpus, str(shown["pages"]), *(f"{shown[part]:.3f}" for part in figures),
        str(labelled["pages"]), *(f"{labelled[part]:.3f}" for part in ("micro_f1", "exact")),
    ]  # fmt: skip


def _reliability(results: Iterable[TitleResult]) -> Table:
    told = [
        (one.confidence, TitleMatch.of(one.chosen, one.example.title).exact)
        for one in results
        if one.chosen and one.example.title
    ]
    rows = []
    for low, high in pairwise(BINS):
        inside = [pair for pair in told if low <= pair[0] < high or pair[0] == high == 1]
        means = (
            mean([confidence for confidence, _ in inside]),
            mean([right for _, right in inside]),
        )
        rows.append(
            [f"{low:.2f} to {high:.2f}", str(len(inside)), *(f"{one:.3f}" for one in means)]
        )
    columns = ("confidence", "pages", "mean confidence", "exact")
    return Table("Titles of method newscrawl: confidence, extra-site", columns, rows)
