"""The nine attributes of text nodes (DocEng 2011, 3.3; thesis, 3.2), and the nodes that have them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rapidfuzz.distance import Levenshtein

from newscrawl.text import count_digits, squeeze

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

    StyleOf: TypeAlias = "Callable[[int], Style]"
    Row: TypeAlias = tuple[float, ...]

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

FREE_DATE_FEATURES = ATTRIBUTES[:7]
"""What dates are told by where no title is known: attributes 1 to 7."""

TITLE_FEATURES = (*FREE_DATE_FEATURES, "title_edit_distance")
"""What titles are told by: all attributes but 8."""

DATE_FEATURES = (*FREE_DATE_FEATURES, "title_distance")
"""What dates are told by: all attributes but 9."""

EDIT_WEIGHTS = (1, 4, 2)
"""Costs of an insertion, a deletion and a change (thesis, 3.2), from a node's text to ``title``."""

_FAR = 4
# A text of more than four titles' length costs at least 12 to delete. No title is that far off, and
# the comparison, which costs the product of the lengths, would tell nothing more.


class Style(Protocol):
    """What counts of a text's style; :class:`~newscrawl.css.cascade.computed_values.ComputedStyle` is one."""

    @property
    def font_size(self) -> float:
        """Size of the font in px."""

    @property
    def bold(self) -> bool:
        """Whether the text is bold."""

    @property
    def font_family(self) -> Hashable:
        """The families wanted."""

    @property
    def color(self) -> Hashable:
        """Color of the text."""


def evaluated_rows(document: Document, forest: Sequence[int]) -> list[int]:
    """Return the rows of the text nodes in *forest* and of all before it (thesis, 3.4.1).

    Shown ones only. An empty forest stands for the whole tree.
    """
    rows = list(document.text_nodes())
    if not forest:
        return rows
    before = rows[: bisect_left(rows, forest[0])]
    return before + [row for root in forest for row in document.text_nodes(root)]


@dataclass(frozen=True, slots=True)
class TextNodes:
    """The text nodes of a page that are evaluated, in document order, and their attributes."""

    #: rows in the document
    rows: list[int]
    #: white space squeezed
    texts: list[str]
    #: places in the list of all shown text nodes of the document
    positions: list[int]
    #: attributes 1 to 7 and 9 of each: :data:`TITLE_FEATURES`
    title_features: list[Row]

    @classmethod
    def of(cls, document: Document, rows: Sequence[int], style_of: StyleOf) -> TextNodes:
        """Return the text nodes *rows*; ``style_of(row)`` gives the style of one.

        The attributes that compare nodes, 5 and 7, compare these.
        """
        texts = [squeeze(document.text[row]) for row in rows]
        places = {row: place for place, row in enumerate(document.text_nodes())}
        features = [
            (*_text_attributes(text), *look, title_edit_distance(text, document.title))
            for text, look in zip(texts, style_attributes(map(style_of, rows)), strict=True)
        ]
        return cls(list(rows), texts, [places[row] for row in rows], features)

    def __len__(self) -> int:
        return len(self.rows)

    def date_features(self, title: int | None) -> list[Row]:
        """Return attributes 1 to 8 of each node: :data:`DATE_FEATURES`.

        *title* is the position of the title; None stands for ``title``, before all nodes.
        """
        start = -1 if title is None else title
        return [
            (*attributes[:-1], position - start)
            for attributes, position in zip(self.title_features, self.positions, strict=True)
        ]

    def free_date_features(self) -> list[Row]:
        """Return attributes 1 to 7 of each node: :data:`FREE_DATE_FEATURES`."""
        return [attributes[:-1] for attributes in self.title_features]

    def without_style(self) -> TextNodes:
        """Return the same nodes as if all looked alike: attributes 4 to 7 tell nothing."""
        plain = [(*row[:3], 16.0, 100.0, 0.0, len(self), row[-1]) for row in self.title_features]
        return replace(self, title_features=plain)


def title_edit_distance(text: str, title: str) -> float:
    """Return attribute 9: the weighted edit distance from *text* to *title* over its length.

    Where there is no title, every character of *text* is deleted, and its own length counts.
    """
    if not title:
        return float(EDIT_WEIGHTS[1])
    if title.startswith(text):  # as most headlines: all else is inserted
        return (len(title) - len(text)) / len(title)
    if len(text) > _FAR * len(title):
        return EDIT_WEIGHTS[1] * (len(text) - len(title)) / len(title)
    return Levenshtein.distance(text, title, weights=EDIT_WEIGHTS) / len(title)


def _text_attributes(text: str) -> tuple[int, int, float]:
    digits = count_digits(text)
    return len(text), digits, 100 * digits / len(text)


def style_attributes(styles: Iterable[Style]) -> Iterator[Row]:
    """Yield attributes 4 to 7 of the nodes evaluated; each is one of those that look like it."""
    looks = [(one.font_size, one.color, one.font_family, one.bold) for one in styles]
    largest = max((size for size, *_ in looks), default=0) or 1
    alike = Counter(looks)
    for look in looks:
        size, _, _, bold = look
        yield size, 100 * size / largest, float(bold), alike[look]
