"""The block classifier: selects the blocks of the body with tree ensembles.

NCE, CoreEx and ECON generate candidates; their union has 99 % of the body in a third of the blocks.
Boosted trees rate each candidate, a second ensemble corrects the probabilities in the context of
the page, and the set of blocks with the largest expected F1 is the body, so no threshold is fitted.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, groupby
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.block_features import HEADING_CODES, ITEM_CODE, QUOTE_CODE, block_features
from newscrawl.body.block_texts import repeated_texts
from newscrawl.body.blocks import (
    blocks_with_same_markup,
    cast_votes,
    find_blocks,
    find_prose_blocks,
)
from newscrawl.body.context_features import CONTEXT_FEATURES, context_table
from newscrawl.body.coreex import coreex
from newscrawl.body.econ import extract_news
from newscrawl.body.excluded_regions import heading_row, outside_excluded_regions
from newscrawl.body.feature_names import FEATURES
from newscrawl.compiled import compiled
from newscrawl.ensemble.ensemble import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from newscrawl.body.block_features import Table
    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model

FILE = "body.npz"
CONTEXT_FILE = "body-context.npz"

MIN_COMPANION_PROBABILITY = 0.05
"""Probability from which short blocks can accompany selected blocks."""
MIN_LINK_LIST_PROBABILITY = 0.4
"""Mean probability of its items from which a list with links belongs to the body."""
MIN_LINK_LIST_DENSITY = 0.1
"""Mean link density of its items from which a list is one with links."""
MIN_PRODUCT_LISTS = 5
"""Number of lists with links among selected blocks from which all belong to the body: related
articles come in one or two lists, offers by shop in many."""
_NEIGHBOUR_DISTANCE = 3
_COMPANION_FEATURES = ("tag", "parent_tag", "described", "after_heading")
_MAX_HEADING_DISTANCE = 12


class BodyModels(NamedTuple):
    """Models of the two passes: a block alone, and in the context of the page."""

    blocks: Model
    context: Model

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages the models were trained on."""
        return self.blocks.sites | self.context.sites

    def save(self, folder: Path) -> None:
        """Write the models to *folder*. Raises ``OSError``."""
        self.blocks.save(folder)
        self.context.save(folder)

    def probabilities(self, features: Table, chars: list[float]) -> list[float]:
        """Return the probability that each candidate block belongs to the body."""
        alone = self.blocks.ensemble.predict(features)
        return self.context.ensemble.predict(in_context(features, alone, chars))


def load_body_models(folder: Path | None = None) -> BodyModels:
    """Load the block classifier; see :func:`~newscrawl.ensemble.ensemble.load_model`."""
    return BodyModels(
        load_model(FILE, FEATURES, folder), load_model(CONTEXT_FILE, CONTEXT_FEATURES, folder)
    )


def in_context(features: Table, probabilities: list[float], chars: list[float]) -> Table:
    """Return the features of the second pass, given the *probabilities* of the first."""
    selected, expected_f1 = best_subset(probabilities, chars)
    cut = min((probabilities[place] for place in selected), default=0.0)
    return context_table(features, probabilities, chars, expected_f1, cut)


class CandidateBlocks(NamedTuple):
    """Candidates for the blocks of the body, with their features."""

    blocks: Blocks
    #: indices in :attr:`blocks`, in document order
    places: list[int]
    #: one row of :data:`FEATURES` after the other
    features: Table
    #: weighted characters of each
    chars: list[float]


def body_candidates(document: Document, nce_forest: Sequence[int]) -> CandidateBlocks:
    """Return the blocks of NCE (*nce_forest*), CoreEx and ECON, and prose between them."""
    blocks = find_blocks(document)
    votes = cast_votes(document.end, (nce_forest, coreex(document), extract_news(document)))
    voted = [place for place, rows in enumerate(blocks.rows) if votes[rows[0]]]
    heading = heading_row(document)
    extended = _with_prose_between(document, blocks, voted, heading)
    places = outside_excluded_regions(document, blocks, extended, heading)
    chars = blocks.chars(document, places)
    if repeated := repeated_texts(document, [blocks.rows[place] for place in places], chars):
        places = [place for position, place in enumerate(places) if position not in repeated]
        chars = blocks.chars(document, places)
    if not places:
        return CandidateBlocks(blocks, [], array("d"), [])
    features = block_features(document, blocks, places, votes, heading)
    return CandidateBlocks(blocks, places, features, chars)


def _with_prose_between(
    document: Document, blocks: Blocks, voted: list[int], heading: int | None
) -> list[int]:
    """Return *voted* with prose between them, before them up to a near heading, and after them.

    Prose after them needs the markup of voted prose. It can be a standfirst, or the text after a
    large box in the article.
    """
    if not voted:
        return []
    start = voted[0]
    if heading is not None:
        earliest, heading_end = max(0, start - _MAX_HEADING_DISTANCE), document.end[heading]
        while start > earliest and blocks.rows[start - 1][0] >= heading_end:
            start -= 1
    known, last = set(voted), voted[-1]
    prose = find_prose_blocks(document, blocks.rows, start)
    between = [place for place in range(start, last + 1) if place in known or place in prose]
    after = (place for place in range(last + 1, len(blocks)) if place in prose)
    return [*between, *blocks_with_same_markup(document, blocks, known & prose, after)]


class BlockChoice(NamedTuple):
    """The blocks selected as the body."""

    #: rows of their text nodes, in document order
    rows: list[int]
    #: expected F1 of the body
    expected: float
    #: probability of each candidate
    probabilities: list[float]
    #: indices of the candidates in the set with the largest expected F1
    best: list[int]
    #: the same, with the short blocks that accompany them
    selected: list[int]


def choose_blocks(candidates: CandidateBlocks, models: BodyModels) -> BlockChoice:
    """Return the body among *candidates*; without candidates it is empty."""
    probabilities = models.probabilities(candidates.features, candidates.chars)
    best, expected = best_subset(probabilities, candidates.chars)
    selected = with_companions(candidates.features, probabilities, best)
    rows = [row for place in selected for row in candidates.blocks.rows[candidates.places[place]]]
    return BlockChoice(rows, expected, probabilities, best, selected)


@compiled("newscrawl.body._blocks")
def best_subset(probabilities: Sequence[float], sizes: Sequence[float]) -> tuple[list[int], float]:
    """Return the indices of the blocks with the largest expected F1, and that F1.

    The expected F1 is approximated by a ratio of expectations: twice the correct text over the sum
    of selected and true text. The best subset is a prefix in the order of the probabilities.
    """
    order = sorted(range(len(sizes)), key=probabilities.__getitem__, reverse=True)
    correct = list(accumulate([probabilities[place] * sizes[place] for place in order]))
    selected = accumulate([sizes[place] for place in order])
    scores = [2 * hits / (size + correct[-1]) for hits, size in zip(correct, selected, strict=True)]
    if not scores:
        return [], 0.0
    best = max(scores)
    return sorted(order[: scores.index(best) + 1]), best


class _CompanionFeatures(NamedTuple):
    """Features that decide on companions; arrays with one entry per candidate."""

    tag: array[float]
    parent_tag: array[float]
    link_density: array[float]
    described: array[float]
    after_heading: array[float]

    @classmethod
    def from_table(cls, features: Table) -> _CompanionFeatures:
        columns = (FEATURES.index(name) for name in cls._fields)
        return cls(*(features[column :: len(FEATURES)] for column in columns))

    def tags(self, place: int) -> set[float]:
        return {self.tag[place], self.parent_tag[place]}


def _lists(columns: _CompanionFeatures) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of list items."""
    start = 0
    tags = zip(columns.tag, columns.parent_tag, strict=True)
    for is_item, run in groupby(ITEM_CODE in codes for codes in tags):
        end = start + len(list(run))
        if is_item:
            yield start, end
        start = end


def _accepted_lists(
    features: Table, probabilities: Sequence[float], selected: AbstractSet[int]
) -> list[tuple[int, int]]:
    """Return the lists between *selected* blocks that are probable enough."""
    columns = _CompanionFeatures.from_table(features)
    lists = [
        (start, end)
        for start, end in _lists(columns)
        if not selected.isdisjoint(range(start - _NEIGHBOUR_DISTANCE, start))
        and not selected.isdisjoint(range(end, end + _NEIGHBOUR_DISTANCE))
    ]
    link_lists = {
        (start, end)
        for start, end in lists
        if fmean(columns.link_density[start:end]) >= MIN_LINK_LIST_DENSITY
    }
    are_products = len(link_lists) >= MIN_PRODUCT_LISTS
    link_threshold = 0.0 if are_products else MIN_LINK_LIST_PROBABILITY
    return [
        (start, end)
        for start, end in lists
        if fmean(probabilities[start:end])
        >= (link_threshold if (start, end) in link_lists else MIN_COMPANION_PROBABILITY)
    ]


@compiled(
    "newscrawl.body._blocks",
    accepted_lists=_accepted_lists, columns=tuple(map(FEATURES.index, _COMPANION_FEATURES)), width=len(FEATURES),
    item=ITEM_CODE, quote=QUOTE_CODE, headings=HEADING_CODES,
    min_probability=MIN_COMPANION_PROBABILITY, distance=_NEIGHBOUR_DISTANCE,
)  # fmt: skip
def with_companions(
    features: Table, probabilities: Sequence[float], selected: Sequence[int]
) -> list[int]:
    """Return the *selected* candidates with the short blocks that accompany them.

    A heading accompanies the selected block after it, a quote those on both sides, a standfirst
    equal to the page's description the first block. A list among selected blocks is accepted or
    rejected as a whole.
    """
    if not selected:
        return []
    columns = _CompanionFeatures.from_table(features)
    accepted, first = set(selected), min(selected)
    for start, end in _accepted_lists(features, probabilities, frozenset(selected)):
        accepted.update(range(start, end))
    for place, probability in enumerate(probabilities):
        if probability < MIN_COMPANION_PROBABILITY or place in accepted:
            continue
        if _is_standfirst(columns, place, first) or _is_between(columns, place, accepted):
            accepted.add(place)
    return sorted(accepted)


def _is_between(columns: _CompanionFeatures, place: int, accepted: AbstractSet[int]) -> bool:
    """Return whether *place* is a heading or a quote among *accepted* blocks."""
    if place + 1 not in accepted:
        return False
    tags = columns.tags(place)
    if tags & HEADING_CODES:
        return not accepted.isdisjoint(range(place - _NEIGHBOUR_DISTANCE, place))
    return QUOTE_CODE in tags and place - 1 in accepted


def _is_standfirst(columns: _CompanionFeatures, place: int, first: int) -> bool:
    """Return whether *place* repeats the description between the heading and the *first* block."""
    is_near = place < first <= place + _NEIGHBOUR_DISTANCE
    return is_near and columns.described[place] == 1 and columns.after_heading[place] >= 0
