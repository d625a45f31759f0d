"""The blocks of a page: runs of text nodes under one block-level element.

What a reader sees as a paragraph, a heading, an item, a caption. Blocks are what the learned
method (:mod:`newscrawl.body.classifier`) keeps or leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from newscrawl.body.render import BLOCK_LEVEL
from newscrawl.compiled import compiled_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from newscrawl.document.document import Document

_BOUNDS = BLOCK_LEVEL | {"td", "th"}  # a cell ends text, too


@dataclass(slots=True, eq=False)
class Blocks:
    """The blocks of a document, in its order; all lists have one entry a block."""

    #: row of the block-level element that the text stands in
    owner: list[int] = field(default_factory=list)
    #: rows of the block's shown text nodes
    rows: list[list[int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.owner)

    def chars(self, document: Document, places: Iterable[int]) -> list[float]:
        """Return the weighted characters of the blocks at *places*."""
        before, rows = document.chars_before, self.rows
        return [before[rows[place][-1] + 1] - before[rows[place][0]] for place in places]


def find_blocks(document: Document) -> Blocks:
    """Return the blocks of *document*; text that is not shown is in none.

    A block ends where a block-level element begins or ends, and at two line breaks in a row:
    old templates write paragraphs so.
    """
    return Blocks(*split_text(document))


def split_in_python(document: Document) -> tuple[list[int], list[list[int]]]:
    """Return the columns of :class:`Blocks`."""
    owners: list[int] = []
    blocks: list[list[int]] = []
    tag, parent = document.tag, document.parent
    last = before = -1  # owner and row of the text before
    for row in document.text_nodes():
        owner = parent[row]
        while tag[owner] not in _BOUNDS and owner > 0:
            owner = parent[owner]
        if owner != last or _ends_block(tag[before + 1 : row]):
            owners.append(owner)
            blocks.append([row])
        else:
            blocks[-1].append(row)
        last, before = owner, row
    return owners, blocks


def _ends_block(between: Sequence[str]) -> bool:
    return not _BOUNDS.isdisjoint(between) or between.count("br") > 1


_compiled = compiled_module("newscrawl.body._blocks")
split_text: Callable[[Document], tuple[list[int], list[list[int]]]] = (
    partial(_compiled.split_text, bounds=_BOUNDS) if _compiled else split_in_python
)


def marked_up_alike(
    document: Document, blocks: Blocks, story: Iterable[int], places: Iterable[int]
) -> list[int]:
    """Return those of *places* in *blocks* that are marked up as one of the *story*'s is."""
    owner = blocks.owner
    markups = {_markup(document, owner[place]) for place in story}
    return [place for place in places if _markup(document, owner[place]) in markups]


def _markup(document: Document, row: int) -> tuple[str | None, ...]:
    """Return the tags and classes of the element *row* and of its parent."""
    parent, classes = document.parent[row], document.attributes["class"]
    return document.tag[row], classes.get(row), document.tag[parent], classes.get(parent)


_MOST_VOTERS = 3
_WITH_VOTE = [bytes(votes | 1 << voter for votes in range(256)) for voter in range(_MOST_VOTERS)]


def votes_in_python(ends: Sequence[int], forests: Iterable[Iterable[int]]) -> bytearray:
    """Return the votes for each row: bit n for one in the subtrees of the n-th of *forests*.

    *ends* are the document's.
    """
    votes = bytearray(len(ends))
    for with_vote, forest in zip(_WITH_VOTE, forests, strict=False):
        for root in forest:
            votes[root : ends[root]] = votes[root : ends[root]].translate(with_vote)
    return votes


_compiled_features = compiled_module("newscrawl.body._block_features")
cast_votes: Callable[[Sequence[int], Iterable[Iterable[int]]], bytearray] = (
    _compiled_features.cast_votes if _compiled_features else votes_in_python
)


def forest_of_blocks(document: Document, rows: Sequence[int]) -> list[int]:
    """Return the roots of the largest subtrees whose shown text is that of the text nodes *rows*.

    In document order, as are *rows*.
    """
    return find_roots(document, rows)


def roots_in_python(document: Document, rows: Sequence[int]) -> list[int]:
    """Return the roots: see :func:`forest_of_blocks`."""
    kept = _kept_before(document, rows)
    before, end, parent = document.chars_before, document.end, document.parent
    forest: list[int] = []
    for row in rows:
        if forest and row < end[forest[-1]]:
            continue
        root = row
        while (above := parent[root]) >= 0:
            last = end[above]
            if kept[last] - kept[above] != before[last] - before[above]:
                break
            root = above
        forest.append(root)
    return forest


def _kept_before(document: Document, rows: Iterable[int]) -> list[float]:
    """Return the prefix sums of the characters of the text nodes *rows*."""
    before = document.chars_before
    kept = [0.0] * (len(document) + 1)
    total, last = 0.0, 0
    for row in rows:
        kept[last : row + 1] = [total] * (row + 1 - last)
        total += before[row + 1] - before[row]
        last = row + 1
    kept[last:] = [total] * (len(document) + 1 - last)
    return kept


find_roots: Callable[[Document, Sequence[int]], list[int]] = (
    _compiled.find_roots if _compiled else roots_in_python
)
