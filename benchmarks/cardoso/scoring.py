"""Out-of-fold results of the classifiers, and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cardoso.cross_validation import date_text, folds, out_of_fold, scores, title_text
from newscrawl.fields.cardoso import Models
from newscrawl.lab.corpora.folds import FOLDS
from newscrawl.lab.corpora.metrics import bag_score
from newscrawl.lab.training.fit import date_data, fit, title_data
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from benchmarks.cardoso.cross_validation import Kind, Scores
    from benchmarks.cardoso.readings import Reading
    from newscrawl.fields.cardoso import ClassifiedNodes
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.metrics import Score
    from newscrawl.lab.training.example_types import Example
    from newscrawl.lab.training.examples import Examples


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


def find_in_folds(examples: Examples[Example], kind: Kind) -> list[ClassifiedNodes]:
    """Return the out-of-fold results of the title-dependent models."""
    fold_of = folds(examples.pages, kind)
    corpora = {page.corpus for page in examples.pages}
    models = fold_models(examples.pages, examples.examples, fold_of, corpora)
    return out_of_fold(examples.examples, fold_of, models)


def fold_models(
    pages: Sequence[LabelledPage],
    examples: Sequence[Example],
    fold_of: Sequence[int],
    trained: Collection[str],
) -> list[Models]:
    """Return the title-dependent models of each fold, fitted to pages of the *trained* corpora."""
    models = []
    for fold in range(FOLDS):
        others = [
            example
            for page, example, other in zip(pages, examples, fold_of, strict=True)
            if other != fold and page.corpus in trained
        ]
        models.append(Models(fit(title_data(others)), fit(date_data(others))))
    return models


def classified_pairs(
    pages: Iterable[LabelledPage],
    examples: Iterable[Example],
    found: Iterable[ClassifiedNodes],
    label: str,
) -> Iterator[Pair]:
    """Yield the titles or dates of pages with that *label*."""
    text_of = title_text if label == "title" else date_text
    for page, example, nodes in zip(pages, examples, found, strict=True):
        if labelled := getattr(example, label):
            yield Pair(page, text_of(example, nodes), labelled)


def head_title_pairs(readings: Iterable[Reading]) -> Iterator[Pair]:
    """Yield the ``title`` elements, the baseline of the paper."""
    for reading in readings:
        if reading.relevant.title:
            yield Pair(reading.page, reading.relevant.head_title, reading.relevant.title)


def nce_pairs(readings: Iterable[Reading]) -> Iterator[Pair]:
    """Yield NCE's relevant content as the body."""
    for reading in readings:
        if reading.page.body:
            yield Pair(reading.page, reading.body(), reading.page.body)


def body_pairs(
    readings: Iterable[Reading], found: Iterable[ClassifiedNodes], *, gap: bool = False
) -> Iterator[Pair]:
    """Yield the bodies: relevant nodes after the title, without the date (section 3.4.3).

    With *gap*, the nodes between title and first relevant node belong to it (section 4).
    """
    for reading, nodes in zip(readings, found, strict=True):
        if reading.page.body:
            rows = reading.relevant.nodes.rows
            after = None if nodes.title is None else rows[nodes.title]
            dates = [rows[index] for index in nodes.date]
            text = reading.body(after=after, without=dates, gap=gap)
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
