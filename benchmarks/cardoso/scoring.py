"""What the classifiers find in folds, and what of it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from newscrawl.corpora.folds import folds
from newscrawl.corpora.metrics import bag_score
from newscrawl.text import words
from newscrawl.training.cross_validation import (
    date_text,
    fold_models,
    out_of_fold,
    scores,
    title_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.cardoso.readings import Reading
    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.corpora.folds import Kind
    from newscrawl.corpora.metrics import Score
    from newscrawl.fields.cardoso import ClassifiedNodes
    from newscrawl.training.cross_validation import Scores
    from newscrawl.training.example_types import Example
    from newscrawl.training.examples import Examples


ALL = "all"


class Pair(NamedTuple):
    """A page's text found, and that of its label."""

    page: LabelledPage
    found: str
    label: str

    @property
    def f1(self) -> float:
        """F1 of the page, bag of words."""
        return bag_score(words(self.found), words(self.label)).f1

    @property
    def exact(self) -> bool:
        """Whether both have the same words."""
        return words(self.found) == words(self.label)


def find_in_folds(
    examples: Examples, kind: Kind, shown: Sequence[Example] | None = None
) -> list[ClassifiedNodes]:
    """Return what models that were fitted to other folds find: the title-dependent pair's.

    *shown* are the same pages as the models shall see them, where that is not as they were fitted.
    """
    place = folds(examples.pages, kind)
    models = [
        one._replace(independent_date=None)
        for one in fold_models(examples.pages, examples.examples, place)
    ]
    return out_of_fold(examples.examples if shown is None else shown, place, models)


def title_pairs(
    pages: Iterable[LabelledPage], examples: Iterable[Example], found: Iterable[ClassifiedNodes]
) -> Iterator[Pair]:
    """Yield the titles of the pages that have a labelled one."""
    for page, one, it in zip(pages, examples, found, strict=True):
        if one.title:
            yield Pair(page, title_text(one, it), one.title)


def head_title_pairs(readings: Iterable[Reading]) -> Iterator[Pair]:
    """Yield the ``title`` elements, the papers' baseline."""
    for one in readings:
        if one.relevant.title:
            yield Pair(one.page, one.relevant.head_title, one.relevant.title)


def date_pairs(
    pages: Iterable[LabelledPage], examples: Iterable[Example], found: Iterable[ClassifiedNodes]
) -> Iterator[Pair]:
    """Yield the dates of the pages that have a labelled one."""
    for page, one, it in zip(pages, examples, found, strict=True):
        if one.date:
            yield Pair(page, date_text(one, it), one.date)


def nce_pairs(readings: Iterable[Reading]) -> Iterator[Pair]:
    """Yield NCE's relevant content, taken for the body."""
    for one in readings:
        if one.page.body:
            yield Pair(one.page, one.body(), one.page.body)


def body_pairs(readings: Iterable[Reading], found: Iterable[ClassifiedNodes]) -> Iterator[Pair]:
    """Yield the bodies: what is relevant from the title on, but for title and date (3.4.3)."""
    for one, it in zip(readings, found, strict=True):
        if one.page.body:
            rows = one.relevant.nodes.rows
            after = None if it.title is None else rows[it.title]
            text = one.body(after=after, without=[rows[place] for place in it.date])
            yield Pair(one.page, text, one.page.body)


def score_of_pairs(pairs: Iterable[Pair]) -> Scores:
    """Return the scores of *pairs*."""
    return scores((pair.found, pair.label) for pair in pairs)


def by_group(pairs: Iterable[Pair], group_of: Callable[[LabelledPage], str]) -> dict[str, Scores]:
    """Return the scores of all *pairs* and of those of each group of pages."""
    groups: dict[str, list[Pair]] = {ALL: []}
    for pair in pairs:
        groups[ALL].append(pair)
        groups.setdefault(group_of(pair.page), []).append(pair)
    return {name: score_of_pairs(members) for name, members in groups.items()}


def cell(score: Score, digits: int = 3) -> str:
    """Return precision, recall and F1 as text."""
    return " / ".join(figure(one, digits) for one in score)


def figure(value: float, digits: int = 3) -> str:
    """Return a score as text."""
    return f"{value:.{digits}f}".removeprefix("0")
