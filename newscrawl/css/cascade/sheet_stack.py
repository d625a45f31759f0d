"""The sheets of a page in cascade order, with caches shared by pages with the same sheets.

Matches by element names and cascaded values by set of rules are kept for the next page with the
same sheets in the same order.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from newscrawl.css.cascade.cascaded_values import (
    AUTHOR,
    IMPORTANT_AUTHOR,
    IMPORTANT_UA,
    UA,
    CascadeKey,
    LayerOrder,
)
from newscrawl.css.cascade.computed_values import ElementStyle, initial_element_style
from newscrawl.css.cascade.matcher import MatchCache
from newscrawl.css.cascade.rule_index import Block, SheetRules, cached_rules, ua_rules
from newscrawl.css.syntax.variables import VariableScope
from newscrawl.css.values.declared_values import has_syntax

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from newscrawl.css.cascade.cascaded_values import CascadedValues, DeclarationBlock
    from newscrawl.css.cascade.computed_values import PageDefaults
    from newscrawl.css.cascade.rule_index import Match
    from newscrawl.css.cascade.sheet_sources import PageSheets

MAX_CACHED_STACKS = 16
"""Maximum number of cached stacks per thread."""

MAX_CACHED_ENTRIES = 50_000
"""Maximum number of rules and results in the cached stacks of a thread, about 50 MB."""


class _CascadePosition:
    """The position of a sheet in the cascade of a page."""

    __slots__ = ("important", "normal", "number", "ranks")

    def __init__(self, number: int, ranks: Mapping[str | None, int], *, ua: bool = False) -> None:
        self.number = number
        #: layer of the sheet -> its rank on the page
        self.ranks = ranks
        self.normal, self.important = (UA, IMPORTANT_UA) if ua else (AUTHOR, IMPORTANT_AUTHOR)

    def declarations(self, match: Match[Block]) -> list[DeclarationBlock]:
        """Return the normal and the important declarations of a rule with their cascade keys."""
        block, specificity = match.payload, match.specificity
        normal, important = block.values
        rank, number, rule = self.ranks[block.layer], self.number, block.number
        found: list[DeclarationBlock] = []
        if normal:
            found.append((CascadeKey(self.normal, rank, specificity, number, rule), normal))
        if important:
            found.append((CascadeKey(self.important, -rank, specificity, number, rule), important))
        return found


class SheetStack:
    """The rules of the sheets of a page, each sheet with its position in the cascade."""

    def __init__(self, sources: PageSheets, *, quirks: bool) -> None:
        self._positions = _positions(sources, quirks=quirks)
        self._rule_count = sum(rules.size for rules in self._positions)
        self._scope = _scope(sources)
        self._initial_styles: dict[PageDefaults, ElementStyle] = {}
        self._declarations: dict[int, list[DeclarationBlock]] = {}
        # Keeps the sheets alive, as stacks are cached by the ids of their sheets.
        self._sources = tuple(sources.sheets)
        default: MatchCache[Block] = MatchCache([ua_rules(quirks=quirks)])
        self.match_cache = MatchCache(self._positions, default)
        #: id of a tuple of matches -> cascaded values, for elements without own declarations
        self.cascaded: dict[int, CascadedValues] = {}
        #: number of styles computed from those, which are cached with the style of the parent
        self.computed_count = 0

    @property
    def size(self) -> int:
        """Number of rules and cached results."""
        results = len(self.cascaded) + len(self._declarations) + self.computed_count
        return self._rule_count + self.match_cache.size + results

    def initial(self, page: PageDefaults) -> ElementStyle:
        """Return the style that the root element of *page* inherits."""
        found = self._initial_styles.get(page)
        if found is None:
            found = self._initial_styles[page] = initial_element_style(self._scope)
        return found

    def declarations(self, match: Match[Block]) -> list[DeclarationBlock]:
        """Return the normal and the important declarations of a rule with their cascade keys."""
        found = self._declarations.get(id(match))
        if found is None:
            position = self._positions[match.payload.sheet]
            found = self._declarations[id(match)] = position.declarations(match)
        return found


def sheet_stack(sources: PageSheets, *, quirks: bool) -> SheetStack:
    """Return the stack of a page's sheets, a cached one if all of them are reusable."""
    if not all(source.reusable for source in sources.sheets):
        return SheetStack(sources, quirks=quirks)
    return _cache.get(sources, quirks=quirks)


class _StackCache(threading.local):
    """The recently used stacks of this thread; their rule indexes are not thread-safe."""

    def __init__(self) -> None:
        self._stacks: OrderedDict[Hashable, SheetStack] = OrderedDict()

    def get(self, sources: PageSheets, *, quirks: bool) -> SheetStack:
        sheets = tuple((id(source.sheet), source.layer, source.number) for source in sources.sheets)
        key = (quirks, sheets, tuple(sources.layers))
        stack = self._stacks.get(key)
        if stack is None:
            stack = self._stacks[key] = SheetStack(sources, quirks=quirks)
        self._stacks.move_to_end(key)
        size = sum(cached.size for cached in self._stacks.values())
        while len(self._stacks) > MAX_CACHED_STACKS or (
            size > MAX_CACHED_ENTRIES and len(self._stacks) > 1
        ):
            _, oldest = self._stacks.popitem(last=False)
            size -= oldest.size
        if size > MAX_CACHED_ENTRIES:
            self._stacks.clear()  # only the current page uses the stack
        return stack


_cache = _StackCache()


def _positions(sources: PageSheets, *, quirks: bool) -> dict[SheetRules, _CascadePosition]:
    """Return the position in the cascade of each sheet's rules."""
    layers = LayerOrder()
    for path in sources.layers:
        layers.add(path)
    positions = {ua_rules(quirks=quirks): _CascadePosition(0, {None: layers.rank(())}, ua=True)}
    copies: dict[tuple[int, tuple[str, ...]], int] = {}
    for number, source in enumerate(sources.sheets, 1):
        # Of two uses of a sheet the later one wins, unless they are in different layers.
        copy = copies.setdefault((id(source.sheet), source.layer), len(copies))
        if source.reusable:
            rules = cached_rules(source.sheet, quirks=quirks, copy=copy if source.layer else 0)
        else:
            rules = SheetRules(source.sheet, quirks=quirks)
        names: list[str | None] = [None, *source.sheet.layers]
        ranks = {name: layers.rank(source.path(name)) for name in names}
        positions[rules] = _CascadePosition(number, ranks)
    return positions


def _scope(sources: PageSheets) -> VariableScope:
    return VariableScope(
        {item.name: item for source in sources.sheets for item in source.sheet.properties},
        has_syntax,
    )
