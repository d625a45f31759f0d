"""Blocks of a page: runs of text nodes under one block-level element.

A block is a paragraph, a heading, a list item or a caption. The block classifier
(:mod:`newscrawl.body.classifier`) selects blocks. Cython compiles this module, with the types in
``blocks.pxd``.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from newscrawl.document.rows import BLOCK_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.document.document import Document

MIN_LONG = 80
"""Weighted characters from which a block is long."""
MIN_STORY = 300
"""Weighted characters of long texts from which they may be a story."""
MAX_LINK_DENSITY = 0.25
"""Link density up to which, exclusive, a long block is prose."""

_BLOCK_TAGS = BLOCK_LEVEL | {"td", "th"}  # the end of a cell ends the block
_ZERO = array("d", [0.0])


@dataclass(slots=True, eq=False)
class Blocks:
    """Blocks of a document in document order; the lists have one entry per block."""

    #: row of the block-level element that contains the text
    owner: list[int] = field(default_factory=list)
    #: rows of the shown text nodes
    rows: list[list[int]] = field(default_factory=list)
    #: indices of the blocks that are long and nearly linkless
    prose: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.owner)

    def chars(self, document: Document, places: Iterable[int]) -> list[float]:
        """Return the weighted characters of the blocks at *places*."""
        before, rows = document.chars_before, self.rows
        return [before[rows[place][-1] + 1] - before[rows[place][0]] for place in places]

    def text(self, document: Document, place: int) -> str:
        """Return the text of the block at *place*."""
        rows, text = self.rows[place], document.text
        return text[rows[0]] if len(rows) == 1 else " ".join([text[row] for row in rows])


def find_blocks(document: Document) -> Blocks:
    """Return the blocks of the shown text of *document*.

    A block ends where a block-level element starts or ends, and at ``<br><br>``, which separates
    paragraphs in old templates.
    """
    return Blocks(*group_rows(document))


def group_rows(document: Document) -> tuple[list[int], list[list[int]], set[int]]:
    """Return the columns of :class:`Blocks`."""
    tag, parent, block_tags = document.tag, document.parent, _BLOCK_TAGS
    owners: list[int] = []
    rows: list[list[int]] = []
    previous_owner = previous_row = -1
    for row in document.shown_rows:
        owner = parent[row]
        while tag[owner] not in block_tags and owner > 0:
            owner = parent[owner]
        if owner == previous_owner and not _ends_block(tag, previous_row + 1, row):
            rows[-1].append(row)
        else:
            owners.append(owner)
            rows.append([row])
        previous_owner, previous_row = owner, row
    before, links = document.chars_before, document.link_chars_before
    prose = set()
    min_long, max_density = MIN_LONG, MAX_LINK_DENSITY
    for place, mine in enumerate(rows):
        first, end = mine[0], mine[-1] + 1
        start, stop = before[first], before[end]
        if stop - start >= min_long:
            links_start, links_stop = links[first], links[end]
            if links_stop - links_start < max_density * (stop - start):
                prose.add(place)
    return owners, rows, prose


def _ends_block(tag: list[str], row: int, end: int) -> bool:
    breaks = 0
    while row < end:
        if tag[row] in _BLOCK_TAGS:
            return True
        breaks += tag[row] == "br"
        row += 1
    return breaks > 1


def cast_votes(ends: list[int], bodies: Iterable[Iterable[int]]) -> bytearray:
    """Return a bit set for each row: bit n is set in the subtrees of the n-th of *bodies*.

    *ends* is the column of the document, *bodies* are up to eight lists of roots.
    """
    votes = marks = bytearray(len(ends))
    vote = 1
    for roots in bodies:
        for root in roots:
            for row in range(root, ends[root]):
                marks[row] |= vote
        vote <<= 1
    return votes


def numbered(keys: list[Any]) -> tuple[list[int], list[Any]]:
    """Return a number for each key, the same for equal ones, and the distinct keys in order."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys], list(numbers)


def zeros(count: int) -> array[float]:
    """Return an array of zeros."""
    return _ZERO * count


def find_roots(document: Document, rows: Sequence[int]) -> list[int]:
    """Return the roots of the largest subtrees whose shown text is exactly the text nodes *rows*.

    Roots and *rows* are in document order.
    """
    before, end, parent = document.chars_before, document.end, document.parent
    selected = _ZERO * len(before)  # characters of *rows* before each row
    for row in rows:
        start, stop = before[row], before[row + 1]
        selected[row + 1] = stop - start
    for place in range(1, len(selected)):
        selected[place] += selected[place - 1]
    roots: list[int] = []
    covered = 0
    for row in rows:
        if row < covered:
            continue
        root, above = row, parent[row]
        while above >= 0:
            last = end[above]
            start, stop = before[above], before[last]
            if selected[last] - selected[above] != stop - start:
                break
            root, above = above, parent[above]
        roots.append(root)
        covered = end[root]
    return roots
