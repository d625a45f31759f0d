"""Groups of blocks: the features of those that hold a block, and one probability for all of one.

The *home* is the element with most of the long text (:func:`home_of`). The *part* of a block is the
largest element around it without the home: an item of the story is in a child of the home, a teaser
in a sibling of it or of one of its ancestors. The *holder* is the list, quotation, post, code,
table, figure or box that holds the block inside of its part.

Cython compiles this module, with the types in ``groups.pxd``.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from math import log2
from typing import TYPE_CHECKING

from newscrawl.body.blocks import numbered, zeros
from newscrawl.body.parts import is_embed
from newscrawl.document.rows import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.document.document import Document

_PART_FEATURES = (
    "part_chars", "part_density", "part_blocks", "part_images", "part_links", "part_headings",
    "part_like",
)  # fmt: skip
_HOLDER_FEATURES = ("holder", "holder_chars", "holder_density", "holder_mean", "introduced")
GROUP_FEATURES = (
    "home_up", *_PART_FEATURES, *_HOLDER_FEATURES, "other_name", "story_name", "since_heading",
    "heading_density",
)  # fmt: skip
"""Names of the features, in the order of the model."""

_LIST, _QUOTE, _POST, _CODE, _TABLE, _FIGURE, _DETAILS, _BOX = range(1, 9)
_HOLDERS = {
    **dict.fromkeys(("ul", "ol", "dl", "dir", "menu"), _LIST),
    "blockquote": _QUOTE,
    **dict.fromkeys(("code", "pre"), _CODE),
    "table": _TABLE,
    **dict.fromkeys(("figcaption", "figure"), _FIGURE),
    "details": _DETAILS,
    **dict.fromkeys(("aside", "fieldset", "form"), _BOX),
}
ITEMS = frozenset({"dd", "dt", "li", "p", "tr"})
"""Elements of one text each."""
_MAX_UP, _MAX_LEVELS, _MAX_NAME_LEVELS = 3, 8, 6
_MAX_ROWS = 600  # of an element that are looked at
_MAX_COUNT = 40.0
_MAX_BEFORE = 60  # rows before a holder in which a text introduces it
_NO_ROW = array("i", [0])

# Words of classes and ids; hashed ones have none.
_OTHER_NAME = re.compile(
    r"relat|recom|teaser|promo|popular|trend|more-|read-?more|also|newslett|subscr|sign-?up|share"
    r"|social|follow|author|\bbio|profile|credit|copyright|legal|disclaim|advert|sponsor|banner"
    r"|sidebar|widget|footer|comment|caption|meta|tags|breadcrumb|toc|outbrain|taboola|next|prev"
    r"|pagination|donat|card|tile|stream|list|grid|feed"
)
_STORY_NAME = re.compile(
    r"article|story|content|body|post|entry|text|main|paragraph|prose|news|detail|single|rich"
)


@lru_cache(maxsize=8192)  # pages of a site share their names
def _name_marks(name: str) -> int:
    """Return 1 for a class or id with a word of other parts of pages, plus 2 for one of stories."""
    lower = name.lower()
    return bool(_OTHER_NAME.search(lower)) + 2 * bool(_STORY_NAME.search(lower))


def home_of(document: Document, containers: Sequence[int], sizes: Sequence[float]) -> int:
    """Return the element that holds most text, given the *containers* of blocks and their *sizes*.

    Where paragraphs or sections have containers of their own, it is the one around these: an
    element within :data:`_MAX_UP` levels that holds twice as much.
    """
    parents, whole = document.parent, sum(sizes)
    rows, home, most, higher = list(containers), 0, 0.0, 0
    while 2 * most < whole and higher <= _MAX_UP:
        held = zeros(len(parents))
        for row, size in zip(rows, sizes, strict=True):
            held[row] += size
        best = rows[0]
        for row in rows:
            if held[row] > held[best]:
                best = row
        higher += 1
        if held[best] >= 2 * most:
            home, most, higher = best, held[best], 1
        rows = [max(parents[row], 0) for row in rows]
    return home


def group_columns(
    document: Document, owner: list[int], firsts: list[int], home: int
) -> dict[str, array[float]]:
    """Return the columns of :data:`GROUP_FEATURES` of candidate blocks.

    *owner* are the block-level elements of the blocks, *firsts* their first text nodes, *home* is
    the row of :func:`home_of`.
    """
    groups = _Groups(document, owner, home)
    parts, holders = groups.fill_rows(firsts)
    groups.fill_parts(parts)
    groups.fill_holders(holders)
    groups.fill_headings()
    return groups.columns


class _Groups:
    """Groups of candidate blocks around the *home* of a page, with the columns of features."""

    def __init__(self, document: Document, owner: list[int], home: int) -> None:
        self.document, self.owner, self.count = document, owner, len(owner)
        self.tags, self.parents, self.ends = document.tag, document.parent, document.end
        self.before, self.links = document.chars_before, document.link_chars_before
        self.classes, self.ids = document.attributes["class"], document.attributes["id"]
        self.columns: dict[str, array[float]] = {name: zeros(self.count) for name in GROUP_FEATURES}
        size = len(self.tags)
        #: by row: level of the home (1) and its ancestors, 0 of others
        self.levels = _NO_ROW * size
        for level, row in enumerate((home, *document.ancestors(home)), 1):
            self.levels[row] = level
        #: by row: 1 if it was visited; the part and the holder, and the kind of the holder
        self.visited, self.kinds = bytearray(size), bytearray(size)
        self.parts, self.holders = _NO_ROW * size, _NO_ROW * size
        #: by row: levels up to names of other parts of pages and of stories, -1 for none
        self.other, self.story = _NO_ROW * size, _NO_ROW * size

    def fill_rows(self, firsts: list[int]) -> tuple[list[int], list[int]]:
        """Fill in the features of names; return the part and the holder of each block.

        Loose text is its own part; a block without holder is its own.
        """
        parts, holders = [], []
        other, story = self.columns["other_name"], self.columns["story_name"]
        for place in range(self.count):
            row = self.owner[place]
            self.visit(row)
            other[place], story[place] = self.other[row], self.story[row]
            if self.levels[row]:
                row = firsts[place]
                self.visit(row)
            parts.append(self.parts[row])
            holders.append(self.holders[row] if self.kinds[row] else row)
        return parts, holders

    def visit(self, row: int) -> None:
        """Fill in the columns by row of *row* and the elements around it, the outer ones first."""
        path: list[int] = []
        while row >= 0 and not self.visited[row]:
            path.append(row)
            row = self.parents[row]
        for inner in reversed(path):
            self.visited[inner] = 1
            self.fill_names(inner)
            if not self.levels[inner]:
                self.fill_group(inner)

    def fill_names(self, row: int) -> None:
        """Fill in the levels up to names, given those of the parent."""
        marks, above = 0, self.parents[row]
        other = story = -1
        if self.tags[row] != "body":
            class_, id_ = self.classes.get(row), self.ids.get(row)
            if class_:
                marks = _name_marks(class_)
            if id_:
                marks |= _name_marks(id_)
            if above >= 0:
                other, story = _further(self.other[above]), _further(self.story[above])
        self.other[row], self.story[row] = 0 if marks & 1 else other, 0 if marks & 2 else story

    def fill_group(self, row: int) -> None:
        """Fill in the part and the outermost holder, or else the innermost box, and its kind."""
        above = self.parents[row]
        if self.levels[above]:
            part, holder, kind = row, row, 0
        else:
            part, holder, kind = self.parts[above], self.holders[above], self.kinds[above]
        own = _HOLDERS.get(self.tags[row], 0)
        if own and kind in {0, _BOX}:
            is_post = own == _QUOTE and is_embed(self.document, row)
            holder, kind = row, _POST if is_post else own
        self.parts[row], self.holders[row], self.kinds[row] = part, holder, kind

    def fill_parts(self, keys: list[int]) -> None:
        """Fill in ``home_up`` and the features of the parts *keys*, one of each block."""
        groups, parts = numbered(keys)
        values = {name: zeros(len(parts)) for name in ("home_up", *_PART_FEATURES)}
        level, chars, density = values["home_up"], values["part_chars"], values["part_density"]
        images, links = values["part_images"], values["part_links"]
        headings, likes = values["part_headings"], values["part_like"]
        members = values["part_blocks"]
        images_before = self.count_before(("img",))
        links_before, headings_before = self.count_before(("a",)), self.count_before(HEADINGS)
        markup, _ = numbered(
            [(self.parents[it], self.tags[it], self.classes.get(it)) for it in parts]
        )
        alike, most = zeros(len(parts)), _MAX_COUNT
        for number in range(len(parts)):
            group = markup[number]
            alike[group] += 1
        for place in range(self.count):
            group = groups[place]
            members[group] += 1
        for number in range(len(parts)):
            row, group = parts[number], markup[number]
            end = self.ends[row]
            above = self.parents[row]
            level[number] = min(self.levels[above] - 1, _MAX_LEVELS)
            chars[number], density[number] = self.size(row), self.link_density(row)
            members[number] = min(members[number], most)
            images[number] = min(images_before[end] - images_before[row], most)
            links[number] = min(links_before[end] - links_before[row], most)
            end = min(end, row + _MAX_ROWS)
            headings[number] = min(headings_before[end] - headings_before[row], most)
            likes[number] = min(alike[group], most)
        self.expand(values, groups)

    def fill_holders(self, keys: list[int]) -> None:
        """Fill in the features of the holders *keys*, one of each block."""
        groups, holders = numbered(keys)
        values = {name: zeros(len(holders)) for name in _HOLDER_FEATURES}
        kind, chars, density = values["holder"], values["holder_chars"], values["holder_density"]
        mean, introduced = values["holder_mean"], values["introduced"]
        items_before = self.count_before(ITEMS)
        for number in range(len(holders)):
            row = holders[number]
            kind[number] = self.kinds[row]
            chars[number], density[number] = self.size(row), self.link_density(row)
            end = min(self.ends[row], row + _MAX_ROWS)
            items = items_before[end] - items_before[row + 1]
            mean[number] = log2(1 + self.chars(row) / items) if items else chars[number]
            introduced[number] = self.is_introduced(row)
        self.expand(values, groups)

    def count_before(self, tags: Iterable[str]) -> array[int]:
        """Return the number of elements with one of *tags* before each row."""
        counts = _NO_ROW * (len(self.tags) + 1)
        for tag in tags:
            for row in self.document.rows_of(tag):
                counts[row + 1] = 1
        for row in range(len(self.tags)):
            counts[row + 1] += counts[row]
        return counts

    def chars(self, row: int) -> float:
        """Return the weighted characters in the subtree of *row*."""
        end = self.ends[row]
        start, stop = self.before[row], self.before[end]
        return stop - start

    def size(self, row: int) -> float:
        """Return the logarithm of the weighted characters."""
        return log2(1 + self.chars(row))

    def link_density(self, row: int) -> float:
        """Return the share of the characters that are in links."""
        end, chars = self.ends[row], self.chars(row)
        start, stop = self.links[row], self.links[end]
        return (stop - start) / chars if chars else 0.0

    def is_introduced(self, row: int) -> bool:
        """Return whether the shown text before a holder ends with a colon."""
        text, hidden = self.document.text, self.document.hidden
        for before in range(row - 1, max(0, row - _MAX_BEFORE) - 1, -1):
            if text[before] and not hidden[before]:
                return text[before].rstrip().endswith((":", "："))
        return False

    def expand(self, values: dict[str, array[float]], groups: list[int]) -> None:
        """Fill in columns with the *values* of the group of each block."""
        for name, of_group in values.items():
            column, numbers = self.columns[name], of_group
            for place in range(self.count):
                group = groups[place]
                column[place] = numbers[group]

    def fill_headings(self) -> None:
        """Fill in the number of blocks since the last heading, and its link density; else -1."""
        since_column, density_column = (
            self.columns["since_heading"],
            self.columns["heading_density"],
        )
        since = density = -1.0
        for place in range(self.count):
            row = self.owner[place]
            since_column[place], density_column[place] = since, density
            if self.tags[row] in HEADINGS:
                since, density = 0.0, self.link_density(row)
            elif since >= 0:
                since = min(since + 1, _MAX_COUNT)


def _further(distance: int) -> int:
    return distance + 1 if 0 <= distance < _MAX_NAME_LEVELS - 1 else -1
