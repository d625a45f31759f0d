"""NCE, the News Content Extractor of Laber et al. (CIKM 2009), in its three phases.

The paper's text is partly lost; Cardoso's thesis, section 3.4.1, states the conditions again.
Where both are silent or the published reading fails on today's pages the choice was made by
measurement on the `tune` half of the sites of news212 and fundus (``benchmarks/fit_nce.py`` prints
the figures) and stands with the parameter or function that it concerns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Literal, NamedTuple

from rapidfuzz.distance import LCSseq

from newscrawl.document.document import TEXT
from newscrawl.text import tokens, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document.document import Document


@dataclass(frozen=True, slots=True)
class NceParameters:
    """The parameters of NCE under the papers' letters; lengths are weighted characters.

    The papers give no values but gamma = 0.4 in an example. These were found one after the other
    by ``benchmarks/fit_nce.py``: mean over sites of the body's bag-of-words F1 on the ``tune``
    half of the sites of news212 and fundus; 0.87 and 0.89 (mean over pages) on the other half.
    Between values that differ by less than 0.003 the rounder one was taken.
    """

    #: phase 2: least text of a block that may be a comment
    alpha1: float = 200
    #: phase 2: most text of a block that may be a comment. A region no larger than this is one
    #: block and stays; between 800 and 3000 the corpora show no difference
    alpha2: float = 800
    #: phase 3: least words of a title
    alpha3: int = 3
    #: phase 3: most words of a title. A small number leaves few candidates but ``title`` itself,
    #: and for that it is best: with 30, the one with the most text is often the standfirst
    alpha4: int = 10
    #: condition (iii): a sibling with a link density of beta1 or more does not count. Above 1 the
    #: test is off: it never gained anything.
    beta1: float = 1.01
    #: condition (ii): least text of the separator node's subtree. The one sensitive parameter:
    #: 400 costs ten points of F1, 3000 three.
    beta2: float = 1600
    #: least text of the leaf from which the search climbs
    beta3: float = 160
    #: most link density of a tree of the forest; flat between 0.4 and 0.8
    beta4: float = 0.7
    #: phase 2: most places between two blocks in the list that an edge may join
    beta5: int = 3
    #: phase 2: least common subsequence of two blocks, as a share of the shorter one
    beta6: float = 0.5
    #: phase 3: least share of a title's words that the body must hold
    beta7: float = 1.0
    #: condition (iii): least text of a sibling that counts. The papers use beta3; on today's
    #: pages, where a sidebar of teasers holds a few hundred characters, 1500 is better by 0.007.
    sibling: float = 1500
    #: phase 2: least nodes of a connected component that is a comment region (the paper's 3)
    component: int = 3
    #: phase 2: most of the forest's text that may be removed; a region above this is no comments
    #: but an article of similar parts
    removable: float = 0.5
    #: how often beta2 and beta3 are halved where no node separates, before the fall-back to the
    #: whole tree; the papers' 0 makes a short article a page of menus
    relaxations: int = 2


Fallback = Literal["relaxed", "whole_tree"]


@dataclass(frozen=True, slots=True)
class NceResult:
    """What NCE found on a page; rows are those of the :class:`~newscrawl.document.document.Document`."""

    #: row of the separator node; None where there is none
    separator: int | None
    #: roots of the subtrees that hold the body, in document order
    forest: list[int]
    #: row of the title; None where nothing qualifies and the page has no ``title``
    title: int | None
    #: row of the first comment; None where no comments were removed
    comments: int | None
    #: ``relaxed`` where the separator node was found with smaller beta2 and beta3 only,
    #: ``whole_tree`` where there is none
    fallback: Fallback | None


def nce(
    document: Document, parameters: NceParameters | None = None, *, comments: bool = True
) -> NceResult:
    """Run the three phases on *document*; without *comments*, phases 1 and 3 only."""
    parameters = parameters or NceParameters()
    separator, forest, fallback = find_region(document, parameters)
    first_comment = find_comments(document, forest, parameters) if comments else None
    if first_comment is not None:
        forest = cut_before(document, forest, first_comment)
    return NceResult(
        separator=separator,
        forest=forest,
        title=find_title(document, forest, parameters),
        comments=first_comment,
        fallback=fallback,
    )


class Region(NamedTuple):
    """What phase 1 finds; the same as in :class:`NceResult`."""

    separator: int | None
    forest: list[int]
    fallback: Fallback | None


def find_region(document: Document, parameters: NceParameters | None = None) -> Region:
    """Phase 1, with smaller beta2 and beta3 where no node separates."""
    parameters = parameters or NceParameters()
    relaxed = parameters
    for times in range(parameters.relaxations + 1):
        if (separator := find_separator(document, relaxed)) is not None:
            forest = forest_of(document, separator, parameters)
            return Region(separator, forest, "relaxed" if times else None)
        relaxed = replace(relaxed, beta2=relaxed.beta2 / 2, beta3=relaxed.beta3 / 2)
    return Region(None, forest_of(document, None, parameters), "whole_tree")


def find_separator(document: Document, parameters: NceParameters) -> int | None:
    """Phase 1: return the row of the separator node, None where no node qualifies.

    A leaf is a shown text node. Leaves inside of ``a`` are passed over, which neither paper says:
    a long teaser is a link, a paragraph is not (+0.008 of F1).
    """
    chars_before, link_chars_before = document.chars_before, document.link_chars_before
    rejected: set[int] = set()  # ancestors shared with leaves visited before
    for leaf in document.text_nodes():
        length = chars_before[leaf + 1] - chars_before[leaf]
        if length < parameters.beta3 or link_chars_before[leaf + 1] != link_chars_before[leaf]:
            continue
        for node in document.ancestors(leaf):
            if node in rejected:
                break
            if _separates(document, node, parameters):
                return node
            rejected.add(node)
    return None


def _separates(document: Document, node: int, parameters: NceParameters) -> bool:
    """Return whether *node* meets conditions (i) to (iii); (iv) is the order of the search."""
    if document.tag[node] == "p" or document.chars(node) < parameters.beta2:
        return False
    parent = document.parent[node]
    if parent < 0:
        return True
    large = 0
    for sibling in document.children(parent):
        if (
            sibling != node
            and document.chars(sibling) > parameters.sibling
            and document.link_density(sibling) < parameters.beta1
        ):
            large += 1
            if large > 1:
                return False
    return True


def forest_of(document: Document, separator: int | None, parameters: NceParameters) -> list[int]:
    """Return F_{u,beta4}: the children of *separator* with a link density of at most beta4.

    Text nodes among the children count as trees. Without a separator node the forest is the
    whole tree, as published.
    """
    if separator is None:
        return [0]
    end, before, links = document.end, document.chars_before, document.link_chars_before
    return [
        child
        for child in document.children(separator)
        if (chars := before[end[child]] - before[child]) > 0
        and (links[end[child]] - links[child]) / chars <= parameters.beta4
    ]


def find_comments(
    document: Document, forest: Sequence[int], parameters: NceParameters
) -> int | None:
    """Phase 2: return the row of the first block of the comment region, None where there is none.

    The paper does not say on what the longest common subsequence is taken. On characters
    unrelated prose shares 50 to 80 %, so it is taken on words. The paper cuts from the first
    block, the thesis at the least common ancestor of the component and says nothing of one
    above the forest, which would delete everything. The paper's cut is better by 0.003 and
    needs no such exception; it is the one made here. A cut that would remove more than
    ``removable`` of the forest's text is not made.
    """
    blocks: list[_Block] = []
    for place, row in enumerate(_comment_candidates(document, forest, parameters)):
        sequence = tokens(document.subtree_text(row))
        block = _Block(row, sequence, frozenset(sequence), first=place)
        blocks.append(block)
        for other in blocks[max(0, place - parameters.beta5) : place]:
            if block.first != other.first and _similar(block, other, parameters.beta6):
                size = _join(blocks, block.first, other.first)
                if size >= parameters.component:
                    return _bounded(document, forest, blocks[block.first].row, parameters)
    return None


def _join(blocks: Sequence[_Block], one: int, other: int) -> int:
    """Make one connected component of two; return its size."""
    first, joined = sorted((one, other))
    for block in blocks:
        if block.first == joined:
            block.first = first
    return sum(block.first == first for block in blocks)


def _bounded(
    document: Document, forest: Sequence[int], first: int, parameters: NceParameters
) -> int | None:
    kept = sum(
        document.chars_before[min(document.end[tree], max(first, tree))]
        - document.chars_before[tree]
        for tree in forest
    )
    whole = sum(document.chars(tree) for tree in forest)
    return first if whole - kept <= parameters.removable * whole else None


def _comment_candidates(
    document: Document, forest: Sequence[int], parameters: NceParameters
) -> Iterator[int]:
    """Yield the highest nodes of *forest* with alpha1 <= text <= alpha2, in document order.

    Not those of a single text node, which the paper does not leave out: a comment has its author
    and date beside its text, and a plain paragraph has nothing that could repeat. That changes no
    page of the corpora and halves the time of phase 2.
    """
    for tree in forest:
        row, last = tree, document.end[tree]
        while row < last:
            chars = document.chars(row)
            if chars > parameters.alpha2:
                row += 1
                continue
            if chars >= parameters.alpha1 and document.tag[row : document.end[row]].count(TEXT) > 1:
                yield row
            row = document.end[row]


@dataclass(slots=True)
class _Block:
    """A node of the list L of phase 2."""

    row: int
    tokens: list[str]
    vocabulary: frozenset[str]
    #: place in L of the first block of its connected component
    first: int


def _similar(one: _Block, other: _Block, share: float) -> bool:
    if len(one.tokens) > len(other.tokens):
        one, other = other, one
    needed = ceil(share * len(one.tokens))
    # A bound first, since most pairs are unrelated: words in common, and repeated ones.
    repeated = len(one.tokens) - len(one.vocabulary)
    if len(one.vocabulary & other.vocabulary) + repeated < needed:
        return False
    common: int = LCSseq.similarity(one.tokens, other.tokens, score_cutoff=needed)
    return common >= needed


def cut_before(document: Document, forest: Sequence[int], row: int) -> list[int]:
    """Return the subtrees of *forest* that end before *row*, trees that hold it split up."""
    kept: list[int] = []
    pending = list(reversed(forest))
    while pending:
        tree = pending.pop()
        if document.end[tree] <= row:
            kept.append(tree)
        elif tree < row:
            pending.extend(reversed(list(document.children(tree))))
    return kept


def find_title(document: Document, forest: Sequence[int], parameters: NceParameters) -> int | None:
    """Phase 3: return the row of the title, None where nothing qualifies.

    A candidate is the ``title`` element, or a node before the forest of alpha3 to alpha4 words
    of which the body holds a share of at least beta7; of the candidates the one with the most
    text is the title. That is the paper's rule, as far as it can be read.
    """
    first = forest[0] if forest else len(document)
    title, least = document.title_row, len(document.title)
    most = 10 * parameters.alpha4  # characters: spares nearly all the tokenising
    if least >= most:
        return title
    before = document.chars_before
    longer: dict[tuple[float, float], int] = {}  # the highest of the nodes with the same text
    for row, end in enumerate(document.end[:first]):
        if end <= first and least < before[end] - before[row] <= most:
            longer.setdefault((before[row], before[end]), row)
    bags = {row: words(document.subtree_text(row)) for row in longer.values()}
    candidates = [
        row for row, bag in bags.items() if parameters.alpha3 <= len(bag) <= parameters.alpha4
    ]
    if not candidates:
        return title
    body = Counter(words(" ".join(document.subtree_text(tree) for tree in forest)))
    for row in sorted(candidates, key=document.chars, reverse=True):
        if (Counter(bags[row]) & body).total() >= parameters.beta7 * len(bags[row]):
            return row
    return title
