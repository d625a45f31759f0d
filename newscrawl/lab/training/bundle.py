"""Training of all extraction models on the same pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from newscrawl.extraction.default_method import DefaultModels
from newscrawl.lab.corpora.folds import FOLDS, site_names
from newscrawl.lab.training.block_training import Labelled, fit_body_models
from newscrawl.lab.training.fit import fit_models
from newscrawl.lab.training.title_training import fit_title_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from newscrawl.fields.cardoso import Models
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example

T = TypeVar("T")


class Bundle(NamedTuple):
    """Models of all learned methods."""

    cardoso: Models
    default: DefaultModels


def fit_bundle(pages: Sequence[LabelledPage], examples: Sequence[Example]) -> Bundle:
    """Fit the models of all learned methods; deterministic."""
    sites = {name for page in pages for name in site_names(page)}
    return Bundle(fit_models(examples, sites), fit_default(pages, examples))


def fit_default(pages: Sequence[LabelledPage], examples: Sequence[Example]) -> DefaultModels:
    """Fit the models of the default method to the *examples* of *pages*."""
    return DefaultModels(
        fit_title_model(pages, examples), fit_body_models(with_bodies(pages, examples))
    )


def with_bodies(pages: Iterable[LabelledPage], examples: Iterable[Example]) -> list[Labelled]:
    """Return the pages with a labelled body, with their body examples."""
    return [
        Labelled(page, example.body, example.body_variants)
        for page, example in zip(pages, examples, strict=True)
        if example.body is not None
    ]


def fit_folds(
    pages: Sequence[LabelledPage],
    examples: Sequence[T],
    folds: Sequence[int],
    fit: Callable[[Sequence[LabelledPage], Sequence[T]], tuple[Any, ...]],
) -> Iterator[tuple[Any, ...]]:
    """Yield for each fold the models that *fit* returns for the pages of the other folds."""
    for fold in range(FOLDS):
        others = [i for i, other in enumerate(folds) if other != fold]
        yield fit([pages[i] for i in others], [examples[i] for i in others])
