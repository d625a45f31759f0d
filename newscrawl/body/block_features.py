"""Features of candidate blocks for the block classifier, alone and in the context of the page.

They follow the papers: amount of text and links (NCE, CoreEx), punctuation (ECON), long linkless
text under the same parent, votes of the three algorithms, repeated markup. None depends on the
language.

The first pass rates blocks one by one. The second sees the probabilities of neighbours, of blocks
with the same markup and of the page (stacking); it corrects pages with a wrong level, such as a
feed below a short article.

Cython compiles this module, with the types in ``block_features.pxd``.
"""

from __future__ import annotations

from array import array
from math import log2
from typing import TYPE_CHECKING, Any

from newscrawl.body.blocks import MAX_LINK_DENSITY, MIN_LONG, cast_votes, numbered, zeros
from newscrawl.body.groups import GROUP_FEATURES, ITEMS, group_columns, home_of
from newscrawl.body.text_features import page_descriptions, text_columns
from newscrawl.document.document import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from newscrawl.body.blocks import Blocks
    from newscrawl.document.document import Document

Columns = dict[str, list[float]]
"""Feature name -> one number per candidate."""

FEATURES = (
    "chars", "link_density", "ends", "odd", "described", "again", "tag", "parent_tag", "strong",
    "emphasis", "within_article", "votes", "nce_before", "coreex_before", "home_long", "up_long",
    "depth", "up_share", "up_blocks", "own_count", "own_mean", "own_long", "above_count",
    "above_mean", "above_long", "after_heading", "place", "left", "image", "before_chars",
    "after_chars", "before_tag", "window", *GROUP_FEATURES, "digits", "furniture",
    "furniture_share",
)  # fmt: skip
"""Names of the features, in the order of the model."""

_TAG_GROUPS = (
    "p", "blockquote", "pre", "div", "section article main", "body html", "li",
    "td th tr table tbody", "h2", "h3", "h4 h5 h6", "h1", "dd dt dl", "figcaption caption figure",
    "ul ol", "header hgroup", "footer aside nav", "address",
)  # fmt: skip
_TAG_CODES = {tag: float(code) for code, tags in enumerate(_TAG_GROUPS, 1) for tag in tags.split()}
HEADING_CODES = frozenset(_TAG_CODES[tag] for tag in ("h2", "h3", "h4"))
"""Values of the features ``tag`` and ``parent_tag`` in headings."""
_STRONG = frozenset({"b", "strong"})
_EMPHASIS = frozenset({"em", "i", "cite"})
MIN_HEADING_PROBABILITY = 0.05
"""Probability from which a heading is selected with the block after it."""
_IMAGE_TAGS = frozenset({"figure", "iframe", "img", "picture", "video"})
# Distance to another block, and number of blocks on each side.
_NEIGHBOURS = {f"probability{shift:+d}": shift for shift in (-3, -2, -1, 1, 2, 3)}
_WINDOWS = {f"window_{reach}": reach for reach in (2, 5, 12)}
# Blocks with equal values of these features form a group.
_GROUPS = {
    "own": ("own_count", "own_mean", "own_long"),
    "above": ("above_count", "above_mean", "above_long"),
    "parent": ("up_share", "up_blocks", "depth"),
    "part": ("part_chars", "part_density", "part_blocks"),
    "holder": ("holder", "holder_chars", "holder_density"),
}

CONTEXT_FEATURES = (
    *FEATURES, "probability", *_NEIGHBOURS, *_WINDOWS,
    *(f"{name}_{part}" for name in _GROUPS for part in ("probability", "best")),
    "own_share", "expected_f1", "cut", "above_cut", "level", "earlier", "best",
)  # fmt: skip
"""Features of the second pass: those of the first, then of the context, in the model's order."""


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
    texts = [blocks.text(document, place) for place in places]
    return feature_columns(
        document, owner, rows, votes, heading, texts, page_descriptions(document)
    )


class _Candidates:
    """Candidates of a page, with the columns of their features."""

    def __init__(self, document: Document, owner: list[int], rows: list[list[int]]) -> None:
        self.tags, self.parents, self.ends = document.tag, document.parent, document.end
        self.before, self.links = document.chars_before, document.link_chars_before
        self.count, self.owner, self.rows = len(owner), owner, rows
        self.above = [max(self.parents[row], 0) for row in owner]
        self.firsts, self.lasts = [mine[0] for mine in rows], [mine[-1] for mine in rows]
        #: weighted characters of all candidates; of long candidates with few links, 0 for others
        self.sizes, self.longs = zeros(self.count), zeros(self.count)
        self.whole_long = 0.0
        self.columns: dict[str, array[float]] = {}

    def column(self, name: str) -> array[float]:
        """Add a column of zeros."""
        return _new_column(self.columns, name, self.count)

    def fill_sizes(self) -> None:
        chars, density = self.column("chars"), self.column("link_density")
        before, after = self.column("before_chars"), self.column("after_chars")
        sizes, longs = self.sizes, self.longs
        min_long, max_density = MIN_LONG, MAX_LINK_DENSITY
        for place in range(self.count):
            first, end = self.firsts[place], self.lasts[place] + 1
            start, stop = self.before[first], self.before[end]
            links, links_stop = self.links[first], self.links[end]
            size = stop - start or 1.0
            sizes[place], density[place] = size, (links_stop - links) / size
            if size >= min_long and density[place] < max_density:
                longs[place] = size
                self.whole_long += size
            chars[place] = log2(1 + size)
        for place in range(self.count):
            before[place] = chars[place - 1] if place else -1
            after[place] = chars[place + 1] if place + 1 < self.count else -1

    def fill_markup(self, within: bytearray, outside: float) -> None:
        tag, parent_tag = self.column("tag"), self.column("parent_tag")
        before_tag, within_article = self.column("before_tag"), self.column("within_article")
        strong, emphasis = self.column("strong"), self.column("emphasis")
        image, sizes, codes = self.column("image"), self.sizes, _TAG_CODES
        for place in range(self.count):
            row, up = self.owner[place], self.above[place]
            tag[place] = codes.get(self.tags[row], 0.0)
            parent_tag[place] = codes.get(self.tags[up], 0.0)
            before_tag[place] = tag[place - 1] if place else -1
            within_article[place] = 1.0 if within[row] else outside
            strong[place] = self.stressed(place, _STRONG) / sizes[place]
            emphasis[place] = self.stressed(place, _EMPHASIS) / sizes[place]
            image[place] = self.image_before(self.firsts[place])

    def stressed(self, place: int, tags: frozenset[str]) -> float:
        """Return the characters in inline elements with one of the *tags*."""
        chars, owner = 0.0, self.owner[place]
        for row in self.rows[place]:
            above = self.parents[row]
            while above != owner:
                if self.tags[above] in tags:
                    start, stop = self.before[row], self.before[row + 1]
                    chars += stop - start
                    break
                above = self.parents[above]
        return chars

    def image_before(self, row: int) -> float:
        """Return 6 for an image in the row before *row*, down to 1 for six rows before; else 0."""
        for back in range(1, min(row, 6) + 1):
            if self.tags[row - back] == TEXT:
                break
            if self.tags[row - back] in _IMAGE_TAGS:
                return 7.0 - back
        return 0.0

    def fill_votes(self, votes: bytearray) -> None:
        """Fill in the number of votes; the share before of ECON, bit 4, gains nothing."""
        voters = self.column("votes")
        for place in range(self.count):
            first = self.firsts[place]
            vote = votes[first]
            voters[place] = (vote & 1) + (vote >> 1 & 1) + (vote >> 2 & 1)
        self.fill_shares_before(votes, 1, "nce_before")
        self.fill_shares_before(votes, 2, "coreex_before")

    def fill_shares_before(self, votes: bytearray, voter: int, name: str) -> None:
        """Fill in the share of the text of *voter* that precedes a block."""
        column, sizes = self.column(name), self.sizes
        total = 0.0
        for place in range(self.count):
            column[place] = total
            first = self.firsts[place]
            if votes[first] & voter:
                total += sizes[place]
        for place in range(self.count):
            column[place] /= total or 1.0

    def containers(self) -> list[int]:
        """Return the element around each block: the owner itself of one of several loose texts."""
        return [
            row if first > row + 1 and self.tags[row] not in ITEMS else up
            for row, first, up in zip(self.owner, self.firsts, self.above, strict=True)
        ]

    def fill_parents(self, depths: list[int], containers: list[int], home: int) -> None:
        """Fill in features of the parents: the parent of the article contains most long text."""
        ups = [max(self.parents[up], 0) for up in self.above]
        share, depth = self.column("up_share"), self.column("depth")
        blocks = self.column("up_blocks")
        whole = self.before[self.ends[0]] or 1.0
        for place in range(self.count):
            row, up = self.owner[place], self.above[place]
            depth[place] = depths[row] - depths[home]
            end = self.ends[up]
            start, stop = self.before[up], self.before[end]
            share[place] = (stop - start) / whole
        self.fill_shares_of_best(ups, "up_long")
        self.fill_shares_of_best(containers, "home_long")
        (groups, _), counts = numbered(self.above), zeros(self.count)
        for place in range(self.count):
            group = groups[place]
            counts[group] += 1
        for place in range(self.count):
            group = groups[place]
            blocks[place] = min(counts[group], 30.0)

    def fill_shares_of_best(self, keys: list[int], name: str) -> None:
        """Fill in the long text of each key relative to the largest."""
        column, held = self.column(name), zeros(self.count)
        longs, (groups, _) = self.longs, numbered(keys)
        largest = 0.0
        for place in range(self.count):
            group = groups[place]
            held[group] += longs[place]
            largest = max(largest, held[group])
        largest = largest or 1.0
        for place in range(self.count):
            group = groups[place]
            column[place] = held[group] / largest

    def fill_patterns(self, classes: dict[int, str]) -> None:
        """Fill in statistics of blocks with the same markup: paragraphs and teasers repeat."""
        own, above = [], []
        for place in range(self.count):
            row, up = self.owner[place], self.above[place]
            own.append((self.tags[row], classes.get(row), self.tags[up]))
            above.append((self.tags[up], classes.get(up), self.tags[row]))
        self.fill_pattern(own, "own")
        self.fill_pattern(above, "above")

    def fill_pattern(self, keys: list[Any], name: str) -> None:
        """Fill in the number, mean size and share of long text of the blocks that share a key."""
        (groups, _), sizes, longs = numbered(keys), self.sizes, self.longs
        counts, chars, long_chars = zeros(self.count), zeros(self.count), zeros(self.count)
        count, mean = self.column(f"{name}_count"), self.column(f"{name}_mean")
        long_share = self.column(f"{name}_long")
        for place in range(self.count):
            group = groups[place]
            counts[group] += 1
            chars[group] += sizes[place]
            long_chars[group] += longs[place]
        for place in range(self.count):
            group = groups[place]
            count[place] = counts[group]
            mean[place] = log2(1 + chars[group] / counts[group])
            long_share[place] = long_chars[group] / (self.whole_long or 1.0)

    def fill_places(self, heading: int | None) -> None:
        after_heading, share = self.column("after_heading"), self.column("place")
        left, window = self.column("left"), self.column("window")
        sizes, longs = self.sizes, self.longs
        whole = self.before[-1] or 1.0
        start = total = earlier = 0.0
        if heading is not None:
            start = self.before[self.ends[heading]]
        for place in range(self.count):
            total += sizes[place]
        total = total or 1.0
        for place in range(self.count):
            first = self.firsts[place]
            stop = self.before[first]
            after_heading[place] = (stop - start) / whole
            share[place] = earlier / total
            left[place] = log2(1 + total - earlier)
            earlier += sizes[place]
            near = 0.0
            for other in range(max(0, place - 3), min(self.count, place + 4)):
                near += longs[other]
            window[place] = log2(1 + near)


def feature_columns(  # noqa: PLR0917  # faster than keywords
    document: Document,
    owner: list[int],
    rows: list[list[int]],
    votes: bytearray,
    heading: int | None,
    texts: list[str],
    description: str,
) -> dict[str, array[float]]:
    """Return the features of candidates: see :func:`block_features`.

    *owner* and *rows* are columns of :class:`~newscrawl.body.blocks.Blocks`, *texts* the texts of
    the blocks, *description* the descriptions in the metadata of the page.
    """
    candidates = _Candidates(document, owner, rows)
    candidates.fill_sizes()
    articles = document.rows_of("article")
    outside = 0.0 if articles or document.rows_of("main") else -1.0
    candidates.fill_markup(cast_votes(document.end, [articles]), outside)
    candidates.fill_votes(votes)
    containers = candidates.containers()
    longs = candidates.longs if candidates.whole_long else candidates.sizes
    home = home_of(document, containers, longs)
    candidates.fill_parents(document.depth, containers, home)
    candidates.fill_patterns(document.attributes["class"])
    candidates.fill_places(heading)
    groups = group_columns(document, owner, candidates.firsts, home)
    return candidates.columns | text_columns(texts, description) | groups


def context_columns(
    features: Mapping[str, Sequence[float]],
    probabilities: list[float],
    chars: list[float],
    expected_f1: float,
    cut: float,
) -> dict[str, array[float]]:
    """Return the features of candidate blocks in their context.

    *features* are those of the first pass, *probabilities* its result. *expected_f1* is that of
    the best subset, *cut* the smallest probability in it. *chars* are weighted characters.
    """
    columns: dict[str, array[float]] = {}
    count = len(probabilities)
    if not count:
        return columns
    rates, sizes = array("d", probabilities), array("d", chars)
    mass, before = zeros(count + 1), zeros(count + 1)
    for place in range(count):
        mass[place + 1] = mass[place] + rates[place] * sizes[place]
        before[place + 1] = before[place] + sizes[place]
    columns["probability"] = array("d", probabilities)
    above_cut = _new_column(columns, "above_cut", count)
    earlier = _new_column(columns, "earlier", count)
    for place in range(count):
        above_cut[place] = rates[place] - cut
        earlier[place] = mass[place] / (mass[count] or 1.0)
    for name, shift in _NEIGHBOURS.items():
        _fill_neighbours(_new_column(columns, name, count), rates, shift)
    for name, reach in _WINDOWS.items():
        _fill_windows(_new_column(columns, name, count), mass, before, reach)
    total = before[count] or 1.0
    for name, keys in _GROUPS.items():
        groups = _equal_values(features, keys)
        _fill_group(columns, name, groups, rates, sizes, total)
    page = {
        "expected_f1": expected_f1,
        "cut": cut,
        "best": max(probabilities),
        "level": mass[count] / total,
    }
    return columns | {name: array("d", [value]) * count for name, value in page.items()}


def best_subset(probabilities: list[float], sizes: list[float]) -> tuple[list[int], float]:
    """Return the indices of the blocks with the largest expected F1, and that F1.

    The expected F1 is approximated by a ratio of expectations: twice the correct text over the sum
    of selected and true text. The best subset is a prefix in the order of the probabilities.
    """
    order = sorted(range(len(sizes)), key=probabilities.__getitem__, reverse=True)
    best = whole = correct = selected = 0.0
    count = 0
    for place in order:
        rate, size = probabilities[place], sizes[place]
        whole += rate * size
    for position, place in enumerate(order, 1):
        rate, size = probabilities[place], sizes[place]
        if 2 * rate <= best:  # from here on, the ratio decreases
            break
        correct += rate * size
        selected += size
        score = 2 * correct / (selected + whole)
        if score > best:
            best, count = score, position
    return sorted(order[:count]), best


def shared_probabilities(
    features: Mapping[str, Sequence[float]], probabilities: Sequence[float], chars: Sequence[float]
) -> list[float]:
    """Return *probabilities*, those of headings and of prose between prose raised.

    A heading is at least as probable as the block after it, and prose as the less probable of the
    prose before and after it with its markup.
    """
    shared, count = list(probabilities), len(probabilities)
    if not count:
        return shared
    rates, sizes = array("d", probabilities), array("d", chars)
    density, tags = array("d", features["link_density"]), array("d", features["tag"])
    parent_tags, furniture = array("d", features["parent_tag"]), array("d", features["furniture"])
    groups = _equal_values(features, _GROUPS["own"])
    last, before_last = [-1] * count, [-1] * count
    min_long, max_density = MIN_LONG, MAX_LINK_DENSITY
    for place in range(count):
        is_prose = sizes[place] >= min_long and density[place] < max_density
        if is_prose and not furniture[place]:
            group = groups[place]
            first, middle = before_last[group], last[group]
            if first >= 0:
                between = min(rates[first], rates[place])
                shared[middle] = max(rates[middle], between)
            before_last[group], last[group] = middle, place
    for place in range(count - 2, -1, -1):
        is_heading = tags[place] in HEADING_CODES or parent_tags[place] in HEADING_CODES
        if is_heading and shared[place] >= MIN_HEADING_PROBABILITY:
            shared[place] = max(shared[place], shared[place + 1])
    return shared


def _equal_values(features: Mapping[str, Sequence[float]], names: tuple[str, ...]) -> list[int]:
    """Return a number for each candidate, equal for those with equal values of three features."""
    first, second, third = (array("d", features[name]) for name in names)
    numbers: dict[tuple[float, ...], int] = {}
    groups: list[int] = []
    group = 0
    for place in range(len(first)):
        if not (
            place
            and first[place] == first[place - 1]
            and second[place] == second[place - 1]
            and third[place] == third[place - 1]
        ):  # blocks with the same markup follow one another
            key = (first[place], second[place], third[place])
            group = numbers.setdefault(key, len(numbers))
        groups.append(group)
    return groups


def _fill_neighbours(column: array[float], rates: array[float], shift: int) -> None:
    count = len(column)
    for place in range(count):
        column[place] = rates[place + shift] if 0 <= place + shift < count else -1


def _fill_windows(
    column: array[float], mass: array[float], before: array[float], reach: int
) -> None:
    """Fill in the mean probability of a character up to *reach* blocks away, from prefix sums."""
    count = len(column)
    for place in range(count):
        first, end = max(0, place - reach), min(count, place + reach + 1)
        column[place] = (mass[end] - mass[first]) / (before[end] - before[first] or 1.0)


def _fill_group(  # noqa: PLR0917  # as for feature_columns()
    columns: dict[str, array[float]],
    name: str,
    groups: list[int],
    rates: array[float],
    sizes: array[float],
    total: float,
) -> None:
    """Fill in the mean and largest probability and the share of text of a group's blocks."""
    count = len(rates)
    masses, chars, largest = zeros(count), zeros(count), zeros(count)
    mean = _new_column(columns, f"{name}_probability", count)
    best = _new_column(columns, f"{name}_best", count)
    share = _new_column(columns, f"{name}_share", count)
    for place in range(count):
        group = groups[place]
        masses[group] += rates[place] * sizes[place]
        chars[group] += sizes[place]
        largest[group] = max(largest[group], rates[place])
    for place in range(count):
        group = groups[place]
        mean[place] = masses[group] / (chars[group] or 1.0)
        best[place] = largest[group]
        share[place] = chars[group] / total


def _new_column(columns: dict[str, array[float]], name: str, count: int) -> array[float]:
    """Add a column of zeros."""
    column = columns[name] = zeros(count)
    return column
