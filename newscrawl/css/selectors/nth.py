"""``:nth-child()`` and related pseudo-classes, with the ``An+B`` notation.

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
    from newscrawl.css.selectors.style_tree import StyleTree

_MAX_INTEGER = 2**31 - 1

_AN_PLUS_B = re.compile(
    r"\s*+(?:(?P<word>even|odd)(?![\w-])"
    r"|(?P<step>[+-]?\d*)n(?:\s*+(?P<sign>[+-])\s*+(?P<offset>\d++))?(?![\w-])"
    r"|(?P<index>[+-]?\d++)(?![\w.-]))"
    r"(?:\s++of(?![\w-])(?P<of>.++))?\s*+",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)


class AnPlusB(NamedTuple):
    """The indexes *step* * n + *offset* for n = 0, 1, ...; the first sibling has index 1."""

    step: int
    offset: int

    def __contains__(self, index: object) -> bool:
        if not isinstance(index, int):
            return False
        distance = index - self.offset
        if not self.step:
            return not distance
        return not distance % self.step and distance // self.step >= 0


def parse_an_plus_b(text: str) -> tuple[AnPlusB, str | None] | None:
    """Return the indexes and the selector list after ``of``, None if *text* is invalid."""
    match = _AN_PLUS_B.fullmatch(text)
    if match is None:
        return None
    return _an_plus_b(match), match["of"]


def _an_plus_b(match: re.Match[str]) -> AnPlusB:
    if match["word"]:
        return AnPlusB(2, 0 if match["word"].lower() == "even" else 1)
    if match["index"]:
        return AnPlusB(0, _integer(match["index"]))
    step = match["step"] if match["step"].strip("+-") else f"{match['step']}1"
    return AnPlusB(
        _integer(step), _integer(f"{match['sign']}{match['offset']}") if match["sign"] else 0
    )


def _integer(text: str) -> int:
    """Return the integer, clamped to 32 bits as in browsers."""
    digits = text.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) < 10 else _MAX_INTEGER
    return -size if text.startswith("-") else size


def all_siblings(tree: StyleTree, row: int) -> list[int]:
    """Return *row* and its siblings."""
    return tree.siblings(row)


def siblings_of_type(tree: StyleTree, row: int) -> list[int]:
    """Return *row* and its siblings with the same tag."""
    tag, key = tree.tag[row], ("type", tree.parent[row], tree.tag[row])
    found = tree.memo.get(key)
    if not isinstance(found, list):
        siblings = tree.siblings(row)
        tree.steps += len(siblings)
        found = tree.memo[key] = [sibling for sibling in siblings if tree.tag[sibling] == tag]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class SiblingsOf:
    """The siblings that match any of the selectors."""

    selectors: Sequence[Selector]

    def __call__(self, tree: StyleTree, row: int) -> list[int]:
        """Return the matching rows among *row* and its siblings."""
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
    """``:nth-child()`` and related: the index of the element among *siblings* is in *indexes*."""

    indexes: AnPlusB
    siblings: Callable[[StyleTree, int], list[int]]
    from_end: bool = False

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        rows = self.siblings(tree, row)
        position = bisect_left(rows, row)
        if position == len(rows) or rows[position] != row:
            return False
        return (len(rows) - position if self.from_end else position + 1) in self.indexes
