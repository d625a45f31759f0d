"""CoreEx, the content extraction of Prasad and Paepcke (2008): text against links, node by node.

The paper's names are textCnt, linkCnt, setTextCnt, setLinkCnt and S. Where the paper is silent or
its constants fail on today's pages, the choice is documented with its parameter or function; it was
measured on labelled pages, on one half of the sites. Cython compiles this module, with the types in
``coreex.pxd``.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from newscrawl.document.document import HEAD, SCRIPT, TEXT
from newscrawl.document.rows import HEADINGS
from newscrawl.text import words as words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from newscrawl.document.document import Document

FORM_TAGS = frozenset({"select", "form", "input", "textarea", "option"})
"""Tags of "ignoring Form tags" (section 3.2)."""
_ZERO = array("q", [0])


@dataclass(frozen=True, slots=True)
class CoreExParameters:
    """Constants and refinements of CoreEx; the defaults are :attr:`TODAY`."""

    #: weight_text: weight of the share of the page's words; weight_ratio is 1 - weight_text. With
    #: the paper's .01, a paragraph without links beats most of today's articles
    weight_text: float = 0.08
    #: text-to-link ratio above which a child belongs to S (section 2.2.2)
    threshold: float = 0.9
    #: the content of a node is S, else the whole subtree
    subset: bool = True
    #: ignore :data:`FORM_TAGS` (section 3.2, 1)
    ignore_forms: bool = True
    #: largest share of the page's text in an ignored form. With the paper's 1, sites that enclose
    #: every page in a form are lost (section 6.1)
    largest_form: float = 0.5
    #: ignore scripts, style sheets and their fallback content (section 3.2, 2). Otherwise the
    #: document must be parsed with ``scripts=True``
    remove_scripts: bool = True
    #: ignore hidden text, which the paper does not mention
    shown_only: bool = True

    #: today's constants, and those of the paper's best configuration, R5
    TODAY: ClassVar[CoreExParameters]
    PUBLISHED: ClassVar[CoreExParameters]


CoreExParameters.TODAY = CoreExParameters()
CoreExParameters.PUBLISHED = CoreExParameters(weight_text=0.01, largest_form=1.0, shown_only=False)


def coreex(document: Document, parameters: CoreExParameters = CoreExParameters.TODAY) -> list[int]:
    """Return the roots of the subtrees that contain the core content, in document order.

    They are S of the main content node, or that node alone. Empty if the page has no text outside
    of links.
    """
    return find_main_content(document, count_terminals(document, parameters), parameters)


class TerminalCounts(NamedTuple):
    """Prefix sums of the counts of terminal nodes: those of a subtree are differences."""

    #: words before each row: textCnt
    words: array[int]
    #: links before each row: linkCnt
    links: array[int]
    #: words of the longest text node outside of links
    longest: int


def count_terminals(document: Document, parameters: CoreExParameters) -> TerminalCounts:
    """Count words and links in the terminal nodes.

    An ``a`` element with content is one word and one link, however long (Figure 4). In scripts
    without spaces a character is a word.
    """
    max_form_chars = parameters.largest_form * document.chars(0)
    before, end = document.chars_before, document.end
    ignored_forms = [
        row
        for name in (FORM_TAGS if parameters.ignore_forms else ())
        for row in document.rows_of(name)
        if before[end[row]] - before[row] <= max_form_chars
    ]
    ignored = _ignored_rows(document, parameters)
    return TerminalCounts(*terminal_sums(document, ignored, ignored_forms))


def terminal_sums(
    document: Document, ignored: bytearray, ignored_forms: list[int]
) -> tuple[array[int], array[int], int]:
    """Return the columns of :class:`TerminalCounts`."""
    end, tag, text = document.end, document.tag, document.text
    is_form = bytearray(len(tag))
    for row in ignored_forms:
        is_form[row] = 1
    words, links = _ZERO * (len(tag) + 1), _ZERO * (len(tag) + 1)
    words_before, links_before = words, links
    row = count = longest = link_count = 0
    while row < len(tag):
        after = row + 1
        if ignored[row]:
            pass
        elif text[row]:
            found = count_tokens(text[row])
            longest = max(longest, found)
            count += found
        elif tag[row] == "a":
            after = end[row]
            if after > row + 1:
                count += 1
                link_count += 1
        elif is_form[row]:
            after = end[row]
        while row < after:
            row += 1
            words_before[row], links_before[row] = count, link_count
    return words, links, longest


def count_tokens(text: str) -> int:
    """Return the number of :func:`newscrawl.text.tokens`."""
    count, is_inside = 0, False
    for character in text:
        if character.isspace():
            is_inside = False
        elif not is_inside:
            is_inside = True
            count += 1
    return len(words_of(text)) if len(text) > 12 * count else count


def _ignored_rows(document: Document, parameters: CoreExParameters) -> bytearray:
    """Return a non-zero byte for each row whose text does not count."""
    if parameters.shown_only:
        return document.hidden
    marks = bytes((HEAD, SCRIPT) if parameters.remove_scripts else (HEAD,))
    return document.hidden.translate(bytes(mark in marks for mark in range(256)))


def find_main_content(
    document: Document, counts: TerminalCounts, parameters: CoreExParameters
) -> list[int]:
    """Return S of the node with the highest score, or that node; empty if all scores are 0.

    Of equal scores the highest node wins, then the first; the paper chooses at random. Nodes are
    visited level by level, and only those with as many words as the longest text node, which scores
    at least as well as any smaller node.
    """
    end, words, links = document.end, counts.words, counts.links
    if not counts.longest:
        return []
    weight_text = parameters.weight_text
    weight_ratio = 1.0 - weight_text
    min_words = counts.longest if weight_text else 1
    threshold, subset = parameters.threshold, parameters.subset
    best: list[int] = []
    best_score = 0.0
    level_order = [0]
    for node in level_order:
        set_text_count = set_link_count = 0  # setTextCnt, setLinkCnt
        members: list[int] = []  # S
        child, last = node + 1, end[node]
        while child < last:
            after = end[child]
            text_count = words[after] - words[child]
            if text_count:  # few children of large nodes
                link_count = links[after] - links[child]
                if (text_count - link_count) / text_count > threshold:
                    set_text_count += text_count
                    set_link_count += link_count
                    members.append(child)
                if text_count >= min_words:
                    level_order.append(child)
            child = after
        if subset and words[last] > words[node + 1]:
            text_count, link_count = set_text_count, set_link_count
        else:  # textCnt, linkCnt
            text_count, link_count = words[last] - words[node], links[last] - links[node]
        ratio = (text_count - link_count) / text_count if text_count else 0.0  # childRatio
        score = weight_ratio * ratio + weight_text * text_count / words[-1]
        if score > best_score:
            best = members if subset and document.tag[node] != TEXT else [node]
            best_score = score
    return best


def find_title(document: Document, roots: Sequence[int]) -> int | None:
    """Return the row of the heading that is the title of the content *roots*, None without one.

    The first ``h1`` in the content, else the last one before it, else the last heading before it.
    An extension of section 6.1 for today's pages.
    """
    if not roots:
        return None
    inside = (row for root in roots for row in range(root, document.end[root]))
    before = range(roots[0] - 1, -1, -1)
    for rows, tags in ((inside, {"h1"}), (before, {"h1"}), (before, HEADINGS)):
        headings = (row for row in rows if document.tag[row] in tags and document.chars(row))
        if (heading := next(headings, None)) is not None:
            return heading
    return None
