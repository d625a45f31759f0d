"""Figures of the answers of a tool."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from newscrawl import clock
from newscrawl.corpora.metrics import Score, bag_score, mean, mean_score, same_day, score_of
from newscrawl.corpora.title_match import TitleMatch
from newscrawl.evaluation.bootstrap import percentile
from newscrawl.evaluation.families import FAILED
from newscrawl.fields.metadata.structured_date import parse_date
from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.peers.run import Answer
    from newscrawl.corpora.corpus import LabelledPage


@dataclass
class Result:
    """Answer of a tool on a page, and the labels."""

    page: LabelledPage
    #: text of the title nodes; empty where the label is in no node
    node_title: str
    answer: Answer

    @property
    def title(self) -> str:
        """The title, empty if none."""
        return self.answer.output.title or ""

    @cached_property
    def body(self) -> Score:
        """Bag-of-words score of the body, 0 if there is none. For pages with a labelled body."""
        return bag_score(words(self.answer.output.body or ""), words(self.page.body or ""))

    @cached_property
    def day(self) -> bool | None:
        """Whether the day is right; None: no day was read."""
        return self._tells_day(self.answer.output.date)

    @cached_property
    def day_or_modified(self) -> bool:
        """Whether the day is right, or the label is what the tool states as modified."""
        return bool(self.day or self._tells_day(self.answer.output.modified))

    def _tells_day(self, text: str | None) -> bool | None:
        value = parse_date(text, clock.now()) if text else None
        if value is None or self.page.date is None:
            return None
        return same_day(value, self.page.date)


class Titles(NamedTuple):
    """How well titles were found. F1 is of the words of all pages together (micro)."""

    pages: int
    f1: float
    #: share of pages whose title is the label: see :data:`newscrawl.evaluation.title_scores.EXACT`
    exact: float
    #: share of pages with a title
    given: float


class Days(NamedTuple):
    """How well days were found; shares of all pages that have a label."""

    pages: int
    given: float
    right: float
    #: right, or the label is the day that the tool states as modified
    right_or_modified: float
    #: right of those given
    precision: float


class Bodies(NamedTuple):
    """Scores of bodies: bag of words, mean over pages."""

    pages: int
    score: Score
    #: share of pages with an F1 under :data:`~newscrawl.evaluation.families.FAILED`
    below: float
    #: share of pages with a body
    given: float


class Cost(NamedTuple):
    """CPU time as a multiple of ``lxml.html`` parsing, and failures by kind."""

    median: float
    p95: float
    failures: Counter[str]


def titles(results: Sequence[Result], label: Callable[[Result], str]) -> Titles:
    """Return the figures of the titles of pages for which *label* gives one."""
    matches = [TitleMatch.of(one.title, gold) for one in results if (gold := label(one))]
    return Titles(
        len(matches),
        score_of(*(sum(match[part] for match in matches) for part in (1, 2, 3))).f1,
        mean([match.exact for match in matches]),
        mean([match.output > 0 for match in matches]),
    )


def in_nodes(result: Result) -> str:
    """Return the title as it stands in the page."""
    return result.node_title


def as_labelled(result: Result) -> str:
    """Return the title as the corpus gives it."""
    return result.page.title or ""


def days(results: Sequence[Result], *, doubtful: bool) -> Days:
    """Return the figures of the days, with or without pages whose label is doubtful."""
    dated = dated_pages(results, doubtful=doubtful)
    given = [one for one in dated if one.day is not None]
    return Days(
        len(dated),
        len(given) / max(1, len(dated)),
        mean([one.day is True for one in dated]),
        mean([one.day_or_modified for one in dated]),
        mean([one.day is True for one in given]),
    )


def dated_pages(results: Sequence[Result], *, doubtful: bool) -> list[Result]:
    """Return those whose day is labelled."""
    return [
        one
        for one in results
        if one.page.date is not None and (doubtful or not one.page.date_doubtful)
    ]


def bodies(results: Sequence[Result]) -> Bodies:
    """Return the figures of the bodies."""
    found = [one for one in results if one.page.body is not None]
    return Bodies(
        len(found),
        mean_score([one.body for one in found]),
        mean([one.body.f1 < FAILED for one in found]),
        mean([bool(one.answer.output.body) for one in found]),
    )


def cost(results: Sequence[Result]) -> Cost:
    """Return what the pages cost that did not fail, and how many failed of what."""
    parses = sorted(one.answer.parses for one in results if one.answer.parses is not None)
    failures = Counter(failure(one.answer.error) for one in results if one.answer.error)
    if not parses:
        return Cost(float("nan"), float("nan"), failures)
    return Cost(median(parses), percentile(parses, 0.95), failures)


def failure(error: str) -> str:
    """Return the kind of an error: the exception, a deadline, a crash."""
    if error.startswith("no answer"):
        return "deadline"
    return error.partition(":")[0]


def title_f1(result: Result) -> float:
    """Return the bag-of-words F1 of the title, by the nodes of the page."""
    match = TitleMatch.of(result.title, result.node_title)
    return score_of(match.common, match.output, match.gold).f1


def title_exact(result: Result) -> float:
    """Return 1 where the title is that of the nodes, else 0."""
    return float(TitleMatch.of(result.title, result.node_title).exact)


def day(result: Result) -> float:
    """Return 1 where the day is right, else 0."""
    return float(result.day is True)


def day_or_modified(result: Result) -> float:
    """Return 1 where the day is right or the label is what is stated as modified, else 0."""
    return float(result.day_or_modified)


def body_f1(result: Result) -> float:
    """Return the bag-of-words F1 of the body."""
    return result.body.f1
