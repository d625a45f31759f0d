"""Readers' comments, found by generic names in the markup, by repeated structure and by headings.

Phase 2 of NCE finds comments with similar words, which most comments do not have. Here a region is
comments for one of three reasons. Its ``class`` or ``id`` contains a word such as "comment". Or it
is a list of records with author, date and text that have a "Reply" button or a heading such as
"Comments". Or it follows such a heading, and dates or buttons divide it. No rule names comment
software.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.blocks import MIN_LONG, MIN_STORY
from newscrawl.document.document import MAX_LABEL, WIDGET, rows_between
from newscrawl.document.repeats import prose, sibling_lists
from newscrawl.text import places_of

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
_INLINE = frozenset({"a", "b", "em", "font", "i", "span", "strong", "u"})
_NEVER_REGIONS = frozenset({"html", "body", "main", "a", "span"})

# A day and a year, a time of day, a day in numbers, or an age such as "2 h"; not a price or a
# percentage. It begins with a digit, for speed.
_DATE = re.compile(
    r"\d(?:\D{1,20}+(?:19|20)\d\d(?!\d)|(?:(?<=(?<!\d)1)9|(?<=(?<!\d)2)0)\d\d\D{1,3}+\d"
    r"|\d?:\d\d|(?<=\b\d)\d?[./-]\d\d?\b(?!\s?%)|\s?(?:h|m|d|w|min)\b)"
)
# "Ago" in many languages: words, then parts of words. Branches begin with rare letters, for speed.
_AGO = re.compile(
    r"g(?:o\b(?<=\bago)|eleden)|vor\b(?<=\bvor)|y a\b(?<=\bil y a)|ce\b(?<=\bhace)|á\b(?<=\bhá)|fa\b(?<=\bfa)"
    r"|mu(?<=temu)|önce|ước(?<=trước)|d(?:en(?<=siden)|an(?<=sedan))|назад|前|전(?![^\0])|منذ|לפני|पहले"
)
# Start of "Reply" in many languages, in lower case and without spaces, with a pattern of the rest.
_REPLIES = dict.fromkeys((
    "respondre", "répondre", "contestar", "rispondi", "răspunde",
    "antwort", "beantwoord", "reageer", "besvar", "vastaa", "válasz", "odpow", "odpověd",
    "ответить", "відпові", "отговор", "yanıtla", "cevapla", "trảlời", "απάντηση",
    "הגב", "השב", "پاسخ", "जवाब", "उत्तरद", "উত্তর", "ตอบ", "返信", "답글", "답변",
), "") | {
    "repl": "(?:y|ies)", "respond": "(?:er?)?$", "svar": "a?$", "balas": "(?:$|kom)", "رد": "(?:$|على)",
    "回复": "", "回覆": "",
}  # fmt: skip
# Texts after a NUL that may be one.
_FIRST_LETTERS = "".join({start[0] for start in _REPLIES})  # the common case are others
_MAYBE_REPLY = re.compile(
    rf"\0(?:[^\w\0]|[\d_])*+(?=[{_FIRST_LETTERS}])(?:{'|'.join({start[:3] for start in _REPLIES})})"
)
_REPLY = re.compile("|".join(re.escape(start) + rest for start, rest in _REPLIES.items()))
# Headings of comment sections, in lower case; branches begin with rare letters, for speed.
_HEADING = re.compile(
    r"c(?:omment(?:aire|i\b|(?<=\bcomment)s?\b)|oment(?:ari|ário)|ties(?<=reacties)|uss(?<=discuss)|tions(?<=réactions))"
    r"|k(?:omm?enta|omentář|omen\b|us(?<=diskus))|b(?:at(?<=debat)|ình luận|ack(?<=talkback))|yorum|zász(?<=hozzász)ól"
    r"|plies\b(?<=\breplies)|maoni|комментари|коментар|каментар|обсужден|σχόλι|コメント|评论|評論|留言|跟贴"
    r"|讨论|討論|議論|댓글|تعليق|نظرات|تبصر|תגובות|टिप्पणि|प्रतिक्रिया|चर्चा|মন্তব্য|கருத்து|ความคิดเห็น"
)
_NON_LETTERS = re.compile(r"[\d\W_]+")
_RECORD_TAGS = frozenset({"article", "dd", "div", "dl", "li", "section", "table", "tr"})

_MAX_WORDS = 30  # characters of a button or heading
_MIN_COMMENT = 15  # weighted characters
_MIN_RECORD_SHARE = 0.7
"""Share of the records of a list that must have a property."""

# Weighted characters.
_MAX_SURROUNDINGS = 600  # heading, rules and form around the records of a region
_MIN_ARTICLE = 500.0  # prose of an article
_MIN_ENTRIES = 3  # of a live blog
_MAX_GAP = 1200.0  # prose of a comment

_MAX_TEXTS_BEFORE = 9
"""Number of texts from the heading to the first date or reply button."""
_MAX_TEXTS_AFTER_HEADING = 6  # before the first record
_MAX_HEADINGS = 20
"""Number of headings that are tried, since pages can repeat them."""


def comment_rows(document: Document) -> list[range]:
    """Return the rows of readers' comments with their headings and forms, in document order."""
    start = start_of_comments(document)
    named = _named(document, start)
    if _are_live_blog(document, named):
        named = []
    shown = document.shown_rows[: bisect_left(document.shown_rows, start)]
    texts = _ShortTexts(document, next(iter(shown[-_MAX_TEXTS_AFTER_HEADING:]), start))
    records = _record_regions(document, texts, named, start)
    return _merged([*named, *records, *_headed_sections(document, texts, start)])


def _merged(found: Iterable[range]) -> list[range]:
    merged: list[range] = []
    for rows in sorted(found, key=lambda rows: (rows.start, -rows.stop)):
        if not merged or rows.start >= merged[-1].stop:
            merged.append(rows)
        else:
            merged[-1] = range(merged[-1].start, max(merged[-1].stop, rows.stop))
    return merged


# Regions by name


def _named(document: Document, start: int) -> list[range]:
    """Return the regions with a name of comments; large ones begin at *start* or later."""
    attributes = [document.attributes[name] for name in ("class", "id", "itemtype")]
    regions: list[range] = []
    stop = 0
    for row in document.rows_named(_NAMES):
        if row < stop or document.chars(row) - document.link_chars(row) <= MAX_LABEL:
            continue
        names = " ".join([values.get(row, "") for values in attributes]).lower().split()
        has_name = any(_NAME.search(name) and not _STATE.search(name) for name in names)
        if has_name and _is_region(document, row, start):
            stop = document.end[row]
            regions.append(range(row, stop))
    return regions


def _is_region(document: Document, row: int, start: int) -> bool:
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
        for rows in _record_lists(document, _ShortTexts(document), row, end)
    ]
    return bool(records) and own - max(records) <= page / 3


def _are_live_blog(document: Document, regions: Sequence[range]) -> bool:
    """Return whether *regions* with names of comments are entries of a live blog.

    Then there are several, little other prose, no authors and no heading.
    """
    held = sum(prose(document, region.start, region.stop) for region in regions)
    if len(regions) < _MIN_ENTRIES or prose(document, 0, len(document)) - held >= _MIN_ARTICLE:
        return False
    first, stop, texts = regions[0].start, regions[-1].stop, _ShortTexts(document)
    for rows in _record_lists(document, texts, first - 1, stop):
        if _have_authors(_records(document, texts, rows), rows):
            return False
    return _heading(document, texts, first) is None


# Regions by structure


def start_of_comments(document: Document) -> int:
    """Return the row after enough long texts for an article."""
    total, chars, links = 0.0, document.chars_before, document.link_chars_before
    for row in document.shown_rows:
        size = chars[row + 1] - chars[row]
        if size >= MIN_LONG and links[row + 1] == links[row]:
            total += size
            if total >= MIN_STORY:
                return row + 1
    return len(document)


def _record_regions(
    document: Document, texts: _ShortTexts, known: Sequence[range], start: int
) -> Iterator[range]:
    """Yield regions of records that have the structure of comments, outside of *known* regions.

    The first record is at the row *start* or later: parts of the article can be records, too.
    """
    if not (texts.replies or texts.headings):
        return  # the common case
    for rows in _record_lists(document, texts, 0, len(document), first_reply=start):
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
    document: Document, texts: _ShortTexts, rows: Sequence[int], *, has_heading: bool
) -> bool:
    """Return whether records have reply buttons, or a heading and authors."""
    stop = document.end[rows[-1]]
    may_have_replies = bool(rows_between(texts.replies, rows[0], stop))
    if not (may_have_replies or has_heading) or "h1" in document.tag[rows[0] : stop]:
        return False
    records = _records(document, texts, rows)
    if may_have_replies and sum(it.has_reply for it in records) >= _min_records(rows):
        return True
    return has_heading and _have_authors(records, rows)


def _headed_sections(document: Document, texts: _ShortTexts, start: int) -> Iterator[range]:
    """Yield the rows from a heading of comments after *start* to the end of its section.

    The comments need not be elements of one list: there may be one, or their parts are siblings.
    """
    headings = (
        row
        for row in rows_between(texts.headings, start, len(document))
        if len(document.text[row]) <= _MAX_WORDS and _is_alone(document, row)
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
        if document.chars_before[stop] - document.chars_before[heading + 1] > MAX_LABEL:
            return None if "h1" in document.tag[heading:stop] else stop
    return None


def _has_comments(document: Document, texts: _ShortTexts, section: range) -> bool:
    """Return whether dates or reply buttons divide the text of a *section* into comments."""
    own = prose(document, section.start, section.stop)
    chars = document.chars_before[section.stop] - document.chars_before[section.start]
    if 2 * own < chars:  # links to other pages
        return False
    rows = rows_between(document.text_nodes(), section.start, section.stop)
    # Lines with the date of a comment, the name and the place of its author.
    lines = [(it, text) for it in rows if len(text := document.text[it]) <= 2 * MAX_LABEL]
    dates = [it for it, text in lines if _DATE.search(text) or _AGO.search(text)]
    marks = sorted((*dates, *rows_between(texts.replies, section.start, section.stop)))
    if not marks or marks[0] > rows[:_MAX_TEXTS_BEFORE][-1]:
        return False
    if len(marks) < 3 and own > prose(document, 0, section.start):  # may be the article
        return False
    places = [section.start, *marks, section.stop]
    gaps = (prose(document, start, stop) for start, stop in pairwise(places))
    return max(gaps) <= max(_MAX_GAP, own / 4)


def _heading(document: Document, texts: _ShortTexts, first: int) -> int | None:
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
        outside = prose(document, 0, row) + prose(document, document.end[row], len(document))
        if around > min(_MAX_SURROUNDINGS, records, outside):
            break
        region = range(row, document.end[row])
    if heading is not None and heading < region.start:
        return range(_highest(document, heading, region.start), region.stop)
    return region


def _highest(document: Document, row: int, stop: int) -> int:
    """Return the highest ancestor of *row* that ends before *stop* and has little more text."""
    chars = document.chars(row)
    parent = document.parent[row]
    while document.end[parent] <= stop and document.chars(parent) <= chars + MAX_LABEL:
        row, parent = parent, document.parent[parent]
    return row


# Records


class _Record(NamedTuple):
    """Properties of one element of a list."""

    #: first short text before the longest text that is not a date
    author: str
    #: has a button "Reply"
    has_reply: bool


class _ShortTexts:
    """Rows of short texts that comments have, in document order, from the row *first* on."""

    def __init__(self, document: Document, first: int = 0) -> None:
        self._document = document
        text, hidden, labels = document.text, document.hidden, document.label_rows
        rows = (0, *labels[bisect_left(labels, first) :])  # the first has no text
        lower = "\0".join([text[row] for row in rows]).lower()
        #: shown texts such as "Comments"
        self.headings = [row for at in places_of(_HEADING, lower) if not hidden[row := rows[at]]]
        #: buttons such as "Reply"
        self.replies = [
            row
            for row in [rows[at + 1] for at in places_of(_MAYBE_REPLY, lower)]  # found at the NUL
            if len(text[row]) <= _MAX_WORDS
            and hidden[row] in {0, WIDGET}
            and _REPLY.match(_NON_LETTERS.sub("", text[row].lower()))
        ]

    @cached_property
    def dates(self) -> list[int]:
        """Shown texts with a date, a time of day or an age, on the whole page."""
        text, hidden = self._document.text, self._document.hidden
        labels = [row for row in self._document.label_rows if not hidden[row]]
        ages = places_of(_AGO, "\0".join([text[row] for row in labels]))
        numbers = (it for it in self._document.number_rows if not hidden[it])
        dates = (it for it in numbers if len(text[it]) <= MAX_LABEL and _DATE.search(text[it]))
        return sorted({*dates, *[labels[at] for at in ages]})


def _record_lists(
    document: Document, texts: _ShortTexts, start: int, stop: int, *, first_reply: int = 0
) -> list[list[int]]:
    """Return lists of siblings with the same tag, and a date or a reply button each.

    They are in the rows *start* to *stop*; buttons before the row *first_reply* are ignored.
    """
    replies = rows_between(texts.replies, max(start, first_reply), stop)
    dates = rows_between(texts.dates, start, stop)
    marks = sorted({*(row for row in dates if _is_date_line(document, row)), *replies})
    lists = sibling_lists(document, marks, _RECORD_TAGS)
    return [rows for rows in lists if rows[0] > start]


def _is_date_line(document: Document, row: int) -> bool:
    """Return whether there is little other text around the date at *row*."""
    above, parent = document.parent[row], document.parent
    above = parent[above] if document.tag[above] == "a" else above
    return document.chars(above) <= 3 * MAX_LABEL


def _min_records(rows: Sequence[int]) -> float:
    """Return the number of records of the list *rows* that must have a property."""
    return max(2, _MIN_RECORD_SHARE * len(rows))


def _records(document: Document, texts: _ShortTexts, rows: Sequence[int]) -> list[_Record]:
    """Return the records of the list *rows*; none if too few are records."""
    records: list[_Record] = []
    needed = _min_records(rows)
    for left, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        if record := _record(document, texts, row):
            records.append(record)
        if len(records) + left < needed:
            return []
    return records


def _have_authors(records: Sequence[_Record], rows: Sequence[int]) -> bool:
    """Return whether many *records* of the list *rows* have different authors."""
    authors = {record.author for record in records if record.author}
    return len(authors) >= max(2, len(rows) / 2)


def _record(document: Document, texts: _ShortTexts, row: int) -> _Record | None:
    """Return the properties of the subtree of *row*; None if it is not a comment."""
    end, chars = document.end[row], document.chars_before
    replies, dates = rows_between(texts.replies, row, end), rows_between(texts.dates, row, end)
    if not (replies or dates) or document.link_density(row) > 0.5:
        return None
    rows, links = document.text_nodes(row), document.link_chars_before
    sizes = {it: chars[it + 1] - chars[it] for it in rows}
    own = [it for it in rows if sizes[it] >= _MIN_COMMENT and links[it] == links[it + 1]]
    if not own:
        return None
    short = [it for it in rows if sizes[it] <= MAX_LABEL]
    longest = max(own, key=sizes.__getitem__)
    following = rows[: bisect_left(rows, longest) + 4][-1]
    if not (replies or any(it <= following and sizes[it] <= MAX_LABEL for it in dates)):
        return None
    before = (document.text[it] for it in short if it < longest and it not in dates)
    return _Record(author=next(before, ""), has_reply=bool(replies))


def comment_dates(document: Document) -> Iterator[tuple[range, list[int]]]:
    """Yield the regions of comments, with the first text of each line with the date of one."""
    dates = [row for row in _ShortTexts(document).dates if _is_date_line(document, row)]
    for region in comment_rows(document):
        first: list[int] = []
        for row in rows_between(dates, region.start, region.stop):
            if not first or prose(document, first[-1] + 1, row) >= _MIN_COMMENT:
                first.append(row)
        yield region, first
