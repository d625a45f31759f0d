"""``scrapy train``: fits all models and reports label coverage and cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.body import classifier
from newscrawl.fields import cardoso
from newscrawl.fields.titles import title_model
from newscrawl.lab.corpora.folds import KINDS, Kind, folds
from newscrawl.lab.corpora.labels import Coverage
from newscrawl.lab.corpora.tables import Table, markdown
from newscrawl.lab.training.block_report import body_tables
from newscrawl.lab.training.bundle import fit_bundle, with_bodies
from newscrawl.lab.training.cross_validation import (
    Scores,
    date_scores,
    fold_models,
    head_title_scores,
    out_of_fold,
    title_scores,
)
from newscrawl.lab.training.example_types import nodes_without_style
from newscrawl.lab.training.kind_report import kind_tables
from newscrawl.lab.training.kind_training import fit_kind_models, read_out_of_fold
from newscrawl.lab.training.model_writer import save_models
from newscrawl.lab.training.title_report import title_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from newscrawl.fields.cardoso import ClassifiedNodes
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.bundle import Bundle
    from newscrawl.lab.training.example_types import Example
    from newscrawl.lab.training.examples import Examples
from newscrawl.lab.training.kind_training import KindModels

Approach = Literal["structural", "visual", "dependent", "conditional"]

PUBLISHED: dict[tuple[Approach, Kind], str] = {
    ("structural", "extra-site"): "0.80",
    ("structural", "intra-site"): "0.81",
    ("visual", "extra-site"): "0.91",
    ("visual", "intra-site"): "0.92",
    ("dependent", "extra-site"): "0.77",
    ("dependent", "intra-site"): "0.84",
    ("conditional", "extra-site"): "0.75",
    ("conditional", "intra-site"): "0.85",
}
"""F1 of DocEng 2011, Tables 1, 2, 5 and 4, on 200 pages of 20 sites."""

NAMES: dict[Approach, str] = {
    "structural": "structural attributes",
    "visual": "structural and visual",
    "dependent": "title-dependent model",
    "conditional": "conditional, two models",
}
COLUMNS = ("", "folds", "corpus", "pages", "P", "R", "F1", "F1 over pages", "F1 in the paper")


class ClassifierResult(NamedTuple):
    """Out-of-fold results of an approach."""

    approach: Approach
    kind: Kind
    found: list[ClassifiedNodes]


def train(
    examples: Examples[Example],
    out: Path,
    *,
    typed: Sequence[LabelledPage] = (),
    workers: int = 0,
    validate: bool = True,
) -> Iterator[Table]:
    """Fit all models to *examples*, write them to the folder *out* and yield tables of results.

    For the kind classifiers, *typed* pages (not articles) and the pages of *examples* are
    extracted again in *workers* processes. With *validate* all models are cross-validated.
    Deterministic. Raises ``OSError`` if a file cannot be written.
    """
    yield coverage_table(examples)
    yield failure_table(examples)
    if validate:
        yield from result_tables(examples, cross_validate(examples))
        yield from title_tables(examples)
        yield from body_tables(with_bodies(examples.pages, examples.examples))
    models = fit_bundle(examples.pages, examples.examples)
    save_models(models, out)
    kind_pages = read_out_of_fold(examples.pages, examples.examples, typed, workers=workers)
    if validate:
        yield from kind_tables(kind_pages)
    kinds = fit_kind_models(kind_pages)
    save_models(kinds, out)
    yield _model_table(models, kinds, out)


def coverage_table(examples: Examples[Example]) -> Table:
    """Return the share of labels found in text nodes, by corpus."""
    rows = []
    for corpus in _corpora(examples):
        pages = [
            (page, example.labels)
            for page, example in zip(examples.pages, examples.examples, strict=True)
            if page.corpus == corpus
        ]
        title = Coverage.of((labels for page, labels in pages if page.title is not None), "title")
        date = Coverage.of((labels for page, labels in pages if page.day_counts), "date")
        rows += [_coverage_row(corpus, "title", title), _coverage_row(corpus, "date", date)]
    columns = ("corpus", "label", "pages", "one node", "joined", "none (left out)", "repeated")
    return Table("Labels found in text nodes", columns, rows)


def _coverage_row(corpus: str, name: str, coverage: Coverage) -> list[str]:
    missing = coverage.labelled - coverage.one_node - coverage.joined
    counts = (coverage.one_node, coverage.joined, missing, coverage.repeated)
    shares = (f"{100 * count / max(coverage.labelled, 1):.1f} %" for count in counts)
    return [corpus, name, str(coverage.labelled), *shares]


def failure_table(examples: Examples[Example]) -> Table:
    """Return the pages that could not be read."""
    rows = [[page.corpus, page.id, error] for page, error in examples.failed]
    return Table("Pages that failed (left out)", ("corpus", "page", "error"), rows)


def cross_validate(examples: Examples[Example]) -> Iterator[ClassifierResult]:
    """Yield the results of each approach in both kinds of folds."""
    styled = examples.examples
    unstyled = [replace(example, nodes=nodes_without_style(example.nodes)) for example in styled]
    for kind in KINDS:
        fold_of = folds(examples.pages, kind)
        models = fold_models(examples.pages, unstyled, fold_of)
        yield ClassifierResult("structural", kind, out_of_fold(unstyled, fold_of, models))
        models = fold_models(examples.pages, styled, fold_of)
        yield ClassifierResult("conditional", kind, out_of_fold(styled, fold_of, models))
        models = [fold._replace(independent_date=None) for fold in models]
        found = out_of_fold(styled, fold_of, models)
        yield ClassifierResult("visual", kind, found)
        yield ClassifierResult("dependent", kind, found)


def result_tables(
    examples: Examples[Example], results: Iterable[ClassifierResult]
) -> Iterator[Table]:
    """Yield the tables of titles and of dates."""
    results = sorted(results, key=lambda result: list(NAMES).index(result.approach))
    titles = [result for result in results if result.approach in ("structural", "visual")]
    dates = [result for result in results if result not in titles]
    baseline = _score_row("title element", "", "all", head_title_scores(examples.examples), "0.72")
    rows = [row for result in titles for row in _result_rows(examples, result, title_scores)]
    yield Table(
        "Titles of method cardoso: 3-fold cross-validation, bag of words",
        COLUMNS,
        [baseline, *rows],
    )
    rows = [row for result in dates for row in _result_rows(examples, result, date_scores)]
    yield Table("Dates of method cardoso: 3-fold cross-validation, bag of words", COLUMNS, rows)


def _result_rows(
    examples: Examples[Example],
    result: ClassifierResult,
    score: Callable[[Sequence[Example], Sequence[ClassifiedNodes]], Scores],
) -> Iterator[list[str]]:
    name, published = NAMES[result.approach], PUBLISHED[result.approach, result.kind]
    scores = score(examples.examples, result.found)
    yield _score_row(name, result.kind, "all", scores, published)
    for corpus in _corpora(examples):
        members = [i for i, page in enumerate(examples.pages) if page.corpus == corpus]
        scores = score([examples.examples[i] for i in members], [result.found[i] for i in members])
        yield _score_row(name, result.kind, corpus, scores, "")


def _score_row(name: str, kind: str, corpus: str, scores: Scores, published: str) -> list[str]:
    figures = (*scores.micro, scores.macro)
    return [name, kind, corpus, str(scores.pages), *(f"{it:.3f}" for it in figures), published]


def _model_table(models: Bundle, kinds: KindModels, folder: Path) -> Table:
    ensembles = {
        cardoso.TITLE_FILE: models.cardoso.title,
        cardoso.DATE_FILE: models.cardoso.date,
        title_model.TITLE_MODEL_FILE: models.default.title.ensemble,
        classifier.FILE: models.default.body.blocks.ensemble,
        classifier.CONTEXT_FILE: models.default.body.context.ensemble,
        kinds.whole.file: kinds.whole.ensemble,
        kinds.page.file: kinds.page.ensemble,
    }
    rows = []
    for name, ensemble in ensembles.items():
        size = (folder / name).stat().st_size
        rows.append([name, str(ensemble.trees), str(len(ensemble.feature)), f"{size / 1024:.0f}"])
    return Table("Models", ("file", "trees", "nodes", "KB"), rows)


def card(tables: Iterable[Table]) -> str:
    """Return *tables* as Markdown, for a model card."""
    return "\n".join(markdown(table, level=3) for table in tables if table.rows)


def _corpora(examples: Examples[Example]) -> list[str]:
    return list(dict.fromkeys(page.corpus for page in examples.pages))
