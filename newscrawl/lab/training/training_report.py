"""``newscrawl train``: fits all models and reports the labels that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.body import classifier
from newscrawl.fields import cardoso
from newscrawl.fields.titles import title_model
from newscrawl.lab.corpora.labels import Coverage
from newscrawl.lab.corpora.tables import Table
from newscrawl.lab.training.bundle import fit_bundle
from newscrawl.lab.training.kind_training import fit_kind_models, read_out_of_fold
from newscrawl.lab.training.model_writer import save_models

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.bundle import Bundle
    from newscrawl.lab.training.example_types import Example
    from newscrawl.lab.training.examples import Examples
from newscrawl.lab.training.kind_training import KindModels


def train(
    examples: Examples[Example],
    out: Path,
    *,
    typed: Sequence[LabelledPage] = (),
    workers: int = 0,
) -> Iterator[Table]:
    """Fit all models to *examples*, write them to the folder *out* and yield tables.

    For the kind classifiers, *typed* pages (not articles) and the pages of *examples* are
    extracted again in *workers* processes. Deterministic. Raises ``OSError`` if a file cannot be
    written.
    """
    yield coverage_table(examples)
    yield failure_table(examples)
    models = fit_bundle(examples.pages, examples.examples)
    save_models(models, out)
    kind_pages = read_out_of_fold(examples.pages, examples.examples, typed, workers=workers)
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


def _corpora(examples: Examples[Example]) -> list[str]:
    return list(dict.fromkeys(page.corpus for page in examples.pages))
