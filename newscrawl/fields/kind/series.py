"""Live blogs and galleries, by the structure of the page.

Most prose of a live blog is in sibling elements that begin with a time of day; most prose of a
gallery is in captions or in numbered elements ("3 / 12").
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
# Times such as "18:53", "18.53 Uhr", "6h05" and "午後6時05分", or counters such as "3 / 12".
_MARK = re.compile(
    r"(?P<time>\D{0,12}+(?:[01]?\d|2[0-3])\s?[:.h時시点][\s]?[0-5]\d(?!\d|\.\d)\D{0,12}$)"
    r"|\D{0,8}+\d{1,3}\s?(?:/|\||of|von|van|de|sur|di|из|z|av)\s?\d{1,3}\D{0,4}$"
)

_MAX_MARK_LENGTH = 28
MIN_ENTRIES = 5
MIN_SLIDES = 5
# Share of the page's prose in the series.
_MIN_SHARE = 0.6
# Share of the entries that begin with a time.
_MIN_TIMED_SHARE = 0.7
# Mean weighted characters of an entry outside of links; teasers have fewer.
_MIN_ENTRY_LENGTH = 50


def series_kind(document: Document) -> Literal["live", "gallery"] | None:
    """Return the kind of series, or None for other pages."""
    page = prose(document, 0, len(document))
    if not page:
        return None
    times, counters = _marks(document)
    if _is_gallery(document, counters, page):
        return "gallery"
    return "live" if _is_live(document, times, page) else None


def _marks(document: Document) -> tuple[list[int], list[int]]:
    """Return the rows of short visible texts that are a time of day, and of those that are counters."""
    text, hidden = document.text, document.hidden
    times: list[int] = []
    counters: list[int] = []
    for row in document.number_rows:
        if hidden[row] or len(text[row]) > _MAX_MARK_LENGTH:
            continue
        if mark := _MARK.match(text[row]):
            (counters if mark["time"] is None else times).append(row)
    return times, counters


def _is_live(document: Document, times: Sequence[int], page: float) -> bool:
    if len(times) < MIN_ENTRIES:
        return False
    for rows in sibling_lists(document, times, _ENTRY_TAGS):
        own = sum(prose(document, row, document.end[row]) for row in rows)
        if (
            len(rows) >= MIN_ENTRIES
            and own >= max(_MIN_SHARE * page, _MIN_ENTRY_LENGTH * len(rows))
            and sum(_begins_with_time(document, row) for row in rows)
            >= _MIN_TIMED_SHARE * len(rows)
        ):
            return True
    return False


def _begins_with_time(document: Document, row: int) -> bool:
    """Return whether *row* begins with a time that, unlike in teasers, is not followed by a link."""
    texts = list(islice(document.text_nodes(row), 2))
    mark = _MARK.match(document.text[texts[0]]) if len(texts) > 1 else None
    if mark is None or mark["time"] is None:
        return False
    return document.link_chars(texts[0]) == document.link_chars(texts[1]) == 0


def _is_gallery(document: Document, counters: Sequence[int], page: float) -> bool:
    if _is_most_prose(document, document.rows_of("figcaption"), page):
        return True
    if len({document.text[row] for row in counters}) < MIN_SLIDES:
        return False
    return any(
        _is_most_prose(document, rows, page)
        for rows in sibling_lists(document, counters, _SLIDE_TAGS)
    )


def _is_most_prose(document: Document, rows: Sequence[int], page: float) -> bool:
    own = sum(prose(document, row, document.end[row]) for row in rows)
    return len(rows) >= MIN_SLIDES and own >= _MIN_SHARE * page
