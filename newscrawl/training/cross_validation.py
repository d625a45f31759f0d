"""Cross-validation of the papers' two classifiers: Tables 1, 2, 4 and 5 of DocEng 2011.

A page is scored whose label is in its text nodes, against the text of those nodes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.corpora.folds import FOLDS, site_names
from newscrawl.corpora.metrics import Score, mean, score_of
from newscrawl.fields.cardoso import ClassifiedNodes, classify
from newscrawl.text import words
from newscrawl.training.fit import fit_models

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.fields.cardoso import Models
    from newscrawl.training.example_types import Example


class Scores(NamedTuple):
    """Bag-of-words scores of titles or dates."""

    pages: int
    #: of the words of all pages together
    micro: Score
    #: mean of the pages' F1
    macro: float


def scores(pairs: Iterable[tuple[str, str]]) -> Scores:
    """Return the scores of (text found, text labelled) of pages."""
    total = [0, 0, 0]
    macro = []
    for pair in pairs:
        output, gold = (Counter(words(text)) for text in pair)
        sizes = ((output & gold).total(), output.total(), gold.total())
        macro.append(score_of(*sizes).f1)
        total = [before + size for before, size in zip(total, sizes, strict=True)]
    return Scores(len(macro), score_of(*total), mean(macro))


def title_text(one: Example, found: ClassifiedNodes) -> str:
    """Return the title found on a page; that of ``title`` where no node was classified as one."""
    return one.head_title if found.title is None else one.nodes.texts[found.title]


def date_text(one: Example, found: ClassifiedNodes) -> str:
    """Return the text of the date found on a page."""
    return " ".join(one.nodes.texts[place] for place in found.date)


def title_scores(examples: Iterable[Example], found: Iterable[ClassifiedNodes]) -> Scores:
    """Return the scores of titles."""
    return scores(
        (title_text(one, it), one.title)
        for one, it in zip(examples, found, strict=True)
        if one.title
    )


def head_title_scores(examples: Iterable[Example]) -> Scores:
    """Return the scores of the ``title`` elements, the papers' baseline."""
    return scores((one.head_title, one.title) for one in examples if one.title)


def date_scores(examples: Iterable[Example], found: Iterable[ClassifiedNodes]) -> Scores:
    """Return the scores of dates."""
    return scores(
        (date_text(one, it), one.date) for one, it in zip(examples, found, strict=True) if one.date
    )


def out_of_fold(
    examples: Iterable[Example], folds: Iterable[int], models: Sequence[Models]
) -> list[ClassifiedNodes]:
    """Return what is found on each page by the models of its fold."""
    return [classify(one.nodes, models[fold]) for one, fold in zip(examples, folds, strict=True)]


def fold_models(
    pages: Sequence[LabelledPage], examples: Sequence[Example], folds: Sequence[int]
) -> list[Models]:
    """Return for each fold the models that were fitted to the pages of the others."""
    models = []
    for fold in range(FOLDS):
        others = [i for i, other in enumerate(folds) if other != fold]
        sites = {name for i in others for name in site_names(pages[i])}
        models.append(fit_models([examples[i] for i in others], sites))
    return models
