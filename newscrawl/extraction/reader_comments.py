"""Texts, authors and dates of the readers' comments in a page."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from newscrawl.body.comments import comment_dates
from newscrawl.document.document import MAX_LABEL, rows_between
from newscrawl.document.rows import BLOCK_LEVEL
from newscrawl.extraction.render import render
from newscrawl.items import Comment
from newscrawl.text import squeeze, weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document.document import Document

# Class or ``itemprop`` of the name of the author.
_NAMED = re.compile(r"author|user|\bfn\b|nick|name(?!\w)|poster", re.IGNORECASE)
_MIN_TEXT = 15
"""Weighted characters of a text that is no name, date or button."""
_MAX_COMMENTS = 1000
_MAX_LEVELS = 12
_MAX_TIME_LEVELS = 3
_EDGES = " ,;:|·•–—-"


def reader_comments(document: Document) -> list[Comment]:
    """Return the comments in the regions of comments, in document order, which dates divide."""
    found = (it for place in comment_dates(document) for it in _comments(document, *place))
    return list(islice(found, _MAX_COMMENTS))


def _comments(document: Document, region: range, dates: Sequence[int]) -> Iterator[Comment]:
    around = zip([region.start - 1, *dates], dates, [*dates[1:], region.stop], strict=False)
    starts = [_start(document, *near) for near in around]
    for (start, stop), date in zip(pairwise([*starts, region.stop]), dates, strict=True):
        forms = (it for it in rows_between(document.rows_of("form"), start, stop) if it > date)
        rows = rows_between(document.text_nodes(), start, next(forms, max(start, stop)))
        texts = [
            row for row in rows if row != date and weighted_length(document.text[row]) >= _MIN_TEXT
        ]
        author = _author(document, rows, date)
        blocks = dict.fromkeys(_block(document, row) for row in texts if row != author)
        inside = [it for it in blocks if it >= start and document.link_density(it) <= 1 / 2]
        text = "\n\n".join(filter(None, (render(document, [block]) for block in inside)))
        if text:
            name = squeeze(document.text[author]).strip(_EDGES) if author is not None else None
            yield Comment(text, name or None, _date(document, date))


def _start(document: Document, previous: int, date: int, following: int) -> int:
    """Return the row of the highest element with the *date* and neither of its neighbours."""
    start = date
    for above in document.closest_ancestors(date, _MAX_LEVELS):
        if above <= previous or document.end[above] > following:
            break
        start = above
    return start


def _author(document: Document, rows: Sequence[int], date: int) -> int | None:
    """Return the row of the author's name: in an element named so, or the first short text."""
    classes = document.attributes["class"]
    short = [row for row in rows if row != date and len(document.text[row]) <= MAX_LABEL]
    head = short[: bisect_left(short, date) + 2]
    named = (
        row
        for row in head
        if any(_NAMED.search(classes.get(it, "")) for it in document.closest_ancestors(row, 2))
    )
    letters = (row for row in head if any(map(str.isalpha, document.text[row])))
    return next(named, next(letters, None))


def _block(document: Document, row: int) -> int:
    return next((it for it in document.ancestors(row) if document.tag[it] in BLOCK_LEVEL), row)


def _date(document: Document, row: int) -> str:
    """Return the instant of the ``time`` element around a date, or its text."""
    for above in document.closest_ancestors(row, _MAX_TIME_LEVELS):
        if document.tag[above] == "time":
            place = bisect_left(document.statements, above, key=lambda it: it.row)
            for statement in document.statements[place : place + 1]:
                if statement.row == above and statement.get("datetime"):
                    return statement.get("datetime")
    return document.text[row].strip(_EDGES)
