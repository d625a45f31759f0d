"""Compiled selectors and their matching.

A compound selector is a set of required names and a tuple of further tests. A complex selector is
its compounds from right to left; :meth:`Selector.matches` walks from the element to its ancestors
and preceding siblings without recursion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from newscrawl.css.selectors.style_tree import MAX_MATCH_STEPS, StyleTree, ascii_lower

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Test: TypeAlias = Callable[[StyleTree, int], bool]
Specificity: TypeAlias = tuple[int, int, int]

SIGNATURE_VALUES = frozenset(("class", "id"))
"""Attributes whose values are part of the signature of an element."""

DESCENDANT, CHILD, NEXT, LATER = " ", ">", "+", "~"


@dataclass(frozen=True, slots=True)
class SelectorError:
    """The reason why *text* is not a valid selector."""

    text: str
    reason: str


class Compound(NamedTuple):
    """A compound selector, and the combinator between it and the one to its right."""

    combinator: str
    #: required names of an element, see :class:`~newscrawl.css.selectors.style_tree.StyleTree`
    names: frozenset[str]
    tests: tuple[Test, ...]


@dataclass(slots=True, eq=False)
class Selector:
    """A compiled complex selector."""

    text: str
    #: numbers of ids; of classes, attributes and pseudo-classes; of tags
    specificity: Specificity
    #: from right to left
    compounds: tuple[Compound, ...]
    #: names that the ancestors of the element must have together
    ancestors: frozenset[str]
    #: whether elements with the same
    #: :meth:`~newscrawl.css.selectors.style_tree.StyleTree.path` can differ in the result
    per_element: bool
    #: whether it can match nothing on a static page: pseudo-elements, ``:hover``
    never_matches: bool

    def matches(self, row: int, tree: StyleTree) -> bool:
        """Return whether the element of *row* matches.

        On failure, backtracks to the latest ``~`` or else the latest descendant combinator. Earlier
        ones need no retry, as they offer only a subset of the remaining elements.
        """
        compounds, names, parent = self.compounds, tree.names, tree.parent
        index = sibling_index = ancestor_index = 0
        sibling = ancestor = -1
        while tree.steps <= MAX_MATCH_STEPS:
            _, required, tests = compounds[index]
            if index and index == ancestor_index:
                row = ancestor = _nearest(row, required, tree)
            tree.steps += 1
            if row >= 0 and required <= names[row] and (not tests or passes(tests, tree, row)):
                index += 1
                if index == len(compounds):
                    return tree.steps <= MAX_MATCH_STEPS
                combinator = compounds[index].combinator
                if combinator == DESCENDANT:
                    sibling_index = 0
                    ancestor_index, row = index, parent[row]
                    ancestor = row
                elif combinator == CHILD:
                    sibling_index, row = 0, parent[row]
                elif combinator == NEXT:
                    row = tree.previous(row)
                else:
                    possible = compounds[index].names <= tree.child_names[parent[row]]
                    row = tree.previous(row) if possible else -1
                    sibling_index, sibling = index, row
            elif sibling_index and sibling >= 0:
                index, row = sibling_index, tree.previous(sibling)
                sibling = row
            elif ancestor_index and ancestor >= 0:
                index, sibling_index, row = ancestor_index, 0, parent[ancestor]
                ancestor = row
            else:
                return False
        return False


def _nearest(row: int, required: frozenset[str], tree: StyleTree) -> int:
    """Return *row* or its nearest ancestor with the *required* names, -1 if there is none."""
    names, parent = tree.names, tree.parent
    while row >= 0 and not required <= names[row]:
        tree.steps += 1
        row = parent[row]
    return row


def passes(tests: tuple[Test, ...], tree: StyleTree, row: int) -> bool:
    """Return whether an element passes all *tests*."""
    for test in tests:  # noqa: SIM110  # all() would create a generator, and most have no tests
        if not test(tree, row):
            return False
    return True


def rarest_name(names: Iterable[str]) -> str:
    """Return the name that probably the fewest elements have, ``*`` if there are no names."""
    best, best_rank = "*", 9
    for name in names:
        rank = 5 if name in _COMMON else _RANKS.get(name[0], 4)
        if rank <= best_rank:
            best, best_rank = name, rank
    return best


_RANKS = {":": 0, "#": 1, ".": 2, "[": 3}
_COMMON = frozenset(("[class", "[id", "[style", "[href"))


def is_anchor(tree: StyleTree, row: int) -> bool:
    """Return whether *row* is the element whose ``:has()`` is being evaluated."""
    return row == tree.anchor


@dataclass(frozen=True, slots=True, eq=False)
class Is:
    """``:is()`` and ``:where()``: any of the selectors matches."""

    selectors: Sequence[Selector]

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        return any(selector.matches(row, tree) for selector in self.selectors)


@dataclass(frozen=True, slots=True, eq=False)
class Not:
    """``:not()``: none of the selectors matches."""

    selectors: Sequence[Selector]

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        return not any(selector.matches(row, tree) for selector in self.selectors)


@dataclass(frozen=True, slots=True, eq=False)
class Has:
    """``:has()``: a descendant or sibling matches; the last compound of each is the anchor."""

    selectors: Sequence[Selector]

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        key = (self, row)
        found = tree.memo.get(key)
        if found is None:
            tree.steps += 8  # accounts for the memory of the memo
            outer, tree.anchor = tree.anchor, row
            found = tree.memo[key] = any(
                _matches_any(selector, tree, row) for selector in self.selectors
            )
            tree.anchor = outer
        return bool(found)


def _matches_any(selector: Selector, tree: StyleTree, row: int) -> bool:
    """Return whether *selector* matches a descendant of *row*, or of its later siblings."""
    first, last = row + 1, tree.document.end[row]
    if selector.compounds[-1].combinator in {NEXT, LATER}:
        first, last = last, tree.document.end[max(tree.parent[row], 0)]
    return any(
        selector.matches(other, tree)
        for name in alternative_names(selector.compounds[0])
        for other in tree.named(name, first, last)
    )


def alternative_names(compound: Compound) -> set[str]:
    """Return names of which every matching element has one, ``*`` if unknown."""
    alternatives = next((test for test in compound.tests if isinstance(test, Is)), None)
    if compound.names or alternatives is None:
        return {rarest_name(compound.names)}
    found = {
        name
        for selector in alternatives.selectors
        for name in alternative_names(selector.compounds[0])
    }
    return {"*"} if "*" in found else found


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda value, expected: value == expected,
    "~=": lambda value, expected: expected in value.split(),
    "|=": lambda value, expected: value == expected or value.startswith(f"{expected}-"),
    "^=": lambda value, expected: bool(expected) and value.startswith(expected),
    "$=": lambda value, expected: bool(expected) and value.endswith(expected),
    "*=": lambda value, expected: bool(expected) and expected in value,
}


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """``[name=expected]`` and variants; *expected* is in lower case if *ignore_case* is set."""

    name: str
    operator: str
    expected: str
    ignore_case: bool

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        value = tree.attribute(row, self.name)
        if value is None:
            return False
        tree.steps += len(value) >> 8
        if self.ignore_case:
            value = ascii_lower(value)
        return _OPERATORS[self.operator](value, self.expected)
