"""The automatic aligner: from the labels of a page to its text nodes.

Corpora say what the title and the day are, the classifiers learn from text nodes. A page that
cannot be aligned is left out of training; :class:`Coverage` counts the others.
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

    from newscrawl.corpora.corpus import LabelledPage
    from newscrawl.document.document import Document
    from newscrawl.items import Day

LabelName = Literal["title", "date"]

LEAST_RATIO = 90
"""Least fuzzy ratio (0..100, letter case and punctuation aside) of a node and the labelled title."""

MOST_PARTS = 6
"""Most text nodes that a title or a date is joined of."""

MOST_DATE_CHARS = 100
"""Weighted characters of the longest node that is taken for a date: longer ones tell the story."""

NEAR = 3
"""Most positions between nodes of one date: two other text nodes (thesis, 3.4.3)."""

# What the next node may say of a date: the time of day, or the year.
_REST = re.compile(r"\W*(?:\d{1,2}\s?[:.h]\s?\d{2}\b.{0,12}|(?:19|20)\d\d\W*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Labels:
    """Rows of the text nodes that hold a page's labels; empty where none was found."""

    title: tuple[int, ...] = ()
    date: tuple[int, ...] = ()
    #: other nodes that show the title or the day: neither examples nor counterexamples
    title_again: frozenset[int] = frozenset()
    date_again: frozenset[int] = frozenset()

    def of(self, name: LabelName) -> tuple[tuple[int, ...], frozenset[int]]:
        """Return the rows that hold a label, and those that tell it again."""
        if name == "title":
            return self.title, self.title_again
        return self.date, self.date_again


def align(document: Document, page: LabelledPage) -> Labels:
    """Return the text nodes of *document* that hold the labels of *page*.

    The title is the node, or the run of adjacent nodes, most like the label, those in ``h1``
    before all others. The date is the short node nearest to it in which the labelled day is read,
    with the nodes of the same cluster that tell the day or the time again. No node without a digit
    is labelled a date (thesis, 3.3). Doubtful days are not aligned.
    """
    nodes = _Nodes(document)
    title, title_again = _align_title(nodes, page.title) if page.title else ((), frozenset())
    day = page.date.date() if isinstance(page.date, datetime) else page.date
    if day is None or not page.day_counts:
        return Labels(title, (), title_again)
    date, date_again = _align_date(nodes, day, title)
    return Labels(title, date, title_again, date_again)


class _Nodes:
    """The shown text nodes of a page, by position."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.rows = list(document.text_nodes())

    @cached_property
    def texts(self) -> list[str]:
        """Letters and digits of each node."""
        return [" ".join(words(self.document.text[row])) for row in self.rows]

    def text(self, position: int) -> str:
        """Return the text of the node at *position*."""
        return squeeze(self.document.text[self.rows[position]])

    def tells_day(self, text: str, day: Day) -> bool:
        """Return whether *text* tells *day*, or may: no year, or day and month the other way."""
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
        """First position in the first ``h1`` that shows text and the one after; (0, 0): none."""
        for row, tag in enumerate(self.document.tag):
            if tag == "h1" and self.document.chars(row):
                return self.position(row), self.position(self.document.end[row])
        return 0, 0

    def in_heading(self, position: int) -> bool:
        """Return whether the node is in an ``h1``."""
        tag = self.document.tag
        return any(tag[row] == "h1" for row in self.document.ancestors(self.rows[position]))


class _Match(NamedTuple):
    """A run of nodes that tells the title; the greatest is the best."""

    in_heading: bool
    #: 0..100, less one for each part: a joined title must be worth it
    likeness: float
    #: negative, as of equals the first and the shortest is wanted
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
    alike = {nodes.rows[position] for match in matches for position in match.positions}
    return best, frozenset(alike - set(best))


def _title_matches(nodes: _Nodes, title: str) -> Iterator[_Match]:
    """Yield the best match that begins at each node."""
    texts = nodes.texts
    for first, text in enumerate(texts):
        if not text or ratio(text[: len(title)], title[: len(text)]) < LEAST_RATIO:
            continue
        joined, matches = "", []
        for parts, part in enumerate(texts[first : first + MOST_PARTS], start=1):
            joined = f"{joined} {part}".strip()
            if likeness := ratio(joined, title, score_cutoff=LEAST_RATIO):
                matches.append(_Match(nodes.in_heading(first), likeness - parts, -first, -parts))
            if len(joined) > 2 * len(title):
                break
        if matches:
            yield max(matches)


def _align_date(
    nodes: _Nodes, day: Day, title: Sequence[int]
) -> tuple[tuple[int, ...], frozenset[int]]:
    telling = _telling_day(nodes, day)
    if not telling:
        return (), frozenset()
    if title:
        first, last = nodes.position(title[0]), nodes.position(title[-1])
    else:
        first, last = nodes.heading
    nearest = min(telling, key=lambda place: _distance(place, first, last))
    cluster = set(_cluster(nodes, telling, nearest))
    date = tuple(nodes.rows[place] for place in sorted(cluster))
    return date, frozenset(nodes.rows[place] for place in telling if place not in cluster)


def _distance(place: int, first: int, last: int) -> tuple[int, bool]:
    """Return how far *place* is from the title's positions; of equals that after it is nearer."""
    return max(first - place, place - last), place < first


def _telling_day(nodes: _Nodes, day: Day) -> list[int]:
    """Return the positions of nodes with a digit that tell *day*, if need be in short runs."""
    texts = [nodes.text(place) for place in range(len(nodes.rows))]
    for parts in range(1, MOST_PARTS + 1):
        found = {
            place
            for first in range(len(texts) - parts + 1)
            if _may_be_date(text := " ".join(texts[first : first + parts]))
            and nodes.tells_day(text, day)
            for place in range(first, first + parts)
            if any(map(str.isdigit, texts[place]))
        }
        if found:
            return sorted(found)
    return []


def _may_be_date(text: str) -> bool:
    return any(map(str.isdigit, text)) and weighted_length(text) <= MOST_DATE_CHARS


def _cluster(nodes: _Nodes, telling: Sequence[int], place: int) -> Iterator[int]:
    """Yield the positions of the date at *place*: all of its cluster, and the rest beside it."""
    index = telling.index(place)
    for step in (1, -1):
        last, other = place, index
        while 0 <= (other := other + step) < len(telling) and abs(telling[other] - last) <= NEAR:
            last = telling[other]
            yield last
        beside = last + step
        if 0 <= beside < len(nodes.rows) and _REST.fullmatch(nodes.text(beside)):
            yield beside
    yield place


class Coverage(NamedTuple):
    """How many labels were found in text nodes."""

    labelled: int
    one_node: int
    #: found in several nodes together
    joined: int
    #: told by other nodes, too
    again: int

    @classmethod
    def of(cls, labels: Iterable[Labels], name: LabelName) -> Coverage:
        """Return the coverage of the pages that have the label."""
        found = [one.of(name) for one in labels]
        return cls(
            len(found),
            sum(len(rows) == 1 for rows, _ in found),
            sum(len(rows) > 1 for rows, _ in found),
            sum(bool(again) for _, again in found),
        )
