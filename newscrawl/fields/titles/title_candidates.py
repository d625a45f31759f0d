"""Title candidates: runs of text nodes.

Candidates are all ``h1`` elements and their parts. Unless one of them equals a stated title, text
nodes elsewhere that are similar to a stated title are candidates, too.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract as most_similar

from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from newscrawl.document.document import Document

MIN_RATIO = 55
"""Minimum fuzzy ratio (0..100) of a text node outside of ``h1`` and a stated title."""

MIN_TITLE_SHARE = 0.4
"""Minimum length of a text node that is part of a stated title, relative to the title."""

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}

# Limits the cost of hostile pages; real ones stay far below.
_MAX_NODES = 2000
_MAX_HEADINGS = 12
_MAX_NODES_IN_HEADING = 30
_MAX_SPANS = 60
_MAX_LENGTH = 600
_MIN_LENGTH = 8
# Maximum ancestors between a text node and its heading: <h2><a><span>.
_MAX_HEADING_DEPTH = 4
# Maximum text nodes of a heading of which all runs are candidates.
_MAX_NODES_FOR_ALL_RUNS = 5


class TitleSpan(NamedTuple):
    """A run of text nodes of a heading, or a text node outside of headings."""

    #: rows of the text nodes
    rows: tuple[int, ...]
    #: row of the heading
    heading: int | None
    #: text with white space collapsed
    text: str
    #: number of the heading's text nodes before and after the run
    before: int = 0
    after: int = 0
    #: share of the heading's characters, in 0..1
    share: float = 1.0

    @property
    def whole(self) -> bool:
        """Whether the run is the whole heading."""
        return not (self.before or self.after)


def find_spans(document: Document, rows: Sequence[int], stated: Collection[str]) -> list[TitleSpan]:
    """Return the candidates among *rows*, all visible text nodes of the page.

    *stated* are the titles stated in structured data. ``h1`` elements come first.
    """
    rows = rows[:_MAX_NODES]
    groups = _groups(document, rows, stated)
    spans = [span for heading, inside in groups for span in _runs(document, heading, inside)]
    return spans[:_MAX_SPANS]


def _groups(
    document: Document, rows: Sequence[int], stated: Collection[str]
) -> Iterator[tuple[int | None, Sequence[int]]]:
    """Yield possible titles: headings with their text nodes, and None with a single text node.

    If an ``h1`` equals a stated title, only ``h1`` elements are yielded.
    """
    seen: set[int] = set()
    titles = {title.lower() for title in stated}
    found = False
    for heading, inside in islice(_h1_elements(document, rows), _MAX_HEADINGS):
        seen.update(inside)
        found = found or _equals_stated(document, inside, titles)
        yield heading, inside
    for row in () if found else _similar_rows(document, rows, titles):
        if row in seen:
            continue
        above = _heading_of(document, row)
        inside = [] if above is None else _text_rows(document, rows, above)
        if 0 < len(inside) <= _MAX_NODES_IN_HEADING:
            seen.update(inside)
            yield above, inside
        else:
            yield None, [row]


def _h1_elements(document: Document, rows: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    for row in document.rows_of("h1"):
        inside = _text_rows(document, rows, row)
        if 0 < len(inside) <= _MAX_NODES_IN_HEADING:
            yield row, inside


def _equals_stated(document: Document, rows: Sequence[int], titles: Collection[str]) -> bool:
    """Return whether one of the text nodes *rows*, or their joined text, is one of *titles*."""
    texts = [squeeze(document.text[row]).lower() for row in rows]
    return " ".join(texts) in titles or any(text in titles for text in texts)


def _similar_rows(document: Document, rows: Sequence[int], titles: Collection[str]) -> list[int]:
    """Return the text nodes that are similar to one of *titles* or a large part of one."""
    if not titles:
        return []
    longest = 2 * max(map(len, titles))
    shortest = max(_MIN_LENGTH, MIN_TITLE_SHARE * min(map(len, titles)))
    text = document.text
    long_enough = [row for row in rows if shortest <= len(text[row]) <= longest]
    texts = [text[row].lower() for row in long_enough]
    found: set[int] = set()
    for title in titles:
        similar = most_similar(title, texts, scorer=ratio, score_cutoff=MIN_RATIO, limit=None)
        found.update(index for _, _, index in similar)
        min_length = MIN_TITLE_SHARE * len(title)
        found.update(
            index for index, part in enumerate(texts) if len(part) >= min_length and part in title
        )
    return [long_enough[index] for index in sorted(found)]


def _heading_of(document: Document, row: int) -> int | None:
    above = islice(document.ancestors(row), _MAX_HEADING_DEPTH)
    return next((row for row in above if document.tag[row] in HEADING_LEVELS), None)


def _text_rows(document: Document, rows: Sequence[int], row: int) -> Sequence[int]:
    return rows[bisect_left(rows, row) : bisect_left(rows, document.end[row])]


def _runs(document: Document, heading: int | None, rows: Sequence[int]) -> Iterator[TitleSpan]:
    texts = [squeeze(document.text[row]) for row in rows]
    count, length = len(rows), sum(map(len, texts)) + len(rows) - 1
    for first, last in _bounds(count):
        text = texts[first] if last == first + 1 else " ".join(texts[first:last])
        long_enough = len(text) >= _MIN_LENGTH or last - first == count
        if long_enough and len(text) <= _MAX_LENGTH:
            share = len(text) / length
            yield TitleSpan(tuple(rows[first:last]), heading, text, first, count - last, share)


def _bounds(count: int) -> list[tuple[int, int]]:
    """Return the bounds of the candidate runs of *count* nodes, the whole first."""
    if count <= _MAX_NODES_FOR_ALL_RUNS:
        return [(first, last) for first in range(count) for last in range(count, first, -1)]
    whole = [(0, count)]
    return whole + [(first, count) for first in (1, 2, 3)] + [(0, count - 1), (0, count - 2)]
