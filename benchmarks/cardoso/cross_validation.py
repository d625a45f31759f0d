"""Cross-validation of title and date classifiers (DocEng 2011, Tables 1, 2, 4 and 5).

Pages are scored if text nodes hold their label, against the text of these nodes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from newscrawl.fields.cardoso import ClassifiedNodes, classify
from newscrawl.lab.corpora.folds import FOLDS, extra_site, site_names
from newscrawl.lab.corpora.metrics import Score, mean, score_of
from newscrawl.lab.training.fit import fit_models
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.fields.cardoso import Models, TextNodes
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example
    from newscrawl.lab.training.examples import Examples


Kind = Literal["extra-site", "intra-site"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Approach = Literal["structural", "visual", "dependent", "conditional"]


# Of text nodes that all look alike.
_EQUAL_STYLE = {"font_size": 16.0, "relative_font_size": 100.0, "bold": 0.0}


def nodes_without_style(nodes: TextNodes) -> TextNodes:
    """Return *nodes* with one style for all, so that attributes 4 to 7 are constant."""
    constant = {**_EQUAL_STYLE, "similar_nodes": float(len(nodes))}
    style = {name: [value] * len(nodes) for name, value in constant.items()}
    return replace(nodes, features={**nodes.features, **style})


def folds(pages: Sequence[LabelledPage], kind: Kind) -> list[int]:
    """Return the fold (0 to 2) of each page, independent of the order of *pages*."""
    return extra_site(pages) if kind == "extra-site" else intra_site(pages)


def intra_site(pages: Sequence[LabelledPage]) -> list[int]:
    """Return folds that each contain pages of all sites."""
    order = sorted(range(len(pages)), key=lambda i: (pages[i].site, pages[i].corpus, pages[i].id))
    result = [0] * len(pages)
    for number, index in enumerate(order):
        result[index] = number % FOLDS
    return result


class ClassifierResult(NamedTuple):
    """Out-of-fold results of an approach."""

    approach: Approach
    kind: Kind
    found: list[ClassifiedNodes]


class Scores(NamedTuple):
    """Bag-of-words scores of titles or dates."""

    pages: int
    #: over the words of all pages
    micro: Score
    #: mean F1 over pages
    macro: float


def scores(pairs: Iterable[tuple[str, str]]) -> Scores:
    """Return the scores of pairs of extracted and labelled text, one for each page."""
    total = [0, 0, 0]
    macro = []
    for pair in pairs:
        output, gold = (Counter(words(text)) for text in pair)
        sizes = ((output & gold).total(), output.total(), gold.total())
        macro.append(score_of(*sizes).f1)
        total = [before + size for before, size in zip(total, sizes, strict=True)]
    return Scores(len(macro), score_of(*total), mean(macro))


def title_text(example: Example, found: ClassifiedNodes) -> str:
    """Return the classified title, by default the ``title`` element."""
    return example.head_title if found.title is None else example.nodes.texts[found.title]


def date_text(example: Example, found: ClassifiedNodes) -> str:
    """Return the text of the classified date."""
    return " ".join(example.nodes.texts[index] for index in found.date)


def out_of_fold(
    examples: Iterable[Example], fold_of: Iterable[int], models: Sequence[Models]
) -> list[ClassifiedNodes]:
    """Classify each page with the models of its fold."""
    return [
        classify(example.nodes, models[fold])
        for example, fold in zip(examples, fold_of, strict=True)
    ]


def fold_models(
    pages: Sequence[LabelledPage], examples: Sequence[Example], fold_of: Sequence[int]
) -> list[Models]:
    """Return for each fold the models fitted to the pages of the other folds."""
    models = []
    for fold in range(FOLDS):
        others = [i for i, other in enumerate(fold_of) if other != fold]
        sites = {name for i in others for name in site_names(pages[i])}
        models.append(fit_models([examples[i] for i in others], sites))
    return models


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
