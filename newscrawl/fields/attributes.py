"""Attributes 1 to 9 of text nodes (DocEng 2011, 3.3; thesis, 3.2)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from rapidfuzz.distance import Levenshtein

from newscrawl.text import count_digits, squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from newscrawl.document.document import Document

    #: returns the style of a row, such as a :class:`~newscrawl.css.ComputedStyle`
    StyleOf: TypeAlias = Callable[[int], Any]
    FeatureColumns: TypeAlias = dict[str, list[float]]

ATTRIBUTES = (
    "text_length",
    "digits",
    "digit_share",
    "font_size",
    "relative_font_size",
    "bold",
    "similar_nodes",
    "title_distance",
    "title_edit_distance",
)
"""Names of attributes 1 to 9."""

INDEPENDENT_DATE_FEATURES = ATTRIBUTES[:7]
"""Features for a date independent of the title: attributes 1 to 7."""

TITLE_FEATURES = (*INDEPENDENT_DATE_FEATURES, "title_edit_distance")
"""Features for a title: all attributes but 8."""

DATE_FEATURES = (*INDEPENDENT_DATE_FEATURES, "title_distance")
"""Features for a date: all attributes but 9."""

EDIT_WEIGHTS = (1, 4, 2)
"""Costs of insertion, deletion and substitution (thesis, 3.2) from a text to the ``title`` element."""

# Longer texts skip the quadratic comparison: such a distance (12 and more) rules out a title.
_MAX_LENGTH_RATIO = 4


def evaluated_rows(document: Document, forest: Sequence[int]) -> list[int]:
    """Return the rows of the visible text nodes in *forest* and before it (thesis, 3.4.1).

    With an empty forest, return those of the whole page.
    """
    rows = list(document.text_nodes())
    if not forest:
        return rows
    before = rows[: bisect_left(rows, forest[0])]
    return before + [row for root in forest for row in document.text_nodes(root)]


@dataclass(frozen=True, slots=True)
class TextNodes:
    """The evaluated text nodes of a page, in document order, and their attributes."""

    #: document rows
    rows: list[int]
    #: texts with white space collapsed
    texts: list[str]
    #: positions among all visible text nodes of the document
    positions: list[int]
    #: columns of :data:`TITLE_FEATURES`
    features: FeatureColumns

    @classmethod
    def of(cls, document: Document, rows: Sequence[int], style_of: StyleOf) -> TextNodes:
        """Return the text nodes *rows*, styled by ``style_of(row)``.

        Attributes 5 and 7 compare a node with the other nodes in *rows*.
        """
        texts = [squeeze(document.text[row]) for row in rows]
        positions = {row: position for position, row in enumerate(document.text_nodes())}
        digits = list(map(count_digits, texts))
        features: FeatureColumns = {
            "text_length": list(map(len, texts)),
            "digits": [*digits],
            "digit_share": [
                100 * count / len(text) for count, text in zip(digits, texts, strict=True)
            ],
            **style_attributes(map(style_of, rows)),
            "title_edit_distance": [title_edit_distance(text, document.title) for text in texts],
        }
        return cls(list(rows), texts, [positions[row] for row in rows], features)

    def __len__(self) -> int:
        return len(self.rows)

    def date_features(self, title: int | None) -> FeatureColumns:
        """Return the columns of all attributes.

        *title* is the position of the title; None means the ``title`` element, before all nodes.
        """
        start = -1 if title is None else title
        return {**self.features, "title_distance": [place - start for place in self.positions]}

    def without_style(self) -> TextNodes:
        """Return the same nodes with one style for all, so that attributes 4 to 7 are constant."""
        constant = {
            "font_size": 16.0,
            "relative_font_size": 100.0,
            "bold": 0.0,
            "similar_nodes": float(len(self)),
        }
        style = {name: [value] * len(self) for name, value in constant.items()}
        return replace(self, features={**self.features, **style})


def title_edit_distance(text: str, title: str) -> float:
    """Return attribute 9: the weighted edit distance from *text* to *title*, per title character.

    Without a title, the cost of deleting *text* is divided by its own length.
    """
    if not title:
        return float(EDIT_WEIGHTS[1])
    if title.startswith(text):  # the common case: only insertions
        return (len(title) - len(text)) / len(title)
    if len(text) > _MAX_LENGTH_RATIO * len(title):
        return EDIT_WEIGHTS[1] * (len(text) - len(title)) / len(title)
    return Levenshtein.distance(text, title, weights=EDIT_WEIGHTS) / len(title)


def style_attributes(styles: Iterable[Any]) -> FeatureColumns:
    """Return attributes 4 to 7 of text nodes with these *styles*; a node is similar to itself."""
    keys = [(style.font_size, style.color, style.font_family, style.bold) for style in styles]
    largest = max((size for size, *_ in keys), default=0) or 1
    counts = Counter(keys)
    return {
        "font_size": [size for size, *_ in keys],
        "relative_font_size": [100 * size / largest for size, *_ in keys],
        "bold": [float(bold) for *_, bold in keys],
        "similar_nodes": [counts[key] for key in keys],
    }
