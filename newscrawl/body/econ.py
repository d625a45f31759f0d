"""ECON, the extractor of Guo et al. (2010): punctuation separates news from noise.

The names are the paper's: big-node, text-node-set, text-para, punc-num, snippet-node, summary-node.
A text-node-set consists of adjacent siblings, so it is a slice of the document's rows, and its text
and punctuation are differences of prefix sums. Where the paper leaves a choice,
:class:`EconParameters` has both readings; they were measured on labelled pages, on one half of the
sites. Cython compiles this module, with the types in ``econ.pxd``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from newscrawl.document.document import TEXT
from newscrawl.document.rows import BLOCK_LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.document.document import Document

BIG_TAGS = frozenset(
    ("p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "b", "i", "tt", "font")
)
"""Tags that are big-nodes whatever they contain (condition 2)."""

_MARKS = ".,，．。、､｡،۔।॥"
"""Period and comma in Latin, CJK, Arabic and Devanagari scripts, of full and half width."""


@dataclass(frozen=True, slots=True)
class EconParameters:
    """Readings of ECON, which has no numeric constants; the defaults are :attr:`BEST`."""

    #: big-nodes may be nested, as the definition allows. Then emphasis without a comma is pruned
    #: from its sentence. Otherwise a big-node is a paragraph without block-level children, and text
    #: between block-level elements joins their text-node-sets
    nested: bool = False
    #: count punctuation inside of links: today's teasers are sentences
    link_marks: bool = False
    #: count the marks in "1,000" and "3.5"
    decimal_marks: bool = False
    #: elements without text split a text-node-set: today they are images and advertisements
    #: between paragraphs
    empty_parts: bool = False
    #: backtracking also stops at a father without more text than its child (Extract-news, case 1),
    #: which loses articles with a box around each paragraph
    equal_stops: bool = False

    #: the readings with the best results, and those closest to the paper
    BEST: ClassVar[EconParameters]
    LITERAL: ClassVar[EconParameters]


EconParameters.BEST = EconParameters()
EconParameters.LITERAL = EconParameters(
    nested=True, link_marks=True, decimal_marks=True, empty_parts=True, equal_stops=True
)


TextNodeSet: TypeAlias = tuple[int, int]
"""First row of adjacent siblings that are big-nodes, and the row after their last."""


class Backtracking(NamedTuple):
    """Rows where backtracking starts and ends, and the text-node-sets that are pruned."""

    snippet_node: int
    summary_node: int
    pruned: list[TextNodeSet]


def extract_news(document: Document, parameters: EconParameters = EconParameters.BEST) -> list[int]:
    """Algorithm *Extract-news*: return the roots of the subtrees that contain the news.

    They are the subtrees of the summary-node except pruned ones, in document order. Empty if no
    text-para has punctuation.
    """
    found = backtrack(document, parameters)
    return _subtrees_without(document, found.summary_node, found.pruned) if found else []


def backtrack(document: Document, parameters: EconParameters) -> Backtracking | None:
    """Return the snippet-node and the summary-node, None if no text-para has punctuation."""
    marks_before, fathers = read_text(document, parameters)
    paras, pruned = joint_para(document, marks_before, fathers, parameters)
    if not paras:
        return None
    before = document.chars_before
    sizes = [before[end] - before[first] for first, end in paras]
    # In the longest text-para, the first of equals.
    snippet_node, _ = paras[sizes.index(max(sizes))]
    summary_node = find_summary_node(document, snippet_node, marks_before, parameters)
    return Backtracking(snippet_node, summary_node, pruned)


def read_text(document: Document, parameters: EconParameters) -> tuple[list[int], bytearray]:
    """Return the number of text nodes with punctuation before each row, and the fathers of text.

    The algorithm compares punc-nums with 0 only, so text nodes with punctuation are counted instead
    of marks. A father of a text node has a non-zero byte. Hidden text is ignored.
    """
    parent, text, link_chars = document.parent, document.text, document.link_chars_before
    link_marks, decimal_marks = parameters.link_marks, parameters.decimal_marks
    before, fathers = [0], bytearray(len(parent))
    found = last = 0
    for row in document.shown_rows:
        fathers[parent[row]] = 1
        start, stop = link_chars[row], link_chars[row + 1]
        if (link_marks or start == stop) and has_mark(text[row], decimal_marks):
            before += [found] * (row - last)
            found, last = found + 1, row
    before += [found] * (len(parent) - last)
    return before, fathers


def has_mark(text: str, decimal_marks: bool) -> bool:  # noqa: FBT001
    """Return whether *text* has a period or comma; without *decimal_marks*, not before a digit."""
    for place, character in enumerate(text, 1):
        is_mark = character in ".," or (character > "\x7f" and character in _MARKS)
        if is_mark and (decimal_marks or place == len(text) or not text[place].isdecimal()):
            return True
    return False


def joint_para(
    document: Document,
    marks_before: list[int],
    fathers: bytearray,
    parameters: EconParameters,
) -> tuple[list[TextNodeSet], list[TextNodeSet]]:
    """Algorithm *Joint-para*: return the text-node-sets of all text-paras, and the pruned ones.

    A text-node-set with a punc-num of 0 is pruned, and so is a subtree with text but without
    punctuation that is not a big-node. Sets are in document order.
    """
    tag, parent, end, chars = document.tag, document.parent, document.end, document.chars_before
    sets: list[TextNodeSet] = []
    latest: dict[int, int] = {}  # father -> index of its last set of big-nodes
    nested, row = parameters.nested, 0
    while row < len(parent):
        after = end[row]
        chars_start, chars_end = chars[row], chars[after]
        has_text = chars_start != chars_end
        is_big = has_text and _is_big_node(tag, end, row, fathers, nested)
        index = latest.get(parent[row], -1) if is_big or not has_text else -1
        if index >= 0 and sets[index][1] == row:
            if is_big or not parameters.empty_parts or tag[row] in BIG_TAGS:
                sets[index] = sets[index][0], after
        elif is_big or (
            has_text and marks_before[row] == marks_before[after] and tag[row] != TEXT
        ):  # or noise
            if is_big:
                latest[parent[row]] = len(sets)
            sets.append((row, after))
        elif has_text:
            row += 1
            continue
        row = row + 1 if is_big and nested else after
    paras: list[TextNodeSet] = []
    pruned: list[TextNodeSet] = []
    for first, stop in sets:
        (pruned if marks_before[first] == marks_before[stop] else paras).append((first, stop))
    return paras, pruned


def _is_big_node(
    tag: list[str],
    end: list[int],
    row: int,
    fathers: bytearray,
    nested: bool,  # noqa: FBT001
) -> bool:
    """Return whether *row*, which has text, is a big-node.

    Unless *nested*, text nodes outside of big-nodes are big-nodes, and elements with block-level
    children are not.
    """
    is_big_tag = tag[row] in BIG_TAGS
    if not (fathers[row] or is_big_tag):
        return tag[row] == TEXT and not nested
    if nested or is_big_tag:
        return True
    child = row + 1
    while child < end[row]:
        if tag[child] in BLOCK_LEVEL:
            return False
        child = end[child]
    return True


def find_summary_node(
    document: Document, snippet_node: int, marks_before: Sequence[int], parameters: EconParameters
) -> int:
    """Backtrack from the *snippet_node*; return the first row where the distance is 0."""
    end, node = document.end, snippet_node
    for father in document.ancestors(snippet_node):
        punc_num = marks_before[end[node]] - marks_before[node]
        distance = marks_before[end[father]] - marks_before[father] - punc_num
        has_more_text = document.chars(father) > document.chars(node)
        if distance == 0 and (parameters.equal_stops or has_more_text):
            break
        node = father
    return node


def _subtrees_without(document: Document, node: int, pruned: Sequence[TextNodeSet]) -> list[int]:
    """Return the highest subtrees of *node* that have text and contain nothing pruned."""
    ends, before = document.end, document.chars_before
    roots: list[int] = []
    row, last = node, ends[node]
    for first, stop in (*pruned, (last, last)):
        if not row <= first <= last:
            continue
        while row < first:
            end = ends[row]
            if end > first:
                row += 1
                continue
            if before[end] != before[row]:
                roots.append(row)
            row = end
        row = stop
    return roots
