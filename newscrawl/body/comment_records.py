"""Lists of records that may be comments: siblings with a date, an author, a text and buttons."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.parts import elements_in
from newscrawl.document.document import MAX_LABEL, WIDGET, rows_between
from newscrawl.document.repeats import sibling_lists
from newscrawl.text import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.document.document import Document

# A day and a year, a time of day, a day in numbers, or an age such as "2 h"; not a price or a percentage.
# It begins with a digit, and below with a currency, for speed.
_DATE = re.compile(
    r"\d(?:[^\d\0]{1,20}+(?:19|20)\d\d(?!\d)|(?:(?<=(?<!\d)1)9|(?<=(?<!\d)2)0)\d\d[^\d\0]{1,3}+\d"
    r"|\d?:\d\d|(?<=\b\d)\d?[./-]\d\d?\b(?!\s?%)|\s?(?:h|m|d|w|min)\b)"
)
# "Ago" in many languages: words, then parts of words. Branches begin with rare letters, for speed.
_AGO = re.compile(
    r"g(?:o\b(?<=\bago)|eleden)|vor\b(?<=\bvor)|y a\b(?<=\bil y a)|h(?:ace\b(?<=\bhace)|á\b(?<=\bhá))|fa\b(?<=\bfa)"
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

    #: many records have different authors
    has_authors: bool
    #: most records have the same button
    has_buttons: bool
    #: most records have a button "Reply"
    has_replies: bool


class ShortTexts(NamedTuple):
    """Rows of short texts that comments have, in document order."""

    #: buttons such as "Reply"
    replies: list[int]
    #: shown texts with a date, a time of day or an age
    dates: list[int]
    #: shown texts such as "Comments"
    headings: list[int]

    @classmethod
    def of(cls, document: Document) -> ShortTexts:
        """Find them on a page."""
        text, hidden, rows = document.text, document.hidden, (0, *document.label_rows)
        joined = "\0".join([text[row] for row in rows])  # the first row is an element without text
        lower = joined.lower()
        dates = {rows[at] for pattern in (_DATE, _AGO) for at in places_of(pattern, joined)}
        headings = [rows[at] for at in places_of(_HEADING, lower)]
        replies = [
            row
            for row in [rows[at + 1] for at in places_of(_MAYBE_REPLY, lower)]  # found at the NUL
            if len(text[row]) <= _MAX_REPLY
            and hidden[row] in {0, WIDGET}
            and _REPLY.match(_NON_LETTERS.sub("", text[row].lower()))
        ]
        shown = [[row for row in found if not hidden[row]] for found in (sorted(dates), headings)]
        return cls(replies, *shown)


def record_lists(
    document: Document, texts: ShortTexts, start: int, stop: int, *, first_reply: int = 0
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


def has_date(text: str) -> bool:
    """Return whether *text* contains a date, a time of day or an age."""
    return bool(_DATE.search(text) or _AGO.search(text))


def has_replies(document: Document, texts: ShortTexts, rows: Sequence[int]) -> bool:
    """Return whether enough elements of the list *rows* have a button "Reply"."""
    found = sum(bool(rows_between(texts.replies, row, document.end[row])) for row in rows)
    return found >= _needed(rows)


def _needed(rows: Sequence[int]) -> float:
    return max(2, _MIN_RECORD_SHARE * len(rows))


def record_signs(document: Document, texts: ShortTexts, rows: Sequence[int]) -> RecordSigns:
    """Return the properties of the list *rows*; negative if too few of them are records."""
    records: list[_Record] = []
    needed = _needed(rows)
    for left, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        if record := _record(document, texts, row):
            records.append(record)
        if len(records) + left < needed:
            records.clear()
            break
    authors = {record.author for record in records if record.author}
    counts = Counter(button for record in records for button in record.buttons)
    return RecordSigns(
        has_authors=len(authors) >= max(2, len(rows) / 2),
        has_buttons=any(count >= needed for count in counts.values()),
        has_replies=sum(record.has_reply for record in records) >= needed,
    )


def _record(document: Document, texts: ShortTexts, row: int) -> _Record | None:
    """Return the properties of the subtree of *row*; None if it is not a comment."""
    end, chars = document.end[row], document.chars
    replies, dates = rows_between(texts.replies, row, end), rows_between(texts.dates, row, end)
    if not (replies or dates) or document.link_density(row) > 0.5 or _has_headline(document, row):
        return None
    rows = document.text_nodes(row)
    own = [it for it in rows if chars(it) >= _MIN_COMMENT and not document.link_chars(it)]
    if not own:
        return None
    short = [it for it in rows if chars(it) <= MAX_LABEL]
    if _PRICE.search("\0".join([document.text[it] for it in short])):
        return None
    longest = max(own, key=chars)
    following = rows[: bisect_left(rows, longest) + 4][-1]
    if not (replies or any(it <= following and chars(it) <= MAX_LABEL for it in dates)):
        return None
    later_texts = [
        document.text[place]
        for place in range(longest, end)
        if document.text[place] and document.hidden[place] in {0, WIDGET}
    ]
    before = (it for it in short if it < longest and it not in dates)
    return _Record(
        frozenset(
            button
            for text in later_texts[1:]
            if len(text) <= MAX_LABEL and (button := _NON_LETTERS.sub("", text))
        ),
        author=next((document.text[it] for it in before), ""),
        has_reply=bool(replies),
    )


def _has_headline(document: Document, row: int) -> bool:
    return any(
        document.chars(place) > MAX_LABEL
        for tag in _HEADING_TAGS
        for place in elements_in(document, row, tag)
    )
