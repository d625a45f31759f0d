"""The body as the blocks that an ensemble of decision trees takes for it.

NCE, CoreEx and ECON give candidates: their union keeps 99 % of the true text in a third of the
page's blocks. Boosted trees give each candidate's probability, and of all bodies the one with the
greatest expected F1 is chosen, so that no threshold is fitted.
"""

from __future__ import annotations

from itertools import accumulate, chain, groupby
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.body.blockfeatures import HEADINGS, ITEM, QUOTE, block_features, prose_places
from newscrawl.body.blocks import find_blocks, mask
from newscrawl.body.coreex import coreex
from newscrawl.body.econ import econ
from newscrawl.body.regions import heading_row, outside_regions
from newscrawl.forest import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from newscrawl.body.blockfeatures import Columns
    from newscrawl.body.blocks import Blocks
    from newscrawl.document import Document
    from newscrawl.forest import Model

FILE = "body.npz"

FEATURES = (
    "chars", "link_density", "ends", "odd", "described", "again", "tag", "parent_tag", "strong",
    "emphasis", "within_article", "votes", "nce_before", "coreex_before", "home_long", "up_long",
    "depth", "up_share", "up_blocks", "own_count", "own_mean", "own_long", "above_count",
    "above_mean", "above_long", "after_heading", "place", "left", "image", "before_chars",
    "after_chars", "before_tag", "window",
)  # fmt: skip
"""Names of the features, in the order of a model's rows."""


IMPROBABLE = 0.1
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
_LINKS = FEATURES.index("link_density")
_TAG, _PARENT_TAG = FEATURES.index("tag"), FEATURES.index("parent_tag")
_DESCRIBED, _AFTER = FEATURES.index("described"), FEATURES.index("after_heading")


def load_body_model(folder: Path | None = None) -> Model:
    """Return the ensemble that tells blocks of the body, see :func:`~newscrawl.forest.load_model`."""
    return load_model(FILE, FEATURES, folder)


class Candidates(NamedTuple):
    """The blocks among which the body is, and what is known of them."""

    blocks: Blocks
    #: places in :attr:`blocks`, in document order
    places: list[int]
    #: one row a candidate
    features: list[tuple[float, ...]]
    #: weighted characters of each
    chars: list[float]


def body_candidates(document: Document, nce_forest: Sequence[int]) -> Candidates:
    """Return the blocks that NCE, which found *nce_forest*, CoreEx or ECON take, and prose between."""
    blocks = find_blocks(document)
    forests = {"nce": nce_forest, "coreex": coreex(document), "econ": econ(document)}
    union = mask(document, chain.from_iterable(forests.values()))
    taken = [place for place, rows in enumerate(blocks.rows) if union[rows[0]]]
    heading = heading_row(document)
    taken = _with_prose_between(document, blocks, taken, heading)
    places = outside_regions(document, blocks, taken, heading)
    if not places:
        return Candidates(blocks, [], [], [])
    votes = {name: mask(document, forest) for name, forest in forests.items()}
    columns = block_features(document, blocks, places, votes, heading)
    return Candidates(blocks, places, _table(columns), blocks.chars(document, places))


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
    markups = {_markup(document, blocks.owner[place]) for place in known & prose}
    after = (
        place
        for place in range(last + 1, len(blocks))
        if place in prose and _markup(document, blocks.owner[place]) in markups
    )
    return [*between, *after]


def _markup(document: Document, row: int) -> tuple[str | None, ...]:
    """Return the tags and classes of the element *row* and of its parent."""
    parent, classes = document.parent[row], document.attributes["class"]
    return document.tag[row], classes.get(row), document.tag[parent], classes.get(parent)


def _table(columns: Columns) -> list[tuple[float, ...]]:
    return list(zip(*(columns[name] for name in FEATURES), strict=True))


class Choice(NamedTuple):
    """The blocks that are the body."""

    #: rows of their text nodes, in document order
    rows: list[int]
    #: F1 that the body is expected to have, by the probabilities
    expected: float


def choose_blocks(candidates: Candidates, model: Model) -> Choice:
    """Return the body among *candidates*: empty where there is none."""
    probabilities = model.forest.predict(candidates.features)
    chosen, expected = best_subset(probabilities, candidates.chars)
    chosen = with_companions(candidates.features, probabilities, chosen)
    rows = [row for place in chosen for row in candidates.blocks.rows[candidates.places[place]]]
    return Choice(rows, expected)


def best_subset(probabilities: Sequence[float], sizes: Sequence[float]) -> tuple[list[int], float]:
    """Return the places of the blocks whose expected F1 is greatest, and that F1.

    The expectation of F1 is taken as the ratio of expectations: twice the text that is both chosen
    and of the body, over what is chosen and what is of the body. Its best subset is a prefix in
    the order of the probabilities.
    """
    order = sorted(range(len(sizes)), key=probabilities.__getitem__, reverse=True)
    true = list(accumulate(probabilities[place] * sizes[place] for place in order))
    chosen = accumulate(sizes[place] for place in order)
    scores = [2 * hit / (size + true[-1]) for hit, size in zip(true, chosen, strict=True)]
    if not scores:
        return [], 0.0
    best = max(scores)
    return sorted(order[: scores.index(best) + 1]), best


def with_companions(
    features: Sequence[Sequence[float]], probabilities: Sequence[float], chosen: Sequence[int]
) -> list[int]:
    """Return the places *chosen* with the short blocks that belong to them.

    A heading belongs to the chosen block after it, a quote to those on its both sides, the
    standfirst that is the page's description to the first, unless :data:`IMPROBABLE`; a list
    among chosen blocks is whole or not there (:data:`LIST`). Their few words are worth 0.0007 of F1
    at most, but a reader misses them.
    """
    if not chosen:
        return []
    inside, earliest = set(chosen), min(chosen)
    for first, end in _told_lists(features, probabilities, inside):
        inside.update(range(first, end))
    for place, probability in enumerate(probabilities):
        if probability >= IMPROBABLE and place not in inside:
            follows = _follows_heading(features, place, earliest)
            if follows or _is_between(features, place, inside):
                inside.add(place)
    return sorted(inside)


def _lists(features: Sequence[Sequence[float]]) -> Iterator[tuple[int, int]]:
    """Yield the first place of each run of list items, and the one after the last."""
    place = 0
    items = [one[_TAG] == ITEM or one[_PARENT_TAG] == ITEM for one in features]
    for is_item, run in groupby(items):
        size = len(list(run))
        if is_item:
            yield place, place + size
        place += size


def _told_lists(
    features: Sequence[Sequence[float]], probabilities: Sequence[float], inside: AbstractSet[int]
) -> list[tuple[int, int]]:
    """Return the lists that are text of the article: among chosen blocks, and not too improbable."""
    lists = [
        (first, end)
        for first, end in _lists(features)
        if not inside.isdisjoint(range(first - _NEAR, first))
        and not inside.isdisjoint(range(end, end + _NEAR))
    ]
    linked = {
        one for one in lists if fmean(features[place][_LINKS] for place in range(*one)) >= LINKLESS
    }
    least = LIST if len(linked) < OFFERS else 0.0
    return [
        one
        for one in lists
        if fmean(probabilities[slice(*one)]) >= (least if one in linked else IMPROBABLE)
    ]


def _is_between(features: Sequence[Sequence[float]], place: int, inside: AbstractSet[int]) -> bool:
    """Return whether *place* is a heading or a quote among those *inside*."""
    if place + 1 not in inside:
        return False
    tags = {features[place][_TAG], features[place][_PARENT_TAG]}
    if tags & HEADINGS:
        return not inside.isdisjoint(range(place - _NEAR, place))
    return QUOTE in tags and place - 1 in inside


def _follows_heading(features: Sequence[Sequence[float]], place: int, first: int) -> bool:
    """Return whether *place* is a standfirst: described, and close before the *first* chosen."""
    own = features[place]
    return place < first <= place + _NEAR and own[_DESCRIBED] == 1 and own[_AFTER] >= 0
