"""Groups of blocks: the features of those that hold a block, and one probability for all of one.

The *home* is the element with most of the long text (:func:`home_of`). The *part* of a block is the
largest element around it without the home: an item of the story is in a child of the home, a teaser
in a sibling of it or of one of its ancestors. The *holder* is the list, quotation, post, code,
table, figure or box that holds the block inside of its part.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import chain
from math import log2
from typing import TYPE_CHECKING

from newscrawl.body.furniture import furniture
from newscrawl.body.parts import is_embed
from newscrawl.document.document import rows_between
from newscrawl.document.rows import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

_PART_FEATURES = (
    "part_chars", "part_density", "part_blocks", "part_images", "part_links", "part_headings",
    "part_like",
)  # fmt: skip
_HOLDER_FEATURES = ("holder", "holder_chars", "holder_density", "holder_mean", "introduced")
GROUP_FEATURES = (
    "home_up", *_PART_FEATURES, *_HOLDER_FEATURES, "other_name", "story_name", "since_heading",
    "heading_density", "digits", "furniture", "furniture_share",
)  # fmt: skip
"""Names of the features, in the order of the model."""

_LIST, _QUOTE, _POST, _CODE, _TABLE, _FIGURE, _DETAILS, _BOX = map(float, range(1, 9))
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
_DIGIT, _DIGIT_CHARS = re.compile("[0-9]"), 60

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
def _named(class_: str, id_: str) -> tuple[bool, bool]:
    name = f"{class_} {id_}".lower()
    return _OTHER_NAME.search(name) is not None, _STORY_NAME.search(name) is not None


def home_of(document: Document, containers: Sequence[int], sizes: Sequence[float]) -> int:
    """Return the element that holds most text, given the *containers* of blocks and their *sizes*.

    Where paragraphs or sections have containers of their own, it is the one around these: an
    element within :data:`_MAX_UP` levels that holds twice as much.
    """
    parents, whole = document.parent, sum(sizes)
    rows, home, most, higher = list(containers), 0, 0.0, 0
    while 2 * most < whole and higher <= _MAX_UP:
        held: dict[int, float] = defaultdict(float)
        for row, size in zip(rows, sizes, strict=True):
            held[row] += size
        best = max(held, key=held.__getitem__)
        higher += 1
        if held[best] >= 2 * most:
            home, most, higher = best, held[best], 1
        rows = [max(parents[row], 0) for row in rows]
    return home


def group_columns(
    document: Document,
    owner: Sequence[int],
    rows: Sequence[Sequence[int]],
    texts: Sequence[str],
    home: int,
) -> dict[str, array[float]]:
    """Return the columns of :data:`GROUP_FEATURES` of candidate blocks.

    *owner* and *rows* are columns of :class:`~newscrawl.body.blocks.Blocks`, *texts* their texts,
    *home* is the row of :func:`home_of`.
    """
    groups = _Groups(document, home)
    places = [groups.around(own, mine[0]) for own, mine in zip(owner, rows, strict=True)]
    members = Counter(part for part, _, _ in places)
    likes = Counter(map(groups.markup, members))
    of_part = {part: groups.part_features(part, likes, count) for part, count in members.items()}
    of_holder = {it: groups.holder_features(*it) for it in {place[1:] for place in places}}
    values = [
        (
            *of_part[part], *of_holder[holder, code], *groups.name_distances(own), *heading,
            _share_of_digits(text[:_DIGIT_CHARS]), *furniture(text),
        )
        for (part, holder, code), own, text, heading in zip(
            places, owner, texts, _since_headings(document, owner), strict=True
        )
    ]  # fmt: skip
    columns = (array("d", column) for column in zip(*values, strict=True))
    return dict(zip(GROUP_FEATURES, columns, strict=True))


class _Groups:
    """Groups of a page around its *home*."""

    def __init__(self, document: Document, home: int) -> None:
        self._document = document
        #: levels of the home (0) and its ancestors
        self._levels = {row: up for up, row in enumerate((home, *document.ancestors(home)))}
        self._classes, self._ids = document.attributes["class"], document.attributes["id"]
        self._headings, self._items = (
            sorted(chain.from_iterable(map(document.rows_of, tags))) for tags in (HEADINGS, ITEMS)
        )
        self._known: dict[int, tuple[int, int, float]] = {}
        self._names: dict[int, tuple[float, float]] = {}

    def around(self, owner: int, first: int) -> tuple[int, int, float]:
        """Return the part of a block, its outermost holder or else its innermost box, and the kind.

        Loose text is its own part; a block without holder is its own.
        """
        tags, parents, known = self._document.tag, self._document.parent, self._known
        row = above = first if owner in self._levels else owner
        path = []
        while above not in self._levels and above not in known:
            path.append(above)
            above = parents[above]
        found = known.get(above)
        for inner in reversed(path):
            part, holder, code = found or (inner, inner, 0.0)
            kind = _HOLDERS.get(tags[inner], 0.0)
            if kind and code in {0.0, _BOX}:
                is_post = kind == _QUOTE and is_embed(self._document, inner)
                holder, code = inner, _POST if is_post else kind
            found = known[inner] = (part, holder, code)
        part, holder, code = known[row]
        return part, holder if code else row, code

    def part_features(
        self, part: int, likes: Counter[tuple[int, str, str | None]], members: int
    ) -> tuple[float, ...]:
        """Return ``home_up`` and the values of :data:`_PART_FEATURES`."""
        document, end = self._document, self._document.end[part]
        counts = (
            members,
            len(rows_between(document.rows_of("img"), part, end)),
            len(rows_between(document.rows_of("a"), part, end)),
            len(rows_between(self._headings, part, min(end, part + _MAX_ROWS))),
            likes[self.markup(part)],
        )
        level = min(self._levels[document.parent[part]], _MAX_LEVELS)
        return level, *self._size(part), *(min(count, _MAX_COUNT) for count in counts)

    def markup(self, row: int) -> tuple[int, str, str | None]:
        """Return the parent, the tag and the class of an element."""
        return self._document.parent[row], self._document.tag[row], self._classes.get(row)

    def _size(self, row: int) -> tuple[float, float]:
        """Return the logarithm of the weighted characters, and the link density."""
        return log2(1 + self._document.chars(row)), self._document.link_density(row)

    def holder_features(self, holder: int, code: float) -> tuple[float, ...]:
        """Return the values of :data:`_HOLDER_FEATURES`."""
        document, end = self._document, self._document.end[holder]
        size, density = self._size(holder)
        items = len(rows_between(self._items, holder + 1, min(end, holder + _MAX_ROWS)))
        mean = log2(1 + document.chars(holder) / items) if items else size
        place = bisect_left(document.shown_rows, holder)
        before = document.shown_rows[place - 1] if place else -_MAX_BEFORE
        is_near = before >= max(0, holder - _MAX_BEFORE)
        introduced = is_near and document.text[before].rstrip().endswith((":", "："))
        return code, size, density, mean, introduced

    def name_distances(self, row: int) -> tuple[float, float]:
        """Return the levels up to names of other parts of pages and of stories, -1 for none."""
        names = self._names
        if row in names:  # the common case
            return names[row]
        path = []
        tags, parents = self._document.tag, self._document.parent
        while row >= 0 and row not in names and tags[row] != "body":
            path.append(row)
            row = parents[row]
        other, story = names.get(row, (-1.0, -1.0))
        for inner in reversed(path):
            class_, id_ = self._classes.get(inner, ""), self._ids.get(inner, "")
            is_other, is_story = _named(class_, id_) if class_ or id_ else (False, False)
            other = 0.0 if is_other else _further(other)
            story = 0.0 if is_story else _further(story)
            names[inner] = (other, story)
        return other, story


def _further(distance: float) -> float:
    return distance + 1 if 0 <= distance < _MAX_NAME_LEVELS - 1 else -1.0


def _since_headings(document: Document, owner: Iterable[int]) -> Iterator[tuple[float, float]]:
    """Yield the number of blocks since the last heading and its link density, -1 for none."""
    since = density = -1.0
    for row in owner:
        yield since, density
        if document.tag[row] in HEADINGS:
            since, density = 0.0, document.link_density(row)
        elif since >= 0:
            since = min(since + 1, _MAX_COUNT)


def _share_of_digits(start: str) -> float:
    is_ascii = start.isascii()  # most are; the pattern is faster, but has no superscripts
    count = len(_DIGIT.findall(start)) if is_ascii else sum(map(str.isdigit, start))
    return count / (len(start) or 1)
