"""What is known of a block: the features that the learned choice tells blocks by.

In the spirit of the papers: how much text and how many links (NCE, CoreEx), which punctuation
(ECON), how much long linkless text the parent holds against the page's best, which algorithm takes
the block, how often a pattern of markup repeats. None depends on the language. They are computed
for candidates alone, a column at a time.
"""

from __future__ import annotations

from array import array
from collections import Counter
from functools import partial
from itertools import accumulate, islice
from math import log2
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from newscrawl.body.block_texts import (
    BEGINNING,
    LEAST_DESCRIBED,
    MOST_DESCRIBED,
    MOST_LOOKED_AT,
    description_of,
    texts_in_python,
    texts_of,
)
from newscrawl.body.blocks import votes_in_python
from newscrawl.body.feature_names import FEATURES
from newscrawl.compiled import compiled_module
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document

    Table: TypeAlias = array[float]
    """The features of candidates, those of one after those of the other: :data:`FEATURES`."""

K = TypeVar("K", bound="Hashable")

Columns = dict[str, list[float]]
"""Features by name, one number a candidate."""

LONG = 80
"""Least weighted characters of a long block."""
FEW_LINKS = 0.25
"""Most link density of a linkless one."""

_GROUPS = (
    "p", "blockquote", "pre", "div", "section article main", "body html", "li",
    "td th tr table tbody", "h2", "h3", "h4 h5 h6", "h1", "dd dt dl", "figcaption caption figure",
    "ul ol", "header hgroup", "footer aside nav", "address",
)  # fmt: skip
_TAG = {tag: float(place) for place, tags in enumerate(_GROUPS, 1) for tag in tags.split()}
HEADINGS = frozenset(_TAG[tag] for tag in ("h2", "h3", "h4"))
QUOTE, ITEM = _TAG["blockquote"], _TAG["li"]
"""Values of the features ``tag`` and ``parent_tag``."""
_STRONG = frozenset({"b", "strong"})
_EMPHASIS = frozenset({"em", "i", "cite"})
_IMAGES = frozenset({"figure", "iframe", "img", "picture", "video"})

NCE, COREEX, ECON = 1, 2, 4
"""The bits of those who vote."""
_BEFORE = {"nce": NCE, "coreex": COREEX}  # that of ECON gains nothing


class Context(NamedTuple):
    """The candidates of a page, and what their features share."""

    document: Document
    #: row of the article's heading
    heading: int | None
    #: row of each candidate's block-level element
    owner: list[int]
    #: row of that element's parent
    parent: list[int]
    #: rows of each candidate's text nodes
    rows: list[list[int]]
    #: weighted characters
    chars: list[float]
    link_density: list[float]
    #: weighted characters of long linkless candidates, 0 for others
    long: list[float]


def prose_places(document: Document, blocks: Blocks, first: int) -> set[int]:
    """Return the places from *first* on of the *blocks* that are long and linkless."""
    return find_prose(document, blocks.rows, first)


def prose_in_python(document: Document, rows: Sequence[Sequence[int]], first: int) -> set[int]:
    """Return the places: see :func:`prose_places`."""
    before, links = document.chars_before, document.link_chars_before
    return {
        place
        for place, mine in enumerate(islice(rows, first, None), first)
        if (size := before[mine[-1] + 1] - before[mine[0]]) >= LONG
        and links[mine[-1] + 1] - links[mine[0]] < FEW_LINKS * size
    }


_compiled_blocks = compiled_module("newscrawl.body._blocks")
find_prose: Callable[[Document, Sequence[Sequence[int]], int], set[int]] = (
    partial(_compiled_blocks.find_prose, least=LONG, few_links=FEW_LINKS)
    if _compiled_blocks
    else prose_in_python
)


def block_features(
    document: Document,
    blocks: Blocks,
    places: Sequence[int],
    votes: bytearray,
    heading: int | None,
) -> Table:
    """Return the features of the candidates at *places* in *blocks*.

    *votes* are those of NCE, CoreEx and ECON for each row (:func:`~newscrawl.body.blocks.cast_votes`).
    *heading* is the row of the article's.
    """
    owner = [blocks.owner[place] for place in places]
    rows = [blocks.rows[place] for place in places]
    texts = texts_of(document, rows)
    return feature_table(document, owner, rows, votes, heading, texts, description_of(document))


def has_semantic_markup(document: Document) -> bool:
    """Return whether the page has an ``article`` or a ``main``; old layouts have neither."""
    return bool(document.rows_of("article") or document.rows_of("main"))


def table_in_python(  # noqa: PLR0917  # all that is asked of a block
    document: Document,
    owner: list[int],
    rows: list[list[int]],
    votes: bytearray,
    heading: int | None,
    texts: Sequence[str],
    description: str,
) -> Table:
    """Return the table: see :func:`block_features`.

    *owner* and *rows* are those of the candidates in :class:`~newscrawl.body.blocks.Blocks`, *texts*
    their texts, and *description* is what the page says of itself.
    """
    context = _context(document, owner, rows, heading)
    columns = (
        _size_columns(context)
        | _markup_columns(context)
        | _vote_columns(context, votes)
        | _parent_columns(context)
        | _pattern_columns(context)
        | _place_columns(context)
        | _neighbour_columns(context)
        | texts_in_python(texts, description)
    )
    width = len(FEATURES)
    table = array("d", bytes(8 * width * len(rows)))
    for place, name in enumerate(FEATURES):
        table[place::width] = array("d", columns[name])
    return table


_compiled = compiled_module("newscrawl.body._block_features")
feature_table: Callable[..., Table] = (
    partial(
        _compiled.feature_table,
        tag_groups=_TAG, strong_tags=_STRONG, emphasis_tags=_EMPHASIS, images=_IMAGES,
        least_long=LONG, few_links=FEW_LINKS, beginning=BEGINNING, least_described=LEAST_DESCRIBED,
        most_described=MOST_DESCRIBED, most_looked_at=MOST_LOOKED_AT,
    )
    if _compiled
    else table_in_python
)  # fmt: skip


def _context(
    document: Document, owner: list[int], rows: list[list[int]], heading: int | None
) -> Context:
    before, links = document.chars_before, document.link_chars_before
    spans = [(mine[0], mine[-1] + 1) for mine in rows]
    chars = [before[end] - before[first] or 1.0 for first, end in spans]
    density = [
        (links[end] - links[first]) / size for (first, end), size in zip(spans, chars, strict=True)
    ]
    return Context(
        document,
        heading,
        owner,
        [max(document.parent[row], 0) for row in owner],
        rows,
        chars,
        density,
        [
            size if size >= LONG and share < FEW_LINKS else 0.0
            for size, share in zip(chars, density, strict=True)
        ],
    )


def _size_columns(context: Context) -> Columns:
    return {
        "chars": [log2(1 + size) for size in context.chars],
        "link_density": context.link_density,
    }


def _markup_columns(context: Context) -> Columns:
    document, tag = context.document, context.document.tag
    inside = votes_in_python(document.end, [document.rows_of("article")])
    outside = 0.0 if has_semantic_markup(document) else -1.0
    return {
        "tag": [_TAG.get(tag[row], 0.0) for row in context.owner],
        "parent_tag": [_TAG.get(tag[row], 0.0) for row in context.parent],
        "within_article": [float(inside[row]) or outside for row in context.owner],
        **_emphasis_columns(context),
    }


def _emphasis_columns(context: Context) -> Columns:
    """Return the shares of text in inline elements that stress it."""
    document, parent, tag = context.document, context.document.parent, context.document.tag
    columns: Columns = {"strong": [], "emphasis": []}
    for rows, owner, size in zip(context.rows, context.owner, context.chars, strict=True):
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


def _vote_columns(context: Context, votes: bytearray) -> Columns:
    """Return how many algorithms take a block, and how much of what two take stands before it."""
    taken = [votes[rows[0]] for rows in context.rows]
    columns = {"votes": [float(voters.bit_count()) for voters in taken]}
    for name, voter in _BEFORE.items():
        sizes = zip(context.chars, taken, strict=True)
        columns[f"{name}_before"] = _shares_before(
            [size if voters & voter else 0.0 for size, voters in sizes]
        )
    return columns


def _shares_before(sizes: Sequence[float]) -> list[float]:
    sums = list(accumulate(sizes, initial=0.0))
    whole = sums.pop() or 1.0
    return [total / whole for total in sums]


def _parent_columns(context: Context) -> Columns:
    """Return what the parents of blocks hold: one that holds the article holds most long text."""
    document, depth = context.document, context.document.depth
    parent = document.parent
    grandparent = [max(parent[row], 0) for row in context.parent]
    home = [
        _home(document, *one)
        for one in zip(context.owner, context.parent, context.rows, strict=True)
    ]
    held = _sums(home, context.long)
    best = max(held, key=held.__getitem__, default=0)
    whole = document.chars(0) or 1.0
    chars = {row: document.chars(row) / whole for row in set(context.parent)}
    return {
        "home_long": _shares_of_best(home, context.long),
        "up_long": _shares_of_best(grandparent, context.long),
        "depth": [float(depth[row] - depth[best]) for row in context.owner],
        "up_share": list(map(chars.__getitem__, context.parent)),
        "up_blocks": [float(min(n, 30)) for n in _counts(context.parent)],
    }


def _home(document: Document, owner: int, parent: int, rows: Sequence[int]) -> int:
    """Return the parent of a block; that of text beside other blocks is the element they are in."""
    beside = rows[0] > owner + 1 and document.tag[owner] not in ("li", "p")
    return owner if beside else parent


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


def _pattern_columns(context: Context) -> Columns:
    """Return the statistics of blocks of the same markup: paragraphs repeat, and so do teasers."""
    document, tag = context.document, context.document.tag
    pairs = list(zip(context.owner, context.parent, strict=True))
    name = document.attributes["class"].get
    own = [(tag[row], name(row), tag[above]) for row, above in pairs]
    above = [(tag[above], name(above), tag[row]) for row, above in pairs]
    return _pattern_statistics("own", own, context) | _pattern_statistics("above", above, context)


def _pattern_statistics(name: str, keys: Sequence[Hashable], context: Context) -> Columns:
    whole = sum(context.long) or 1.0
    groups: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    statistics = {}
    for key, places in groups.items():
        size, long = (
            sum(map(column.__getitem__, places)) for column in (context.chars, context.long)
        )
        count = float(len(places))
        statistics[key] = (count, log2(1 + size / count), long / whole)
    columns = zip(*map(statistics.__getitem__, keys), strict=True)
    names = (f"{name}_{statistic}" for statistic in ("count", "mean", "long"))
    return dict(zip(names, map(list, columns), strict=True))


def _place_columns(context: Context) -> Columns:
    document, heading = context.document, context.heading
    before, tag = document.chars_before, document.tag
    start = before[document.end[heading]] if heading is not None else 0.0
    whole, total = before[-1] or 1.0, sum(context.chars) or 1.0
    earlier = [0.0, *accumulate(context.chars)]
    return {
        "after_heading": [(before[rows[0]] - start) / whole for rows in context.rows],
        "place": [size / total for size in earlier[:-1]],
        "left": [log2(1 + total - size) for size in earlier[:-1]],
        "image": [_image_before(tag, rows[0]) for rows in context.rows],
    }


def _image_before(tag: Sequence[str], row: int) -> float:
    """Return how closely an image stands before *row*: 6 to 1, 0 where none does."""
    close = tag[max(0, row - 6) : row]
    if _IMAGES.isdisjoint(close):
        return 0.0
    for closeness, name in enumerate(reversed(close), -6):
        if name == TEXT:
            break
        if name in _IMAGES:
            return float(-closeness)
    return 0.0


def _neighbour_columns(context: Context) -> Columns:
    tag, owner, count = context.document.tag, context.owner, len(context.rows)
    sizes = [log2(1 + size) for size in context.chars]
    long = [0.0, *accumulate(context.long)]
    return {
        "before_chars": [-1.0, *sizes[:-1]],
        "after_chars": [*sizes[1:], -1.0],
        "before_tag": [-1.0, *(_TAG.get(tag[row], 0.0) for row in owner[:-1])],
        "window": [
            log2(1 + long[min(count, place + 4)] - long[max(0, place - 3)])
            for place in range(count)
        ],
    }
