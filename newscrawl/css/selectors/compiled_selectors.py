"""Compiled selectors, and how they are matched.

A compound selector is a set of names that an element must have, and tests for the rest. A complex
selector is its compounds from right to left; :meth:`Selector.matches` walks from the element to its
ancestors and elder siblings without recursion, going back only where another choice can help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from newscrawl.css.selectors.element_tree import MOST_STEPS, StyleTree, ascii_lower

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Test: TypeAlias = Callable[[StyleTree, int], bool]
Specificity: TypeAlias = tuple[int, int, int]

#: what decides about a selector: the names of the element, those of all its ancestors, or a walk
NAMES, ANCESTORS, WALK = 0, 1, 2

DESCENDANT, CHILD, NEXT, LATER = " ", ">", "+", "~"


@dataclass(frozen=True, slots=True)
class SelectorError:
    """Why browsers take *text* for no selector."""

    text: str
    reason: str


class Compound(NamedTuple):
    """A compound selector, and how it is tied to the one at its right."""

    combinator: str
    #: names that an element must have, see :class:`~newscrawl.css.selectors.element_tree.StyleTree`
    names: frozenset[str]
    tests: tuple[Test, ...]


@dataclass(slots=True, eq=False)
class Selector:
    """A complex selector. Made by :func:`~newscrawl.css.selectors.selectors.compile_selector`."""

    text: str
    #: ids; classes, attributes and pseudo-classes; tags
    specificity: Specificity
    #: the rightmost first
    compounds: tuple[Compound, ...]
    #: names that the ancestors of the element must have between them
    ancestors: frozenset[str]
    #: whether it can tell elements apart that :meth:`~newscrawl.css.selectors.element_tree.StyleTree.chain` cannot
    fragile: bool
    #: whether it can match nothing: pseudo-elements, ``:hover``
    never: bool

    @property
    def key(self) -> tuple[str, str]:
        """Kind and name of something that it asks for, see :func:`split_name`."""
        return split_name(rarest_name(self.compounds[0].names))

    @property
    def decided_by(self) -> int:
        """What decides once the names of the subject and the ancestors are there."""
        subject, *others = self.compounds
        if subject.tests or len(others) > 1:
            return WALK
        if not others:
            return NAMES
        above = others[0]
        is_decided = above.combinator == DESCENDANT and len(above.names) == 1 and not above.tests
        return ANCESTORS if is_decided else WALK

    def matches(self, row: int, tree: StyleTree) -> bool:
        """Return whether the element of *row* is selected.

        A failure goes back to the latest ``~``, then to the latest descendant combinator: an
        earlier one could only offer fewer elements to what is still to be found.
        """
        compounds, names, parent = self.compounds, tree.names, tree.parent
        place = sibling_place = ancestor_place = 0
        sibling = ancestor = -1
        while tree.steps <= MOST_STEPS:
            tree.steps += 1
            compound = compounds[place]
            if row >= 0 and compound.names <= names[row] and _holds(compound.tests, tree, row):
                place += 1
                if place == len(compounds):
                    return tree.steps <= MOST_STEPS
                combinator = compounds[place].combinator
                if combinator == DESCENDANT:
                    sibling_place = 0
                    ancestor_place, row = place, parent[row]
                    ancestor = row
                elif combinator == CHILD:
                    sibling_place, row = 0, parent[row]
                else:
                    row = tree.previous(row)
                    if combinator == LATER:
                        sibling_place, sibling = place, row
            elif sibling_place and sibling >= 0:
                place, row = sibling_place, tree.previous(sibling)
                sibling = row
            elif ancestor_place and ancestor >= 0:
                place, sibling_place, row = ancestor_place, 0, parent[ancestor]
                ancestor = row
            else:
                return False
        return False


def _holds(tests: tuple[Test, ...], tree: StyleTree, row: int) -> bool:
    for test in tests:  # noqa: SIM110  # most have none, and all() would make a generator
        if not test(tree, row):
            return False
    return True


def rarest_name(names: Iterable[str]) -> str:
    """Return the name that the fewest elements should have, the last of such; ``*`` for none."""
    best, best_rank = "*", 9
    for name in names:
        rank = 5 if name in _COMMON else _RANKS.get(name[0], 4)
        if rank <= best_rank:
            best, best_rank = name, rank
    return best


_RANKS = {":": 0, "#": 1, ".": 2, "[": 3}
_COMMON = frozenset(("[class", "[id", "[style", "[href"))
_KIND_NAMES = {":": "pseudo", "#": "id", ".": "class", "[": "attribute"}


def split_name(name: str) -> tuple[str, str]:
    """Return kind and name: ``("class", "title")`` for ``.title``."""
    if name == "*":
        return "any", ""
    kind = _KIND_NAMES.get(name[0])
    return (kind, name[1:]) if kind else ("tag", name)


def is_anchor(tree: StyleTree, row: int) -> bool:
    """Return whether *row* is the element whose ``:has()`` is looked into."""
    return row == tree.anchor


@dataclass(frozen=True, slots=True, eq=False)
class Is:
    """``:is()``, ``:where()``: one of the selectors matches."""

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
    """``:has()``: something below, or after, matches; the last compound of each is the anchor."""

    selectors: Sequence[Selector]

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        key = (self, row)
        found = tree.memo.get(key)
        if found is None:
            tree.steps += 8  # for what is kept
            outer, tree.anchor = tree.anchor, row
            found = tree.memo[key] = any(_found(one, tree, row) for one in self.selectors)
            tree.anchor = outer
        return bool(found)


def _found(selector: Selector, tree: StyleTree, row: int) -> bool:
    """Return whether *selector* matches an element below *row*, or below or among those after."""
    first, last = row + 1, tree.document.end[row]
    if selector.compounds[-1].combinator in {NEXT, LATER}:
        first, last = last, tree.document.end[max(tree.parent[row], 0)]
    name = rarest_name(selector.compounds[0].names)
    return any(selector.matches(other, tree) for other in tree.named(name, first, last))


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda value, given: value == given,
    "~=": lambda value, given: given in value.split(),
    "|=": lambda value, given: value == given or value.startswith(f"{given}-"),
    "^=": lambda value, given: bool(given) and value.startswith(given),
    "$=": lambda value, given: bool(given) and value.endswith(given),
    "*=": lambda value, given: bool(given) and given in value,
}


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """``[name=given]`` and the like; *given* in lower case if it matches in any case."""

    name: str
    operator: str
    given: str
    any_case: bool

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        value = tree.attribute(row, self.name)
        if value is None:
            return False
        tree.steps += len(value) >> 8
        if self.any_case:
            value = ascii_lower(value)
        return _OPERATORS[self.operator](value, self.given)
