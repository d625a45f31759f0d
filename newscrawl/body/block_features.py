"""Features of candidate blocks for the block classifier.

They follow the papers: amount of text and links (NCE, CoreEx), punctuation (ECON), long linkless
text under the same parent, votes of the three algorithms, repeated markup. None depends on the
language.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import accumulate
from math import log2
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from newscrawl.body.block_texts import (
    DESCRIPTION_PREFIX,
    MAX_SYMBOL_TEXT,
    MIN_DESCRIPTION_PREFIX,
    page_descriptions,
    text_columns,
    texts_of,
)
from newscrawl.body.blocks import MAX_LINK_DENSITY, MIN_LONG, cast_votes
from newscrawl.compiled import compiled
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document

K = TypeVar("K", bound="Hashable")

Columns = dict[str, list[float]]
"""Feature name -> one number per candidate."""

FEATURES = (
    "chars", "link_density", "ends", "odd", "described", "again", "tag", "parent_tag", "strong",
    "emphasis", "within_article", "votes", "nce_before", "coreex_before", "home_long", "up_long",
    "depth", "up_share", "up_blocks", "own_count", "own_mean", "own_long", "above_count",
    "above_mean", "above_long", "after_heading", "place", "left", "image", "before_chars",
    "after_chars", "before_tag", "window",
)  # fmt: skip
"""Names of the features, in the order of the model."""

_TAG_GROUPS = (
    "p", "blockquote", "pre", "div", "section article main", "body html", "li",
    "td th tr table tbody", "h2", "h3", "h4 h5 h6", "h1", "dd dt dl", "figcaption caption figure",
    "ul ol", "header hgroup", "footer aside nav", "address",
)  # fmt: skip
_TAG_CODES = {tag: float(code) for code, tags in enumerate(_TAG_GROUPS, 1) for tag in tags.split()}
HEADING_CODES = frozenset(_TAG_CODES[tag] for tag in ("h2", "h3", "h4"))
QUOTE_CODE, ITEM_CODE, CODE_CODE = (_TAG_CODES[tag] for tag in ("blockquote", "li", "pre"))
H1_CODE = _TAG_CODES["h1"]
"""Values of the features ``tag`` and ``parent_tag``."""
_STRONG = frozenset({"b", "strong"})
_EMPHASIS = frozenset({"em", "i", "cite"})
_IMAGE_TAGS = frozenset({"figure", "iframe", "img", "picture", "video"})

_VOTE_BITS = {"nce": 1, "coreex": 2}  # the share before of ECON, bit 4, gains nothing


class _CandidateColumns(NamedTuple):
    """Candidates of a page with values that several features use."""

    document: Document
    #: row of the heading of the article
    heading: int | None
    #: row of the block-level element of each candidate
    owner: list[int]
    #: row of the parent of that element
    parent: list[int]
    #: rows of the text nodes of each candidate
    rows: list[list[int]]
    #: weighted characters
    chars: list[float]
    link_density: list[float]
    #: weighted characters of long candidates with few links, 0 for others
    long: list[float]


def block_features(
    document: Document,
    blocks: Blocks,
    places: Sequence[int],
    votes: bytearray,
    heading: int | None,
) -> dict[str, array[float]]:
    """Return the features of the candidates at *places* in *blocks*.

    *votes* are the votes of NCE, CoreEx and ECON (:func:`~newscrawl.body.blocks.cast_votes`),
    *heading* is the row of the heading of the article.
    """
    owner = [blocks.owner[place] for place in places]
    rows = [blocks.rows[place] for place in places]
    texts = texts_of(document, rows)
    return feature_columns(
        document, owner, rows, votes, heading, texts, page_descriptions(document)
    )


def has_semantic_markup(document: Document) -> bool:
    """Return whether the page has an ``article`` or a ``main`` element."""
    return bool(document.rows_of("article") or document.rows_of("main"))


@compiled(
    "newscrawl.body._block_features",
    tag_codes=_TAG_CODES, strong_tags=_STRONG, emphasis_tags=_EMPHASIS, image_tags=_IMAGE_TAGS,
    min_long=MIN_LONG, max_link_density=MAX_LINK_DENSITY, prefix=DESCRIPTION_PREFIX,
    min_prefix=MIN_DESCRIPTION_PREFIX, max_symbol_text=MAX_SYMBOL_TEXT,
)  # fmt: skip
def feature_columns(  # noqa: PLR0917  # the compiled function takes positional arguments
    document: Document,
    owner: list[int],
    rows: list[list[int]],
    votes: bytearray,
    heading: int | None,
    texts: Sequence[str],
    description: str,
) -> dict[str, array[float]]:
    """Return the features of candidates: see :func:`block_features`.

    *owner* and *rows* are columns of :class:`~newscrawl.body.blocks.Blocks`, *texts* the texts of the
    blocks, *description* the descriptions in the metadata of the page.
    """
    candidates = _candidates(document, owner, rows, heading)
    columns = (
        _size_columns(candidates)
        | _markup_columns(candidates)
        | _vote_columns(candidates, votes)
        | _parent_columns(candidates)
        | _pattern_columns(candidates)
        | _place_columns(candidates)
        | _neighbour_columns(candidates)
        | text_columns(texts, description)
    )
    return {name: array("d", column) for name, column in columns.items()}


def _candidates(
    document: Document, owner: list[int], rows: list[list[int]], heading: int | None
) -> _CandidateColumns:
    before, links = document.chars_before, document.link_chars_before
    spans = [(mine[0], mine[-1] + 1) for mine in rows]
    chars = [before[end] - before[first] or 1.0 for first, end in spans]
    density = [
        (links[end] - links[first]) / size for (first, end), size in zip(spans, chars, strict=True)
    ]
    return _CandidateColumns(
        document,
        heading,
        owner,
        [max(document.parent[row], 0) for row in owner],
        rows,
        chars,
        density,
        [
            size if size >= MIN_LONG and share < MAX_LINK_DENSITY else 0.0
            for size, share in zip(chars, density, strict=True)
        ],
    )


def _size_columns(candidates: _CandidateColumns) -> Columns:
    return {
        "chars": [log2(1 + size) for size in candidates.chars],
        "link_density": candidates.link_density,
    }


def _markup_columns(candidates: _CandidateColumns) -> Columns:
    document, tag = candidates.document, candidates.document.tag
    inside = cast_votes(document.end, [document.rows_of("article")])
    outside = 0.0 if has_semantic_markup(document) else -1.0
    return {
        "tag": [_TAG_CODES.get(tag[row], 0.0) for row in candidates.owner],
        "parent_tag": [_TAG_CODES.get(tag[row], 0.0) for row in candidates.parent],
        "within_article": [float(inside[row]) or outside for row in candidates.owner],
        **_emphasis_columns(candidates),
    }


def _emphasis_columns(candidates: _CandidateColumns) -> Columns:
    """Return the shares of strong and emphasised text."""
    document, parent, tag = candidates.document, candidates.document.parent, candidates.document.tag
    columns: Columns = {"strong": [], "emphasis": []}
    for rows, owner, size in zip(candidates.rows, candidates.owner, candidates.chars, strict=True):
        strong = emphasis = 0.0
        for row in rows:
            above, tags = parent[row], []
            while above != owner:
                tags.append(tag[above])
                above = parent[above]
            if tags:
                chars = document.chars(row)
                strong += 0.0 if _STRONG.isdisjoint(tags) else chars
                emphasis += 0.0 if _EMPHASIS.isdisjoint(tags) else chars
        columns["strong"].append(strong / size)
        columns["emphasis"].append(emphasis / size)
    return columns


def _vote_columns(candidates: _CandidateColumns, votes: bytearray) -> Columns:
    """Return the number of votes, and how much of the text of NCE and CoreEx precedes a block."""
    taken = [votes[rows[0]] for rows in candidates.rows]
    columns = {"votes": [float(voters.bit_count()) for voters in taken]}
    for name, voter in _VOTE_BITS.items():
        sizes = zip(candidates.chars, taken, strict=True)
        columns[f"{name}_before"] = _shares_before(
            [size if voters & voter else 0.0 for size, voters in sizes]
        )
    return columns


def _shares_before(sizes: Sequence[float]) -> list[float]:
    sums = list(accumulate(sizes, initial=0.0))
    whole = sums.pop() or 1.0
    return [total / whole for total in sums]


def _parent_columns(candidates: _CandidateColumns) -> Columns:
    """Return features of the parents: the parent of the article contains most long text."""
    document, depth = candidates.document, candidates.document.depth
    parent = document.parent
    grandparent = [max(parent[row], 0) for row in candidates.parent]
    home = [
        _home(document, *candidate)
        for candidate in zip(candidates.owner, candidates.parent, candidates.rows, strict=True)
    ]
    held = _sums(home, candidates.long)
    best = max(held, key=held.__getitem__, default=0)
    whole = document.chars(0) or 1.0
    chars = {row: document.chars(row) / whole for row in set(candidates.parent)}
    return {
        "home_long": _shares_of_best(home, candidates.long),
        "up_long": _shares_of_best(grandparent, candidates.long),
        "depth": [float(depth[row] - depth[best]) for row in candidates.owner],
        "up_share": list(map(chars.__getitem__, candidates.parent)),
        "up_blocks": [float(min(n, 30)) for n in _counts(candidates.parent)],
    }


def _home(document: Document, owner: int, parent: int, rows: Sequence[int]) -> int:
    """Return the container of a block: its owner if it also contains other blocks, else the parent."""
    is_container = rows[0] > owner + 1 and document.tag[owner] not in ("li", "p")
    return owner if is_container else parent


def _sums(keys: Iterable[K], sizes: Iterable[float]) -> dict[K, float]:
    sums: dict[K, float] = {}
    for key, size in zip(keys, sizes, strict=True):
        sums[key] = sums.get(key, 0.0) + size
    return sums


def _counts(keys: Sequence[Hashable]) -> list[int]:
    counts = Counter(keys)
    return [counts[key] for key in keys]


def _shares_of_best(keys: Sequence[int], sizes: Sequence[float]) -> list[float]:
    sums = _sums(keys, sizes)
    best = max(sums.values(), default=0.0) or 1.0
    return [sums[key] / best for key in keys]


def _pattern_columns(candidates: _CandidateColumns) -> Columns:
    """Return statistics of blocks with the same markup: paragraphs repeat, and so do teasers."""
    document, tag = candidates.document, candidates.document.tag
    pairs = list(zip(candidates.owner, candidates.parent, strict=True))
    name = document.attributes["class"].get
    own = [(tag[row], name(row), tag[above]) for row, above in pairs]
    above = [(tag[above], name(above), tag[row]) for row, above in pairs]
    return _pattern_statistics("own", own, candidates) | _pattern_statistics(
        "above", above, candidates
    )


def _pattern_statistics(
    name: str, keys: Sequence[Hashable], candidates: _CandidateColumns
) -> Columns:
    whole = sum(candidates.long) or 1.0
    groups: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    statistics = {}
    for key, places in groups.items():
        size, long = (
            sum(map(column.__getitem__, places)) for column in (candidates.chars, candidates.long)
        )
        count = float(len(places))
        statistics[key] = (count, log2(1 + size / count), long / whole)
    columns = zip(*map(statistics.__getitem__, keys), strict=True)
    names = (f"{name}_{statistic}" for statistic in ("count", "mean", "long"))
    return dict(zip(names, map(list, columns), strict=True))


def _place_columns(candidates: _CandidateColumns) -> Columns:
    document, heading = candidates.document, candidates.heading
    before, tag = document.chars_before, document.tag
    start = before[document.end[heading]] if heading is not None else 0.0
    whole, total = before[-1] or 1.0, sum(candidates.chars) or 1.0
    earlier = [0.0, *accumulate(candidates.chars)]
    return {
        "after_heading": [(before[rows[0]] - start) / whole for rows in candidates.rows],
        "place": [size / total for size in earlier[:-1]],
        "left": [log2(1 + total - size) for size in earlier[:-1]],
        "image": [_image_before(tag, rows[0]) for rows in candidates.rows],
    }


def _image_before(tag: Sequence[str], row: int) -> float:
    """Return 6 for an image in the row before *row*, down to 1 for six rows before; else 0."""
    for closeness, name in enumerate(reversed(tag[max(0, row - 6) : row]), -6):
        if name == TEXT:
            break
        if name in _IMAGE_TAGS:
            return float(-closeness)
    return 0.0


def _neighbour_columns(candidates: _CandidateColumns) -> Columns:
    tag, owner, count = candidates.document.tag, candidates.owner, len(candidates.rows)
    sizes = [log2(1 + size) for size in candidates.chars]
    long = [0.0, *accumulate(candidates.long)]
    return {
        "before_chars": [-1.0, *sizes[:-1]],
        "after_chars": [*sizes[1:], -1.0],
        "before_tag": [-1.0, *(_TAG_CODES.get(tag[row], 0.0) for row in owner[:-1])],
        "window": [
            log2(1 + long[min(count, place + 4)] - long[max(0, place - 3)])
            for place in range(count)
        ],
    }
