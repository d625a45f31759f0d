"""Text inside the body that its style hides from readers.

Most of it is story: the rest behind a paywall or a button, panels of an accordion, an article that
appears when a script has run. What is little and unlike the story is not: sentences against
copiers, instructions for machines, dialogs, second headlines, share buttons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from newscrawl.body.blocks import MIN_LONG
from newscrawl.document.rows import HIDING_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

MAX_HIDDEN_SHARE = 0.6
"""Share of the body above which hidden text is the story."""

MAX_LITTLE_SHARE = 0.3
"""Share of the body up to which it is little."""

MAX_ALIKE = 2
"""Number of hidden elements of one tag and class; more are the parts of an accordion or a list."""

_MAX_BETWEEN = 8  # siblings without shown text up to a paragraph


def little_hidden_text(
    document: Document, rows: Sequence[int], hides: Callable[[int], bool]
) -> frozenset[int]:
    """Return those of the text nodes *rows* that are hidden and no part of the story.

    *rows* are the body, ``hides(row)`` says whether style hides a row. A unit is the outermost
    hidden element around text. Nothing is removed if most of the body is hidden. Units go if they
    are little in all and few are alike, or if one that is alike lies between two paragraphs with
    its tag.
    """
    units: dict[int, list[int]] = {}
    for row in rows:
        if hides(row):
            units.setdefault(_outermost(document, row, hides), []).append(row)
    sizes = {unit: _chars(document, inside) for unit, inside in units.items()}
    hidden, whole = sum(sizes.values()), _chars(document, rows)
    if hidden > MAX_HIDDEN_SHARE * whole:
        return frozenset()
    alike = Counter(_markup(document, unit) for unit in units)
    is_little = hidden <= MAX_LITTLE_SHARE * whole
    unwanted = {_markup(document, unit) for unit in _between_paragraphs(document, units, hides)}
    return frozenset(
        row
        for unit, inside in units.items()
        if not _is_hidden_by_attribute(document, unit)
        and (
            _markup(document, unit) in unwanted
            or (is_little and alike[_markup(document, unit)] <= MAX_ALIKE)
        )
        for row in inside
    )


def elements_around_some(document: Document, rows: Sequence[int]) -> set[int]:
    """Return the elements around some of the text nodes *rows*, and not around all of them."""
    parent, end = document.parent, document.end
    whole = parent[rows[0]] if rows else -1
    while whole >= 0 and end[whole] <= rows[-1]:
        whole = parent[whole]
    found: set[int] = set()
    for row in rows:
        above = parent[row]
        while above > whole and above not in found:
            found.add(above)
            above = parent[above]
    return found


def _outermost(document: Document, row: int, hides: Callable[[int], bool]) -> int:
    """Return the outermost hidden element around the text node *row*."""
    unit = document.parent[row]
    while document.parent[unit] >= 0 and hides(document.parent[unit]):
        unit = document.parent[unit]
    return unit


def _is_hidden_by_attribute(document: Document, row: int) -> bool:
    """Return whether an attribute hides *row*, which was shown before because it is story."""
    attributes = document.attributes_of(row)
    return any(
        name in attributes and is_hiding(attributes[name])
        for name, is_hiding in HIDING_ATTRIBUTES.items()
    )


def _between_paragraphs(
    document: Document, units: Iterable[int], hides: Callable[[int], bool]
) -> Iterator[int]:
    """Yield the *units* whose nearest shown siblings are paragraphs with their tag."""
    siblings: dict[int, list[int]] = {}
    for unit in units:
        parent = document.parent[unit]
        if parent not in siblings:
            siblings[parent] = list(document.children(parent))
        place = bisect_left(siblings[parent], unit)
        before = reversed(siblings[parent][max(0, place - _MAX_BETWEEN) : place])
        after = siblings[parent][place + 1 : place + 1 + _MAX_BETWEEN]
        if all(_is_next_paragraph(document, unit, near, hides) for near in (before, after)):
            yield unit


def _is_next_paragraph(
    document: Document, unit: int, siblings: Iterable[int], hides: Callable[[int], bool]
) -> bool:
    shown = (row for row in siblings if document.chars(row) and not hides(row))
    nearest = next(shown, None)
    return (
        nearest is not None
        and document.tag[nearest] == document.tag[unit]
        and document.chars(nearest) >= MIN_LONG
    )


def _markup(document: Document, row: int) -> tuple[str, str | None]:
    return document.tag[row], document.attributes["class"].get(row)


def _chars(document: Document, rows: Iterable[int]) -> float:
    return sum(map(document.chars, rows))
