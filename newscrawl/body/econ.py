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
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from newscrawl.body.render import BLOCK_LEVEL
from newscrawl.compiled import compiled_module
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from newscrawl.document.document import Document

BIG_TAGS = frozenset(
    ("p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "b", "i", "tt", "font")
)
"""Tags of big-nodes whatever they hold (condition 2)."""

_MARKS = ".,，．。、､｡،۔।॥"
"""Period and comma of Latin, CJK, Arabic and Devanagari scripts, and those of their width."""
_MARK = re.compile(f"[{_MARKS}]")
_MARK_BEFORE_NO_DIGIT = re.compile(rf"[{_MARKS}](?!\d)")


@dataclass(frozen=True, slots=True)
class EconParameters:
    """The readings of ECON, which has no constants; those of :attr:`BEST` unless said otherwise.

    Each with what it costs on news212 and on fundus, the others being those of :attr:`BEST`.
    """

    #: a big-node may lie inside of another, as the definition allows. Then every emphasis without
    #: a comma is pruned out of its sentence, and a page with a word of text beside its parts is
    #: one text-para. Else a big-node is a paragraph: nothing in it is looked at again, and the
    #: father of a text is none where it has block-level children, between which its text nodes
    #: are members of text-node-sets; .005 and .009
    nested: bool = False
    #: punctuation inside of links counts: teasers are sentences today; .024 and .048
    link_marks: bool = False
    #: "1,000" and "3.5" hold a comma and a period; .001 and .002
    decimal_marks: bool = False
    #: an element without text parts a text-node-set: today pictures, and places for
    #: advertisements, stand between paragraphs; .025 and .008
    empty_parts: bool = False
    #: backtracking stops at a father that wraps no more text than its child, too (Extract-news,
    #: case 1). Nothing is lost by going on, and much is won where each paragraph is in a box of
    #: its own; .055 and .078
    equal_stops: bool = False

    #: what works best, and the paper to the letter
    BEST: ClassVar[EconParameters]
    LITERAL: ClassVar[EconParameters]


EconParameters.BEST = EconParameters()
EconParameters.LITERAL = EconParameters(
    nested=True, link_marks=True, decimal_marks=True, empty_parts=True, equal_stops=True
)


TextNodeSet: TypeAlias = tuple[int, int]
"""Adjacent siblings, all big-nodes: their first row, and the row after their last."""


def econ(document: Document, parameters: EconParameters = EconParameters.BEST) -> list[int]:
    """Return the roots of the subtrees that hold the content of the news, in document order.

    They are the subtrees of the summary-node, without pruned ones (algorithm Extract-news). Empty
    where no text-para has a period or a comma.
    """
    marks_before, fathers = read_text(document, parameters)
    paras, pruned = joint_para(document, marks_before, fathers, parameters)
    if not paras:
        return []
    before = document.chars_before
    sizes = [before[end] - before[first] for first, end in paras]
    snippet, _ = paras[sizes.index(max(sizes))]  # the first of the longest
    summary = _summary_node(document, snippet, marks_before, parameters)
    return _without(document, summary, pruned)


def read_in_python(document: Document, parameters: EconParameters) -> tuple[list[int], bytearray]:
    """Return two things of the shown text nodes: those with punctuation, and the fathers of all.

    The first as their number before each row: sums and differences of punc-nums are only ever
    tested for 0, so it is enough which punc-nums are above 0. The second as 1 for a father's row.
    Text of scripts, which condition 1 of big-nodes leaves out, counts for no other node either.
    """
    search = (_MARK if parameters.decimal_marks else _MARK_BEFORE_NO_DIGIT).search
    link_marks = parameters.link_marks
    parent, text, in_links = document.parent, document.text, document.link_chars_before
    marked, fathers = bytearray(len(parent)), bytearray(len(parent))
    for row in document.text_nodes():
        fathers[parent[row]] = 1
        if (link_marks or in_links[row] == in_links[row + 1]) and search(text[row]):
            marked[row] = 1
    return list(accumulate(marked, initial=0)), fathers


def joint_para(
    document: Document,
    marks_before: Sequence[int],
    fathers: bytearray,
    parameters: EconParameters,
) -> tuple[list[TextNodeSet], list[TextNodeSet]]:
    """Return the text-node-sets of all text-paras, and what is pruned, as its punc-num is 0."""
    paras: list[TextNodeSet] = []
    pruned: list[TextNodeSet] = []
    firsts, ends = find_text_node_sets(document, parameters, marks_before, fathers)
    for nodes in zip(firsts, ends, strict=True):
        first, end = nodes
        (pruned if marks_before[first] == marks_before[end] else paras).append(nodes)
    return paras, pruned


def sets_in_python(
    document: Document, parameters: EconParameters, marks_before: Sequence[int], fathers: bytearray
) -> tuple[list[int], list[int]]:
    """Return first rows and ends of the text-node-sets, in the order of their first rows.

    A subtree without punctuation that is no big-node is one, too: all its text is in some, and
    all of them are pruned.
    """
    tag, parent, end, shown = document.tag, document.parent, document.end, document.chars_before
    nested, empty_parts = parameters.nested, parameters.empty_parts
    firsts: list[int] = []
    ends: list[int] = []
    latest: dict[int, int] = {}  # set of the children of a row
    row, last = 0, len(parent)
    while row < last:
        after = end[row]
        place = latest.get(parent[row], -1)
        joins = place >= 0 and ends[place] == row
        has_text = shown[row] != shown[after]
        is_big = has_text and _is_big(document, row, fathers, nested=nested)
        if joins and (is_big or (not has_text and (not empty_parts or tag[row] in BIG_TAGS))):
            ends[place] = after
        elif is_big or (has_text and marks_before[row] == marks_before[after] and tag[row] != TEXT):
            if is_big:
                latest[parent[row]] = len(firsts)
            firsts.append(row)
            ends.append(after)
        elif has_text:
            row += 1
            continue
        row = row + 1 if is_big and nested else after
    return firsts, ends


def _is_big(document: Document, row: int, fathers: bytearray, *, nested: bool) -> bool:
    """Return whether *row* is a big-node; with the reading of today a text node outside of one is."""
    tag = document.tag
    name = tag[row]
    if not (fathers[row] or name in BIG_TAGS):
        return name == TEXT and not nested
    return (
        nested
        or name in BIG_TAGS
        or not any(tag[child] in BLOCK_LEVEL for child in document.children(row))
    )


_compiled = compiled_module("newscrawl.body._body")
read_text: Callable[..., tuple[list[int], bytearray]] = (
    _compiled.read_text if _compiled else read_in_python
)
find_text_node_sets: Callable[..., tuple[list[int], list[int]]] = (
    partial(_compiled.find_text_node_sets, big_tags=BIG_TAGS, block_level=BLOCK_LEVEL)
    if _compiled
    else sets_in_python
)


def _summary_node(
    document: Document, snippet: int, marks_before: Sequence[int], parameters: EconParameters
) -> int:
    """Return the row where backtracking from *snippet* stops: the first distance is 0."""
    end, node = document.end, snippet
    for above in document.ancestors(snippet):
        inside = marks_before[end[node]] - marks_before[node]
        distance = marks_before[end[above]] - marks_before[above] - inside
        more = parameters.equal_stops or document.chars(above) > document.chars(node)
        if distance == 0 and more:
            break
        node = above
    return node


def _without(document: Document, node: int, pruned: Sequence[TextNodeSet]) -> list[int]:
    """Return the highest subtrees with text of *node* that hold nothing pruned."""
    ends, before = document.end, document.chars_before
    forest: list[int] = []
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
                forest.append(row)
            row = end
        row = stop
    return forest
