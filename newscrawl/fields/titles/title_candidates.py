"""Candidates for the title: runs of text nodes that may be the headline.

Every ``h1`` and its parts and, unless one is a stated title to the letter, what is like a stated
title elsewhere. On 790 labelled pages of news212, fundus and css-sites the median page has one, and
the title is among them on 767; looking further on all pages finds 784 and chooses none better.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract as most_alike

from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from newscrawl.document.document import Document

MIN_RATIO = 55
"""Least fuzzy ratio (0..100) of a text node outside of ``h1`` and a stated title."""

MIN_TITLE_SHARE = 0.4
"""Least share of a stated title that a text node within it makes up."""

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}

# Bounds on what a hostile page may cost; real ones stay far below.
_MOST_NODES = 2000
_MOST_HEADINGS = 12
_MOST_IN_HEADING = 30
_MOST_SPANS = 60
_LONGEST = 600
_LEAST_LENGTH = 8
# How far above a text node its heading is looked for: <h2><a><span>.
_HEADING_DEPTH = 4
# Of headings of up to so many text nodes every part is a candidate; of others a few.
_SMALL = 5


class TitleSpan(NamedTuple):
    """A run of text nodes of one heading, or a text node that is in none."""

    #: of the text nodes
    rows: tuple[int, ...]
    #: row of the heading
    heading: int | None
    #: one space between text nodes, white space squeezed
    text: str
    #: text nodes of the heading before the run, and after it
    before: int = 0
    after: int = 0
    #: of the heading's characters, in 0..1
    share: float = 1.0

    @property
    def whole(self) -> bool:
        """Whether the run is all of the heading."""
        return not (self.before or self.after)


def find_spans(document: Document, rows: Sequence[int], stated: Collection[str]) -> list[TitleSpan]:
    """Return the candidates among the shown text nodes *rows*, all of the page's.

    *stated* are the titles that the page states. ``h1`` come first, in document order.
    """
    rows = rows[:_MOST_NODES]
    spans = [span for unit in _units(document, rows, stated) for span in _parts(document, *unit)]
    return spans[:_MOST_SPANS]


def _units(
    document: Document, rows: Sequence[int], stated: Collection[str]
) -> Iterator[tuple[int | None, Sequence[int]]]:
    """Yield headings that may be the title with their text nodes, and text nodes without one.

    Where an ``h1`` is a stated title to the letter, nothing else is looked for.
    """
    seen: set[int] = set()
    titles = {title.lower() for title in stated}
    found = False
    for heading, inside in islice(_first_headings(document, rows), _MOST_HEADINGS):
        seen.update(inside)
        found = found or _tells(document, inside, titles)
        yield heading, inside
    for row in () if found else _alike(document, rows, titles):
        if row in seen:
            continue
        above = _heading_of(document, row)
        inside = [] if above is None else _text_rows(document, rows, above)
        if 0 < len(inside) <= _MOST_IN_HEADING:
            seen.update(inside)
            yield above, inside
        else:
            yield None, [row]


def _first_headings(document: Document, rows: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    for row in document.rows_of("h1"):
        inside = _text_rows(document, rows, row)
        if 0 < len(inside) <= _MOST_IN_HEADING:
            yield row, inside


def _tells(document: Document, rows: Sequence[int], titles: Collection[str]) -> bool:
    """Return whether one of the text nodes *rows*, or all together, are one of *titles*."""
    texts = [squeeze(document.text[row]).lower() for row in rows]
    return " ".join(texts) in titles or any(text in titles for text in texts)


def _alike(document: Document, rows: Sequence[int], titles: Collection[str]) -> list[int]:
    """Return the text nodes that are like one of *titles* or a good part of one, in order."""
    if not titles:
        return []
    longest = 2 * max(map(len, titles))
    shortest = max(_LEAST_LENGTH, MIN_TITLE_SHARE * min(map(len, titles)))
    text = document.text
    long_enough = [row for row in rows if shortest <= len(text[row]) <= longest]
    texts = [text[row].lower() for row in long_enough]
    found: set[int] = set()
    for title in titles:
        alike = most_alike(title, texts, scorer=ratio, score_cutoff=MIN_RATIO, limit=None)
        found.update(place for _, _, place in alike)
        least = MIN_TITLE_SHARE * len(title)
        within = [place for place, part in enumerate(texts) if part in title]
        found.update(place for place in within if len(texts[place]) >= least)
    return [long_enough[place] for place in sorted(found)]


def _heading_of(document: Document, row: int) -> int | None:
    above = islice(document.ancestors(row), _HEADING_DEPTH)
    return next((row for row in above if document.tag[row] in HEADING_LEVELS), None)


def _text_rows(document: Document, rows: Sequence[int], row: int) -> Sequence[int]:
    return rows[bisect_left(rows, row) : bisect_left(rows, document.end[row])]


def _parts(document: Document, heading: int | None, rows: Sequence[int]) -> Iterator[TitleSpan]:
    texts = [squeeze(document.text[row]) for row in rows]
    count, length = len(rows), sum(map(len, texts)) + len(rows) - 1
    for first, last in _cuts(count):
        text = texts[first] if last == first + 1 else " ".join(texts[first:last])
        long_enough = len(text) >= _LEAST_LENGTH or last - first == count
        if long_enough and len(text) <= _LONGEST:
            share = len(text) / length
            yield TitleSpan(tuple(rows[first:last]), heading, text, first, count - last, share)


def _cuts(count: int) -> list[tuple[int, int]]:
    """Return the runs of *count* nodes that are looked at, all nodes first."""
    if count <= _SMALL:
        return [(first, last) for first in range(count) for last in range(count, first, -1)]
    whole = [(0, count)]
    return whole + [(first, count) for first in (1, 2, 3)] + [(0, count - 1), (0, count - 2)]
