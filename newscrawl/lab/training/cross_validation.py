"""Cross-validation of title and date classifiers (DocEng 2011, Tables 1, 2, 4 and 5).

Pages are scored if text nodes hold their label, against the text of these nodes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.fields.cardoso import ClassifiedNodes, classify
from newscrawl.lab.corpora.folds import FOLDS, site_names
from newscrawl.lab.corpora.metrics import Score, mean, score_of
from newscrawl.lab.training.fit import fit_models
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.fields.cardoso import Models
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.training.example_types import Example


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


def title_scores(examples: Iterable[Example], results: Iterable[ClassifiedNodes]) -> Scores:
    """Return the scores of titles."""
    return scores(
        (title_text(example, found), example.title)
        for example, found in zip(examples, results, strict=True)
        if example.title
    )


def head_title_scores(examples: Iterable[Example]) -> Scores:
    """Return the scores of the ``title`` elements, the baseline of the paper."""
    return scores((example.head_title, example.title) for example in examples if example.title)


def date_scores(examples: Iterable[Example], results: Iterable[ClassifiedNodes]) -> Scores:
    """Return the scores of dates."""
    return scores(
        (date_text(example, found), example.date)
        for example, found in zip(examples, results, strict=True)
        if example.date
    )


def out_of_fold(
    examples: Iterable[Example], folds: Iterable[int], models: Sequence[Models]
) -> list[ClassifiedNodes]:
    """Classify each page with the models of its fold."""
    return [
        classify(example.nodes, models[fold]) for example, fold in zip(examples, folds, strict=True)
    ]


def fold_models(
    pages: Sequence[LabelledPage], examples: Sequence[Example], folds: Sequence[int]
) -> list[Models]:
    """Return for each fold the models fitted to the pages of the other folds."""
    models = []
    for fold in range(FOLDS):
        others = [i for i, other in enumerate(folds) if other != fold]
        sites = {name for i in others for name in site_names(pages[i])}
        models.append(fit_models([examples[i] for i in others], sites))
    return models
