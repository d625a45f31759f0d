"""``an+b``: the places that ``:nth-child()`` and its kin select.

https://www.w3.org/TR/css-syntax-3/#anb-microsyntax
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from newscrawl.css.selectors.compiled_selectors import Selector
    from newscrawl.css.selectors.element_tree import StyleTree

_LARGEST = 2**31 - 1

_PLACES = re.compile(
    r"\s*+(?:(?P<word>even|odd)(?![\w-])"
    r"|(?P<step>[+-]?\d*)n(?:\s*+(?P<sign>[+-])\s*+(?P<offset>\d++))?(?![\w-])"
    r"|(?P<place>[+-]?\d++)(?![\w.-]))"
    r"(?:\s++of(?![\w-])(?P<of>.++))?\s*+",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)


class Places(NamedTuple):
    """Places *step* * n + *offset* for n = 0, 1, ...; the first sibling has place 1."""

    step: int
    offset: int

    def __contains__(self, place: object) -> bool:
        if not isinstance(place, int):
            return False
        beyond = place - self.offset
        if not self.step:
            return not beyond
        return not beyond % self.step and beyond // self.step >= 0


def parse_places(text: str) -> tuple[Places, str | None] | None:
    """Return the places and the selector list after ``of``, None where *text* is invalid."""
    match = _PLACES.fullmatch(text)
    if match is None:
        return None
    return _places(match), match["of"]


def _places(match: re.Match[str]) -> Places:
    if match["word"]:
        return Places(2, 0 if match["word"].lower() == "even" else 1)
    if match["place"]:
        return Places(0, _integer(match["place"]))
    step = match["step"] if match["step"].strip("+-") else f"{match['step']}1"
    return Places(
        _integer(step), _integer(f"{match['sign']}{match['offset']}") if match["sign"] else 0
    )


def _integer(text: str) -> int:
    """Return the number, or the largest that browsers keep, which no place comes near."""
    digits = text.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) < 10 else _LARGEST
    return -size if text.startswith("-") else size


def all_siblings(tree: StyleTree, row: int) -> list[int]:
    """Return *row* and its siblings."""
    return tree.siblings(row)


def siblings_of_type(tree: StyleTree, row: int) -> list[int]:
    """Return *row* and its siblings of the same tag."""
    tag, key = tree.tag[row], ("type", tree.parent[row], tree.tag[row])
    found = tree.memo.get(key)
    if not isinstance(found, list):
        siblings = tree.siblings(row)
        tree.steps += len(siblings)
        found = tree.memo[key] = [sibling for sibling in siblings if tree.tag[sibling] == tag]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class SiblingsOf:
    """The siblings that one of the selectors matches."""

    selectors: Sequence[Selector]

    def __call__(self, tree: StyleTree, row: int) -> list[int]:
        """Return those of *row* and its siblings."""
        key = (self, tree.parent[row])
        found = tree.memo.get(key)
        if not isinstance(found, list):
            found = tree.memo[key] = [
                sibling
                for sibling in tree.siblings(row)
                if any(selector.matches(sibling, tree) for selector in self.selectors)
            ]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Nth:
    """``:nth-child()`` and its kin: the element has one of the places *among* its siblings."""

    places: Places
    among: Callable[[StyleTree, int], list[int]]
    from_end: bool = False

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        rows = self.among(tree, row)
        place = bisect_left(rows, row)
        if place == len(rows) or rows[place] != row:
            return False
        return (len(rows) - place if self.from_end else place + 1) in self.places
