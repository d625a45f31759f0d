"""Scores of learned methods, on pages of which their models have seen nothing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from newscrawl.corpora.folds import folds, site_names
from newscrawl.evaluation.page_scores import evaluate
from newscrawl.extraction.methods import DEFAULT_METHOD
from newscrawl.training.bundle import fit_bundle, fit_default, fit_folds
from newscrawl.training.examples import read_examples

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.corpora.folds import Kind
    from newscrawl.corpora.map_pages import PageOutcome
    from newscrawl.evaluation.page_scores import PageScores
    from newscrawl.extraction.methods import TrainedModels
    from newscrawl.training.bundle import Fit


T = TypeVar("T")


def evaluate_out_of_fold(
    pages: Sequence[LabelledPage],
    method: str,
    kind: Kind,
    *,
    learn_from: Sequence[LabelledPage] | None = None,
    nodes: bool = True,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[PageOutcome[PageScores]]:
    """Return the scores of each of *pages*, in order, by models fitted to those of other folds.

    With *learn_from*, to those of these pages that are of other folds. Without *nodes* there are
    no scores by text nodes. *advance* is called when a page is learned from, and when one is scored.
    """

    def score(members: Sequence[LabelledPage], models: Path) -> list[PageOutcome[PageScores]]:
        return evaluate(
            members, method, workers=workers, advance=advance, models=models, nodes=nodes
        )

    return map_folds(
        pages,
        kind,
        score,
        learn_from=learn_from,
        fit=fit_default if method == DEFAULT_METHOD else fit_bundle,
        workers=workers,
        advance=advance,
    )


def map_folds(
    pages: Sequence[LabelledPage],
    kind: Kind,
    measure: Callable[[Sequence[LabelledPage], Path], list[PageOutcome[T]]],
    *,
    learn_from: Sequence[LabelledPage] | None = None,
    fit: Fit = fit_bundle,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[PageOutcome[T]]:
    """Return what *measure* says of each of *pages*, in order.

    It is called with the pages of each fold, and the folder of the models that *fit* fits to the
    pages of *learn_from*, *pages* themselves if not given, that are of the other folds. *advance*
    is called when a page is learned from.
    """
    read = read_examples(learn_from or pages, workers=workers, advance=advance)
    everything = list(dict.fromkeys([*pages, *(learn_from or ())]))
    places = dict(zip(everything, folds(everything, kind), strict=True))
    fold_of = [places[page] for page in pages]
    read_folds = [places[page] for page in read.pages]
    models = fit_folds(read.pages, read.examples, read_folds, fit)
    outcomes: dict[int, PageOutcome[T]] = {}
    with TemporaryDirectory() as folder:
        for fold, fitted in enumerate(models):
            (home := Path(folder, str(fold))).mkdir()
            fitted.save(home)
            members = [i for i, other in enumerate(fold_of) if other == fold]
            measured = measure([pages[i] for i in members], home)
            outcomes.update(zip(members, measured, strict=True))
    return [outcomes[i] for i in range(len(pages))]


def seen(pages: Collection[LabelledPage], models: TrainedModels) -> list[LabelledPage]:
    """Return those of *pages* whose sites *models* were trained on."""
    return [page for page in pages if not models.sites.isdisjoint(site_names(page))]
