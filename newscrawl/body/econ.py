"""ECON, the extractor of Guo and others (2010): punctuation tells news from noise.

Names are the paper's: big-node, text-node-set, text-para, punc-num, snippet-node, summary-node.
Adjacent siblings are one slice of the document's rows, so a text-node-set is one, and whatever the
algorithm asks of it is a difference of prefix sums. Where the paper leaves a choice,
:class:`EconParameters` names both readings; figures are means of the body's bag-of-words F1 on the
``tune`` half of the sites of news212 and fundus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from newscrawl.body.render import BLOCK_LEVEL
from newscrawl.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document import Document

BIG_TAGS = frozenset(
    ("p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "b", "i", "tt", "font")
)
"""Tags of big-nodes whatever they hold (condition 2)."""

_MARKS = ".,，．。、､｡،۔।॥"
"""Period and comma of Latin, CJK, Arabic and Devanagari scripts, and those of their width."""
_MARK: Final = re.compile(f"[{_MARKS}]")
_MARK_BEFORE_NO_DIGIT: Final = re.compile(rf"[{_MARKS}](?!\d)")


@dataclass(frozen=True, slots=True)
class EconParameters:
    """The readings of ECON, which has no constants; those of :attr:`BEST` unless said otherwise."""

    #: a big-node may lie inside of another, as the definition allows. Then every emphasis without
    #: a comma is pruned out of its sentence, and a page with a word of text beside its parts is
    #: one text-para. Else a big-node is a paragraph: nothing in it is looked at again, and the
    #: father of a text is none where it has block-level children, between which its text nodes
    #: are members of text-node-sets
    nested: bool = False
    #: punctuation inside of links counts: teasers are sentences today
    link_marks: bool = False
    #: "1,000" and "3.5" hold a comma and a period
    decimal_marks: bool = False

    #: what works best, and the paper to the letter
    BEST: ClassVar[EconParameters]
    LITERAL: ClassVar[EconParameters]


EconParameters.BEST = EconParameters()
EconParameters.LITERAL = EconParameters(nested=True, link_marks=True, decimal_marks=True)


class TextNodeSet(NamedTuple):
    """Adjacent siblings, all big-nodes: rows from *first* on, before *end*."""

    first: int
    end: int


def econ(document: Document, parameters: EconParameters = EconParameters.BEST) -> list[int]:
    """Return the roots of the subtrees that hold the content of the news, in document order.

    They are the subtrees of the summary-node, without pruned ones (algorithm Extract-news). Empty
    where no text-para has a period or a comma.
    """
    marks_before = _marks_before(document, parameters)
    paras, pruned = joint_para(document, marks_before, parameters)
    if not paras:
        return []
    longest = max(paras, key=lambda para: _chars(document, *para))  # the first of the longest
    summary = _summary_node(document, longest.first, marks_before)
    return list(_without(document, summary, pruned))


def _marks_before(document: Document, parameters: EconParameters) -> list[int]:
    """Return how many shown text nodes before each row have a punc-num above 0.

    That much is all that the algorithm asks: it tests sums and differences of punc-nums for 0.
    """
    search = (_MARK if parameters.decimal_marks else _MARK_BEFORE_NO_DIGIT).search
    in_links = document.link_chars_before
    hidden, link_marks = document.hidden, parameters.link_marks
    before, count = [0], 0
    for row, text in enumerate(document.text):
        if (
            text
            and not hidden[row]
            and (link_marks or in_links[row] == in_links[row + 1])
            and search(text)
        ):
            count += 1
        before.append(count)
    return before


def joint_para(
    document: Document, marks_before: Sequence[int], parameters: EconParameters
) -> tuple[list[TextNodeSet], list[TextNodeSet]]:
    """Return the text-node-sets of all text-paras, and those pruned, as their punc-num is 0."""
    paras: list[TextNodeSet] = []
    pruned: list[TextNodeSet] = []
    for nodes in _text_node_sets(document, parameters):
        noisy = marks_before[nodes.first] == marks_before[nodes.end]
        (pruned if noisy else paras).append(nodes)
    return paras, pruned


def _text_node_sets(document: Document, parameters: EconParameters) -> list[TextNodeSet]:
    """Return the text-node-sets in the order of their first rows.

    What is hidden between two big-nodes does not part them.
    """
    parent, end, hidden, nested = document.parent, document.end, document.hidden, parameters.nested
    is_big = _big_nodes(document, parameters)
    firsts: list[int] = []
    ends: list[int] = []
    latest: dict[int, int] = {}  # of the children of a row
    row, last = 0, len(parent)
    while row < last:
        if not (is_big[row] or hidden[row]):
            row += 1
            continue
        above = parent[row]
        place = latest.get(above, -1)
        if place >= 0 and ends[place] == row:
            ends[place] = end[row]
        elif not hidden[row]:
            latest[above] = len(firsts)
            firsts.append(row)
            ends.append(end[row])
        row = row + 1 if nested and not hidden[row] else end[row]
    return list(map(TextNodeSet, firsts, ends))


def _big_nodes(document: Document, parameters: EconParameters) -> bytearray:
    """Return 1 for each row that is a big-node; with the reading of today text nodes are, too."""
    tag, parent, hidden = document.tag, document.parent, document.hidden
    is_big, has_blocks = bytearray(len(tag)), bytearray(len(tag))
    for row, name in enumerate(tag):
        if name == TEXT:
            if not hidden[row]:
                is_big[parent[row]] = 1
                is_big[row] = not parameters.nested
        elif name in BIG_TAGS:
            is_big[row] = 1
        elif name in BLOCK_LEVEL:
            has_blocks[parent[row]] = 1
    if not parameters.nested:
        for row, blocks in enumerate(has_blocks):
            if blocks:
                is_big[row] = 0
    return is_big


def _summary_node(document: Document, snippet: int, marks_before: Sequence[int]) -> int:
    """Return the row where backtracking from *snippet* stops: the first distance is 0."""
    end, node = document.end, snippet
    for above in document.ancestors(snippet):
        inside = marks_before[end[node]] - marks_before[node]
        if marks_before[end[above]] - marks_before[above] == inside:
            break
        node = above
    return node


def _without(document: Document, node: int, pruned: Sequence[TextNodeSet]) -> Iterator[int]:
    """Yield the highest subtrees with text of *node* that hold nothing pruned."""
    row, last = node, document.end[node]
    for noise in pruned:
        if row <= noise.first < last:
            yield from _subtrees(document, row, noise.first)
            row = noise.end
    yield from _subtrees(document, row, last)


def _subtrees(document: Document, row: int, last: int) -> Iterator[int]:
    """Yield the highest subtrees with text of the rows from *row* on, before *last*."""
    while row < last:
        if document.end[row] > last:
            row += 1
            continue
        if _chars(document, row, document.end[row]):
            yield row
        row = document.end[row]


def _chars(document: Document, first: int, end: int) -> float:
    return document.chars_before[end] - document.chars_before[first]
