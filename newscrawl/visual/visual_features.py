"""Features of the visual blocks of a rendered page.

The leaf blocks are the text nodes that Chromium shows, the inner blocks are the elements displayed
as blocks that contain some. The features are those that need no knowledge of tags or names: position
and size on the page, style, statistics of texts, links and images (basic), and the same relative to
the father, the next larger inner block, and to the main block (extended).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from newscrawl.visual.geometry import Box, Look

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.visual.geometry import PageGeometry

K = TypeVar("K")

_POSITION = ("left", "top", "width", "height", "left_share", "top_share", "width_share",
             "height_share", "center")  # fmt: skip
_STATISTICS = ("chars", "chars_share", "link_density", "leaves", "mean_leaf", "images", "links")
_RELATION = ("rel_left", "rel_top", "rel_bottom", "rel_width", "rel_height", "rel_chars")

INNER_FEATURES = (
    *_POSITION, *_STATISTICS, "level", "font", "largest_font", "common_look", "largest_child",
    *_RELATION,
)  # fmt: skip

_STYLE = ("font", "font_ratio", "font_share", "larger_fonts", "weight", "italic", "underlined",
          "common_color", "common_background", "look_share", "is_link")  # fmt: skip
BASIC_FEATURES = (
    *_POSITION, "chars", "level", *_STYLE,
    *(f"paragraph_{name}" for name in _STATISTICS),
    *(f"father_{name}" for name in _STATISTICS),
    *_RELATION,
)  # fmt: skip
EXTENDED_FEATURES = (
    *BASIC_FEATURES, "father_main", "paragraph_main", "main", "inside",
    *(f"main_{name}" for name in _RELATION), "main_overlap", "main_font_ratio", "main_look_share",
)  # fmt: skip

_MAX_OFFSET = 100_000.0  # off-screen texts are moved far away
_NO_LOOK = Look(0.0, 0.0, italic=False, underlined=False, color="", family="", background="")


@dataclass(frozen=True, slots=True)
class VisualBlocks:
    """The visual blocks of a page and their basic features, leaf and inner blocks by index."""

    #: rows of the leaf blocks, in document order
    rows: list[int]
    boxes: list[Box]
    #: weighted characters of each leaf block
    chars: list[float]
    fonts: list[float]
    #: number of the look of each leaf block, equal for equal looks
    looks: list[int]
    #: smallest inner block around each leaf block, -1 for none
    paragraphs: list[int]
    #: smallest inner block that is larger than the paragraph, -1 for none
    fathers: list[int]
    #: :data:`BASIC_FEATURES` of each leaf block
    features: list[list[float]]
    inner_boxes: list[Box]
    #: first leaf block of each inner block, and the one after the last
    inner_spans: list[tuple[int, int]]
    #: :data:`INNER_FEATURES` of each inner block
    inner_features: list[list[float]]

    @classmethod
    def of(cls, document: Document, geometry: PageGeometry) -> VisualBlocks:
        """Return the blocks of *document*. Raises :class:`~newscrawl.visual.geometry.GeometryError`."""
        geometry.check(document)
        return _Page(document, geometry).blocks()

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> VisualBlocks:
        """Convert the fields as JSON values."""
        boxes = {name: [Box(*box) for box in plain[name]] for name in ("boxes", "inner_boxes")}
        return cls(**{**plain, **boxes})

    def extended_features(self, probabilities: Sequence[float]) -> list[list[float]]:
        """Return the :data:`EXTENDED_FEATURES` of each leaf block.

        *probabilities* are those of the inner blocks to be the main block: the one that holds the
        news. The most probable one is taken as the main block.
        """
        if not probabilities:
            return [[*row, *[0.0] * (len(EXTENDED_FEATURES) - len(row))] for row in self.features]
        main = max(range(len(probabilities)), key=probabilities.__getitem__)
        box, (first, last) = self.inner_boxes[main], self.inner_spans[main]
        chars = self.chars[first:last]
        total = sum(chars) or 1.0
        font = _weighted_median(self.fonts[first:last], chars)
        by_look = _chars_by(self.looks[first:last], chars)
        rows = []
        for index, basic in enumerate(self.features):
            own = self.boxes[index]
            father, paragraph = self.fathers[index], self.paragraphs[index]
            rows.append([
                *basic,
                probabilities[father] if father >= 0 else 0.0,
                probabilities[paragraph] if paragraph >= 0 else 0.0,
                probabilities[main],
                float(first <= index < last),
                *_relation(own, self.chars[index], box, total),
                _overlap(own, box),
                self.fonts[index] / font,
                by_look.get(self.looks[index], 0.0) / total,
            ])  # fmt: skip
        return rows


class _Page:
    """Computes the blocks of a page."""

    def __init__(self, document: Document, geometry: PageGeometry) -> None:
        self.document, self.geometry = document, geometry
        self.rows = [row for row in document.text_nodes() if row in geometry.looks]
        self.looks: list[Look] = [geometry.looks[row] for row in self.rows]
        self.chars = [document.chars(row) for row in self.rows]
        self.chars_before = list(accumulate(self.chars, initial=0.0))
        self.links_before = list(accumulate(map(document.link_chars, self.rows), initial=0.0))
        self.total = self.chars_before[-1] or 1.0
        self.fonts = [look.font_size for look in self.looks]
        self.font = _weighted_median(self.fonts, self.chars)
        self.largest_font = max(self.fonts, default=0.0) or 1.0
        self.images = document.rows_of("img")
        self.anchors = document.rows_of("a")
        self.look_chars = _chars_by(self.looks, self.chars)
        self.common = max(self.look_chars, key=self.look_chars.__getitem__, default=_NO_LOOK)
        self.inner = [row for row in sorted(geometry.blocks & geometry.boxes.keys())
                      if self._span(row)[0] < self._span(row)[1]]  # fmt: skip

    def blocks(self) -> VisualBlocks:
        index_of = {row: index for index, row in enumerate(self.inner)}
        numbers = {look: number for number, look in enumerate(self.look_chars)}
        paragraphs = [self._father(row, index_of) for row in self.rows]
        fathers = [self._larger(paragraph, index_of) for paragraph in paragraphs]
        return VisualBlocks(
            self.rows,
            [self.geometry.boxes[row] for row in self.rows],
            self.chars,
            self.fonts,
            [numbers[look] for look in self.looks],
            [index_of.get(row, -1) for row in paragraphs],
            [index_of.get(row, -1) for row in fathers],
            [
                self._leaf_features(index, paragraphs[index], fathers[index])
                for index in range(len(self.rows))
            ],
            [self.geometry.boxes[row] for row in self.inner],
            [self._span(row) for row in self.inner],
            [self._inner_features(row, self._larger(row, index_of)) for row in self.inner],
        )

    def _span(self, row: int) -> tuple[int, int]:
        first = bisect_left(self.rows, row)
        return first, bisect_left(self.rows, self.document.end[row], first)

    def _father(self, row: int, inner: Mapping[int, int]) -> int:
        return next((up for up in self.document.ancestors(row) if up in inner), -1)

    def _larger(self, row: int, inner: Mapping[int, int]) -> int:
        """Return the nearest inner block around *row* with more leaf blocks, -1 for none."""
        if row < 0:
            return -1
        span = self._span(row)
        around = (up for up in self.document.ancestors(row) if up in inner)
        return next((up for up in around if self._span(up) != span), -1)

    def _position(self, box: Box) -> list[float]:
        width, height = self.geometry.width or 1.0, self.geometry.height or 1.0
        left, top = (max(-_MAX_OFFSET, min(value, _MAX_OFFSET)) for value in box[:2])
        return [
            left, top, box.width, box.height, left / width, top / height, box.width / width,
            box.height / height, abs(left + box.width / 2 - width / 2) / width,
        ]  # fmt: skip

    def _statistics(self, row: int) -> list[float]:
        if row < 0:
            return [0.0] * len(_STATISTICS)
        first, last = self._span(row)
        chars = self.chars_before[last] - self.chars_before[first]
        links = self.links_before[last] - self.links_before[first]
        return [
            chars, chars / self.total, links / (chars or 1.0), float(last - first),
            chars / (last - first), self._count(self.images, row), self._count(self.anchors, row),
        ]  # fmt: skip

    def _count(self, rows: Sequence[int], row: int) -> float:
        return float(bisect_left(rows, self.document.end[row]) - bisect_left(rows, row))

    def _size(self, row: int) -> float:
        first, last = self._span(row)
        return self.chars_before[last] - self.chars_before[first]

    def _leaf_features(self, index: int, paragraph: int, father: int) -> list[float]:
        row, look, chars = self.rows[index], self.looks[index], self.chars[index]
        box = self.geometry.boxes[row]
        return [
            *self._position(box), chars, float(self.document.depth[row]),
            look.font_size, look.font_size / self.font, look.font_size / self.largest_font,
            float(sum(font > look.font_size for font in self.fonts)),
            look.font_weight, float(look.italic), float(look.underlined),
            float(look.color == self.common.color), float(look.background == self.common.background),
            self.look_chars[look] / self.total, float(self.document.link_density(row) > 0),
            *self._statistics(paragraph), *self._statistics(father),
            *self._father_relation(box, chars, father),
        ]  # fmt: skip

    def _inner_features(self, row: int, father: int) -> list[float]:
        first, last = self._span(row)
        box, size = self.geometry.boxes[row], self._size(row)
        fonts = self.fonts[first:last]
        same = sum(c for c, look in zip(self.chars[first:last], self.looks[first:last], strict=True)
                   if look == self.common)  # fmt: skip
        largest = max((self._size(child) for child in self.document.children(row)), default=0.0)
        return [
            *self._position(box), *self._statistics(row), float(self.document.depth[row]),
            _weighted_median(fonts, self.chars[first:last]) / self.font,
            max(fonts) / self.largest_font, same / (size or 1.0), largest / (size or 1.0),
            *self._father_relation(box, size, father),
        ]  # fmt: skip

    def _father_relation(self, box: Box, chars: float, father: int) -> list[float]:
        if father < 0:
            around = Box(0.0, 0.0, self.geometry.width, self.geometry.height)
            return _relation(box, chars, around, self.total)
        return _relation(box, chars, self.geometry.boxes[father], self._size(father))


def _chars_by(keys: Sequence[K], chars: Sequence[float]) -> dict[K, float]:
    """Return the sum of *chars* for each key."""
    sums: dict[K, float] = {}
    for key, size in zip(keys, chars, strict=True):
        sums[key] = sums.get(key, 0.0) + size
    return sums


def _relation(box: Box, chars: float, around: Box, around_chars: float) -> list[float]:
    """Return the features of *box* relative to *around*."""
    values = (
        box.left - around.left,
        box.top - around.top,
        around.top + around.height - box.top,
        box.width / (around.width or 1.0),
        box.height / (around.height or 1.0),
        chars / (around_chars or 1.0),
    )
    return [max(-_MAX_OFFSET, min(value, _MAX_OFFSET)) for value in values]


def _overlap(box: Box, around: Box) -> float:
    """Return the share of the width of *box* that is in the column of *around*."""
    right = min(box.left + box.width, around.left + around.width)
    return max(0.0, right - max(box.left, around.left)) / (box.width or 1.0)


def _weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the median of positive *values* with *weights*, 1 if there are none."""
    half = sum(weights) / 2
    for value, weight in sorted(zip(values, weights, strict=True)):
        half -= weight
        if half <= 0:
            return value or 1.0
    return 1.0
