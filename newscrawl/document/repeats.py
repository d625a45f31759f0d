"""Lists of similar elements: comments, live blog entries, gallery slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from newscrawl.document.document import Document


def prose(document: Document, start: int, stop: int) -> float:
    """Return the weighted characters outside of links in rows *start* to *stop*."""
    chars, links = document.chars_before, document.link_chars_before
    return chars[stop] - chars[start] - links[stop] + links[start]


def outermost(document: Document, rows: Iterable[int]) -> Iterator[int]:
    """Yield those of *rows* that are in no other of them, in document order."""
    end = 0
    for row in sorted(rows):
        if row >= end:
            end = document.end[row]
            yield row


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
