"""Readers' comments, found by the names of comment software and by repeated structure.

Phase 2 of NCE finds comments with similar words, which most comments do not have. Here a region is
comments for one of two reasons. Its elements have the names of comment software (``class``, ``id``,
microdata of schema.org/Comment). Or it is a list of records with author, date, text and the same
button ("Reply") each; a heading such as "Comments" lowers the threshold for such a list.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.body.nce import find_region
from newscrawl.document.document import TEXT, WIDGET
from newscrawl.document.repeats import marked_lists, prose
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from newscrawl.body.nce import Region
    from newscrawl.document.document import Document

# Software first, then words of themes. Lookbehinds replace leading anchors: patterns that start with a
# letter are faster to search.
_NAME = re.compile(
    r"disqus|dsq\b(?<=\bdsq)|fyre|viafoura|vf-(?<=\bvf-)(?:comment|conversation)|hyvor"
    r"|isso-(?<=\bisso-)|vuukle|coral(?<=\bcoral)(?:[-_](?:stream|thread|comment|talk)|\b)|talkback"
    r"|spot-?im\b|spcv_(?<=\bspcv_)|remark42|intensedebate|discourse-|fb-comment|u_cbox|sohucs"
    r"|changyan|duoshuo|giscus|utterances|comment(?!ary|ator|ed)|kommentar|komentar|coment[aá]ri"
    r"|reacties\b|guestbook|leser(?:brief|meinung|post)|schema\.org/(?:user)?comments?\b"
)
# Names that are comments only if the records confirm it.
_HINT = re.compile(
    r"repl(?<=\brepl)(?:y|ies)|respon[ds]|discuss|r[eé]actions?|thread|forum|opinions?\b"
    r"|reader(?<=\breader)s?\b|post(?<=\bpost)s?(?:list)?\b|conversation|feedback"
    r"|cmt(?<=\bcmt)s?\b"
)
# Words of elements that are not comments: page states, counters, links.
_STATE = re.compile(
    r"^(?:category|tag|term|topic)[-_]|(?:^|[-_])(?:no|has|with|enable[ds]?|disable[ds]?|allow|can|count(?:er|s)?|open|closed|off|on"
    r"|links?|icon|button|btn|bubble|opinion|column|editorial)(?:$|[-_])|enable|noload"
)
# Classes of a WordPress post, which also has its categories and tags as classes.
_POST = frozenset({"hentry", "type-post"})
# Headings of comment sections.
_HEADING = re.compile(
    r"\bcomments?\b|kommenta|commentaire|comentari|comentário|commenti\b|reacties|komenta|kommentit"
    r"|комментари|коментар|каментар|обсужден|σχόλι|yorum|hozzászól|komentář|diskus[ei]|bình luận"
    r"|komen\b|maoni|コメント|评论|評論|留言|跟贴|댓글|تعليق|نظرات|تبصر|תגובות|टिप्पणि|प्रतिक्रिया"
    r"|মন্তব্য|கருத்து|ความคิดเห็น|discussion|réactions|\breplies\b|talkback",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
# A year, a time of day, a day in numbers, or an age such as "2 h"; not a price or a percentage.
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|\d\d?:\d\d|\b\d\d?[./-]\d\d?\b(?!\s?%)|\d\s?(?:h|m|d|w|min)\b"
)
# "Ago" in many languages; each alternative starts with a letter, for speed.
_AGO = re.compile(
    "|".join(rf"{words}\b(?<=\b{words})" for words in ("ago", "vor", "il y a", "hace", "há", "fa"))
    + "|geleden|назад|temu|önce|trước|siden|sedan|前|전$|منذ|לפני|पहले"
)
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]")
_NON_LETTERS = re.compile(r"[\d\W_]+")
_RECORD_TAGS = frozenset({"article", "dd", "div", "dl", "li", "section", "table", "tr"})
_HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4"})
_NEVER_REGIONS = frozenset({"html", "body", "main", "a", "span"})

# Weighted characters.
_MAX_LABEL = 45  # an author, a date, a button, a heading
_MIN_COMMENT = 15
_MIN_REGION = 40
_MAX_SURROUNDINGS = 600  # heading, rules and form around the records of a region
_MIN_ARTICLE = 500.0  # text outside of links before records without names

_MIN_RECORD_SHARE = 0.7
"""Share of the records of a list that must have a property."""
_MIN_ENTRIES = 3
"""Number of regions from which they can be entries of a live blog."""
_MAX_RECORDS_SHARE = 1 / 3
"""Share of the page's prose above which records without a heading may be the article."""


def comment_rows(document: Document) -> list[range]:
    """Return the rows of readers' comments with their headings and forms, in document order."""
    named, hinted = _named(document)
    if _are_live_blog(document, named):
        named = []
    named = list(_with_surroundings(document, named))
    return _merged([*named, *_record_regions(document, hinted, named)])


def without_comments(document: Document, comments: Sequence[range]) -> Document:
    """Return a copy of *document* with the *comments* hidden."""
    return document.with_hidden(comments) if comments else document


def _merged(found: Iterable[range]) -> list[range]:
    merged: list[range] = []
    for rows in sorted(found, key=lambda rows: (rows.start, -rows.stop)):
        if not merged or rows.start >= merged[-1].stop:
            merged.append(rows)
    return merged


# Regions by name


def _named(document: Document) -> tuple[list[range], set[int]]:
    """Return the regions with a name of comments, and the rows with a hint at them."""
    class_of, id_of, type_of = (
        document.attributes[name].get for name in ("class", "id", "itemtype")
    )
    regions: list[range] = []
    hinted: set[int] = set()
    stop = 0
    for row in _named_rows(document, _MIN_REGION):
        if row < stop:
            continue
        meaning = _meaning(class_of(row), id_of(row), type_of(row))
        if meaning == "comments" and _is_region(document, row):
            stop = document.end[row]
            regions.append(range(row, stop))
        elif meaning:
            hinted.add(row)
    return regions, hinted


def _named_rows(document: Document, min_chars: float) -> list[int]:
    """Return the rows of elements with a class, id or item type and enough text outside of links."""
    end, chars, links = document.end, document.chars_before, document.link_chars_before
    classes, ids, types = (document.attributes[name] for name in ("class", "id", "itemtype"))
    found: list[int] = []
    row, last = 0, len(document)
    while row < last:
        stop = end[row]
        if chars[stop] - chars[row] - links[stop] + links[row] < min_chars:
            row = stop
            continue
        if row in classes or row in ids or row in types:
            found.append(row)
        row += 1
    return found


@lru_cache(maxsize=4096)
def _meaning(*values: str | None) -> Literal["comments", "hint"] | None:
    """Return the meaning of the class, id and item type of an element."""
    names = {name for value in values if value for name in value.lower().split()}
    meanings = {_meaning_of_name(name) for name in names}
    if "comments" in meanings and not names & _POST:
        return "comments"
    return "hint" if "hint" in meanings else None


@lru_cache(maxsize=16384)  # a name occurs in many class lists
def _meaning_of_name(name: str) -> Literal["comments", "hint"] | None:
    is_comments = _NAME.search(name)
    if not (is_comments or _HINT.search(name)) or _STATE.search(name):
        return None
    return "comments" if is_comments else "hint"


def _is_region(document: Document, row: int) -> bool:
    """Return whether an element with a name of comments contains them, and not the article."""
    tag, end = document.tag, document.end[row]
    if tag[row] == "form":
        return True
    if tag[row] in _NEVER_REGIONS or "h1" in tag[row:end]:
        return False
    own, page = prose(document, row, end), prose(document, 0, len(document))
    if own <= page / 3:
        return True
    records = [
        sum(prose(document, record, document.end[record]) for record in rows)
        for rows in _record_lists(document, row, end)
    ]
    return bool(records) and (page - own >= _MIN_ARTICLE or own - max(records) <= page / 3)


def _with_surroundings(document: Document, regions: Sequence[range]) -> Iterator[range]:
    """Yield *regions*; adjacent records are joined and extended to their surroundings."""
    siblings: dict[int, list[range]] = {}
    for region in regions:
        siblings.setdefault(document.parent[region.start], []).append(region)
    for records in siblings.values():
        first, stop = records[0].start, records[-1].stop
        inside = sum(document.chars(record.start) for record in records)
        between = document.chars_before[stop] - document.chars_before[first] - inside
        if len(records) > 1 and between <= _MAX_LABEL:
            yield _around(document, first, stop, _heading(document, first))
        else:
            yield from records


def _are_live_blog(document: Document, regions: Sequence[range]) -> bool:
    """Return whether *regions* with names of comments are entries of a live blog.

    Then there are several, little other prose, neither authors nor buttons, and no heading.
    """
    held = sum(prose(document, region.start, region.stop) for region in regions)
    if len(regions) < _MIN_ENTRIES or prose(document, 0, len(document)) - held >= _MIN_ARTICLE:
        return False
    first, stop = regions[0].start, regions[-1].stop
    signs = (_signs(document, rows) for rows in _record_lists(document, first - 1, stop))
    if any(found.has_authors or found.has_buttons for found in signs):
        return False
    return _heading(document, first) is None


# Regions by structure


class _Record(NamedTuple):
    """Properties of one element of a list."""

    #: short texts after the longest text, without digits and punctuation
    buttons: frozenset[str]
    #: first short text before the longest text that is not a date
    author: str


class _Signs(NamedTuple):
    """Properties of a list of records."""

    records: int
    #: many records have different authors
    has_authors: bool
    #: most records have the same button
    has_buttons: bool


def _record_regions(
    document: Document, hinted: set[int], known: Sequence[range]
) -> Iterator[range]:
    """Yield regions of records that have the structure of comments, outside of *known* regions."""
    stop = 0
    article_end = _end_of_article_prose(document)
    find_body = cache(partial(find_region, document))
    for rows in _record_lists(document, article_end, len(document)):
        first, last = rows[0], document.end[rows[-1]]
        if first < stop or any(first in region for region in known):
            continue
        signs = _signs(document, rows)
        if not (signs.has_authors or signs.has_buttons):
            continue
        heading = _heading(document, first)
        hint = any(row in hinted for row in [rows[0], *list(document.ancestors(rows[0]))[:3]])
        has_both = signs.has_authors and signs.has_buttons
        if heading is not None or (has_both and signs.records > 2 - hint):
            region = _around(document, first, last, heading)
            if heading is None and _may_be_article(document, region, find_body if hint else None):
                continue
            stop = region.stop
            yield region


def _may_be_article(
    document: Document, region: range, find_body: Callable[[], Region] | None
) -> bool:
    """Return whether records in *region* without a heading may be the article.

    Products, questions or steps are more than a third of the page's prose and, if names hint at
    comments, also of the body that *find_body* returns.
    """
    own = prose(document, region.start, region.stop)
    if own <= _MAX_RECORDS_SHARE * prose(document, 0, len(document)):
        return False
    if find_body is None:
        return True
    forest = find_body().forest
    ends = [(max(tree, region.start), min(document.end[tree], region.stop)) for tree in forest]
    shared = sum(prose(document, start, stop) for start, stop in ends if start < stop)
    return shared > _MAX_RECORDS_SHARE * sum(map(document.chars, forest))


def _end_of_article_prose(document: Document) -> int:
    """Return the first row after enough prose for an article."""
    return bisect_left(range(len(document)), _MIN_ARTICLE, key=lambda row: prose(document, 0, row))


def _record_lists(document: Document, start: int, stop: int) -> list[list[int]]:
    """Return lists of siblings with the same tag and a date each, in the rows *start* to *stop*."""
    return [
        rows
        for rows in marked_lists(document, _dates(document, start, stop), _RECORD_TAGS)
        if rows[0] > start
    ]


def _dates(document: Document, start: int, stop: int) -> Iterator[int]:
    """Yield the rows of short shown texts with a date or time and little other text around."""
    text, parent, hidden = document.text, document.parent, document.hidden
    shown = document.text_nodes()
    rows = [row for row in shown[bisect_left(shown, start) :] if len(text[row]) <= _MAX_LABEL]
    is_date: Callable[[str], object] = _has_date
    if not _AGO.search("\n".join([text[row] for row in rows])):  # the common case
        rows = [
            row for row in document.number_rows if not hidden[row] and len(text[row]) <= _MAX_LABEL
        ]
        is_date = _DATE.search
    for row in rows:
        if start <= row < stop and is_date(text[row]):
            above = parent[parent[row]] if document.tag[parent[row]] == "a" else parent[row]
            if document.chars(above) <= 3 * _MAX_LABEL:
                yield row


def _has_date(text: str) -> bool:
    return bool((_DIGIT.search(text) and _DATE.search(text)) or _AGO.search(text))


def _signs(document: Document, rows: Sequence[int]) -> _Signs:
    """Return the properties of the list *rows*; negative if too few of them are records."""
    records: list[_Record] = []
    needed = max(2, _MIN_RECORD_SHARE * len(rows))
    for left, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        if record := _record(document, row):
            records.append(record)
        if len(records) + left < needed:
            return _Signs(len(records), has_authors=False, has_buttons=False)
    authors = {record.author for record in records if record.author}
    counts = Counter(button for record in records for button in record.buttons)
    return _Signs(
        len(records),
        has_authors=len(authors) >= max(2, len(rows) / 2),
        has_buttons=any(count >= needed for count in counts.values()),
    )


def _record(document: Document, row: int) -> _Record | None:
    """Return the properties of the subtree of *row*; None if it is not a comment."""
    if document.link_density(row) > 0.5:
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
    if not own or _has_headline(document, row):
        return None
    if any(size <= _MAX_LABEL and _PRICE.search(text) for _, text, size in texts):
        return None
    longest = max(own, key=document.chars)
    order = [place for place, _, _ in texts].index(longest)
    if not any(size <= _MAX_LABEL and _has_date(text) for _, text, size in texts[: order + 4]):
        return None
    later_texts = [
        document.text[place]
        for place in range(longest, document.end[row])
        if document.text[place] and document.hidden[place] in {0, WIDGET}
    ]
    before = [text for place, text, size in texts if place < longest and size <= _MAX_LABEL]
    return _Record(
        frozenset(
            button
            for text in later_texts[1:]
            if len(text) <= _MAX_LABEL and (button := _NON_LETTERS.sub("", text))
        ),
        author=next((text for text in before if not _has_date(text)), ""),
    )


def _is_link(document: Document, row: int) -> bool:
    return document.link_chars(row) > 0


def _has_headline(document: Document, row: int) -> bool:
    return any(
        document.tag[place] in _HEADING_TAGS and document.chars(place) > _MAX_LABEL
        for place in range(row, document.end[row])
    )


def _heading(document: Document, first: int) -> int | None:
    """Return the row of a heading of comments above the records, None if there is none."""
    seen = 0
    for row in range(first - 1, 0, -1):
        if document.tag[row] != TEXT or document.hidden[row]:
            continue
        seen += 1
        if document.chars(row) <= _MAX_LABEL and _HEADING.search(document.text[row]):
            return row
        if seen == 6:
            break
    return None


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
    while document.end[parent] <= stop and document.chars(parent) <= chars + _MAX_LABEL:
        row, parent = parent, document.parent[parent]
    return row
