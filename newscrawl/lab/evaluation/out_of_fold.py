"""Out-of-fold scores of learned methods."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from newscrawl.extraction.methods import DEFAULT_METHOD
from newscrawl.lab.corpora.folds import extra_site, site_names
from newscrawl.lab.evaluation.page_scores import evaluate
from newscrawl.lab.evaluation.visual_training import fit_visual_models, read_visual_examples
from newscrawl.lab.paper_methods import V_WRAPPER
from newscrawl.lab.training.bundle import fit_bundle, fit_default, fit_folds
from newscrawl.lab.training.examples import read_examples
from newscrawl.lab.training.model_writer import save_models
from newscrawl.lab.visual.geometry import GeometryError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from newscrawl.extraction.method import TrainedModels
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.map_pages import PageOutcome
    from newscrawl.lab.evaluation.page_scores import PageScores
    from newscrawl.lab.training.examples import Examples

T = TypeVar("T")


def evaluate_out_of_fold(
    pages: Sequence[LabelledPage],
    method: str,
    *,
    learn_from: Sequence[LabelledPage] | None = None,
    nodes: bool = True,
    geometry: Path | None = None,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[PageOutcome[PageScores]]:
    """Return the scores of *pages* in order, with models trained on the other folds.

    Models are trained on *learn_from*, by default on *pages*. Without *nodes* there are no scores
    by text nodes. *geometry* is the folder of the geometry of rendered pages. *advance* is called
    for each page read for training and for each page scored.
    """

    def score(members: Sequence[LabelledPage], models: Path) -> list[PageOutcome[PageScores]]:
        return evaluate(
            members,
            method,
            workers=workers,
            advance=advance,
            models=models,
            nodes=nodes,
            geometry=geometry,
        )

    learn: dict[str, Any] = {"fit": fit_default if method == DEFAULT_METHOD else fit_bundle}
    if method == V_WRAPPER:
        if geometry is None:
            raise GeometryError(f"method {method} requires the geometry of the rendered pages")
        learn = {"fit": fit_visual_models, "read": partial(read_visual_examples, geometry=geometry)}
    return map_folds(pages, score, learn_from=learn_from, workers=workers, advance=advance, **learn)


def map_folds(
    pages: Sequence[LabelledPage],
    measure: Callable[[Sequence[LabelledPage], Path], list[PageOutcome[T]]],
    *,
    learn_from: Sequence[LabelledPage] | None = None,
    fit: Callable[[Sequence[LabelledPage], Sequence[Any]], tuple[Any, ...]] = fit_bundle,
    read: Callable[..., Examples[Any]] = read_examples,
    workers: int,
    advance: Callable[[], object] | None = None,
) -> list[PageOutcome[T]]:
    """Return the outcomes of *measure* for *pages* in order.

    It is called for each fold with its pages and a folder of the models that *fit* trained on the
    pages of *learn_from* (by default *pages*) in the other folds, with the examples that *read*
    returns. *advance* is called for each page read for training.
    """
    examples = read(learn_from or pages, workers=workers, advance=advance)
    all_pages = list(dict.fromkeys([*pages, *(learn_from or ())]))
    fold_of = dict(zip(all_pages, extra_site(all_pages), strict=True))
    training_folds = [fold_of[page] for page in examples.pages]
    outcomes: dict[LabelledPage, PageOutcome[T]] = {}
    with TemporaryDirectory() as name:
        models = fit_folds(examples.pages, examples.examples, training_folds, fit)
        for fold, fitted in enumerate(models):
            (folder := Path(name, str(fold))).mkdir()
            save_models(fitted, folder)
            members = [page for page in pages if fold_of[page] == fold]
            outcomes.update(zip(members, measure(members, folder), strict=True))
    return [outcomes[page] for page in pages]


def seen(pages: Collection[LabelledPage], models: TrainedModels) -> list[LabelledPage]:
    """Return the *pages* whose sites *models* were trained on."""
    return [page for page in pages if not models.sites.isdisjoint(site_names(page))]
