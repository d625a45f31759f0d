"""The block classifier: selects the blocks of the body with tree ensembles.

NCE, CoreEx and ECON generate candidates; their union has 99 % of the body in a third of the blocks.
Boosted trees rate each candidate, a second ensemble corrects the probabilities in the context of
the page, and the set of blocks with the largest expected F1 is the body, so no threshold is fitted.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.block_features import (
    CONTEXT_FEATURES,
    FEATURES,
    best_subset,
    block_features,
    context_columns,
    shared_probabilities,
)
from newscrawl.body.blocks import (
    MIN_LONG,
    MIN_STORY,
    cast_votes,
    find_blocks,
)
from newscrawl.body.coreex import coreex
from newscrawl.body.econ import extract_news
from newscrawl.body.excluded_regions import heading_row, outside_excluded_regions
from newscrawl.body.notices import without_copies, without_notices
from newscrawl.ensemble.ensemble import load_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Columns, Model

FILE = "body.npz"
CONTEXT_FILE = "body-context.npz"

_MAX_HEADING_DISTANCE = 12

MAX_REGION_PROBABILITY = 0.6
"""Mean probability below which the blocks after a gap are a region outside of the story."""
_MIN_GAP = 6


class BodyModels(NamedTuple):
    """Models of the two passes: a block alone, and in the context of the page."""

    blocks: Model
    context: Model

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages the models were trained on."""
        return self.blocks.sites | self.context.sites

    def probabilities(self, features: Columns, chars: list[float]) -> list[float]:
        """Return the probability that each candidate block belongs to the body."""
        alone = self.blocks.ensemble.predict(features)
        return self.context.ensemble.predict(in_context(features, alone, chars))


def load_body_models(folder: Path | None = None) -> BodyModels:
    """Load the block classifier; see :func:`~newscrawl.ensemble.ensemble.load_model`."""
    return BodyModels(
        load_model(FILE, FEATURES, folder), load_model(CONTEXT_FILE, CONTEXT_FEATURES, folder)
    )


def in_context(features: Columns, probabilities: list[float], chars: list[float]) -> Columns:
    """Return the features of the second pass, given the *probabilities* of the first."""
    selected, expected_f1 = best_subset(probabilities, chars)
    cut = min((probabilities[place] for place in selected), default=0.0)
    context = context_columns(features, probabilities, chars, expected_f1, cut)
    return {**features, **context}


class CandidateBlocks(NamedTuple):
    """Candidates for the blocks of the body, with their features."""

    document: Document
    blocks: Blocks
    #: indices in :attr:`blocks`, in document order
    places: list[int]
    #: columns of :data:`FEATURES`
    features: Columns
    #: weighted characters of each
    chars: list[float]


def body_candidates(document: Document, nce_forest: Sequence[int]) -> CandidateBlocks:
    """Return the blocks of NCE (*nce_forest*), CoreEx and ECON, and those around them."""
    blocks = find_blocks(document)
    votes = cast_votes(document.end, (nce_forest, coreex(document), extract_news(document)))
    voted = [place for place, rows in enumerate(blocks.rows) if votes[rows[0]]]
    heading = heading_row(document)
    extended = _with_blocks_around(document, blocks, voted, heading)
    places = outside_excluded_regions(document, blocks, extended, heading)
    if not places:
        return CandidateBlocks(document, blocks, [], {}, [])
    features = block_features(document, blocks, places, votes, heading)
    return CandidateBlocks(document, blocks, places, features, blocks.chars(document, places))


def _with_blocks_around(
    document: Document, blocks: Blocks, voted: list[int], heading: int | None
) -> list[int]:
    """Return *voted* with the blocks between them, and before them up to a near heading."""
    if not voted:
        return []
    start = voted[0]
    if heading is not None:
        earliest, heading_end = max(0, start - _MAX_HEADING_DISTANCE), document.end[heading]
        while start > earliest and blocks.rows[start - 1][0] >= heading_end:
            start -= 1
    return list(range(start, voted[-1] + 1))


class BlockChoice(NamedTuple):
    """The blocks selected as the body."""

    #: rows of their text nodes, in document order
    rows: list[int]
    #: expected F1 of the body
    expected: float
    #: probability of each candidate, as shared in groups
    probabilities: list[float]
    #: indices of the candidates in the set with the largest expected F1
    best: list[int]


def choose_blocks(
    candidates: CandidateBlocks, models: BodyModels, url: str | None = None
) -> BlockChoice:
    """Return the body among *candidates* of the page at *url*; without candidates it is empty."""
    probabilities = models.probabilities(candidates.features, candidates.chars)
    document, blocks, places, features, _ = candidates
    shared = shared_probabilities(features, probabilities, candidates.chars)
    best, expected = best_subset(shared, candidates.chars)
    chosen = without_notices(document, blocks, [places[number] for number in best], url)
    probability = dict(zip(places, probabilities, strict=True))
    chosen = _without_last_region(document, blocks, chosen, probability)
    chosen = without_copies(document, blocks, chosen)
    rows = [row for place in chosen for row in blocks.rows[place]]
    return BlockChoice(rows, expected, shared, best)


def _without_last_region(
    document: Document, blocks: Blocks, chosen: list[int], probability: Mapping[int, float]
) -> list[int]:
    """Return *chosen* up to a gap if the blocks after it are improbable as a whole.

    Teasers, events and texts about the site follow the gap: one by one, they read like paragraphs.
    """
    gaps = [
        position
        for position, (last, following) in enumerate(pairwise(chosen), 1)
        if following - last > _MIN_GAP
    ]
    heading = heading_row(document) if gaps else None
    if heading is None or blocks.rows[chosen[0]][0] < heading:
        return chosen
    chars = blocks.chars(document, chosen)
    for position in gaps:
        sizes = chars[position:]
        rated = [probability.get(place, 0.5) for place in chosen[position:]]
        if (
            sum(size for size in chars[:position] if size >= MIN_LONG) >= MIN_STORY
            and fmean(rated, sizes) < MAX_REGION_PROBABILITY
        ):
            return chosen[:position]
    return chosen
