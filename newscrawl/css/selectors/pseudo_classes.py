"""Pseudo-classes, except functional ones with selectors, and the names of pseudo-elements.

https://www.w3.org/TR/selectors-4/ and, for forms,
https://html.spec.whatwg.org/multipage/semantics-other.html#pseudo-classes. An unknown name makes a
rule invalid, so these are the names that Chromium supports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

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
    -webkit-full-screen-ancestor corner-present decrement double-button end horizontal increment
    no-button single-button start vertical window-inactive
    """
)
"""Pseudo-classes that depend on user interaction or on parts that a static page lacks."""

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
_FIELDS = frozenset(("input", "select", "textarea"))
_DISABLED = _FIELDS | {"button", "fieldset", "optgroup", "option"}
_NOT_TYPED = frozenset(
    ("button", "checkbox", "color", "file", "hidden", "image", "radio", "range", "reset", "submit")
)
_RANGED = frozenset(("date", "datetime-local", "month", "number", "range", "time", "week"))


def _link(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in _LINKS and "[href" in tree.names[row]


def _empty(tree: StyleTree, row: int) -> bool:
    element = tree.document.element(row)
    return not len(element) and not element.text


def _defined(tree: StyleTree, row: int) -> bool:
    """Return whether the element is not a custom one; scripts, which would define it, do not run."""
    return "-" not in tree.tag[row]


def _has(tree: StyleTree, row: int, name: str) -> bool:
    return tree.attribute(row, name) is not None


def _type(tree: StyleTree, row: int) -> str:
    return (tree.attribute(row, "type") or "").lower()


def _enabled(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in _DISABLED and not _disabled(tree, row)


def _disabled(tree: StyleTree, row: int) -> bool:
    tag = tree.tag[row]
    if tag not in _DISABLED:
        return False
    if _has(tree, row, "disabled"):
        return True
    if tag == "option":
        above = tree.parent[row]
        return tree.tag[above] == "optgroup" and _has(tree, above, "disabled")
    return tag != "optgroup" and _in_disabled_fieldset(tree, row)


def _in_disabled_fieldset(tree: StyleTree, row: int) -> bool:
    """Return whether a fieldset disables *row*; its first legend is exempt."""
    child = row
    for above in tree.document.ancestors(row):
        if tree.tag[above] == "fieldset" and _has(tree, above, "disabled"):
            legends = (other for other in tree.children[above] if tree.tag[other] == "legend")
            if next(legends, None) != child:
                return True
        child = above
    return False


def _checked(tree: StyleTree, row: int) -> bool:
    if tree.tag[row] == "option":
        return _has(tree, row, "selected")
    is_box = tree.tag[row] == "input" and _type(tree, row) in {"checkbox", "radio"}
    return is_box and _has(tree, row, "checked")


def _indeterminate(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] == "progress" and not _has(tree, row, "value")


def _required(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in _FIELDS and _has(tree, row, "required")


def _optional(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in _FIELDS and not _has(tree, row, "required")


def _is_text_field(tree: StyleTree, row: int) -> bool:
    tag = tree.tag[row]
    return tag == "textarea" or (tag == "input" and _type(tree, row) not in _NOT_TYPED)


def _read_write(tree: StyleTree, row: int) -> bool:
    if _is_text_field(tree, row):
        return not _has(tree, row, "readonly") and not _disabled(tree, row)
    while row >= 0:
        editable = tree.attribute(row, "contenteditable")
        if editable is not None:
            return editable.lower() in {"", "true", "plaintext-only"}
        row = tree.parent[row]
    return False


def _read_only(tree: StyleTree, row: int) -> bool:
    return not _read_write(tree, row)


def _blank(tree: StyleTree, row: int) -> bool:
    if tree.tag[row] == "textarea":
        return not tree.document.element(row).text
    return not tree.attribute(row, "value")


def _placeholder_shown(tree: StyleTree, row: int) -> bool:
    return _is_text_field(tree, row) and _has(tree, row, "placeholder") and _blank(tree, row)


def _invalid(tree: StyleTree, row: int) -> bool:
    """Return whether a required field is empty; values are not validated."""
    if not _required(tree, row) or _disabled(tree, row):
        return False
    if _is_text_field(tree, row):
        return _blank(tree, row)
    return _type(tree, row) in {"checkbox", "radio"} and not _checked(tree, row)


def _valid(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in _FIELDS and not _disabled(tree, row) and not _invalid(tree, row)


def _in_range(tree: StyleTree, row: int) -> bool:
    is_ranged = tree.tag[row] == "input" and _type(tree, row) in _RANGED
    return is_ranged and (_has(tree, row, "min") or _has(tree, row, "max"))


def _open(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in {"details", "dialog"} and _has(tree, row, "open")


def _no(_tree: StyleTree, _row: int) -> bool:
    return False


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

PER_ELEMENT_TESTS: Table = {
    "checked": _checked,
    "default": _checked,
    "disabled": _disabled,
    "empty": _empty,
    "enabled": _enabled,
    "first-child": _first_child,
    "first-of-type": _first_of_type,
    "in-range": _in_range,
    "indeterminate": _indeterminate,
    "invalid": _invalid,
    "last-child": _last_child,
    "last-of-type": _last_of_type,
    "only-child": _both(_first_child, _last_child),
    "only-of-type": _both(_first_of_type, _last_of_type),
    "open": _open,
    "optional": _optional,
    "out-of-range": _no,
    "placeholder-shown": _placeholder_shown,
    "read-only": _read_only,
    "read-write": _read_write,
    "required": _required,
    "valid": _valid,
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
