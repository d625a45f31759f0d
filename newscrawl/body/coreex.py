"""CoreEx, the content extraction of Prasad and Paepcke (2008): text against links, node by node.

Names are the paper's: textCnt, linkCnt, setTextCnt, setLinkCnt, S. Where the paper is silent, or
its constants fail on today's pages, the choice stands with the parameter or function that it
concerns; figures are means of the body's bag-of-words F1 on the ``tune`` half of the sites of
news212 and fundus.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, compress, count, filterfalse
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from newscrawl.compiled import compiled_module
from newscrawl.document.document import HEAD, SCRIPT, TEXT
from newscrawl.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from newscrawl.document.document import Document

FORM_TAGS = frozenset({"select", "form", "input", "textarea", "option"})
"""The tags that "ignoring Form tags" is about (section 3.2)."""

_LINKS = frozenset("a")
_H1 = frozenset({"h1"})
_HEADERS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True, slots=True)
class CoreExParameters:
    """Constants and refinements of CoreEx; those of :attr:`TODAY` unless said otherwise."""

    #: weight_text: what the share of the page's words counts; weight_ratio is the rest to 1. With
    #: the paper's .01 a paragraph without links beats most of today's articles, F1 .53 and .63;
    #: from .06 to .1 it is .87 and .89
    weight_text: float = 0.08
    #: the text-to-link ratio that children in S are above (section 2.2.2)
    threshold: float = 0.9
    #: a node's content is S; else its whole subtree, which costs .02
    subset: bool = True
    #: leave :data:`FORM_TAGS` out (section 3.2, 1)
    ignore_forms: bool = True
    #: most of the page's text that a form may hold and be left out; with 1, as in the paper,
    #: sites that enclose every page in a form are lost (section 6.1)
    largest_form: float = 0.5
    #: leave out scripts, style sheets and what stands in for them (section 3.2, 2). Without, the
    #: document must have been parsed with ``scripts=True``
    remove_scripts: bool = True
    #: leave out what no browser shows, of which the paper says nothing
    shown_only: bool = True

    #: the constants of today, and the paper's of its best configuration, R5
    TODAY: ClassVar[CoreExParameters]
    PUBLISHED: ClassVar[CoreExParameters]


CoreExParameters.TODAY = CoreExParameters()
CoreExParameters.PUBLISHED = CoreExParameters(weight_text=0.01, largest_form=1.0, shown_only=False)

_R4 = replace(CoreExParameters.PUBLISHED, remove_scripts=False)
_R3 = replace(_R4, ignore_forms=False)
_R2 = replace(_R3, subset=False)

VARIANTS = {
    "R1": replace(_R2, weight_text=0.0),
    "R2": _R2,
    "R3": _R3,
    "R4": _R4,
    "R5": CoreExParameters.PUBLISHED,
}
"""The configurations of Table 1. R6 is R5 on a page that was made XHTML before, which
:mod:`benchmarks.papers.xhtml` does."""


def coreex(document: Document, parameters: CoreExParameters = CoreExParameters.TODAY) -> list[int]:
    """Return the roots of the subtrees that hold the core content, in document order.

    They are S of the main content node, or that node alone; a text node may be one. Empty where
    the page has no text outside of links.
    """
    counts = count_terminals(document, parameters)
    row = find_main_content_node(document, counts, parameters)
    if row is None:
        return []
    if document.tag[row] == TEXT or not parameters.subset:
        return [row]
    return [
        child
        for child in document.children(row)
        if counts.ratio(child, document.end[child]) > parameters.threshold
    ]


class TerminalCounts(NamedTuple):
    """The words and links before each row: textCnt and linkCnt are differences."""

    words: list[int]
    links: list[int]
    #: words of the longest text node outside of links
    longest: int

    def ratio(self, first: int, end: int) -> float:
        """Return the text-to-link ratio of the rows from *first* on, before *end*."""
        return _ratio(self.words[end] - self.words[first], self.links[end] - self.links[first])


def count_terminals(document: Document, parameters: CoreExParameters) -> TerminalCounts:
    """Return the counts of the terminal nodes: text nodes, and links.

    A link is an ``a`` that holds anything: one word and one link, however long (Figure 4). In
    scripts that write no spaces a character is a word.
    """
    forms = FORM_TAGS if parameters.ignore_forms else frozenset[str]()
    largest = parameters.largest_form * document.chars(0)
    return TerminalCounts(*count_rows(document, _skipped(document, parameters), forms, largest))


def count_in_python(
    document: Document, skipped: bytearray, forms: frozenset[str], largest: float
) -> tuple[list[int], list[int], int]:
    """Return what :class:`TerminalCounts` holds; neither rows marked in *skipped* nor *forms* count.

    Forms of more characters than *largest* do.
    """
    tag, end, text = document.tag, document.end, document.text
    terminals = _LINKS | forms
    links, skipped = bytearray(len(tag)), skipped.copy()
    for row in [row for row, name in enumerate(tag) if name in terminals]:
        if not skipped[row] and (tag[row] == "a" or document.chars(row) <= largest):
            links[row] = tag[row] == "a" and end[row] > row + 1
            skipped[row : end[row]] = b"\1" * (end[row] - row)
    words = list(links)
    counted = list(filterfalse(skipped.__getitem__, compress(count(), text)))
    sizes = [len(tokens(text[row])) for row in counted]
    for row, size in zip(counted, sizes, strict=True):
        words[row] = size
    return (
        list(accumulate(words, initial=0)),
        list(accumulate(links, initial=0)),
        max(sizes, default=0),
    )


_compiled = compiled_module("newscrawl.body._body")
count_rows: Callable[..., tuple[list[int], list[int], int]] = (
    _compiled.count_terminals if _compiled else count_in_python
)


def _skipped(document: Document, parameters: CoreExParameters) -> bytearray:
    """Return 1 for each row that does not count: *parameters* say which hidden ones do."""
    if parameters.shown_only:
        return bytearray(document.hidden)
    marks = bytes((HEAD, SCRIPT) if parameters.remove_scripts else (HEAD,))
    return document.hidden.translate(bytes(mark in marks for mark in range(256)))


def node_in_python(
    document: Document, counts: TerminalCounts, parameters: CoreExParameters
) -> int | None:
    """Return the row with the highest score, None where all have none.

    Of equal scores the highest node wins, of those the first; the paper's choice is random. So
    nodes are visited level by level, and only those with as many words as the longest text node:
    no other can have a better score than that has.
    """
    words, links, end = counts.words, counts.links, document.end
    if not counts.longest:
        return None
    weight_text, weight_ratio = parameters.weight_text, 1.0 - parameters.weight_text
    threshold = parameters.threshold
    least = counts.longest if weight_text else 1
    best, best_score = None, 0.0
    level_order = [0]
    for row in level_order:
        child, last = row + 1, end[row]
        set_text = set_linked = 0
        while child < last:
            after = end[child]
            if size := words[after] - words[child]:
                linked = links[after] - links[child]
                if (size - linked) / size > threshold:
                    set_text += size
                    set_linked += linked
                if size >= least:
                    level_order.append(child)
            child = after
        if parameters.subset and words[last] > words[row + 1]:  # children have text
            text, linked = set_text, set_linked
        else:
            text, linked = words[last] - words[row], links[last] - links[row]
        score = weight_ratio * _ratio(text, linked) + weight_text * text / words[-1]
        if score > best_score:
            best, best_score = row, score
    return best


_compiled_blocks = compiled_module("newscrawl.body._blocks")
find_main_content_node: Callable[[Document, TerminalCounts, CoreExParameters], int | None] = (
    _compiled_blocks.find_main_content_node if _compiled_blocks else node_in_python
)


def _ratio(text: int, links: int) -> float:
    """Return the text-to-link ratio (childRatio); 0 where there is nothing."""
    return (text - links) / text if text else 0.0


def find_title(document: Document, forest: Sequence[int]) -> int | None:
    """Return the row of the header that is the title of *forest*, None where there is none.

    The first ``h1`` in the core content, else the last one before it, else the last header of
    another rank before it. Today's reading of section 6.1: see :func:`recover_title`.
    """
    if not forest:
        return None
    inside = (row for tree in forest for row in range(tree, document.end[tree]))
    before = range(forest[0] - 1, -1, -1)
    for rows, headers in ((inside, _H1), (before, _H1), (before, _HEADERS)):
        for row in rows:
            if document.tag[row] in headers and document.chars(row):
                return row
    return None


def recover_title(document: Document, forest: Sequence[int]) -> int | None:
    """Return the first header among the previous siblings of the parent of S (section 6.1).

    "First" is taken as closest. On today's pages few have one there.
    """
    parent = document.parent[forest[0]] if forest else -1
    if parent <= 0:
        return None
    siblings = list(document.children(document.parent[parent]))
    for row in reversed(siblings[: siblings.index(parent)]):
        if document.tag[row] in _HEADERS and document.chars(row):
            return row
    return None
