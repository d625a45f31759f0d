"""Title candidates: runs of text nodes.

Candidates are all ``h1`` elements and their parts. Unless one of them equals a stated title, text
nodes elsewhere that are similar to a stated title or equal a part of one, and those near the start
of the relevant content, are candidates, too.
"""

from __future__ import annotations

import re
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract as most_similar

from newscrawl.document.document import rows_between
from newscrawl.fields.dates.visible_dates import read_dates
from newscrawl.fields.metadata.author_names import clean_names, is_byline, is_person
from newscrawl.fields.titles.title import heading_text, is_balanced, separators, words_kept
from newscrawl.text import count_digits, weighted_length

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from newscrawl.document.document import Document

MIN_RATIO = 55
"""Minimum fuzzy ratio (0..100) of a text node outside of ``h1`` and a stated title."""

MIN_TITLE_SHARE = 0.4
"""Minimum length of a text node that is part of a stated title, relative to the title."""

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}

# More permissive than separators(), as each part is looked up in the page.
_PARTS = re.compile(
    r"(?:(?<!\s)\s++)?[|｜ㅣ：·•»«]++\s*+|(?<!\s)\s++[\-‐–—:/]++\s++|(?<!:):++\s++|(?:(?<!\s)\s++)?-\s++"
)
_MIN_PART_LENGTH = 4
# Limits the cost of hostile pages; real ones stay far below.
_MAX_NODES = 2000
_MAX_HEADINGS = 12
_MAX_NODES_IN_HEADING = 30
_MAX_SPANS = 60
_MAX_LENGTH = 250  # characters; longer headings are paragraphs
_MIN_LENGTH = 8
# Maximum ancestors between a text node and its heading: <h2><a><span>.
_MAX_HEADING_DEPTH = 4
# Maximum text nodes of a heading of which all runs are candidates.
_MAX_NODES_FOR_ALL_RUNS = 5
# Text nodes before and after the start of the relevant content.
_MAX_BEFORE = 16
MAX_AFTER = 8
_MAX_LEADING_LENGTH = 120  # characters; longer texts are paragraphs
# Start of a run that continues a sentence that began before it; so does a small letter.
_CONTINUING = frozenset(",.;:)]}’'!?%”")
_MARKS = " |•·/–—"  # between a kicker and a title
_SENTENCE_ENDS = tuple(".。．।…:;,")


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


def find_spans(
    document: Document,
    rows: Sequence[int],
    stated: Collection[str],
    whole: Collection[str] = (),
    start: int = 0,
) -> list[TitleSpan]:
    """Return the candidates among *rows*, all visible text nodes of the page.

    *stated* are the titles stated in structured data, *whole* those with the site's name, and
    *start* is the position of the relevant content. ``h1`` elements come first.
    """
    titles = {title.lower() for title in stated}
    groups = _groups(document, rows, titles, whole, start)
    spans = [
        span for heading, inside in groups for span in _runs(document, heading, inside, titles)
    ]
    return spans[:_MAX_SPANS]


def only_heading(document: Document, rows: Sequence[int]) -> TitleSpan | None:
    """Return the ``h1`` of a page with one, if it is one unit of text without separators."""
    headings = list(islice(_h1_elements(document, rows[:_MAX_NODES]), 2))
    if len(headings) != 1 or len(words_kept(document, headings[0][1])) != 1:
        return None
    spans = list(_runs(document, *headings[0], ()))
    return spans[0] if len(spans) == 1 else None


def _groups(
    document: Document,
    rows: Sequence[int],
    titles: Collection[str],
    whole: Collection[str],
    start: int,
) -> Iterator[tuple[int | None, Sequence[int]]]:
    """Yield possible titles: headings with their text nodes, and None with a single text node.

    If an ``h1`` equals a stated title, only ``h1`` elements are yielded.
    """
    seen: set[int] = set()
    found = False
    first_rows = rows[:_MAX_NODES]
    for heading, inside in islice(_h1_elements(document, first_rows), _MAX_HEADINGS):
        seen.update(inside)
        found = found or _equals_stated(document, inside, titles)
        yield heading, inside
    if found:
        return
    others = {
        *_similar_rows(document, first_rows, titles, title_parts(whole)),
        *_leading_rows(document, rows, start),
    }
    for row in sorted(others):
        if row in seen:
            continue
        above = _heading_of(document, row)
        inside = [] if above is None else rows_between(first_rows, above, document.end[above])
        if 0 < len(inside) <= _MAX_NODES_IN_HEADING:
            seen.update(inside)
            yield above, inside
        else:
            yield None, [row]


def _h1_elements(document: Document, rows: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    for row in document.rows_of("h1"):
        inside = rows_between(rows, row, document.end[row])
        if 0 < len(inside) <= _MAX_NODES_IN_HEADING:
            yield row, inside


def _equals_stated(document: Document, rows: Sequence[int], titles: Collection[str]) -> bool:
    """Return whether one of the text nodes *rows*, or their joined text, is one of *titles*."""
    texts = (heading_text(document.join_texts(it)) for it in words_kept(document, rows))
    return _joined(document, rows).lower() in titles or any(it.lower() in titles for it in texts)


def _leading_rows(document: Document, rows: Sequence[int], start: int) -> list[int]:
    """Return the text nodes near the start of the relevant content that may be its title.

    Not those after its first paragraph, no bylines, dates and ends of sentences.
    """
    tag, text, parent = document.tag, document.text, document.parent
    after = takewhile(
        lambda row: weighted_length(text[row]) <= _MAX_LEADING_LENGTH,
        rows[start : start + MAX_AFTER],
    )
    return [
        row
        for row in chain(rows[max(start - _MAX_BEFORE, 0) : start], after)
        if len(text[row]) <= _MAX_LEADING_LENGTH
        and weighted_length(text[row]) >= _MIN_LENGTH
        and not text[row].rstrip().endswith(_SENTENCE_ENDS)
        and not text[row].lstrip().startswith(_SENTENCE_ENDS)
        and (tag[parent[row]] != "a" or _heading_of(document, row) is not None)
        and not _is_date(text[row])
        and not (is_byline(text[row]) and all(map(is_person, clean_names([text[row]]))))
    ]


def _is_date(text: str) -> bool:
    """Return whether most of *text* is a date."""
    dates = read_dates(text) if count_digits(text) else ()
    return any(2 * (it.end - it.start) > len(text) for it in dates)


def _similar_rows(
    document: Document, rows: Sequence[int], titles: Collection[str], parts: Collection[str]
) -> list[int]:
    """Return the text nodes that are similar to one of *titles*, a large part or one of *parts*."""
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
    equal = [row for row in rows if text[row].lower() in parts] if parts else []
    return [*(long_enough[index] for index in found), *equal]


def title_parts(titles: Collection[str]) -> set[str]:
    """Return the parts of *titles* at separators, in lower case."""
    return {
        part
        for title in titles
        if len(parts := _PARTS.split(title.lower())) > 1
        for part in parts
        if len(part) >= _MIN_PART_LENGTH
    }


def _heading_of(document: Document, row: int) -> int | None:
    above = document.closest_ancestors(row, _MAX_HEADING_DEPTH)
    return next((row for row in above if document.tag[row] in HEADING_LEVELS), None)


def _joined(document: Document, rows: Sequence[int]) -> str:
    return heading_text(document.join_texts(rows))


def _runs(
    document: Document, heading: int | None, rows: Sequence[int], titles: Collection[str]
) -> Iterator[TitleSpan]:
    shown = document.text
    rows = [row for row in rows if shown[row][0].isalnum() or heading_text(shown[row])]
    whole = _joined(document, rows)
    is_whole = is_balanced(whole)
    units = words_kept(document, rows)
    count = len(units)
    texts = [whole] if count == 1 else [_joined(document, unit) for unit in units]
    for first, last in _bounds(count):
        inside = [row for unit in units[first:last] for row in unit]
        all_units = last - first == count
        # A kicker may have no white space after it.
        text = " ".join(texts[first:last])
        if not all_units:
            text = text.strip(_MARKS if is_balanced(text) else f"{_MARKS}»")
            if is_whole and not is_balanced(text):
                continue
        elif whole.lower() in titles:
            text = whole
        goes_on = first > 0 and (text[:1].islower() or text[:1] in _CONTINUING)
        if (all_units or (len(text) >= _MIN_LENGTH and not goes_on)) and len(text) <= _MAX_LENGTH:
            share = min(len(text) / (len(whole) or 1), 1.0)
            span = TitleSpan(tuple(inside), heading, text, first, count - last, share)
            yield span
            if all_units:
                yield from _parts(span)


def _parts(span: TitleSpan) -> Iterator[TitleSpan]:
    """Yield the beginnings and ends of a text at its first and last separator."""
    found = separators(span.text)
    if not found:
        return
    text, first, last = span.text, found[0], found[-1]
    beginnings = dict.fromkeys((text[: last.start()], text[: first.start()]))
    ends = dict.fromkeys((text[first.end() :], text[last.end() :]))
    for part, before in (*((it, 0) for it in beginnings), *((it, 1) for it in ends)):
        if len(part) >= _MIN_LENGTH:
            share = len(part) / len(text)
            yield span._replace(text=part, before=before, after=1 - before, share=share)


def _bounds(count: int) -> list[tuple[int, int]]:
    """Return the bounds of the candidate runs of *count* nodes, the whole first."""
    if count <= _MAX_NODES_FOR_ALL_RUNS:
        return [(first, last) for first in range(count) for last in range(count, first, -1)]
    whole = [(0, count)]
    return whole + [(first, count) for first in (1, 2, 3)] + [(0, count - 1), (0, count - 2)]
