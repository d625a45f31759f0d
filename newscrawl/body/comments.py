"""Readers' comments, by what their software calls them and by how they repeat.

NCE's phase 2 finds comments that resemble each other word for word, which most do not. Here a
region is taken for comments on one of two grounds. Its elements bear the names that comment
software gives them (``class``, ``id``, microdata of schema.org/Comment). Or it is a list of
records of which each has an author, a date and a text, and the same words to click on ("Reply"):
names are not needed then, since style sheets of today often have none that mean anything. A
heading that says "Comments" lowers what is asked of such a list.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.body.nce import find_region
from newscrawl.compiled import compiled_module
from newscrawl.document.document import TEXT, WIDGET
from newscrawl.document.repeats import marked_lists, prose
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from newscrawl.body.nce import Region
    from newscrawl.document.document import Document

# Software first, then what authors of themes call it, in the languages of many newspapers. What is
# sought begins with a letter, and looks behind itself: other places are passed over at once.
_NAME = re.compile(
    r"disqus|dsq\b(?<=\bdsq)|fyre|viafoura|vf-(?<=\bvf-)(?:comment|conversation)|hyvor"
    r"|isso-(?<=\bisso-)|vuukle|coral(?<=\bcoral)(?:[-_](?:stream|thread|comment|talk)|\b)|talkback"
    r"|spot-?im\b|spcv_(?<=\bspcv_)|remark42|intensedebate|discourse-|fb-comment|u_cbox|sohucs"
    r"|changyan|duoshuo|giscus|utterances|comment(?!ary|ator|ed)|kommentar|komentar|coment[aá]ri"
    r"|reacties\b|guestbook|leser(?:brief|meinung|post)|schema\.org/(?:user)?comments?\b"
)
#: names that mean comments only where the records look it
_HINT = re.compile(
    r"repl(?<=\brepl)(?:y|ies)|respon[ds]|discuss|r[eé]actions?|thread|forum|opinions?\b"
    r"|reader(?<=\breader)s?\b|post(?<=\bpost)s?(?:list)?\b|conversation|feedback"
    r"|cmt(?<=\bcmt)s?\b"
)
# Said of an element that is no comment: a page that may have some, a number of them, a link.
_STATE = re.compile(
    r"^(?:category|tag|term|topic)[-_]|(?:^|[-_])(?:no|has|with|enable[ds]?|disable[ds]?|allow|can|count(?:er|s)?|open|closed|off|on"
    r"|links?|icon|button|btn|bubble|opinion|column|editorial)(?:$|[-_])|enable|noload"
)
# The classes of a post of WordPress, beside which its categories and tags are.
_POST = frozenset({"hentry", "type-post"})
# "Comments" as the heading over them.
_HEADING = re.compile(
    r"\bcomments?\b|kommenta|commentaire|comentari|comentário|commenti\b|reacties|komenta|kommentit"
    r"|комментари|коментар|каментар|обсужден|σχόλι|yorum|hozzászól|komentář|diskus[ei]|bình luận"
    r"|komen\b|maoni|コメント|评论|評論|留言|跟贴|댓글|تعليق|نظرات|تبصر|תגובות|टिप्पणि|प्रतिक्रिया"
    r"|মন্তব্য|கருத்து|ความคิดเห็น|discussion|réactions|\breplies\b|talkback",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
# A year, a time, a day in numbers; nothing that is a price or a share.
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|\d\d?:\d\d|\b\d\d?[./-]\d\d?\b(?!\s?%)|\d\s?(?:h|m|d|w|min)\b"
)
# How long ago. Each begins with a letter: places where none can begin are passed over at once.
_AGO = re.compile(
    "|".join(rf"{words}\b(?<=\b{words})" for words in ("ago", "vor", "il y a", "hace", "há", "fa"))
    + "|geleden|назад|temu|önce|trước|siden|sedan|前|전$|منذ|לפני|पहले"
)
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]")
_DIGITS = re.compile(r"[\d\W_]+")
_RECORD_TAGS = frozenset({"article", "dd", "div", "dl", "li", "section", "table", "tr"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})

_SHORT = 45
"""Weighted characters: most of an author's name, a date, a word to click on, a heading."""
_LEAST = 15
"""Weighted characters: least of a comment's text."""
_REGION = 40
"""Weighted characters: least of a region that is worth removing."""
_ROUND = 600
"""Weighted characters that may stand around the records of a region: heading, rules, form."""
_PROSE = 500.0
"""Weighted characters outside of links that stand before records without names: the article."""
_SHARE = 0.7
"""Share of a list's records that must have a part."""
_MIN_ENTRIES = 3
"""Number of elements that may be entries of a live blog."""
_STORY_SHARE = 1 / 3
"""Share of a page's prose above which records without a heading may be its story."""


def comment_rows(document: Document) -> list[range]:
    """Return the rows of readers' comments, headings and forms included, in document order."""
    named, hinted = _named(document)
    if _are_story(document, named):
        named = []
    named = list(_with_surroundings(document, named))
    return _merged([*named, *_record_regions(document, hinted, named)])


def without_comments(document: Document, comments: Sequence[range]) -> Document:
    """Return *document* as if its *comments* were hidden; the tree is shared."""
    return document.with_hidden(comments) if comments else document


def _merged(found: Iterable[range]) -> list[range]:
    merged: list[range] = []
    for rows in sorted(found, key=lambda rows: (rows.start, -rows.stop)):
        if not merged or rows.start >= merged[-1].stop:
            merged.append(rows)
    return merged


# By name


def _named(document: Document) -> tuple[list[range], set[int]]:
    """Return the regions that bear a name of comments, and the rows that bear a hint."""
    class_of, id_of, type_of = (
        document.attributes[name].get for name in ("class", "id", "itemtype")
    )
    regions: list[range] = []
    hinted: set[int] = set()
    stop = 0
    for row in find_named_rows(document, _REGION):
        if row < stop:
            continue
        named = _meaning(class_of(row), id_of(row), type_of(row))
        if named == "comments" and _is_region(document, row):
            stop = document.end[row]
            regions.append(range(row, stop))
        elif named:
            hinted.add(row)
    return regions, hinted


def named_in_python(document: Document, least: float) -> list[int]:
    """Return the rows of elements with names that hold *least* weighted characters outside of links.

    The names of most elements are not worth the asking.
    """
    end, chars, links = document.end, document.chars_before, document.link_chars_before
    classes, ids, types = (document.attributes[name] for name in ("class", "id", "itemtype"))
    found: list[int] = []
    row, last = 0, len(document)
    while row < last:
        stop = end[row]
        if chars[stop] - chars[row] - links[stop] + links[row] < least:
            row = stop
            continue
        if row in classes or row in ids or row in types:
            found.append(row)
        row += 1
    return found


_compiled = compiled_module("newscrawl.body._body")
find_named_rows: Callable[[Document, float], list[int]] = (
    _compiled.find_named_rows if _compiled else named_in_python
)


@lru_cache(maxsize=4096)
def _meaning(*names: str | None) -> Literal["comments", "hint"] | None:
    """Return what the names of an element say of it."""
    tokens = {name for value in names if value for name in value.lower().split()}
    told = {_said_by(name) for name in tokens}
    if "comments" in told and not tokens & _POST:
        return "comments"
    return "hint" if "hint" in told else None


@lru_cache(maxsize=16384)  # a name is in many lists of them
def _said_by(name: str) -> Literal["comments", "hint"] | None:
    told = _NAME.search(name)
    if not (told or _HINT.search(name)) or _STATE.search(name):
        return None
    return "comments" if told else "hint"


def _is_region(document: Document, row: int) -> bool:
    """Return whether an element named after comments holds them, and not the story."""
    tag, end = document.tag, document.end[row]
    if tag[row] in {"html", "body", "main", "form", "a", "span"} or "h1" in tag[row:end]:
        return tag[row] == "form"
    own, page = prose(document, row, end), prose(document, 0, len(document))
    if own <= page / 3:
        return True
    records = [
        sum(prose(document, record, document.end[record]) for record in rows)
        for rows in _record_lists(document, row, end)
    ]
    return bool(records) and (page - own >= _PROSE or own - max(records) <= page / 3)


def _with_surroundings(document: Document, regions: Sequence[range]) -> Iterator[range]:
    """Yield *regions*; where they are records side by side, as one, with what is around them."""
    siblings: dict[int, list[range]] = {}
    for region in regions:
        siblings.setdefault(document.parent[region.start], []).append(region)
    for records in siblings.values():
        first, stop = records[0].start, records[-1].stop
        inside = sum(document.chars(record.start) for record in records)
        apart = document.chars_before[stop] - document.chars_before[first] - inside
        if len(records) > 1 and apart <= _SHORT:
            yield _around(document, first, stop, _heading(document, first))
        else:
            yield from records


def _are_story(document: Document, regions: Sequence[range]) -> bool:
    """Return whether *regions* with names of comments are the story: entries of a live blog.

    They are several then, leave too little prose for another story, have neither authors nor
    words to click on, and no heading calls them comments.
    """
    held = sum(prose(document, region.start, region.stop) for region in regions)
    if len(regions) < _MIN_ENTRIES or prose(document, 0, len(document)) - held >= _PROSE:
        return False
    first, stop = regions[0].start, regions[-1].stop
    signs = (_signs(document, rows) for rows in _record_lists(document, first - 1, stop))
    if any(found.signed or found.clickable for found in signs):
        return False
    return _heading(document, first) is None


# By structure


class _Record(NamedTuple):
    """What one element of a list holds."""

    row: int
    #: short texts after its own text, numbers and punctuation taken out: what is to be clicked on
    labels: frozenset[str]
    #: the short text before its own text
    author: str
    #: weighted characters of the longest text outside of links
    longest: float


class _Signs(NamedTuple):
    """What a list of records shows: the less is said, the more it must."""

    records: int
    #: by different authors
    signed: bool
    #: the same words to click on are in most
    clickable: bool


def _record_regions(
    document: Document, hinted: set[int], known: Sequence[range]
) -> Iterator[range]:
    """Yield the regions of records that nothing but their structure, or a hint, tells."""
    stop = 0
    article = _end_of_prose(document)
    find_body = cache(partial(find_region, document))
    for rows in _record_lists(document, article, len(document)):
        first, last = rows[0], document.end[rows[-1]]
        if first < stop or any(first in region for region in known):
            continue
        signs = _signs(document, rows)
        if not (signs.signed or signs.clickable):
            continue
        heading = _heading(document, first)
        hint = any(row in hinted for row in [rows[0], *list(document.ancestors(rows[0]))[:3]])
        if heading is not None or (signs.signed and signs.clickable and signs.records > 2 - hint):
            region = _around(document, first, last, heading)
            if heading is None and _holds_story(document, region, find_body if hint else None):
                continue
            stop = region.stop
            yield region


def _holds_story(document: Document, region: range, find_body: Callable[[], Region] | None) -> bool:
    """Return whether records in *region*, which no heading calls comments, may be the story.

    Products with their makers, questions, steps: more than a third of the page's prose; if their
    names hint at comments, of the body that *find_body* returns, too.
    """
    own = prose(document, region.start, region.stop)
    if own <= _STORY_SHARE * prose(document, 0, len(document)):
        return False
    if find_body is None:
        return True
    forest = find_body().forest
    ends = [(max(tree, region.start), min(document.end[tree], region.stop)) for tree in forest]
    shared = sum(prose(document, start, stop) for start, stop in ends if start < stop)
    return shared > _STORY_SHARE * sum(map(document.chars, forest))


def _end_of_prose(document: Document) -> int:
    """Return the row at which enough prose has been shown to be the article."""
    return bisect_left(range(len(document)), _PROSE, key=lambda row: prose(document, 0, row))


def _record_lists(document: Document, start: int, stop: int) -> list[list[int]]:
    """Return lists of elements of one tag side by side, each with a date, in rows *start* to *stop*."""
    return [
        rows
        for rows in marked_lists(document, _dates(document, start, stop), _RECORD_TAGS)
        if rows[0] > start
    ]


def _dates(document: Document, start: int, stop: int) -> Iterator[int]:
    """Yield the rows of short shown texts, alone in their place, that tell a date or a time."""
    text, parent, hidden = document.text, document.parent, document.hidden
    shown = document.text_nodes()
    rows = [row for row in shown[bisect_left(shown, start) :] if len(text[row]) <= _SHORT]
    tells: Callable[[str], object] = _tells_date
    if not _AGO.search("\n".join([text[row] for row in rows])):  # on most pages
        rows = [row for row in document.numbered if not hidden[row] and len(text[row]) <= _SHORT]
        tells = _DATE.search
    for row in rows:
        if start <= row < stop and tells(text[row]):
            above = parent[parent[row]] if document.tag[parent[row]] == "a" else parent[row]
            if document.chars(above) <= 3 * _SHORT:
                yield row


def _tells_date(text: str) -> bool:
    return bool((_DIGIT.search(text) and _DATE.search(text)) or _AGO.search(text))


def _signs(document: Document, rows: Sequence[int]) -> _Signs:
    """Return what says that *rows* are a list of comments; nothing does where too few are records."""
    records: list[_Record] = []
    needed = max(2, _SHARE * len(rows))
    for left, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        if record := _record(document, row):
            records.append(record)
        if len(records) + left < needed:
            return _Signs(len(records), signed=False, clickable=False)
    authors = {record.author for record in records if record.author}
    counts = Counter(label for record in records for label in record.labels)
    return _Signs(
        len(records),
        signed=len(authors) >= max(2, len(rows) / 2),
        clickable=any(count >= needed for count in counts.values()),
    )


def _record(document: Document, row: int) -> _Record | None:
    """Return what the subtree of *row* holds; None where it is no comment."""
    if document.link_density(row) > 0.5:
        return None
    texts = [
        (place, document.text[place], weighted_length(document.text[place]))
        for place in document.text_nodes(row)
    ]
    own = [place for place, text, size in texts if size >= _LEAST and not _is_link(document, place)]
    if not own or _has_headline(document, row):
        return None
    if any(size <= _SHORT and _PRICE.search(text) for _, text, size in texts):
        return None
    longest = max(own, key=document.chars)
    order = [place for place, _, _ in texts].index(longest)
    if not any(size <= _SHORT and _tells_date(text) for _, text, size in texts[: order + 4]):
        return None
    buttons = [
        document.text[place]
        for place in range(longest, document.end[row])
        if document.text[place] and document.hidden[place] in {0, WIDGET}
    ]
    before = [text for place, text, size in texts if place < longest and size <= _SHORT]
    return _Record(
        row,
        frozenset(
            label
            for text in buttons[1:]
            if len(text) <= _SHORT and (label := _DIGITS.sub("", text))
        ),
        author=next((text for text in before if not _tells_date(text)), ""),
        longest=document.chars(longest),
    )


def _is_link(document: Document, row: int) -> bool:
    return document.link_chars(row) > 0


def _has_headline(document: Document, row: int) -> bool:
    return any(
        document.tag[place] in _HEADINGS and document.chars(place) > _SHORT
        for place in range(row, document.end[row])
    )


def _heading(document: Document, first: int) -> int | None:
    """Return the row of the text above the records that says that they are comments."""
    seen = 0
    for row in range(first - 1, 0, -1):
        if document.tag[row] != TEXT or document.hidden[row]:
            continue
        seen += 1
        if document.chars(row) <= _SHORT and _HEADING.search(document.text[row]):
            return row
        if seen == 6:
            break
    return None


def _around(document: Document, first: int, stop: int, heading: int | None) -> range:
    """Return the rows of records *first* to *stop* with what belongs to them around."""
    records = document.chars_before[stop] - document.chars_before[first]
    region = range(first, stop)
    for row in document.ancestors(first):
        if "h1" in document.tag[row : document.end[row]] or document.tag[row] in {"body", "main"}:
            break
        apart = document.chars(row) - records
        if apart > min(_ROUND, records) or apart > _prose_outside(document, row):
            break
        region = range(row, document.end[row])
    if heading is not None and heading < region.start:
        return range(_highest(document, heading, region.start), region.stop)
    return region


def _prose_outside(document: Document, row: int) -> float:
    """Return the weighted characters outside of links that are not in the subtree of *row*."""
    return prose(document, 0, len(document)) - prose(document, row, document.end[row])


def _highest(document: Document, row: int, stop: int) -> int:
    """Return the highest ancestor of *row* that ends before *stop* and holds no more text."""
    chars = document.chars(row)
    parent = document.parent[row]
    while document.end[parent] <= stop and document.chars(parent) <= chars + _SHORT:
        row, parent = parent, document.parent[parent]
    return row
