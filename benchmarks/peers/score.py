"""Scores of the answers of a tool."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from newscrawl import clock
from newscrawl.fields.metadata.structured_date import parse_date
from newscrawl.lab.corpora.metadata_match import field_matches
from newscrawl.lab.corpora.metrics import Score, bag_score, mean, mean_score, same_day, score_of
from newscrawl.lab.corpora.title_match import TitleMatch
from newscrawl.lab.evaluation.families import FAILED
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.peers.run import Answer
    from newscrawl.lab.corpora.corpus import LabelledPage
    from newscrawl.lab.corpora.metadata_match import FieldMatch, MetadataField


@dataclass
class Result:
    """Answer of a tool on a page, and the labels."""

    page: LabelledPage
    #: text of the title nodes; empty if the label is in no node
    node_title: str
    answer: Answer

    @property
    def title(self) -> str:
        """Extracted title, empty if there is none."""
        return self.answer.output.title or ""

    @cached_property
    def body(self) -> Score:
        """Bag-of-words score of the body, 0 if there is none. For pages with a labelled body."""
        return bag_score(words(self.answer.output.body or ""), words(self.page.body or ""))

    @cached_property
    def metadata(self) -> dict[MetadataField, FieldMatch]:
        """Comparison of the labelled metadata."""
        return field_matches(self.page, self.answer.output.metadata)

    @cached_property
    def day(self) -> bool | None:
        """Whether the day is right; None if the output or the label has no valid date."""
        return self._is_labelled_day(self.answer.output.date)

    @cached_property
    def day_or_modified(self) -> bool:
        """Whether the day of publication or of modification is the labelled day."""
        return bool(self.day or self._is_labelled_day(self.answer.output.modified))

    def _is_labelled_day(self, text: str | None) -> bool | None:
        value = parse_date(text, clock.now()) if text else None
        if value is None or self.page.date is None:
            return None
        return same_day(value, self.page.date)


class Titles(NamedTuple):
    """Title scores. F1 is of the words of all pages together (micro average)."""

    pages: int
    f1: float
    #: share of pages whose title is the label, see
    #: :class:`~newscrawl.lab.corpora.title_match.TitleMatch`
    exact: float
    #: share of pages with a title
    given: float


class Days(NamedTuple):
    """Scores of publication days, as shares of the pages with a labelled date."""

    pages: int
    given: float
    right: float
    #: right, or the day of modification is the labelled day
    right_or_modified: float
    #: share of right days among given days
    precision: float


class Bodies(NamedTuple):
    """Scores of bodies: bag of words, mean over pages."""

    pages: int
    score: Score
    #: share of pages with an F1 under :data:`~newscrawl.lab.evaluation.families.FAILED`
    below: float
    #: share of pages with a body
    given: float


def titles(results: Sequence[Result], label: Callable[[Result], str]) -> Titles:
    """Return the title scores of the pages for which *label* returns a title."""
    matches = [TitleMatch.of(result.title, gold) for result in results if (gold := label(result))]
    return Titles(
        len(matches),
        score_of(*(sum(match[part] for match in matches) for part in (1, 2, 3))).f1,
        mean([match.exact for match in matches]),
        mean([match.output > 0 for match in matches]),
    )


def in_nodes(result: Result) -> str:
    """Return the title in the text nodes of the page."""
    return result.node_title


def as_labelled(result: Result) -> str:
    """Return the title in the labels of the corpus."""
    return result.page.title or ""


def days(results: Sequence[Result], *, doubtful: bool) -> Days:
    """Return the scores of days; *doubtful* includes pages with a doubtful label."""
    dated = [
        result
        for result in results
        if result.page.date is not None and (doubtful or not result.page.date_doubtful)
    ]
    given = [result for result in dated if result.day is not None]
    return Days(
        len(dated),
        len(given) / max(1, len(dated)),
        mean([result.day is True for result in dated]),
        mean([result.day_or_modified for result in dated]),
        mean([result.day is True for result in given]),
    )


def bodies(results: Sequence[Result]) -> Bodies:
    """Return the scores of the bodies of pages with a labelled body."""
    labelled = [result for result in results if result.page.body is not None]
    return Bodies(
        len(labelled),
        mean_score([result.body for result in labelled]),
        mean([result.body.f1 < FAILED for result in labelled]),
        mean([bool(result.answer.output.body) for result in labelled]),
    )


def failures(results: Sequence[Result]) -> Counter[str]:
    """Return the number of failures by kind."""
    return Counter(failure_kind(error) for result in results if (error := result.answer.error))


def failure_kind(error: str) -> str:
    """Return ``deadline`` or the name of the exception."""
    return "deadline" if error.startswith("no answer") else error.partition(":")[0]


def title_f1(result: Result) -> float:
    """Return the bag-of-words F1 of the title against the title nodes."""
    match = TitleMatch.of(result.title, result.node_title)
    return score_of(match.common, match.output, match.gold).f1


def title_exact(result: Result) -> float:
    """Return 1 if the title is that of the title nodes, else 0."""
    return float(TitleMatch.of(result.title, result.node_title).exact)


def day(result: Result) -> float:
    """Return 1 if the day is right, else 0."""
    return float(result.day is True)


def day_or_modified(result: Result) -> float:
    """Return 1 if the day of publication or of modification is the labelled day, else 0."""
    return float(result.day_or_modified)


def body_f1(result: Result) -> float:
    """Return the bag-of-words F1 of the body."""
    return result.body.f1


def has_label(name: MetadataField) -> Callable[[Result], bool]:
    """Return a function that returns whether a metadata field is labelled."""
    return lambda result: name in result.metadata


def metadata(name: MetadataField) -> Callable[[Result], float]:
    """Return a function that returns the F1 of tags, or whether another labelled field is right."""
    if name == "tags":
        return lambda result: result.metadata[name].f1
    return lambda result: float(result.metadata[name].right)
