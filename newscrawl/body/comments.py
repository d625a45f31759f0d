"""Readers' comments, found by the names of comment software and by repeated structure.

Phase 2 of NCE finds comments with similar words, which most comments do not have. Here a region is
comments for one of two reasons. Its elements have the names of comment software (``class``, ``id``,
microdata of schema.org/Comment). Or it is a list of records with author, date, text and the same
button ("Reply") each; a heading such as "Comments" lowers the threshold for such a list.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Literal

from newscrawl.body.comment_records import MAX_LABEL, record_lists, record_signs
from newscrawl.body.nce import find_region
from newscrawl.document.document import TEXT
from newscrawl.document.repeats import prose

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
_NEVER_REGIONS = frozenset({"html", "body", "main", "a", "span"})

# Weighted characters.
_MIN_REGION = 40
_MAX_SURROUNDINGS = 600  # heading, rules and form around the records of a region
_MIN_ARTICLE = 500.0  # text outside of links before records without names

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
        for rows in record_lists(document, row, end)
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
        if len(records) > 1 and between <= MAX_LABEL:
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
    signs = (record_signs(document, rows) for rows in record_lists(document, first - 1, stop))
    if any(found.has_authors or found.has_buttons for found in signs):
        return False
    return _heading(document, first) is None


# Regions by structure


def _record_regions(
    document: Document, hinted: set[int], known: Sequence[range]
) -> Iterator[range]:
    """Yield regions of records that have the structure of comments, outside of *known* regions."""
    stop = 0
    article_end = _end_of_article_prose(document)
    find_body = cache(partial(find_region, document))
    for rows in record_lists(document, article_end, len(document)):
        first, last = rows[0], document.end[rows[-1]]
        if first < stop or any(first in region for region in known):
            continue
        signs = record_signs(document, rows)
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


def _heading(document: Document, first: int) -> int | None:
    """Return the row of a heading of comments above the records, None if there is none."""
    seen = 0
    for row in range(first - 1, 0, -1):
        if document.tag[row] != TEXT or document.hidden[row]:
            continue
        seen += 1
        if document.chars(row) <= MAX_LABEL and _HEADING.search(document.text[row]):
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
    while document.end[parent] <= stop and document.chars(parent) <= chars + MAX_LABEL:
        row, parent = parent, document.parent[parent]
    return row
