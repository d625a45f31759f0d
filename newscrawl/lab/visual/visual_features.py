"""Features of the visual blocks of a rendered page.

The leaf blocks are the text nodes that Chromium shows, the inner blocks are the elements displayed
as blocks that contain some. The features are those that need no knowledge of tags or names:
position and size on the page, style, statistics of texts, links and images (basic), and the same
relative to the father, the next larger inner block, and to the main block (extended).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from newscrawl.lab.visual.geometry import Box, Look

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from newscrawl.document.document import Document
    from newscrawl.lab.visual.geometry import PageGeometry

    Features = dict[str, float]

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
    #: columns of the :data:`BASIC_FEATURES` of the leaf blocks
    features: dict[str, list[float]]
    inner_boxes: list[Box]
    #: first leaf block of each inner block, and the one after the last
    inner_spans: list[tuple[int, int]]
    #: columns of the :data:`INNER_FEATURES` of the inner blocks
    inner_features: dict[str, list[float]]

    @classmethod
    def of(cls, document: Document, geometry: PageGeometry) -> VisualBlocks:
        """Return the blocks of *document*. Raises ``GeometryError``."""
        geometry.check(document)
        return _Page(document, geometry).blocks()

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> VisualBlocks:
        """Convert the fields as JSON values."""
        boxes = {name: [Box(*box) for box in plain[name]] for name in ("boxes", "inner_boxes")}
        return cls(**{**plain, **boxes})

    def extended_features(self, probabilities: Sequence[float]) -> dict[str, list[float]]:
        """Return the columns of the :data:`EXTENDED_FEATURES` of the leaf blocks.

        *probabilities* are those of the inner blocks to be the main block: the one that holds the
        news. The most probable one is taken as the main block.
        """
        if not probabilities:
            return {name: [0.0] * len(self.rows) for name in EXTENDED_FEATURES} | self.features
        main = max(range(len(probabilities)), key=probabilities.__getitem__)
        box, (first, last) = self.inner_boxes[main], self.inner_spans[main]
        chars = self.chars[first:last]
        total = sum(chars) or 1.0
        font = _weighted_median(self.fonts[first:last], chars)
        by_look = _chars_by(self.looks[first:last], chars)
        of_block = {-1: 0.0, **dict(enumerate(probabilities))}
        relations = [
            _relation(own, size, box, total)
            for own, size in zip(self.boxes, self.chars, strict=True)
        ]
        return {
            **self.features,
            "father_main": [of_block[father] for father in self.fathers],
            "paragraph_main": [of_block[paragraph] for paragraph in self.paragraphs],
            "main": [probabilities[main]] * len(self.rows),
            "inside": [float(first <= index < last) for index in range(len(self.rows))],
            **{f"main_{name}": column for name, column in _columns(relations, _RELATION).items()},
            "main_overlap": [_overlap(own, box) for own in self.boxes],
            "main_font_ratio": [own / font for own in self.fonts],
            "main_look_share": [by_look.get(look, 0.0) / total for look in self.looks],
        }


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
            _columns(
                [
                    self._leaf_features(index, paragraphs[index], fathers[index])
                    for index in range(len(self.rows))
                ],
                BASIC_FEATURES,
            ),
            [self.geometry.boxes[row] for row in self.inner],
            [self._span(row) for row in self.inner],
            _columns(
                [self._inner_features(row, self._larger(row, index_of)) for row in self.inner],
                INNER_FEATURES,
            ),
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

    def _position(self, box: Box) -> Features:
        width, height = self.geometry.width or 1.0, self.geometry.height or 1.0
        left, top = (max(-_MAX_OFFSET, min(value, _MAX_OFFSET)) for value in box[:2])
        return {
            "left": left,
            "top": top,
            "width": box.width,
            "height": box.height,
            "left_share": left / width,
            "top_share": top / height,
            "width_share": box.width / width,
            "height_share": box.height / height,
            "center": abs(left + box.width / 2 - width / 2) / width,
        }

    def _statistics(self, row: int) -> Features:
        if row < 0:
            return dict.fromkeys(_STATISTICS, 0.0)
        first, last = self._span(row)
        chars = self.chars_before[last] - self.chars_before[first]
        links = self.links_before[last] - self.links_before[first]
        return {
            "chars": chars,
            "chars_share": chars / self.total,
            "link_density": links / (chars or 1.0),
            "leaves": float(last - first),
            "mean_leaf": chars / (last - first),
            "images": self._count(self.images, row),
            "links": self._count(self.anchors, row),
        }

    def _count(self, rows: Sequence[int], row: int) -> float:
        return float(bisect_left(rows, self.document.end[row]) - bisect_left(rows, row))

    def _size(self, row: int) -> float:
        first, last = self._span(row)
        return self.chars_before[last] - self.chars_before[first]

    def _leaf_features(self, index: int, paragraph: int, father: int) -> Features:
        row, look, chars = self.rows[index], self.looks[index], self.chars[index]
        box, around = self.geometry.boxes[row], {"paragraph": paragraph, "father": father}
        return {
            **self._position(box),
            "chars": chars,
            "level": float(self.document.depth[row]),
            "font": look.font_size,
            "font_ratio": look.font_size / self.font,
            "font_share": look.font_size / self.largest_font,
            "larger_fonts": float(sum(font > look.font_size for font in self.fonts)),
            "weight": look.font_weight,
            "italic": float(look.italic),
            "underlined": float(look.underlined),
            "common_color": float(look.color == self.common.color),
            "common_background": float(look.background == self.common.background),
            "look_share": self.look_chars[look] / self.total,
            "is_link": float(self.document.link_density(row) > 0),
            **{
                f"{block}_{name}": value
                for block, up in around.items()
                for name, value in self._statistics(up).items()
            },
            **self._father_relation(box, chars, father),
        }

    def _inner_features(self, row: int, father: int) -> Features:
        first, last = self._span(row)
        box, size = self.geometry.boxes[row], self._size(row)
        fonts = self.fonts[first:last]
        same = sum(c for c, look in zip(self.chars[first:last], self.looks[first:last], strict=True)
                   if look == self.common)  # fmt: skip
        largest = max((self._size(child) for child in self.document.children(row)), default=0.0)
        return {
            **self._position(box),
            **self._statistics(row),
            "level": float(self.document.depth[row]),
            "font": _weighted_median(fonts, self.chars[first:last]) / self.font,
            "largest_font": max(fonts) / self.largest_font,
            "common_look": same / (size or 1.0),
            "largest_child": largest / (size or 1.0),
            **self._father_relation(box, size, father),
        }

    def _father_relation(self, box: Box, chars: float, father: int) -> Features:
        if father < 0:
            around = Box(0.0, 0.0, self.geometry.width, self.geometry.height)
            return _relation(box, chars, around, self.total)
        return _relation(box, chars, self.geometry.boxes[father], self._size(father))


def _columns(rows: Sequence[Features], names: Sequence[str]) -> dict[str, list[float]]:
    return {name: [row[name] for row in rows] for name in names}


def _chars_by(keys: Sequence[K], chars: Sequence[float]) -> dict[K, float]:
    """Return the sum of *chars* for each key."""
    sums: dict[K, float] = {}
    for key, size in zip(keys, chars, strict=True):
        sums[key] = sums.get(key, 0.0) + size
    return sums


def _relation(box: Box, chars: float, around: Box, around_chars: float) -> Features:
    """Return the features of *box* relative to *around*."""
    values = {
        "rel_left": box.left - around.left,
        "rel_top": box.top - around.top,
        "rel_bottom": around.top + around.height - box.top,
        "rel_width": box.width / (around.width or 1.0),
        "rel_height": box.height / (around.height or 1.0),
        "rel_chars": chars / (around_chars or 1.0),
    }
    return {name: max(-_MAX_OFFSET, min(value, _MAX_OFFSET)) for name, value in values.items()}


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
