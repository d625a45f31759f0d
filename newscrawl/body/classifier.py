"""The body as the blocks that an ensemble of decision trees takes for it.

NCE, CoreEx and ECON give candidates: their union keeps 99 % of the true text in a third of the
page's blocks. Boosted trees give each candidate's probability, a second ensemble corrects it in the
context of the page, and of all bodies the one with the greatest expected F1 is chosen, so that no
threshold is fitted.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, groupby
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.block_features import HEADINGS, ITEM, QUOTE, block_features, prose_places
from newscrawl.body.block_texts import said_often
from newscrawl.body.blocks import cast_votes, find_blocks, marked_up_alike
from newscrawl.body.context_features import CONTEXT_FEATURES, context_table
from newscrawl.body.coreex import coreex
from newscrawl.body.econ import econ
from newscrawl.body.excluded_regions import heading_row, outside_regions
from newscrawl.body.feature_names import FEATURES
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

IMPROBABLE = 0.05
"""Short blocks of a smaller probability do not belong to their neighbours."""
LIST = 0.4
"""Least mean probability of the items of a list with links. 0.3 takes more lists of links with it."""
LINKLESS = 0.1
"""Most mean link density of a list without."""
OFFERS = 5
"""Least number of lists of links among chosen blocks that are the article's whatever their
probability: related stories come in one list or two, offers by shop and products by price in many."""
_NEAR = 3
_CLOSE = 12


class BodyModels(NamedTuple):
    """Block classifier in two passes: a block alone, and in the context of the page."""

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

    def probabilities(self, features: Table, chars: Sequence[float]) -> list[float]:
        """Return the probability that each candidate block is of the body."""
        alone = self.blocks.ensemble.predict(features)
        return self.context.ensemble.predict(in_context(features, alone, chars))


def load_body_models(folder: Path | None = None) -> BodyModels:
    """Return the block classifier, see :func:`~newscrawl.ensemble.ensemble.load_model`."""
    return BodyModels(
        load_model(FILE, FEATURES, folder), load_model(CONTEXT_FILE, CONTEXT_FEATURES, folder)
    )


def in_context(
    features: Sequence[float], probabilities: Sequence[float], chars: Sequence[float]
) -> Table:
    """Return the second pass's features of candidates, given the first pass's *probabilities*."""
    chosen, expected = best_subset(probabilities, chars)
    cut = min((probabilities[place] for place in chosen), default=0.0)
    return context_table(features, probabilities, chars, expected, cut)


class CandidateBlocks(NamedTuple):
    """The blocks among which the body is, and what is known of them."""

    blocks: Blocks
    #: places in :attr:`blocks`, in document order
    places: list[int]
    #: one row of :data:`FEATURES` after the other
    features: Table
    #: weighted characters of each
    chars: list[float]


def body_candidates(document: Document, nce_forest: Sequence[int]) -> CandidateBlocks:
    """Return the blocks that NCE, which found *nce_forest*, CoreEx or ECON take, and prose between."""
    blocks = find_blocks(document)
    votes = cast_votes(document.end, (nce_forest, coreex(document), econ(document)))
    taken = [place for place, rows in enumerate(blocks.rows) if votes[rows[0]]]
    heading = heading_row(document)
    taken = _with_prose_between(document, blocks, taken, heading)
    places = outside_regions(document, blocks, taken, heading)
    chars = blocks.chars(document, places)
    if often := said_often(document, [blocks.rows[place] for place in places], chars):
        places = [place for position, place in enumerate(places) if position not in often]
        chars = blocks.chars(document, places)
    if not places:
        return CandidateBlocks(blocks, [], array("d"), [])
    features = block_features(document, blocks, places, votes, heading)
    return CandidateBlocks(blocks, places, features, chars)


def _with_prose_between(
    document: Document, blocks: Blocks, taken: list[int], heading: int | None
) -> list[int]:
    """Return *taken* with prose between them, under the heading close before them, and after them.

    What stands after them is marked up as theirs. One page in ten has any, and half of that is of
    its body: standfirsts, columns of their own, what follows a long box in mid-article.
    """
    if not taken:
        return []
    start = taken[0]
    if heading is not None:
        least, end = max(0, start - _CLOSE), document.end[heading]
        while start > least and blocks.rows[start - 1][0] >= end:
            start -= 1
    known, last, prose = set(taken), taken[-1], prose_places(document, blocks, start)
    between = [place for place in range(start, last + 1) if place in known or place in prose]
    after = (place for place in range(last + 1, len(blocks)) if place in prose)
    return [*between, *marked_up_alike(document, blocks, known & prose, after)]


class BlockChoice(NamedTuple):
    """The blocks that are the body."""

    #: rows of their text nodes, in document order
    rows: list[int]
    #: F1 that the body is expected to have, by the probabilities
    expected: float


def choose_blocks(candidates: CandidateBlocks, models: BodyModels) -> BlockChoice:
    """Return the body among *candidates*: empty where there is none."""
    probabilities = models.probabilities(candidates.features, candidates.chars)
    chosen, expected = best_subset(probabilities, candidates.chars)
    chosen = with_companions(candidates.features, probabilities, chosen)
    rows = [row for place in chosen for row in candidates.blocks.rows[candidates.places[place]]]
    return BlockChoice(rows, expected)


def best_subset(probabilities: Sequence[float], sizes: Sequence[float]) -> tuple[list[int], float]:
    """Return the places of the blocks whose expected F1 is greatest, and that F1.

    The expectation of F1 is taken as the ratio of expectations: twice the text that is both chosen
    and of the body, over what is chosen and what is of the body. Its best subset is a prefix in
    the order of the probabilities.
    """
    order = sorted(range(len(sizes)), key=probabilities.__getitem__, reverse=True)
    true = list(accumulate([probabilities[place] * sizes[place] for place in order]))
    chosen = accumulate([sizes[place] for place in order])
    scores = [2 * hit / (size + true[-1]) for hit, size in zip(true, chosen, strict=True)]
    if not scores:
        return [], 0.0
    best = max(scores)
    return sorted(order[: scores.index(best) + 1]), best


class _CompanionFeatures(NamedTuple):
    """The features that tell what blocks belong together; arrays of one entry a block."""

    tag: array[float]
    parent_tag: array[float]
    link_density: array[float]
    described: array[float]
    after_heading: array[float]

    @classmethod
    def of(cls, features: Table) -> _CompanionFeatures:
        return cls(*(features[place :: len(FEATURES)] for place in _TOLD))

    def tags(self, place: int) -> set[float]:
        return {self.tag[place], self.parent_tag[place]}


_TOLD = [FEATURES.index(name) for name in _CompanionFeatures._fields]


def with_companions(
    features: Table, probabilities: Sequence[float], chosen: Sequence[int]
) -> list[int]:
    """Return the places *chosen* with the short blocks that belong to them.

    A heading belongs to the chosen block after it, a quote to those on its both sides, the
    standfirst that is the page's description to the first, unless :data:`IMPROBABLE`; a list
    among chosen blocks is whole or not there (:data:`LIST`). Their few words are worth 0.0007 of F1
    at most, but a reader misses them.
    """
    if not chosen:
        return []
    told, inside, earliest = _CompanionFeatures.of(features), set(chosen), min(chosen)
    for first, end in _told_lists(told, probabilities, inside):
        inside.update(range(first, end))
    for place, probability in enumerate(probabilities):
        if probability >= IMPROBABLE and place not in inside:
            follows = _follows_heading(told, place, earliest)
            if follows or _is_between(told, place, inside):
                inside.add(place)
    return sorted(inside)


def _lists(told: _CompanionFeatures) -> Iterator[tuple[int, int]]:
    """Yield the first place of each run of list items, and the one after the last."""
    if ITEM not in told.tag and ITEM not in told.parent_tag:
        return
    place = 0
    tags = zip(told.tag, told.parent_tag, strict=True)
    for is_item, run in groupby([ITEM in both for both in tags]):
        size = len(list(run))
        if is_item:
            yield place, place + size
        place += size


def _told_lists(
    told: _CompanionFeatures, probabilities: Sequence[float], inside: AbstractSet[int]
) -> list[tuple[int, int]]:
    """Return the lists that are text of the article: among chosen blocks, and not too improbable."""
    lists = [
        (first, end)
        for first, end in _lists(told)
        if not inside.isdisjoint(range(first - _NEAR, first))
        and not inside.isdisjoint(range(end, end + _NEAR))
    ]
    linked = {one for one in lists if fmean(told.link_density[slice(*one)]) >= LINKLESS}
    least = LIST if len(linked) < OFFERS else 0.0
    return [
        one
        for one in lists
        if fmean(probabilities[slice(*one)]) >= (least if one in linked else IMPROBABLE)
    ]


def _is_between(told: _CompanionFeatures, place: int, inside: AbstractSet[int]) -> bool:
    """Return whether *place* is a heading or a quote among those *inside*."""
    if place + 1 not in inside:
        return False
    tags = told.tags(place)
    if tags & HEADINGS:
        return not inside.isdisjoint(range(place - _NEAR, place))
    return QUOTE in tags and place - 1 in inside


def _follows_heading(told: _CompanionFeatures, place: int, first: int) -> bool:
    """Return whether *place* is a standfirst: described, and close before the *first* chosen."""
    close = place < first <= place + _NEAR
    return close and told.described[place] == 1 and told.after_heading[place] >= 0
