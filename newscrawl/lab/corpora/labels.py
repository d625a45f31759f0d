"""Automatic aligner: finds the text nodes of the labelled title and date.

Classifiers are trained on text nodes, but corpora label texts. Pages that cannot be aligned are
left out of training; :class:`Coverage` counts the others.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime, time
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from rapidfuzz.fuzz import ratio

from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.text import squeeze, weighted_length, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document
    from newscrawl.items import Day
    from newscrawl.lab.corpora.corpus import LabelledPage

LabelName = Literal["title", "date"]

MIN_TITLE_RATIO = 90
"""Minimum fuzzy ratio (0..100, ignoring case and punctuation) of a node and the labelled title."""

MAX_PARTS = 6
"""Maximum number of text nodes joined to a title or a date."""

MAX_DATE_CHARS = 100
"""Maximum weighted characters of a date node; longer nodes are part of the story."""

MAX_DATE_GAP = 3
"""Maximum distance, in text nodes, between the nodes of one date (thesis, section 3.4.3)."""

# time of day or year in the node after a date
_TIME_OR_YEAR = re.compile(r"\W*(?:\d{1,2}\s?[:.h]\s?\d{2}\b.{0,12}|(?:19|20)\d\d\W*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Labels:
    """Rows of the text nodes that hold the labels of a page; empty if not found."""

    title: tuple[int, ...] = ()
    date: tuple[int, ...] = ()
    #: other nodes that repeat the title or the date: neither positive nor negative examples
    title_repeats: frozenset[int] = frozenset()
    date_repeats: frozenset[int] = frozenset()

    def of(self, name: LabelName) -> tuple[tuple[int, ...], frozenset[int]]:
        """Return the rows of a label and the rows that repeat it."""
        if name == "title":
            return self.title, self.title_repeats
        return self.date, self.date_repeats


def align(document: Document, page: LabelledPage) -> Labels:
    """Return the text nodes of *document* that hold the labels of *page*.

    The title is the node, or the run of adjacent nodes, most similar to the label; nodes in ``h1``
    take precedence. The date is the short node nearest to the title that contains the labelled
    date, with the nearby nodes that repeat the date or add the time. Date nodes contain a digit
    (thesis, section 3.3). Doubtful dates are not aligned.
    """
    nodes = _Nodes(document)
    title, title_repeats = _align_title(nodes, page.title) if page.title else ((), frozenset())
    day = page.date.date() if isinstance(page.date, datetime) else page.date
    if day is None or not page.day_counts:
        return Labels(title, (), title_repeats)
    date, date_repeats = _align_date(nodes, day, title)
    return Labels(title, date, title_repeats, date_repeats)


class _Nodes:
    """Visible text nodes of a page, by position."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.rows = list(document.text_nodes())

    @cached_property
    def texts(self) -> list[str]:
        """Normalised words of each node."""
        return [" ".join(words(self.document.text[row])) for row in self.rows]

    def text(self, position: int) -> str:
        """Return the text of the node at *position*."""
        return squeeze(self.document.text[self.rows[position]])

    def contains_day(self, text: str, day: Day) -> bool:
        """Return whether *text* contains *day*, possibly with day and month swapped."""
        noon = datetime.combine(day, time(12))
        return any(
            (found.day == day and found.kind == "absolute")
            or (found.ambiguous and (found.day.month, found.day.day) == (day.day, day.month))
            for found in read_dates(text, language=self.document.root.get("lang"), now=noon)
        )

    def position(self, row: int) -> int:
        """Return the position of the text node *row*."""
        return bisect_left(self.rows, row)

    @cached_property
    def heading(self) -> tuple[int, int]:
        """Position of the first node of the first ``h1`` with text, and of the node after it.

        (0, 0) if there is no such ``h1``.
        """
        for row, tag in enumerate(self.document.tag):
            if tag == "h1" and self.document.chars(row):
                return self.position(row), self.position(self.document.end[row])
        return 0, 0

    def in_heading(self, position: int) -> bool:
        """Return whether the node is in an ``h1``."""
        tag = self.document.tag
        return any(tag[row] == "h1" for row in self.document.ancestors(self.rows[position]))


class _Match(NamedTuple):
    """A run of nodes similar to the title, ordered by quality."""

    in_heading: bool
    #: fuzzy ratio (0..100) minus the number of nodes
    similarity: float
    #: negated: the first and shortest of equal matches is the best
    first: int
    parts: int

    @property
    def positions(self) -> range:
        return range(-self.first, -self.first - self.parts)


def _align_title(nodes: _Nodes, title: str) -> tuple[tuple[int, ...], frozenset[int]]:
    matches = list(_title_matches(nodes, " ".join(words(title))))
    if not matches:
        return (), frozenset()
    best = tuple(nodes.rows[position] for position in max(matches).positions)
    similar = {nodes.rows[position] for match in matches for position in match.positions}
    return best, frozenset(similar - set(best))


def _title_matches(nodes: _Nodes, title: str) -> Iterator[_Match]:
    """Yield the best match starting at each node."""
    texts = nodes.texts
    for first, text in enumerate(texts):
        if not text or ratio(text[: len(title)], title[: len(text)]) < MIN_TITLE_RATIO:
            continue
        joined, matches = "", []
        for parts, part in enumerate(texts[first : first + MAX_PARTS], start=1):
            joined = f"{joined} {part}".strip()
            if similarity := ratio(joined, title, score_cutoff=MIN_TITLE_RATIO):
                matches.append(_Match(nodes.in_heading(first), similarity - parts, -first, -parts))
            if len(joined) > 2 * len(title):
                break
        if matches:
            yield max(matches)


def _align_date(
    nodes: _Nodes, day: Day, title: Sequence[int]
) -> tuple[tuple[int, ...], frozenset[int]]:
    dated = _dated_positions(nodes, day)
    if not dated:
        return (), frozenset()
    if title:
        first, last = nodes.position(title[0]), nodes.position(title[-1])
    else:
        first, last = nodes.heading
    nearest = min(dated, key=lambda position: _distance(position, first, last))
    cluster = set(_cluster(nodes, dated, nearest))
    date = tuple(nodes.rows[position] for position in sorted(cluster))
    return date, frozenset(nodes.rows[position] for position in dated if position not in cluster)


def _distance(position: int, first: int, last: int) -> tuple[int, bool]:
    """Return a sort key: distance from the title, positions after it first."""
    return max(first - position, position - last), position < first


def _dated_positions(nodes: _Nodes, day: Day) -> list[int]:
    """Return the nodes that contain a digit and *day*, alone or joined with their neighbours."""
    texts = [nodes.text(position) for position in range(len(nodes.rows))]
    for parts in range(1, MAX_PARTS + 1):
        found = {
            position
            for first in range(len(texts) - parts + 1)
            if _may_be_date(text := " ".join(texts[first : first + parts]))
            and nodes.contains_day(text, day)
            for position in range(first, first + parts)
            if any(map(str.isdigit, texts[position]))
        }
        if found:
            return sorted(found)
    return []


def _may_be_date(text: str) -> bool:
    return any(map(str.isdigit, text)) and weighted_length(text) <= MAX_DATE_CHARS


def _cluster(nodes: _Nodes, dated: Sequence[int], start: int) -> Iterator[int]:
    """Yield the positions of the date at *start*, of adjacent dates and of a time or year."""
    index = dated.index(start)
    for step in (1, -1):
        last, other = start, index
        while (
            0 <= (other := other + step) < len(dated) and abs(dated[other] - last) <= MAX_DATE_GAP
        ):
            last = dated[other]
            yield last
        neighbour = last + step
        if 0 <= neighbour < len(nodes.rows) and _TIME_OR_YEAR.fullmatch(nodes.text(neighbour)):
            yield neighbour
    yield start


class Coverage(NamedTuple):
    """Numbers of labels found in text nodes."""

    labelled: int
    one_node: int
    #: found in several joined nodes
    joined: int
    #: repeated by other nodes
    repeated: int

    @classmethod
    def of(cls, labels: Iterable[Labels], name: LabelName) -> Coverage:
        """Return the coverage of *labels*, one for each page with that label."""
        found = [page_labels.of(name) for page_labels in labels]
        return cls(
            len(found),
            sum(len(rows) == 1 for rows, _ in found),
            sum(len(rows) > 1 for rows, _ in found),
            sum(bool(repeats) for _, repeats in found),
        )
