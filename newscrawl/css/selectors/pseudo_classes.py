"""Pseudo-classes, except functional ones with selectors, and the names of pseudo-elements.

https://www.w3.org/TR/selectors-4/. An unknown name makes a rule invalid, so these are the names
that Chromium supports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from newscrawl.css.selectors.compiled_selectors import SIGNATURE_VALUES, Attribute, Is, Not
from newscrawl.css.selectors.form_states import FORM_TESTS
from newscrawl.css.selectors.nth import AnPlusB, Nth, all_siblings, siblings_of_type
from newscrawl.css.selectors.selector_tokens import words

if TYPE_CHECKING:
    from newscrawl.css.selectors.compiled_selectors import Test
    from newscrawl.css.selectors.style_tree import StyleTree

    Table: TypeAlias = dict[str, Test]

NEVER_MATCHING = words(
    """
    active active-view-transition autofill current focus focus-visible focus-within fullscreen
    future has-slotted host hover modal past paused picture-in-picture playing popover-open target
    target-after target-before target-current user-invalid user-valid visited xr-overlay
    -webkit-autofill -webkit-drag -webkit-full-page-media -webkit-full-screen
    -webkit-full-screen-ancestor in-range out-of-range corner-present decrement double-button end horizontal
    increment no-button single-button start vertical window-inactive
    """
)
"""Pseudo-classes that are taken to match nothing.

They depend on user interaction or on parts that a static page lacks."""

NEVER_MATCHING_FUNCTIONS = frozenset(
    ("active-view-transition-type", "host", "host-context", "state")
)

PSEUDO_ELEMENTS = words(
    """
    after backdrop before checkmark column cue details-content file-selector-button first-letter
    first-line grammar-error marker picker-icon placeholder scroll-marker scroll-marker-group
    search-text selection spelling-error target-text view-transition
    """
)

PSEUDO_ELEMENT_FUNCTIONS = words(
    """
    cue highlight part picker scroll-button slotted view-transition-group
    view-transition-image-pair view-transition-new view-transition-old
    """
)

LEGACY_PSEUDO_ELEMENTS = frozenset(("after", "before", "first-letter", "first-line"))
"""Pseudo-elements that may be written with one colon."""

_STATES = words(
    """
    active corner-present decrement disabled double-button enabled end focus focus-visible
    focus-within horizontal hover increment no-button not single-button start vertical
    window-inactive
    """
)


def may_follow(pseudo_class: str, pseudo_element: str) -> bool:
    """Return whether *pseudo_class* is allowed after *pseudo_element*."""
    if pseudo_class in {"is", "where"} or pseudo_element.startswith(("part", "view-transition")):
        return True
    return pseudo_class in _STATES and pseudo_element.startswith(("-webkit-", "file-selector"))


_LINKS = frozenset(("a", "area"))


def _link(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in _LINKS and "[href" in tree.names[row]


def _empty(tree: StyleTree, row: int) -> bool:
    element = tree.document.element(row)
    return not len(element) and not element.text


def _defined(tree: StyleTree, row: int) -> bool:
    """Return whether the element is not a custom one, which only a script can define."""
    return "-" not in tree.tag[row]


def _open(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in {"details", "dialog"} and "[open" in tree.names[row]


def _both(first: Test, second: Test) -> Test:
    return lambda tree, row: first(tree, row) and second(tree, row)


_FIRST = AnPlusB(0, 1)
_first_child = Nth(_FIRST, all_siblings)
_last_child = Nth(_FIRST, all_siblings, from_end=True)
_first_of_type = Nth(_FIRST, siblings_of_type)
_last_of_type = Nth(_FIRST, siblings_of_type, from_end=True)

SHARED_TESTS: Table = {
    "-webkit-any-link": _link,
    "any-link": _link,
    "defined": _defined,
    "link": _link,
}
"""Tests with the same result for all elements of one path id."""

_SIGNATURE_TESTS = frozenset(SHARED_TESTS.values())


def is_local(test: Test) -> bool:
    """Return whether *test* depends only on the signature of the element.

    See :meth:`~newscrawl.css.selectors.style_tree.StyleTree.path_id`.
    """
    if isinstance(test, Attribute):
        return test.name in SIGNATURE_VALUES
    if isinstance(test, (Is, Not)):
        return all(
            len(selector.compounds) == 1 and all(map(is_local, selector.compounds[0].tests))
            for selector in test.selectors
        )
    return test in _SIGNATURE_TESTS


PER_ELEMENT_TESTS: Table = FORM_TESTS | {
    "empty": _empty,
    "first-child": _first_child,
    "first-of-type": _first_of_type,
    "last-child": _last_child,
    "last-of-type": _last_of_type,
    "only-child": _both(_first_child, _last_child),
    "only-of-type": _both(_first_of_type, _last_of_type),
    "open": _open,
}
"""Tests that depend on siblings, content or attribute values."""


@dataclass(frozen=True, slots=True, eq=False)
class IsLanguage:
    """``:lang()``: the element is in *language*, given in lower case, or in a variant of it.

    As in Chromium, lists, strings and wildcards are not supported.
    """

    language: str

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        return f"{tree.language(row).lower()}-".startswith(f"{self.language}-")


@dataclass(frozen=True, slots=True, eq=False)
class IsDirection:
    """``:dir()``: the text direction of the element is *direction*."""

    direction: str

    def __call__(self, tree: StyleTree, row: int) -> bool:
        """Return whether the element of *row* passes."""
        return tree.direction(row) == self.direction
