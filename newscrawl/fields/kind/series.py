"""Pages that are a series: the entries of a live blog, the pictures of a gallery.

A live blog is most of a page's prose in elements side by side that begin with a time of day. A
gallery is most of it in captions, or in elements that count themselves ("3 / 12").
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Literal

from newscrawl.document.repeats import prose, sibling_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.document.document import Document

_ENTRY_TAGS = frozenset({"article", "dd", "div", "li", "section", "tr"})
_SLIDE_TAGS = _ENTRY_TAGS | {"figure"}
# "18:53", "18.53 Uhr", "6h05", "午後6時05分", with 12 letters more at most; and "3 / 12".
_MARK = re.compile(
    r"(?P<time>\D{0,12}(?:[01]?\d|2[0-3])\s?[:.h時시点][\s]?[0-5]\d(?!\d|\.\d)\D{0,12}$)"
    r"|\D{0,8}\d{1,3}\s?(?:/|\||of|von|van|de|sur|di|из|z|av)\s?\d{1,3}\D{0,4}$"
)

_LONGEST = 28
LEAST_ENTRIES = 5
LEAST_SLIDES = 5
_SHARE = 0.6
"""Least share of the page's prose that is in the series."""
_MARKED = 0.7
"""Least share of the elements that begin with a time."""
_ENTRY = 50
"""Weighted characters outside of links of an entry, in the mean: teasers have fewer."""


def series_kind(document: Document) -> Literal["live", "gallery"] | None:
    """Return what series *document* is, None where it is none."""
    page = prose(document, 0, len(document))
    if not page:
        return None
    times, counters = _marks(document)
    if _is_gallery(document, counters, page):
        return "gallery"
    return "live" if _is_live(document, times, page) else None


def _marks(document: Document) -> tuple[list[int], list[int]]:
    """Return the rows of short shown texts that are a time of day, and of those that count."""
    text, hidden = document.text, document.hidden
    times: list[int] = []
    counters: list[int] = []
    for row in document.number_rows:
        if not hidden[row] and len(text[row]) <= _LONGEST and (mark := _MARK.match(text[row])):
            (counters if mark["time"] is None else times).append(row)
    return times, counters


def _is_live(document: Document, times: Sequence[int], page: float) -> bool:
    if len(times) < LEAST_ENTRIES:
        return False
    for rows in sibling_lists(document, times, _ENTRY_TAGS):
        own = sum(prose(document, row, document.end[row]) for row in rows)
        if (
            len(rows) >= LEAST_ENTRIES
            and own >= max(_SHARE * page, _ENTRY * len(rows))
            and sum(_begins_with_time(document, row) for row in rows) >= _MARKED * len(rows)
        ):
            return True
    return False


def _begins_with_time(document: Document, row: int) -> bool:
    """Return whether *row* begins with a time, and goes on with no link, as teasers do."""
    texts = list(islice(document.text_nodes(row), 2))
    mark = _MARK.match(document.text[texts[0]]) if len(texts) > 1 else None
    if mark is None or mark["time"] is None:
        return False
    return document.link_chars(texts[0]) == document.link_chars(texts[1]) == 0


def _is_gallery(document: Document, counters: Sequence[int], page: float) -> bool:
    if _are_most(document, document.rows_of("figcaption"), page):
        return True
    if len({document.text[row] for row in counters}) < LEAST_SLIDES:
        return False
    return any(
        _are_most(document, rows, page) for rows in sibling_lists(document, counters, _SLIDE_TAGS)
    )


def _are_most(document: Document, rows: Sequence[int], page: float) -> bool:
    own = sum(prose(document, row, document.end[row]) for row in rows)
    return len(rows) >= LEAST_SLIDES and own >= _SHARE * page
