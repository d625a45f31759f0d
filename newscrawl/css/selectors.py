"""Selectors: compiling, matching, and an index of the selectors of a sheet.

An element has *names*: its tag, ``#id``, ``.class``, ``[attribute`` and, if it is the root,
``:root``. A compound selector is a set of required names and a tuple of further tests; a complex
selector is its compounds from right to left.

https://www.w3.org/TR/selectors-4/, with few pseudo-classes: a selector with another one matches
nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from newscrawl.css.parser import (
    ESCAPE,
    SPACE,
    STRING,
    end_of_arguments,
    split_list,
    unescape,
    unmask,
)
from newscrawl.document.document import TEXT
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from newscrawl.css.parser import Rule, RuleIndex
    from newscrawl.document.document import Document

    Specificity: TypeAlias = tuple[int, int, int]

MAX_STEPS = 1_000_000
"""Limit of the matching work of a page; beyond it only the default style sheet matches."""

MAX_SELECTOR_LENGTH = 4096
MAX_NESTING = 8

Test: TypeAlias = "Callable[[StyleTree, int], bool]"


class StyleTree:
    """The elements of a document, by row, as selectors see them; data is read when needed."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.tag = document.tag
        self.parent = document.parent
        #: names of the elements that have been reached
        self.names: dict[int, frozenset[str]] = {}
        #: matching work so far
        self.steps = 0
        self._children: dict[int, list[int]] = {-1: [0]}

    def names_of(self, row: int) -> frozenset[str]:
        """Return the names of an element."""
        names = self.names.get(row)
        if names is None:
            own = self.document.attributes_of(row)
            of_tag = own.get("id"), own.get("class"), tuple(own)
            names = self.names[row] = names_of(self.tag[row], *of_tag, row == 0)
        return names

    def siblings(self, row: int) -> list[int]:
        """Return the rows of an element and its sibling elements."""
        parent = self.parent[row]
        found = self._children.get(parent)
        if found is None:
            tag = self.tag
            found = [child for child in self.document.children(parent) if tag[child] != TEXT]
            self._children[parent] = found
            self.steps += len(found)
        return found

    def previous(self, row: int) -> int:
        """Return the previous sibling element, -1 if there is none."""
        siblings = self.siblings(row)
        position = bisect_left(siblings, row)
        return siblings[position - 1] if position else -1


@lru_cache(2048)  # the pages of a site share most elements
def names_of(
    tag: str,
    own_id: str | None,
    classes: str | None,
    attributes: tuple[str, ...],
    root: bool,  # noqa: FBT001  # the cache is faster with positional arguments
) -> frozenset[str]:
    """Return the names of an element."""
    names = [tag, *[f"[{name}" for name in attributes]]
    if own_id:
        names.append(f"#{own_id}")
    if classes:
        names += [f".{name}" for name in classes.split()]
    if root:
        names.append(":root")
    return frozenset(names)


class Compound(NamedTuple):
    """A compound selector, and the combinator between it and the one to its right."""

    combinator: str
    names: frozenset[str]
    tests: tuple[Test, ...]


class Selector(NamedTuple):
    """A compiled complex selector."""

    specificity: Specificity
    #: from right to left
    compounds: tuple[Compound, ...]
    #: names that the element and its ancestors must have together
    required: frozenset[str]
    #: whether elements of equal names and with ancestors of equal names can differ in the result
    per_element: bool

    def matches(self, row: int, tree: StyleTree) -> bool:  # noqa: C901  # one automaton
        """Return whether the element of *row* matches.

        On failure, backtracks to the latest ``~`` or else the latest descendant combinator. Earlier
        ones need no retry, as they offer only a subset of the remaining elements.
        """
        compounds, names_of, parent = self.compounds, tree.names_of, tree.parent
        index = sibling_index = ancestor_index = 0
        sibling = ancestor = -1
        while tree.steps <= MAX_STEPS:
            _, required, tests = compounds[index]
            if index and index == ancestor_index:
                while row >= 0 and not required <= names_of(row):
                    tree.steps += 1
                    row = parent[row]
                ancestor = row
            tree.steps += 1
            if (
                row >= 0
                and required <= names_of(row)
                and (not tests or all(test(tree, row) for test in tests))
            ):
                index += 1
                if index == len(compounds):
                    return True
                combinator = compounds[index].combinator
                if combinator in " >":
                    sibling_index, row = 0, parent[row]
                    if combinator == " ":
                        ancestor_index, ancestor = index, row
                else:
                    row = tree.previous(row)
                    if combinator == "~":
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


_NAME = rf"(?:[-\w]|[^\x00-\x7f]|{ESCAPE})++"
_PIECE = lazy_regex(
    rf"(?P<combinator>[{SPACE}]*+[>+~][{SPACE}]*+|[{SPACE}]++)"
    rf"|(?P<kind>[.#]?)(?P<name>{_NAME})|(?P<any>\*)"
    rf"|\[[{SPACE}]*+(?P<attribute>{_NAME})[{SPACE}]*+"
    rf"(?:(?P<operator>[~|^$*]?=)[{SPACE}]*+(?P<value>{STRING}|{_NAME})[{SPACE}]*+)?\]"
    rf"|:(?P<pseudo>{_NAME})(?P<call>\()?",
    re.ASCII | re.DOTALL,
)


@lru_cache(2048)
def compile_selector(text: str, nesting: int = 0) -> Selector | None:
    """Compile a complex selector; None if it is invalid, not supported or matches nothing."""
    text = text.strip(SPACE)
    if len(text) > MAX_SELECTOR_LENGTH or nesting > MAX_NESTING:
        return None
    return _Compiler(unmask(text), nesting).compiled()


class _Compiler:
    """Compiler of one complex selector."""

    def __init__(self, text: str, nesting: int) -> None:
        self._text = text
        self._nesting = nesting
        self._ids = self._classes = self._tags = 0
        self._names: set[str] = set()
        self._tests: list[Test] = []
        self._required: set[str] = set()
        self._per_element = False

    def compiled(self) -> Selector | None:
        compounds: list[Compound] = []
        position, empty, text = 0, True, self._text
        while position < len(text):
            piece = _PIECE.match(text, position)
            if piece is None:
                return None
            position = piece.end()
            if combinator := piece["combinator"]:
                if empty:
                    return None
                combinator = combinator.strip(SPACE) or " "
                compounds.append(self._compound(combinator))
                if combinator in "+~":
                    self._per_element = True
                empty = True
                continue
            empty = False
            if piece["call"]:
                end = end_of_arguments(text, position)
                if end < 0 or not self._add_function(piece["pseudo"].lower(), text[position:end]):
                    return None
                position = end + 1
            elif not self._add(piece):
                return None
        if empty:
            return None
        compounds.append(self._compound(""))
        compounds.reverse()
        return Selector(
            (self._ids, self._classes, self._tags),
            tuple(compounds),
            frozenset(self._required),
            self._per_element,
        )

    def _compound(self, combinator: str) -> Compound:
        compound = Compound(combinator, frozenset(self._names), tuple(self._tests))
        if combinator not in {"+", "~"}:
            self._required |= self._names
        self._names, self._tests = set(), []
        return compound

    def _add(self, piece: re.Match[str]) -> bool:
        """Add a simple selector; return whether it is supported and can match."""
        if name := piece["name"]:
            if not piece["kind"]:
                self._names.add(unescape(name).lower())
                self._tags += 1
            elif piece["kind"] == ".":
                self._names.add(f".{unescape(name)}")
                self._classes += 1
            else:
                self._names.add(f"#{unescape(name)}")
                self._ids += 1
        elif piece["attribute"]:
            self._classes += 1
            self._add_attribute(piece)
        elif piece["pseudo"]:
            self._classes += 1
            return self._add_pseudo_class(piece["pseudo"].lower())
        return True

    def _add_attribute(self, piece: re.Match[str]) -> None:
        name = unescape(piece["attribute"]).lower()
        self._names.add(f"[{name}")
        if operator := piece["operator"]:
            value = piece["value"]
            value = unescape(value[1:-1] if value[0] in "\"'" else value)
            self._tests.append(_attribute_test(name, _OPERATORS[operator], value))
            self._per_element |= name not in {"class", "id"}

    def _add_pseudo_class(self, name: str) -> bool:
        if name == "root":
            self._names.add(":root")
        elif name in {"link", "any-link"}:
            self._names.add("[href")
            self._tests.append(lambda tree, row: tree.tag[row] in {"a", "area"})
        elif (test := _TESTS.get(name)) is not None:
            self._tests.append(test)
            self._per_element = True
        else:
            return False
        return True

    def _add_function(self, name: str, arguments: str) -> bool:
        if name in _INDEXED:
            self._classes += 1
            self._per_element = True
            indexes = _parse_an_plus_b(arguments)
            if indexes is not None:
                self._tests.append(_nth_test(*indexes, *_INDEXED[name]))
            return indexes is not None
        if name == "has":
            return self._add_has(arguments)
        if name not in {"is", "where", "not", "matches", "-webkit-any", "-moz-any"}:
            return False
        compiled = [compile_selector(text, self._nesting + 1) for text in split_list(arguments)]
        selectors = [selector for selector in compiled if selector is not None]
        if name != "where" and selectors:
            self._add_specificity(selectors)
        only = selectors[0] if name != "not" and len(selectors) == 1 else None
        if only is not None:
            self._names |= only.compounds[0].names
            self._required |= only.required
        if only is not None and len(only.compounds) == 1:
            self._tests += only.compounds[0].tests
        elif selectors:
            self._tests.append(_list_test(selectors, expected=name != "not"))
        self._per_element |= any(selector.per_element for selector in selectors)
        return bool(selectors) or name == "not"

    def _add_specificity(self, selectors: Iterable[Selector]) -> None:
        ids, classes, tags = max(selector.specificity for selector in selectors)
        self._ids, self._classes, self._tags = (
            self._ids + ids, self._classes + classes, self._tags + tags
        )  # fmt: skip

    def _add_has(self, arguments: str) -> bool:
        """Add ``:has()`` of compound selectors, each with at most one combinator before it."""
        inner: list[tuple[str, Selector]] = []
        for text in split_list(arguments):
            combinator = text.strip(SPACE)[:1] if text.strip(SPACE)[:1] in ("+", "~", ">") else " "
            selector = compile_selector(text.strip(SPACE + combinator), self._nesting + 1)
            if selector is None or len(selector.compounds) > 1:
                return False
            inner.append((combinator, selector))
        self._add_specificity(selector for _, selector in inner)
        self._tests.append(lambda tree, row: any(_has(tree, row, *it) for it in inner))
        self._per_element = True
        return True


def _has(tree: StyleTree, row: int, combinator: str, selector: Selector) -> bool:
    if combinator == " ":
        rows: Iterable[int] = range(row + 1, tree.document.end[row])
    elif combinator == ">":
        rows = tree.document.children(row)
    else:
        siblings = tree.siblings(row)
        rows = siblings[bisect_right(siblings, row) :][: 1 if combinator == "+" else None]
    for other in rows:
        tree.steps += 1
        if tree.steps > MAX_STEPS:
            return False
        if tree.tag[other] != TEXT and selector.matches(other, tree):
            return True
    return False


def _list_test(selectors: Sequence[Selector], *, expected: bool) -> Test:
    if all(len(s.compounds) == 1 and not s.compounds[0].tests for s in selectors):
        names = [selector.required for selector in selectors]
        return lambda tree, row: any(map(tree.names_of(row).issuperset, names)) is expected
    return lambda tree, row: any(s.matches(row, tree) for s in selectors) is expected


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda value, expected: value == expected,
    "~=": lambda value, expected: expected in value.split(),
    "|=": lambda value, expected: f"{value}-".startswith(f"{expected}-"),
    "^=": lambda value, expected: bool(expected) and value.startswith(expected),
    "$=": lambda value, expected: bool(expected) and value.endswith(expected),
    "*=": lambda value, expected: bool(expected) and expected in value,
}


def _attribute_test(name: str, compare: Callable[[str, str], bool], expected: str) -> Test:
    def test(tree: StyleTree, row: int) -> bool:
        value = tree.document.attributes_of(row).get(name, "")
        tree.steps += len(value) >> 8
        return compare(value, expected)

    return test


_AN_PLUS_B = lazy_regex(
    r"\s*(?:(?P<word>even|odd)|(?P<step>[+-]?\d{0,9})n(?:\s*(?P<sign>[+-])\s*(?P<offset>\d{1,9}))?"
    r"|(?P<index>[+-]?\d{1,9}))\s*",
    re.IGNORECASE,
)


def _parse_an_plus_b(text: str) -> tuple[int, int] | None:
    """Return step and offset of ``An+B``, None if *text* is anything else."""
    match = _AN_PLUS_B.fullmatch(text)
    if match is None:
        return None
    if match["word"]:
        return 2, int(match["word"].lower() == "odd")
    if match["index"]:
        return 0, int(match["index"])
    step = match["step"] if match["step"].strip("+-") else f"{match['step']}1"
    return int(step), int(f"{match['sign']}{match['offset']}") if match["sign"] else 0


def _nth_test(step: int, offset: int, from_end: bool, of_type: bool) -> Test:  # noqa: FBT001
    def test(tree: StyleTree, row: int) -> bool:
        rows = tree.siblings(row)
        if of_type:
            tree.steps += len(rows) >> 2
            rows = [other for other in rows if tree.tag[other] == tree.tag[row]]
        position = bisect_left(rows, row)
        distance = (len(rows) - position if from_end else position + 1) - offset
        if not step:
            return not distance
        return not distance % step and distance // step >= 0

    return test


_INDEXED = {
    "nth-child": (False, False), "nth-last-child": (True, False),
    "nth-of-type": (False, True), "nth-last-of-type": (True, True),
}  # fmt: skip
_FIRST, _LAST, _FIRST_OF_TYPE, _LAST_OF_TYPE = (_nth_test(0, 1, *it) for it in _INDEXED.values())
_TESTS: dict[str, Test] = {
    "first-child": _FIRST,
    "last-child": _LAST,
    "only-child": lambda tree, row: _FIRST(tree, row) and _LAST(tree, row),
    "first-of-type": _FIRST_OF_TYPE,
    "last-of-type": _LAST_OF_TYPE,
    "only-of-type": lambda tree, row: _FIRST_OF_TYPE(tree, row) and _LAST_OF_TYPE(tree, row),
}

_NEVER = lazy_regex(r"::|:(?:hover|focus|active|before|after|visited|target|first-l|-)")
# Tag, and last class or id, of a plain selector's subject, with its end; or the rest of a list.
_SUBJECTS = lazy_regex(
    rf"((?:[-\w.#:]*+[{SPACE}>+~]++)*+([-\w]*+)([.#][-\w]++)*+[-\w:]*+)[{SPACE}]*+([,;])|([^;]++);?+",
    re.ASCII,
)


def index_rules(rules: Sequence[Rule]) -> RuleIndex:
    """Return the (masked) selectors of *rules* and their rule numbers by a name of their subject.

    Every element that a selector matches has the name, ``*`` if none is required. Selectors that
    match nothing on a static page are left out.
    """
    index: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    number = 0
    lists = "".join([f"{selectors};" for selectors, *_ in rules])
    for text, tag, name, end, rest in _SUBJECTS.findall(lists):
        if not end:
            for part in split_list(rest):
                index[_key(part)].append((part, number))
        elif ":" not in text or not _NEVER.search(text):
            index[name or tag.lower() or _key(text)].append((text, number))
        number += end != ","
    index.pop("", None)
    return dict(index)


def _key(text: str) -> str:
    """Return a name of the subject of a selector, "" if it matches nothing."""
    compiled = compile_selector(text)
    return min(compiled.compounds[0].names, default="*") if compiled else ""
