"""Pseudo-classes of form fields, for fields as written in the page.

https://html.spec.whatwg.org/multipage/semantics-other.html#pseudo-classes. Of the constraints on
values, only ``required`` is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.css.selectors.compiled_selectors import Test
    from newscrawl.css.selectors.style_tree import StyleTree

_FIELDS = frozenset(("input", "select", "textarea"))
_DISABLED = _FIELDS | {"button", "fieldset", "optgroup", "option"}
_NOT_TYPED = frozenset(
    ("button", "checkbox", "color", "file", "hidden", "image", "radio", "range", "reset", "submit")
)
_WITHOUT_PLACEHOLDER = _NOT_TYPED | {"date", "datetime-local", "month", "time", "week"}
_NOT_REQUIRED = frozenset(("button", "color", "hidden", "image", "range", "reset", "submit"))
_NOT_VALIDATED = frozenset(("button", "hidden", "image", "reset"))


def _has(tree: StyleTree, row: int, name: str) -> bool:
    return tree.attribute(row, name) is not None


def _type(tree: StyleTree, row: int) -> str:
    return (tree.attribute(row, "type") or "").lower() if tree.tag[row] == "input" else ""


def _enabled(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in _DISABLED and not _disabled(tree, row)


def _disabled(tree: StyleTree, row: int) -> bool:
    tag = tree.tag[row]
    if tag not in _DISABLED:
        return False
    if _has(tree, row, "disabled"):
        return True
    if tag == "option":
        parent = tree.parent[row]
        return tree.tag[parent] == "optgroup" and _has(tree, parent, "disabled")
    return tag != "optgroup" and _in_disabled_fieldset(tree, row)


def _in_disabled_fieldset(tree: StyleTree, row: int) -> bool:
    """Return whether a fieldset disables *row*; its first legend is exempt."""
    child = row
    for ancestor in tree.document.ancestors(row):
        if tree.tag[ancestor] == "fieldset" and _has(tree, ancestor, "disabled"):
            legends = (other for other in tree.children[ancestor] if tree.tag[other] == "legend")
            if next(legends, None) != child:
                return True
        child = ancestor
    return False


def _checked(tree: StyleTree, row: int) -> bool:
    if tree.tag[row] == "option":
        return _has(tree, row, "selected")
    return _type(tree, row) in {"checkbox", "radio"} and _has(tree, row, "checked")


def _indeterminate(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] == "progress" and not _has(tree, row, "value")


def _required(tree: StyleTree, row: int) -> bool:
    is_field = tree.tag[row] in _FIELDS and _type(tree, row) not in _NOT_REQUIRED
    return is_field and _has(tree, row, "required")


def _optional(tree: StyleTree, row: int) -> bool:
    return tree.tag[row] in {*_FIELDS, "button"} and not _required(tree, row)


def _is_text_field(tree: StyleTree, row: int) -> bool:
    tag = tree.tag[row]
    return tag == "textarea" or (tag == "input" and _type(tree, row) not in _NOT_TYPED)


def _read_write(tree: StyleTree, row: int) -> bool:
    if _is_text_field(tree, row):
        return not _has(tree, row, "readonly") and not _disabled(tree, row)
    for ancestor in (row, *tree.document.ancestors(row)):
        editable = tree.attribute(ancestor, "contenteditable")
        if editable is not None:
            return editable.lower() in {"", "true", "plaintext-only"}
    return False


def _read_only(tree: StyleTree, row: int) -> bool:
    return not _read_write(tree, row)


def _blank(tree: StyleTree, row: int) -> bool:
    if tree.tag[row] == "textarea":
        return not tree.document.element(row).text
    return not tree.attribute(row, "value")


def _placeholder_shown(tree: StyleTree, row: int) -> bool:
    has_placeholder = (
        _is_text_field(tree, row)
        and _type(tree, row) not in _WITHOUT_PLACEHOLDER
        and _has(tree, row, "placeholder")
    )
    return has_placeholder and _blank(tree, row)


def _validated(tree: StyleTree, row: int) -> bool:
    """Return whether the constraints of a field are checked."""
    tag = tree.tag[row]
    if tag == "button":
        validated = (tree.attribute(row, "type") or "").lower() not in {"button", "reset"}
    else:
        validated = tag in _FIELDS and _type(tree, row) not in _NOT_VALIDATED
    barred = tag in {"input", "textarea"} and _has(tree, row, "readonly")
    return validated and not barred and not _disabled(tree, row)


def _invalid(tree: StyleTree, row: int) -> bool:
    """Return whether a required field has no value; a form or fieldset, whether it has one."""
    if tree.tag[row] in {"form", "fieldset"}:
        inside = range(row + 1, tree.document.end[row])
        tree.steps += len(inside)
        return any(tree.tag[field] in _FIELDS and _invalid(tree, field) for field in inside)
    if not _validated(tree, row) or not _required(tree, row):
        return False
    if _is_text_field(tree, row):
        return _blank(tree, row)
    return _type(tree, row) in {"checkbox", "radio", "file"} and not _checked(tree, row)


def _valid(tree: StyleTree, row: int) -> bool:
    checked = tree.tag[row] in {"form", "fieldset"} or _validated(tree, row)
    return checked and not _invalid(tree, row)


FORM_TESTS: dict[str, Test] = {
    "checked": _checked,
    "default": _checked,
    "disabled": _disabled,
    "enabled": _enabled,
    "indeterminate": _indeterminate,
    "invalid": _invalid,
    "optional": _optional,
    "placeholder-shown": _placeholder_shown,
    "read-only": _read_only,
    "read-write": _read_write,
    "required": _required,
    "valid": _valid,
}
"""Pseudo-class -> its test."""
