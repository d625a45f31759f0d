"""Lists of similar elements: comments, live blog entries, gallery slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newscrawl.document.document import rows_between

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from newscrawl.document.document import Document


_TEASER_TAGS = frozenset({"article", "div", "li", "section"})
_MIN_TEASERS, _MAX_TEASER, _MIN_LINK, _MAX_LINKS = 3, 600, 16, 10


def prose(document: Document, start: int, stop: int) -> float:
    """Return the weighted characters outside of links in rows *start* to *stop*."""
    chars, links = document.chars_before, document.link_chars_before
    return chars[stop] - chars[start] - links[stop] + links[start]


def sibling_lists(
    document: Document, marks: Iterable[int], tags: Collection[str]
) -> list[list[int]]:
    """Return lists of two or more siblings with the same tag that contain a row of *marks*.

    *marks* are in document order; *tags* are the tags of list elements.
    """
    lists: dict[tuple[int, str], list[int]] = {}
    parents, names = document.parent, document.tag
    seen = {0}
    for mark in marks:
        row = mark
        while row not in seen:
            seen.add(row)
            parent, tag = parents[row], names[row]
            if tag in tags:
                lists.setdefault((parent, tag), []).append(row)
            row = parent
    return sorted(rows for rows in lists.values() if len(rows) > 1)


def dated_teasers(document: Document, heading: int) -> set[int]:
    """Return the rows of siblings after a story with a ``time`` element and a link to another one each.

    *heading* is the row of the title of the story, which has as much text as they have.
    """
    times = [row for row in document.rows_of("time") if row > heading]
    found: set[int] = set()
    lists = sibling_lists(document, times, _TEASER_TAGS) if len(times) >= _MIN_TEASERS else ()
    for siblings in lists:
        rows = [row for row in siblings if row > heading and _is_teaser(document, row)]
        if len(rows) >= _MIN_TEASERS:
            size = prose(document, rows[0], document.end[rows[-1]])
            found.update(rows if prose(document, heading, rows[0]) >= size else ())
    return found


def _is_teaser(document: Document, row: int) -> bool:
    links = rows_between(document.rows_of("a"), row, document.end[row])[:_MAX_LINKS]
    return document.chars(row) <= _MAX_TEASER and any(
        document.chars(link) >= _MIN_LINK and "#" not in document.attributes["href"].get(link, "#")
        for link in links
    )
