"""NCE, the News Content Extractor of Laber et al. (CIKM 2009), in its three phases.

The text of the paper is partly lost; Cardoso's thesis, section 3.4.1, restates the conditions.
Where both are silent or fail on today's pages, the choice was measured on labelled pages, on one
half of the sites (``benchmarks/fit_nce.py``), and is documented with its parameter or function.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Literal

from rapidfuzz.distance import LCSseq

from newscrawl.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.document.document import Document


@dataclass(frozen=True, slots=True)
class NceParameters:
    """Parameters of NCE with the letters of the papers; lengths are weighted characters.

    The papers give no values except gamma = 0.4 in an example. ``benchmarks/fit_nce.py`` fits them
    one by one: mean over sites of the bag-of-words F1 of the body.
    """

    #: phase 2: minimum text of a block that may be a comment
    alpha1: float = 150
    #: phase 2: maximum text of a block that may be a comment
    alpha2: float = 800
    #: phase 3: minimum words of a title
    alpha3: int = 3
    #: phase 3: maximum words of a title. With larger values the standfirst is often chosen
    alpha4: int = 10
    #: condition (iii): link density from which a sibling is ignored; above 1 none is ignored
    beta1: float = 1.01
    #: condition (ii): minimum text of the subtree of the separator node; the one sensitive
    #: parameter
    beta2: float = 1600
    #: minimum text of the leaf from which the search climbs
    beta3: float = 160
    #: maximum link density of a tree of the forest (gamma of F_{u,gamma})
    beta4: float = 0.7
    #: phase 2: maximum distance of two blocks in the list L that an edge may join
    beta5: int = 3
    #: phase 2: minimum common subsequence of two blocks, relative to the shorter one
    beta6: float = 0.8
    #: phase 3: minimum share of the words of a title that occur in the body
    beta7: float = 1.0
    #: condition (iii): text above which a sibling counts. The papers use beta3; today's sidebars
    #: hold several hundred characters
    sibling: float = 1500
    #: phase 2: minimum nodes of a connected component that is a comment region
    component: int = 3
    #: phase 2: maximum share of the forest's text that may be removed; larger regions are articles
    #: of similar parts
    removable: float = 0.6
    #: phase 2: cut before the least common ancestor of the region (thesis) instead of its first
    #: block
    common_ancestor: bool = False
    #: phase 1: the search may start at leaves inside links, as in the papers
    link_leaves: bool = False
    #: how often beta2 and beta3 are halved if there is no separator node, before the fallback to
    #: the whole tree; the papers have 0, which fails on short articles
    relaxations: int = 2

    PUBLISHED: ClassVar[NceParameters]


NceParameters.PUBLISHED = NceParameters(
    alpha1=50, beta1=0.5, beta2=800, beta4=0.4, beta6=0.7, sibling=160, removable=1.0,
    link_leaves=True, relaxations=0,
)  # fmt: skip
"""The papers' conditions: one sibling of beta3 characters, no fallback but the whole tree, no limit
of what phase 2 removes. gamma is that of the paper's example; the papers give no other value."""

Fallback = Literal["relaxed", "whole_tree"]


@dataclass(frozen=True, slots=True)
class NceResult:
    """Result of NCE; rows are those of the :class:`~newscrawl.document.document.Document`."""

    #: row of the separator node, if there is one
    separator: int | None
    #: roots of the trees that contain the body, in document order
    forest: list[int]
    #: ``relaxed``: the separator node needed smaller beta2 and beta3; ``whole_tree``: there is none
    fallback: Fallback | None
    #: row of the title, if any node qualifies or the page has a ``title``
    title: int | None = None


def nce(
    document: Document, parameters: NceParameters | None = None, *, comments: bool = True
) -> NceResult:
    """Run the three phases on *document*; phase 2 only with *comments*."""
    parameters = parameters or NceParameters()
    region = find_region(document, parameters)
    forest = region.forest
    if comments:
        forest = remove_comments(document, forest, parameters)
    return replace(region, forest=forest, title=find_title(document, forest, parameters))


# Phase 1: separator node search


def find_region(document: Document, parameters: NceParameters | None = None) -> NceResult:
    """Phase 1: find the separator node and its forest, with relaxed parameters if necessary."""
    parameters = parameters or NceParameters()
    relaxed = parameters
    for relaxation in range(parameters.relaxations + 1):
        if (separator := find_separator_node(document, relaxed)) is not None:
            forest = forest_of(document, separator, parameters)
            return NceResult(separator, forest, "relaxed" if relaxation else None)
        relaxed = replace(relaxed, beta2=relaxed.beta2 / 2, beta3=relaxed.beta3 / 2)
    return NceResult(None, forest_of(document, None, parameters), "whole_tree")


def find_separator_node(document: Document, parameters: NceParameters) -> int | None:
    """Return the row of the separator node, None if no node qualifies.

    A leaf is a shown text node. Unless ``link_leaves``, those inside ``a`` are skipped: a long
    teaser is a link, a paragraph is not.
    """
    chars_before, link_chars_before = document.chars_before, document.link_chars_before
    rejected: set[int] = set()  # ancestors shared with earlier leaves
    for leaf in document.text_nodes():
        length = chars_before[leaf + 1] - chars_before[leaf]
        is_link = link_chars_before[leaf + 1] != link_chars_before[leaf]
        if length < parameters.beta3 or (is_link and not parameters.link_leaves):
            continue
        for node in document.ancestors(leaf):  # closest first: condition (iv)
            if node in rejected:
                break
            if _is_separator(document, node, parameters):
                return node
            rejected.add(node)
    return None


def _is_separator(document: Document, node: int, parameters: NceParameters) -> bool:
    """Return whether *node* meets conditions (i) to (iii)."""
    if document.tag[node] == "p" or document.chars(node) < parameters.beta2:
        return False
    parent = document.parent[node]
    if parent < 0:
        return True
    large_siblings = 0
    for sibling in document.children(parent):
        if (
            sibling != node
            and document.chars(sibling) > parameters.sibling
            and document.link_density(sibling) < parameters.beta1
        ):
            large_siblings += 1
            if large_siblings > 1:
                return False
    return True


def forest_of(document: Document, separator: int | None, parameters: NceParameters) -> list[int]:
    """Return F_{u,beta4}: the children of *separator* with text and a link density up to beta4.

    Text nodes among the children are trees. Without a separator node the forest is the whole tree.
    """
    if separator is None:
        return [0]
    before, links, end = document.chars_before, document.link_chars_before, document.end
    forest: list[int] = []
    child, last = separator + 1, end[separator]
    while child < last:
        after = end[child]
        chars = before[after] - before[child]
        if chars > 0 and (links[after] - links[child]) / chars <= parameters.beta4:
            forest.append(child)
        child = after
    return forest


# Phase 2: comments removal


def remove_comments(document: Document, forest: list[int], parameters: NceParameters) -> list[int]:
    """Phase 2: return *forest* up to the first block of the comment region."""
    first = find_first_comment(document, forest, parameters)
    return forest if first is None else cut_before(document, forest, first)


@dataclass(slots=True)
class _Block:
    """A node of the list L, with its connected component in the graph G."""

    row: int
    text: str
    #: index in L of the first block of the component
    component: int


def find_first_comment(
    document: Document, forest: Sequence[int], parameters: NceParameters
) -> int | None:
    """Return the row before which the comment region is cut off, None if there is none.

    The paper cuts before the first block of the first component with enough blocks, the thesis
    before their least common ancestor, which may lie above the forest. Unrelated prose shares half
    of its characters and more: without ``removable`` phase 2 cuts stories.
    """
    blocks: list[_Block] = []
    for place, row in enumerate(_comment_candidates(document, forest, parameters)):
        block = _Block(row, document.subtree_text(row), component=place)
        blocks.append(block)
        for other in blocks[max(0, place - parameters.beta5) : place]:
            if block.component != other.component and _similar(block, other, parameters.beta6):
                region = _join(blocks, block.component, other.component)
                if len(region) >= parameters.component:
                    first = region[0]
                    if parameters.common_ancestor:
                        around = (first, *document.ancestors(first))
                        first = next(it for it in around if region[-1] < document.end[it])
                    return first if _may_cut(document, forest, first, parameters) else None
    return None


def _comment_candidates(
    document: Document, forest: Sequence[int], parameters: NceParameters
) -> Iterator[int]:
    """Yield the highest nodes of *forest* with alpha1 <= text <= alpha2, in document order."""
    for tree in forest:
        row, last = tree, document.end[tree]
        while row < last:
            chars = document.chars(row)
            if chars > parameters.alpha2:
                row += 1
                continue
            if chars >= parameters.alpha1:
                yield row
            row = document.end[row]


def _similar(block: _Block, other: _Block, share: float) -> bool:
    shorter, longer = sorted((block.text, other.text), key=len)
    needed = ceil(share * len(shorter))
    common: int = LCSseq.similarity(shorter, longer, score_cutoff=needed)
    return common >= needed


def _join(blocks: Sequence[_Block], component: int, other: int) -> list[int]:
    """Join two connected components; return the rows of the result."""
    first, second = sorted((component, other))
    for block in blocks:
        if block.component == second:
            block.component = first
    return [block.row for block in blocks if block.component == first]


def _may_cut(
    document: Document, forest: Sequence[int], first: int, parameters: NceParameters
) -> bool:
    """Return whether a cut before the row *first* removes at most ``removable`` of the text."""
    before, end = document.chars_before, document.end
    kept = sum(before[min(end[tree], max(first, tree))] - before[tree] for tree in forest)
    whole = sum(document.chars(tree) for tree in forest)
    return whole - kept <= parameters.removable * whole


def cut_before(document: Document, forest: Sequence[int], row: int) -> list[int]:
    """Return the subtrees of *forest* that end before *row*; trees that contain it are split."""
    kept: list[int] = []
    pending = list(reversed(forest))
    while pending:
        tree = pending.pop()
        if document.end[tree] <= row:
            kept.append(tree)
        elif tree < row:
            pending.extend(reversed(list(document.children(tree))))
    return kept


# Phase 3: title search


def find_title(document: Document, forest: Sequence[int], parameters: NceParameters) -> int | None:
    """Phase 3: return the row of the title, None if no node qualifies.

    Candidates are the ``title`` element, and nodes before the forest with alpha3 to alpha4 words, a
    share of at least beta7 of which occurs in the body. The candidate with the most text wins. This
    is the paper's rule, as far as it is legible.
    """
    first = forest[0] if forest else len(document)
    title_row, min_chars = document.title_row, len(document.title)
    max_chars = 10 * parameters.alpha4  # saves tokenising most nodes
    before = document.chars_before
    longer: dict[tuple[float, float], int] = {}  # highest of the nodes with the same text
    for row, end in enumerate(document.end[:first]):
        if end <= first and min_chars < before[end] - before[row] <= max_chars:
            longer.setdefault((before[row], before[end]), row)
    bags = {row: words(document.subtree_text(row)) for row in longer.values()}
    candidates = [
        row for row, bag in bags.items() if parameters.alpha3 <= len(bag) <= parameters.alpha4
    ]
    if not candidates:
        return title_row
    body = Counter(words(" ".join(document.subtree_text(tree) for tree in forest)))
    for row in sorted(candidates, key=document.chars, reverse=True):
        if (Counter(bags[row]) & body).total() >= parameters.beta7 * len(bags[row]):
            return row
    return title_row
