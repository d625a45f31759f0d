"""The cascade: of all that is said of an element's property, which value counts.

https://drafts.csswg.org/css-cascade-5/#cascade-sort
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from newscrawl.css.values.values import Value, Wide

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Origins and importance in the order of the cascade. What an attribute says (hints) and the
# style attribute are the author's, the one before his sheets, the other after them.
UA, HINTS, AUTHOR, STYLE, IMPORTANT_AUTHOR, IMPORTANT_STYLE, IMPORTANT_UA = range(7)
_ATTACHED = {HINTS: HINTS, STYLE: STYLE, IMPORTANT_STYLE: STYLE}

UNLAYERED = 1_000_000
"""Rank of what is in no layer: after all layers."""

Pairs = tuple[tuple[str, Value], ...]
"""(property, value) of declarations, in order."""


class Level(NamedTuple):
    """The place of a block in the cascade: the later of two wins."""

    origin: int
    layer: int
    specificity: tuple[int, int, int] = (0, 0, 0)
    sheet: int = 0
    number: int = 0


class Layers:
    """The order of the cascade layers of a page."""

    def __init__(self) -> None:
        self._children: dict[tuple[str, ...], list[tuple[str, ...]]] = {(): []}
        self._ranks: dict[tuple[str, ...], int] | None = None

    def add(self, path: tuple[str, ...]) -> None:
        """Note a layer, given as the names from the outermost in, and those around it."""
        for length in range(1, len(path) + 1):
            layer = path[:length]
            if layer not in self._children:
                self._children[layer] = []
                self._children[layer[:-1]].append(layer)
                self._ranks = None

    def rank(self, path: tuple[str, ...]) -> int:
        """Return the place of a layer, :data:`UNLAYERED` for what is in none.

        What a layer holds outside of its inner layers comes after these.
        """
        if not path:
            return UNLAYERED
        if self._ranks is None:
            self._ranks = {layer: place for place, layer in enumerate(self._in_order())}
        return self._ranks[path]

    def _in_order(self) -> Iterable[tuple[str, ...]]:
        order: list[tuple[str, ...]] = []
        stack: list[tuple[str, ...]] = [()]
        while stack:
            layer = stack.pop()
            order.append(layer)
            stack.extend(self._children[layer])
        return reversed(order)


class Declared(NamedTuple):
    """What counts for one element: values of properties, and custom properties as text.

    A property that is not there is inherited, or has its initial value if it never is.
    """

    values: Mapping[str, Value]
    variables: Mapping[str, str | None] | None


def decide(blocks: Sequence[tuple[Level, Pairs]]) -> Declared:
    """Return the values that win among *blocks*, given in any order."""
    ordered = sorted(blocks, key=_level) if len(blocks) > 1 else blocks
    values: dict[str, Value] = {}
    for _, pairs in ordered:
        values.update(pairs)
    for name in [name for name, value in values.items() if value in _REVERTS]:
        _settle(name, values, ordered)
    own = [name for name in values if name[0] == "-"]
    if not own:
        return Declared(values, None) if values else NOTHING
    variables = {name: _text(values[name]) for name in own if values[name] not in _INHERITED}
    for name in own:
        del values[name]
    return Declared(values, variables or None)


NOTHING = Declared({}, None)
"""Nothing is declared."""

_REVERTS = (Wide.REVERT, Wide.REVERT_LAYER)
_INHERITED = (Wide.INHERIT, Wide.UNSET)


def _level(block: tuple[Level, Pairs]) -> Level:
    return block[0]


def _text(value: Value) -> str | None:
    return None if value is Wide.INITIAL else value


def _settle(name: str, values: dict[str, Value], ordered: Sequence[tuple[Level, Pairs]]) -> None:
    """Replace ``revert`` and ``revert-layer`` by what counts without the layers they roll back."""
    left = list(ordered)
    while True:
        level, value = _winner(name, left)
        if value not in _REVERTS:
            break
        left = [block for block in left if not _rolled_back(block[0], level, value)]
    values[name] = value


def _winner(name: str, blocks: Sequence[tuple[Level, Pairs]]) -> tuple[Level, Value]:
    for level, pairs in reversed(blocks):
        for declared, value in reversed(pairs):
            if declared == name:
                return level, value
    return Level(UA, 0), Wide.UNSET


def _rolled_back(block: Level, by: Level, value: Wide) -> bool:
    """Return whether a *value* at the level *by* takes *block* away."""
    if (block.origin in (UA, IMPORTANT_UA)) != (by.origin in (UA, IMPORTANT_UA)):
        return False
    if value is Wide.REVERT:
        return True
    return _layer_of(block) == _layer_of(by)


def _layer_of(level: Level) -> tuple[int, int]:
    """Return the layer of a level, important or not; what attributes say is apart."""
    return _ATTACHED.get(level.origin, AUTHOR), abs(level.layer)
