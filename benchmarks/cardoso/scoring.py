"""Out-of-fold results of the classifiers, and their scores."""

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
    """Extracted and labelled text of a page."""

    page: LabelledPage
    found: str
    label: str

    @property
    def f1(self) -> float:
        """Bag-of-words F1 of the page."""
        return bag_score(words(self.found), words(self.label)).f1

    @property
    def exact(self) -> bool:
        """Whether both texts have the same words."""
        return words(self.found) == words(self.label)


def find_in_folds(
    examples: Examples[Example], kind: Kind, scored: Sequence[Example] | None = None
) -> list[ClassifiedNodes]:
    """Return the out-of-fold results of the title-dependent models.

    *scored* are other examples of the same pages, if they differ from the training examples.
    """
    fold_of = folds(examples.pages, kind)
    models = [
        models._replace(independent_date=None)
        for models in fold_models(examples.pages, examples.examples, fold_of)
    ]
    return out_of_fold(examples.examples if scored is None else scored, fold_of, models)


def title_pairs(
    pages: Iterable[LabelledPage], examples: Iterable[Example], found: Iterable[ClassifiedNodes]
) -> Iterator[Pair]:
    """Yield the titles of pages with a labelled title."""
    for page, example, nodes in zip(pages, examples, found, strict=True):
        if example.title:
            yield Pair(page, title_text(example, nodes), example.title)


def head_title_pairs(readings: Iterable[Reading]) -> Iterator[Pair]:
    """Yield the ``title`` elements, the baseline of the paper."""
    for reading in readings:
        if reading.relevant.title:
            yield Pair(reading.page, reading.relevant.head_title, reading.relevant.title)


def date_pairs(
    pages: Iterable[LabelledPage], examples: Iterable[Example], found: Iterable[ClassifiedNodes]
) -> Iterator[Pair]:
    """Yield the dates of pages with a labelled date."""
    for page, example, nodes in zip(pages, examples, found, strict=True):
        if example.date:
            yield Pair(page, date_text(example, nodes), example.date)


def nce_pairs(readings: Iterable[Reading]) -> Iterator[Pair]:
    """Yield NCE's relevant content as the body."""
    for reading in readings:
        if reading.page.body:
            yield Pair(reading.page, reading.body(), reading.page.body)


def body_pairs(readings: Iterable[Reading], found: Iterable[ClassifiedNodes]) -> Iterator[Pair]:
    """Yield the bodies: relevant nodes after the title, without the date (section 3.4.3)."""
    for reading, nodes in zip(readings, found, strict=True):
        if reading.page.body:
            rows = reading.relevant.nodes.rows
            after = None if nodes.title is None else rows[nodes.title]
            text = reading.body(after=after, without=[rows[index] for index in nodes.date])
            yield Pair(reading.page, text, reading.page.body)


def score_of_pairs(pairs: Iterable[Pair]) -> Scores:
    """Return the scores of *pairs*."""
    return scores((pair.found, pair.label) for pair in pairs)


def by_group(pairs: Iterable[Pair], group_of: Callable[[LabelledPage], str]) -> dict[str, Scores]:
    """Return the scores of all *pairs* and of each group of pages."""
    groups: dict[str, list[Pair]] = {ALL: []}
    for pair in pairs:
        groups[ALL].append(pair)
        groups.setdefault(group_of(pair.page), []).append(pair)
    return {name: score_of_pairs(members) for name, members in groups.items()}


def cell(score: Score, digits: int = 3) -> str:
    """Return precision, recall and F1 as text."""
    return " / ".join(figure(value, digits) for value in score)


def figure(value: float, digits: int = 3) -> str:
    """Return a score as text."""
    return f"{value:.{digits}f}".removeprefix("0")
