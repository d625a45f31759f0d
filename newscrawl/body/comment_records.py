"""Lists of records that may be comments: siblings with a date, an author, a text and buttons."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.parts import elements_in
from newscrawl.document.document import MAX_LABEL, WIDGET
from newscrawl.document.repeats import sibling_lists
from newscrawl.text import places_of, weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document.document import Document

# A day and a year, a time of day, a day in numbers, or an age such as "2 h"; not a price or a percentage.
# It begins with a digit, and below with a currency, for speed.
_DATE = re.compile(
    r"\d(?:[^\d\0]{1,20}+(?:19|20)\d\d(?!\d)|(?:(?<=(?<!\d)1)9|(?<=(?<!\d)2)0)\d\d[^\d\0]{1,3}+\d"
    r"|\d?:\d\d|(?<=\b\d)\d?[./-]\d\d?\b(?!\s?%)|\s?(?:h|m|d|w|min)\b)"
)
# "Ago" in many languages: words, then parts of words. Each alternative starts with a letter, for speed.
_AGO = re.compile(
    r"ago\b(?<=\bago)|vor\b(?<=\bvor)|il y a\b(?<=\bil y a)|hace\b(?<=\bhace)|há\b(?<=\bhá)|fa\b(?<=\bfa)"
    r"|geleden|назад|temu|önce|trước|siden|sedan|前|전(?![^\0])|منذ|לפני|पहले"
)
# Start of "Reply" in many languages, in lower case and without spaces, with a pattern of the rest.
_REPLIES = dict.fromkeys((
    "respondre", "répondre", "contestar", "rispondi", "răspunde",
    "antwort", "beantwoord", "reageer", "besvar", "vastaa", "válasz", "odpow", "odpověd",
    "ответить", "відпові", "отговор", "yanıtla", "cevapla", "trảlời", "απάντηση",
    "הגב", "השב", "پاسخ", "जवाब", "उत्तरद", "উত্তর", "ตอบ", "返信", "답글", "답변",
), "") | {
    "repl": "(?:y|ies)", "respond": "(?:er?)?$", "svar": "a?$", "balas": "(?:$|kom)", "رد": "(?:$|على)",
    "回": "[复覆]",
}  # fmt: skip
_STARTS = frozenset(start[:3] for start in _REPLIES)
_REPLY = re.compile("|".join(re.escape(start) + rest for start, rest in _REPLIES.items()))
_PRICE = re.compile(r"[$€£¥₹](?:\s?\d|(?<=\d.)|(?<=\d\s.))")
_NON_LETTERS = re.compile(r"[\d\W_]+")
_RECORD_TAGS = frozenset({"article", "dd", "div", "dl", "li", "section", "table", "tr"})
_HEADING_TAGS = ("h1", "h2", "h3", "h4")

_MAX_REPLY = 30  # characters
_MIN_COMMENT = 15  # weighted characters
_MIN_RECORD_SHARE = 0.7
"""Share of the records of a list that must have a property."""


class _Record(NamedTuple):
    """Properties of one element of a list."""

    #: short texts after the longest text, without digits and punctuation
    buttons: frozenset[str]
    #: first short text before the longest text that is not a date
    author: str
    #: has a button "Reply"
    has_reply: bool


class RecordSigns(NamedTuple):
    """Properties of a list of records."""

    records: int
    #: many records have different authors
    has_authors: bool
    #: most records have the same button
    has_buttons: bool
    #: most records have a button "Reply"
    has_replies: bool


def record_lists(
    document: Document, start: int, stop: int, *, first_reply: int = 0
) -> list[list[int]]:
    """Return lists of siblings with the same tag, and a date or a reply button each.

    They are in the rows *start* to *stop*; buttons before the row *first_reply* are ignored.
    """
    replies = reply_buttons(document, max(start, first_reply), stop)
    marks = sorted({*_dates(document, start, stop), *replies})
    lists = sibling_lists(document, marks, _RECORD_TAGS)
    return [rows for rows in lists if rows[0] > start]


def reply_buttons(document: Document, start: int, stop: int) -> list[int]:
    """Return the rows of texts such as "Reply", in the rows *start* to *stop*."""
    text, hidden = document.text, document.hidden
    return [
        row
        for row in document.labels(start, stop)
        if len(label := text[row]) <= _MAX_REPLY
        # the common case: other letters
        and (
            not label[:2].isalpha()
            or not _STARTS.isdisjoint((head := label[:3].lower(), head[:2], head[:1]))
        )
        and hidden[row] in {0, WIDGET}
        and _REPLY.match(_NON_LETTERS.sub("", label.lower()))
    ]


def _dates(document: Document, start: int, stop: int) -> Iterator[int]:
    """Yield the rows of short shown texts with a date or time and little other text around."""
    parent, hidden = document.parent, document.hidden
    rows = [row for row in document.labels(start, stop) if not hidden[row]]
    for row in _date_rows(document, rows):
        above = parent[parent[row]] if document.tag[parent[row]] == "a" else parent[row]
        if document.chars(above) <= 3 * MAX_LABEL:
            yield row


def has_date(text: str) -> bool:
    """Return whether *text* contains a date, a time of day or an age."""
    return bool(_DATE.search(text) or _AGO.search(text))


def _date_rows(document: Document, rows: Sequence[int]) -> list[int]:
    """Return those of *rows* whose texts have a date."""
    text = document.text
    numbered = frozenset(document.number_rows)
    numbers = [row for row in rows if row in numbered]
    dated = {numbers[place] for place in places_of(_DATE, [text[row] for row in numbers])}
    dated.update(rows[place] for place in places_of(_AGO, [text[row] for row in rows]))
    return sorted(dated)


def record_signs(document: Document, rows: Sequence[int]) -> RecordSigns:
    """Return the properties of the list *rows*; negative if too few of them are records."""
    records: list[_Record] = []
    needed = max(2, _MIN_RECORD_SHARE * len(rows))
    for left, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        if record := _record(document, row):
            records.append(record)
        if len(records) + left < needed:
            return RecordSigns(
                len(records), has_authors=False, has_buttons=False, has_replies=False
            )
    authors = {record.author for record in records if record.author}
    counts = Counter(button for record in records for button in record.buttons)
    return RecordSigns(
        len(records),
        has_authors=len(authors) >= max(2, len(rows) / 2),
        has_buttons=any(count >= needed for count in counts.values()),
        has_replies=sum(record.has_reply for record in records) >= needed,
    )


def _record(document: Document, row: int) -> _Record | None:
    """Return the properties of the subtree of *row*; None if it is not a comment."""
    if document.link_density(row) > 0.5 or _has_headline(document, row):
        return None
    texts = [
        (place, document.text[place], weighted_length(document.text[place]))
        for place in document.text_nodes(row)
    ]
    own = [
        place
        for place, text, size in texts
        if size >= _MIN_COMMENT and not _is_link(document, place)
    ]
    if not own:
        return None
    if _PRICE.search("\0".join([text for _, text, size in texts if size <= MAX_LABEL])):
        return None
    longest = max(own, key=document.chars)
    order = [place for place, _, _ in texts].index(longest)
    has_reply = bool(reply_buttons(document, row, document.end[row]))
    dates = (size <= MAX_LABEL and has_date(text) for _, text, size in texts[: order + 4])
    if not (has_reply or any(dates)):
        return None
    later_texts = [
        document.text[place]
        for place in range(longest, document.end[row])
        if document.text[place] and document.hidden[place] in {0, WIDGET}
    ]
    before = [text for place, text, size in texts if place < longest and size <= MAX_LABEL]
    return _Record(
        frozenset(
            button
            for text in later_texts[1:]
            if len(text) <= MAX_LABEL and (button := _NON_LETTERS.sub("", text))
        ),
        author=next((text for text in before if not has_date(text)), ""),
        has_reply=has_reply,
    )


def _is_link(document: Document, row: int) -> bool:
    return document.link_chars(row) > 0


def _has_headline(document: Document, row: int) -> bool:
    return any(
        document.chars(place) > MAX_LABEL
        for tag in _HEADING_TAGS
        for place in elements_in(document, row, tag)
    )
