"""The cascade: selects the cascaded value of each property from all declarations.

https://drafts.csswg.org/css-cascade-5/#cascade-sort
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.css.values.declared_values import Value, WideKeyword

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Origins and importance in cascade order. Presentational hints and the style attribute are of
# author origin, before and after the author's sheets.
UA, HINTS, AUTHOR, STYLE, IMPORTANT_AUTHOR, IMPORTANT_STYLE, IMPORTANT_UA = range(7)
_ATTRIBUTE_ORIGINS = {HINTS: HINTS, STYLE: STYLE, IMPORTANT_STYLE: STYLE}

UNLAYERED = 1_000_000
"""Rank of rules outside of layers: after all layers."""

PropertyValues = tuple[tuple[str, Value], ...]
"""(property, value) of declarations, in order."""


class CascadeKey(NamedTuple):
    """Sort key of a declaration block: the greater of two wins."""

    origin: int
    layer: int
    specificity: tuple[int, int, int] = (0, 0, 0)
    sheet: int = 0
    number: int = 0


DeclarationBlock = tuple[CascadeKey, PropertyValues]


class LayerOrder:
    """The order of the cascade layers of a page."""

    def __init__(self) -> None:
        self._children: dict[tuple[str, ...], list[tuple[str, ...]]] = {(): []}
        self._ranks: dict[tuple[str, ...], int] | None = None

    def add(self, path: tuple[str, ...]) -> None:
        """Add a layer and its ancestors; *path* has the names from the outermost one inwards."""
        for length in range(1, len(path) + 1):
            layer = path[:length]
            if layer not in self._children:
                self._children[layer] = []
                self._children[layer[:-1]].append(layer)
                self._ranks = None

    def rank(self, path: tuple[str, ...]) -> int:
        """Return the rank of a layer, :data:`UNLAYERED` for the empty path.

        The rules of a layer outside of its inner layers come after these.
        """
        if not path:
            return UNLAYERED
        if self._ranks is None:
            self._ranks = {layer: rank for rank, layer in enumerate(self._in_order())}
        return self._ranks[path]

    def _in_order(self) -> Iterable[tuple[str, ...]]:
        order: list[tuple[str, ...]] = []
        stack: list[tuple[str, ...]] = [()]
        while stack:
            layer = stack.pop()
            order.append(layer)
            stack.extend(self._children[layer])
        return reversed(order)


class CascadedValues(NamedTuple):
    """The cascaded values of an element: of properties, and of custom properties as text.

    A missing property is inherited, or has its initial value if it is not inherited.
    """

    values: Mapping[str, Value]
    variables: Mapping[str, str | None] | None


def cascade(blocks: Sequence[DeclarationBlock]) -> CascadedValues:
    """Return the cascaded values of *blocks*, given in any order."""
    ordered = sorted(blocks, key=itemgetter(0)) if len(blocks) > 1 else blocks
    values: dict[str, Value] = {}
    for _, declarations in ordered:
        values.update(declarations)
    has_keywords = WideKeyword in map(type, values.values())
    if has_keywords:
        for name in [name for name, value in values.items() if value in _REVERTS]:
            values[name] = _value_after_rollback(name, ordered)
    custom = [name for name in values if name[0] == "-"]
    if not custom:
        return CascadedValues(values, None) if values else NO_DECLARATIONS
    variables = {name: values.pop(name) for name in custom}
    if has_keywords:
        variables = {
            name: None if value is WideKeyword.INITIAL else value
            for name, value in variables.items()
            if value not in _INHERITED
        }
    return CascadedValues(values, variables or None)


NO_DECLARATIONS = CascadedValues({}, None)
"""The cascaded values of an element without declarations."""

_REVERTS = (WideKeyword.REVERT, WideKeyword.REVERT_LAYER)
_INHERITED = (WideKeyword.INHERIT, WideKeyword.UNSET)


def _value_after_rollback(name: str, ordered: Sequence[DeclarationBlock]) -> Value:
    """Return the value without the blocks that ``revert`` and ``revert-layer`` roll back."""
    blocks = list(ordered)
    while True:
        key, value = _winner(name, blocks)
        if value not in _REVERTS:
            return value
        blocks = [block for block in blocks if not _is_rolled_back(block[0], key, value)]


def _winner(name: str, blocks: Sequence[DeclarationBlock]) -> tuple[CascadeKey, Value]:
    for key, declarations in reversed(blocks):
        for declared, value in reversed(declarations):
            if declared == name:
                return key, value
    return CascadeKey(UA, 0), WideKeyword.UNSET


def _is_rolled_back(block: CascadeKey, by: CascadeKey, value: WideKeyword) -> bool:
    """Return whether ``revert`` or ``revert-layer`` (*value*) at *by* removes *block*."""
    if (block.origin in (UA, IMPORTANT_UA)) != (by.origin in (UA, IMPORTANT_UA)):
        return False
    if value is WideKeyword.REVERT:
        return True
    return _layer(block) == _layer(by)


def _layer(key: CascadeKey) -> tuple[int, int]:
    """Return the layer of a block regardless of importance; attributes have their own."""
    return _ATTRIBUTE_ORIGINS.get(key.origin, AUTHOR), abs(key.layer)
