"""CoreEx, the content extraction of Prasad and Paepcke (2008): text against links, node by node.

Names are the paper's: textCnt, linkCnt, setTextCnt, setLinkCnt, S. Where the paper is silent, or
its constants fail on today's pages, the choice stands with the parameter or function that it
concerns; figures are means of the body's bag-of-words F1 on the ``tune`` half of the sites of
news212 and fundus.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from newscrawl.document import HEAD, SCRIPT, TEXT
from newscrawl.text import tokens

if TYPE_CHECKING:
    from newscrawl.document import Document

FORM_TAGS = frozenset({"select", "form", "input", "textarea", "option"})
"""The tags that "ignoring Form tags" is about (section 3.2)."""

HEADERS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True, slots=True)
class CoreExParameters:
    """Constants and refinements of CoreEx; those of :attr:`TODAY` unless said otherwise."""

    #: weight_text: what the share of the page's words counts; weight_ratio is the rest to 1. The
    #: paper's .01 takes half of today's articles for a single paragraph or box
    weight_text: float = 0.1
    #: least text-to-link ratio, itself excluded, of the children in S (section 2.2.2)
    threshold: float = 0.9
    #: a node's content is S, the children with more text than links; else its whole subtree
    subset: bool = True
    #: leave :data:`FORM_TAGS` out (section 3.2, 1)
    ignore_forms: bool = True
    #: most of the page's text that a form may hold and be left out; the paper, with 1, loses
    #: sites that enclose every page in a form (section 6.1)
    largest_form: float = 0.5
    #: leave scripts, style sheets and what stands in for them out (section 3.2, 2). Without, the
    #: document must have been parsed with ``scripts=True``
    remove_scripts: bool = True
    #: leave what no browser shows out, of which the paper says nothing
    shown_only: bool = True

    #: the constants of today, and the paper's of its best configuration, R5
    TODAY: ClassVar[CoreExParameters]
    PUBLISHED: ClassVar[CoreExParameters]


CoreExParameters.TODAY = CoreExParameters()
CoreExParameters.PUBLISHED = CoreExParameters(weight_text=0.01, largest_form=1.0, shown_only=False)

_R4 = replace(CoreExParameters.PUBLISHED, remove_scripts=False)
_R3 = replace(_R4, ignore_forms=False)
_R2 = replace(_R3, subset=False)

VARIANTS: Final = {
    "R1": replace(_R2, weight_text=0.0),
    "R2": _R2,
    "R3": _R3,
    "R4": _R4,
    "R5": CoreExParameters.PUBLISHED,
    "R6": CoreExParameters.PUBLISHED,
}
"""The configurations of Table 1. R6 is R5 on a page that was made XHTML before."""


def coreex(document: Document, parameters: CoreExParameters = CoreExParameters.TODAY) -> list[int]:
    """Return the roots of the subtrees that hold the core content, in document order.

    They are S of the main content node, or that node alone; a text node may be one. Empty where
    the page has no text outside of links.
    """
    counts = _count(document, parameters)
    row = _main_content_node(document, counts, parameters)
    if row < 0:
        return []
    if document.tag[row] == TEXT or not parameters.subset:
        return [row]
    return [child for child in document.children(row) if counts.ratio(child) > parameters.threshold]


class _Counts(NamedTuple):
    """textCnt and linkCnt of each row: after :func:`_count` of terminal nodes alone."""

    text: list[int]
    link: list[int]

    def ratio(self, row: int) -> float:
        """Return the text-to-link ratio of *row* (childRatio); 0 where it holds nothing."""
        text = self.text[row]
        return (text - self.link[row]) / text if text else 0.0


def _count(document: Document, parameters: CoreExParameters) -> _Counts:
    """Return the counts of the terminal nodes: text nodes and links.

    A link is an ``a`` that holds anything: one word and one link, however long (Figure 4). In
    scripts that write no spaces a character is a word.
    """
    tag, end, hidden, text = document.tag, document.end, document.hidden, document.text
    text_cnt, link_cnt = [0] * len(tag), [0] * len(tag)
    ignored = FORM_TAGS if parameters.ignore_forms else frozenset()
    shown_only, remove_scripts = parameters.shown_only, parameters.remove_scripts
    row, last = 0, len(tag)
    while row < last:
        name, mark = tag[row], hidden[row]
        if mark and (shown_only or mark == HEAD or (mark == SCRIPT and remove_scripts)):
            row = end[row]
        elif name == TEXT:
            text_cnt[row] = len(tokens(text[row]))
            row += 1
        elif name == "a":
            text_cnt[row] = link_cnt[row] = int(end[row] > row + 1)
            row = end[row]
        elif name in ignored and _is_small(document, row, parameters):
            row = end[row]
        else:
            row += 1
    return _Counts(text_cnt, link_cnt)


def _is_small(document: Document, form: int, parameters: CoreExParameters) -> bool:
    return document.chars(form) <= parameters.largest_form * document.chars(0)


def _main_content_node(document: Document, counts: _Counts, parameters: CoreExParameters) -> int:
    """Return the row with the highest score, -1 where all have none; complete *counts*.

    Children stand after their parent: backwards, a row's counts are complete when it is reached.
    Of equal scores the highest row wins, of those the first; the paper's choice is random.
    """
    text_cnt, link_cnt = counts
    parent, tag = document.parent, document.tag
    page_text = sum(text_cnt)
    weight_text, threshold = parameters.weight_text, parameters.threshold
    weight_ratio = 1.0 - weight_text
    set_text, set_link = (
        ([0] * len(tag), [0] * len(tag)) if parameters.subset else (text_cnt, link_cnt)
    )
    best, best_score = -1, 0.0
    for row in range(len(tag) - 1, -1, -1):
        text = text_cnt[row]
        if not text:
            continue
        link, above = link_cnt[row], parent[row]
        if above >= 0:
            text_cnt[above] += text
            link_cnt[above] += link
        if parameters.subset:
            if (text - link) / text > threshold and above >= 0:
                set_text[above] += text
                set_link[above] += link
            if tag[row] != TEXT:
                text, link = set_text[row], set_link[row]
                if not text:
                    continue
        score = weight_ratio * (text - link) / text + weight_text * text / page_text
        if score > best_score or (score == best_score > 0 and _is_as_high(document, row, best)):
            best, best_score = row, score
    return best


def _is_as_high(document: Document, row: int, other: int) -> bool:
    return len(list(document.ancestors(row))) <= len(list(document.ancestors(other)))
