"""Readers' comments, found by generic names in the markup, by repeated structure and by headings.

Phase 2 of NCE finds comments with similar words, which most comments do not have. Here a region is
comments for one of three reasons. Its ``class`` or ``id`` contains a word such as "comment". Or it is a
list of records with author, date and text that have a "Reply" button, a heading such as "Comments",
or all the same button. Or it follows such a heading, and dates or buttons divide it. No rule names
comment software.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from newscrawl.body.comment_records import (
    ShortTexts,
    has_date,
    has_replies,
    record_lists,
    record_signs,
)
from newscrawl.document.document import MAX_LABEL, rows_between
from newscrawl.document.repeats import prose
from newscrawl.text import WIDE_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

# Words in the markup of many systems, none of which is named here.
# They are by their beginning, with a pattern of the rest.
_NAMES = {
    "comment": "(?!ary|ator|ed)", "kommentar": "", "komentar": "", "coment": "[aá]ri",
    "reacties": r"\b", "talkback": "", "guestbook": "", "leser": "(?:brief|meinung|post)",
}  # fmt: skip
_NAME = re.compile("|".join(re.escape(start) + rest for start, rest in _NAMES.items()))
# Words of elements that are not comments: page states, counters, links.
_STATE = re.compile(
    r"^(?:category|tag|term|topic)[-_]|(?:^|[-_])(?:no|has|with|enable[ds]?|disable[ds]?|allow|can|count(?:er|s)?|open|closed|off|on"
    r"|links?|icon|button|btn|bubble|opinion|column|editorial)(?:$|[-_])|enable|noload"
)
# Classes of a WordPress post, which also has its categories and tags as classes.
_POST = frozenset({"hentry", "type-post"})
_INLINE = frozenset({"a", "b", "em", "font", "i", "span", "strong", "u"})
_NEVER_REGIONS = frozenset({"html", "body", "main", "a", "span"})

# Weighted characters.
_MIN_REGION = 40
_MAX_SURROUNDINGS = 600  # heading, rules and form around the records of a region
_MIN_ARTICLE = 500.0  # prose of an article
_MIN_ENTRIES = 3  # of a live blog
_MIN_LONG_TEXT = 80
_MIN_TEXT_BEFORE = 300  # in long texts, before comments without names
_MAX_GAP = 1200.0  # prose of a comment

_MAX_HEADING = 30  # characters
_MAX_MARK = 2 * MAX_LABEL
"""Characters of a line with the date of a comment, the name and the place of its author."""
_MAX_TEXTS_BEFORE = 9
"""Number of texts from the heading to the first date or reply button."""
_MAX_TEXTS_AFTER_HEADING = 6  # before the first record
_MAX_HEADINGS = 20
"""Number of headings that are tried, since pages can repeat them."""

_MAX_RECORDS_SHARE = 1 / 3
"""Share of the page's prose above which records without a heading may be the article."""


def comment_rows(document: Document) -> list[range]:
    """Return the rows of readers' comments with their headings and forms, in document order."""
    start, texts = start_of_comments(document), ShortTexts.of(document)
    named = _named(document, texts, start)
    if _are_live_blog(document, texts, named):
        named = []
    records = _record_regions(document, texts, named, start)
    return _merged([*named, *records, *_headed_sections(document, texts, start)])


def without_comments(document: Document, comments: Sequence[range]) -> Document:
    """Return a copy of *document* with the *comments* hidden."""
    return document.with_hidden(comments) if comments else document


def _merged(found: Iterable[range]) -> list[range]:
    merged: list[range] = []
    for rows in sorted(found, key=lambda rows: (rows.start, -rows.stop)):
        if not merged or rows.start >= merged[-1].stop:
            merged.append(rows)
        else:
            merged[-1] = range(merged[-1].start, max(merged[-1].stop, rows.stop))
    return merged


# Regions by name


def _named(document: Document, texts: ShortTexts, start: int) -> list[range]:
    """Return the regions with a name of comments; large ones begin at *start* or later."""
    regions: list[range] = []
    stop = 0
    for row in named_rows(document, _MIN_REGION):
        if row >= stop and _is_region(document, texts, row, start):
            stop = document.end[row]
            regions.append(range(row, stop))
    return regions


def _names_comments(*values: str | None) -> bool:
    """Return whether the class, id and item type of an element name comments."""
    names = " ".join(filter(None, values)).lower().split()
    return _POST.isdisjoint(names) and any(
        _NAME.search(name) and not _STATE.search(name) for name in names
    )


def named_rows(document: Document, min_chars: float) -> list[int]:
    """Return the rows of elements that name comments and have enough text outside of links."""
    classes, ids, types = (document.attributes[name] for name in ("class", "id", "itemtype"))
    return [
        row
        for row in document.rows_named(_NAMES)
        if document.chars(row) - document.link_chars(row) >= min_chars
        and _names_comments(classes.get(row), ids.get(row), types.get(row))
    ]


def _is_region(document: Document, texts: ShortTexts, row: int, start: int) -> bool:
    """Return whether an element with a name of comments contains them, and not the article."""
    tag, end = document.tag, document.end[row]
    if tag[row] == "form":
        return True
    if tag[row] in _NEVER_REGIONS or "h1" in tag[row:end]:
        return False
    own, page = prose(document, row, end), prose(document, 0, len(document))
    if own <= page / 3 or row >= start:
        return True
    records = [
        sum(prose(document, record, document.end[record]) for record in rows)
        for rows in record_lists(document, texts, row, end)
    ]
    return bool(records) and own - max(records) <= page / 3


def _are_live_blog(document: Document, texts: ShortTexts, regions: Sequence[range]) -> bool:
    """Return whether *regions* with names of comments are entries of a live blog.

    Then there are several, little other prose, neither authors nor buttons, and no heading.
    """
    held = sum(prose(document, region.start, region.stop) for region in regions)
    if len(regions) < _MIN_ENTRIES or prose(document, 0, len(document)) - held >= _MIN_ARTICLE:
        return False
    first, stop = regions[0].start, regions[-1].stop
    lists = record_lists(document, texts, first - 1, stop)
    signs = (record_signs(document, texts, rows) for rows in lists)
    if any(found.has_authors or found.has_buttons for found in signs):
        return False
    return _heading(document, texts, first) is None


# Regions by structure


def start_of_comments(document: Document) -> int:
    """Return the row after enough long texts for an article."""
    chars, links, hidden = 0.0, document.link_chars_before, document.hidden
    for row in document.text_rows:
        if len(document.text[row]) < _MIN_LONG_TEXT / WIDE_WEIGHT or hidden[row]:
            continue
        if document.chars(row) >= _MIN_LONG_TEXT and links[row + 1] == links[row]:
            chars += document.chars(row)
            if chars >= _MIN_TEXT_BEFORE:
                return row + 1
    return len(document)


def _record_regions(
    document: Document, texts: ShortTexts, known: Sequence[range], start: int
) -> Iterator[range]:
    """Yield regions of records that have the structure of comments, outside of *known* regions.

    The first record is at the row *start* or later: parts of the article can be records, too.
    """
    for rows in record_lists(document, texts, 0, len(document), first_reply=start):
        records = range(rows[0], document.end[rows[-1]])
        overlaps = any(it.start < records.stop and records.start < it.stop for it in known)
        if records.start < start or overlaps:
            continue
        heading = _heading(document, texts, records.start)
        if _are_comments(document, texts, rows, has_heading=heading is not None):
            region = _around(document, records.start, records.stop, heading)
            start = region.stop
            yield region


def _are_comments(
    document: Document, texts: ShortTexts, rows: Sequence[int], *, has_heading: bool
) -> bool:
    """Return whether the records at *rows* are comments.

    They have reply buttons, or a heading and authors or buttons. Others have authors and buttons,
    and are not most of the page's prose, which may be products, questions or steps.
    """
    stop = document.end[rows[-1]]
    own, page = prose(document, rows[0], stop), prose(document, 0, len(document))
    may_be_alone = len(rows) > 2 and own <= _MAX_RECORDS_SHARE * page
    if not (may_be_alone or has_heading or has_replies(document, texts, rows)):
        return False
    if "h1" in document.tag[rows[0] : stop]:
        return False
    signs = record_signs(document, texts, rows)
    if signs.has_replies or (has_heading and (signs.has_authors or signs.has_buttons)):
        return True
    return may_be_alone and signs.has_authors and signs.has_buttons


def _headed_sections(document: Document, texts: ShortTexts, start: int) -> Iterator[range]:
    """Yield the rows from a heading of comments after *start* to the end of its section.

    The comments need not be elements of one list: there may be one, or their parts are siblings.
    """
    headings = (
        row
        for row in rows_between(texts.headings, start, len(document))
        if len(document.text[row]) <= _MAX_HEADING and _is_alone(document, row)
    )
    stop = start
    for row in islice(headings, _MAX_HEADINGS):
        end = _end_of_section(document, row) if row >= stop else None
        if end is not None and _has_comments(document, texts, range(row + 1, end)):
            stop = end
            yield range(_highest(document, row, end), end)


def _is_alone(document: Document, row: int) -> bool:
    """Return whether the block of the text node *row* is not a paragraph with other text."""
    block = next(above for above in document.ancestors(row) if document.tag[above] not in _INLINE)
    return document.tag[block] != "p" or document.chars(block) <= MAX_LABEL


def _end_of_section(document: Document, heading: int) -> int | None:
    """Return the end of the closest ancestor of *heading* with more text; None if it has an h1."""
    for above in document.ancestors(heading):
        stop = document.end[above]
        if document.chars_before[stop] - document.chars_before[heading + 1] >= _MIN_REGION:
            return None if "h1" in document.tag[heading:stop] else stop
    return None


def _has_comments(document: Document, texts: ShortTexts, section: range) -> bool:
    """Return whether dates or reply buttons divide the text of a *section* into comments."""
    own = prose(document, section.start, section.stop)
    chars = document.chars_before[section.stop] - document.chars_before[section.start]
    if 2 * own < chars:  # links to other pages
        return False
    rows = rows_between(document.text_nodes(), section.start, section.stop)
    marks = [
        *rows_between(texts.replies, section.start, section.stop),
        *(it for it in rows if len(document.text[it]) <= _MAX_MARK and has_date(document.text[it])),
    ]
    if not marks or min(marks) > rows[:_MAX_TEXTS_BEFORE][-1]:
        return False
    if len(marks) < 3 and own > prose(document, 0, section.start):  # may be the article
        return False
    places = [section.start, *sorted(marks), section.stop]
    gaps = (prose(document, start, stop) for start, stop in pairwise(places))
    return max(gaps) <= max(_MAX_GAP, own / 4)


def _heading(document: Document, texts: ShortTexts, first: int) -> int | None:
    """Return the row of a heading of comments above the records, None if there is none."""
    if not texts.headings:
        return None
    above = rows_between(document.shown_rows, 1, first)[-_MAX_TEXTS_AFTER_HEADING:]
    near = rows_between(texts.headings, above[0], first) if above else ()
    return next((row for row in reversed(near) if document.chars(row) <= MAX_LABEL), None)


def _around(document: Document, first: int, stop: int, heading: int | None) -> range:
    """Return the rows of the records *first* to *stop* with their surroundings and *heading*."""
    records = document.chars_before[stop] - document.chars_before[first]
    region = range(first, stop)
    for row in document.ancestors(first):
        if "h1" in document.tag[row : document.end[row]] or document.tag[row] in {"body", "main"}:
            break
        around = document.chars(row) - records
        if around > min(_MAX_SURROUNDINGS, records) or around > _prose_outside(document, row):
            break
        region = range(row, document.end[row])
    if heading is not None and heading < region.start:
        return range(_highest(document, heading, region.start), region.stop)
    return region


def _prose_outside(document: Document, row: int) -> float:
    """Return the weighted characters outside of links and outside of the subtree of *row*."""
    return prose(document, 0, len(document)) - prose(document, row, document.end[row])


def _highest(document: Document, row: int, stop: int) -> int:
    """Return the highest ancestor of *row* that ends before *stop* and has little more text."""
    chars = document.chars(row)
    parent = document.parent[row]
    while document.end[parent] <= stop and document.chars(parent) <= chars + MAX_LABEL:
        row, parent = parent, document.parent[parent]
    return row
