"""The sheets of a page on top of each other, and what was found out about their rules.

The pages of a site share their sheets. What holds for any element of given names, and any set of
rules, is kept for the next page with the same sheets in the same order.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from newscrawl.css.cascade.cascade import AUTHOR, IMPORTANT_AUTHOR, IMPORTANT_UA, UA, Layers, Level
from newscrawl.css.cascade.computed import Computed, initial
from newscrawl.css.cascade.matcher import MatchCache
from newscrawl.css.cascade.rule_index import Block, FiledRules, filed_rules, ua_rules
from newscrawl.css.syntax.variables import Scope

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from newscrawl.css.cascade.cascade import Declared, Pairs
    from newscrawl.css.cascade.computed import PageDefaults
    from newscrawl.css.cascade.matcher import Match
    from newscrawl.css.cascade.sheet_sources import PageSheets, Source

MOST_STACKS = 16
"""Stacks that stay in a thread."""

MOST_KEPT = 50_000
"""Rules and findings of the stacks that stay in a thread, some 50 MB."""


class _CascadePosition:
    """The place of a sheet's rules in the cascade of a page."""

    __slots__ = ("important", "normal", "number", "ranks")

    def __init__(self, number: int, ranks: Mapping[str | None, int], *, ua: bool = False) -> None:
        self.number = number
        #: layer of the sheet -> its place among the page's
        self.ranks = ranks
        self.normal, self.important = (UA, IMPORTANT_UA) if ua else (AUTHOR, IMPORTANT_AUTHOR)

    def levels(self, match: Match[Block]) -> list[tuple[Level, Pairs]]:
        """Return what a rule says, each importance at its level of the cascade."""
        block, specificity = match.payload, match.specificity
        normal, important = block.pairs
        rank, number, rule = self.ranks[block.layer], self.number, block.number
        levels = [(Level(self.normal, rank, specificity, number, rule), normal)] if normal else []
        if important:
            levels.append((Level(self.important, -rank, specificity, number, rule), important))
        return levels


class Stack:
    """The rules of a page's sheets, each sheet at its place in the cascade."""

    def __init__(self, sources: PageSheets, *, quirks: bool) -> None:
        self._places = _places(sources, quirks=quirks)
        self._scope = _scope(sources)
        self._initials: dict[PageDefaults, Computed] = {}
        self._levels: dict[int, list[tuple[Level, Pairs]]] = {}
        # The sheets themselves, by whose ids stacks are known.
        self._sources = tuple(sources.sheets)
        #: candidates by the names of elements
        self.known: MatchCache[Block] = MatchCache(self._places)
        #: what counts where nothing but rules says anything, by the id of their tuple in ``known``
        self.declared: dict[int, Declared] = {}
        #: how many styles were computed of those, and kept with the styles that they inherit from
        self.computed = 0

    @property
    def size(self) -> int:
        """Rules and findings that it holds."""
        rules = sum(rules.size for rules in self._places)
        return rules + self.known.size + len(self.declared) + len(self._levels) + self.computed

    def initial(self, page: PageDefaults) -> Computed:
        """Return what the root element of *page* inherits."""
        found = self._initials.get(page)
        if found is None:
            found = self._initials[page] = initial(self._scope)
        return found

    def levels(self, match: Match[Block]) -> list[tuple[Level, Pairs]]:
        """Return what a rule says, each importance at its level of the cascade."""
        levels = self._levels.get(id(match))
        if levels is None:
            levels = self._levels[id(match)] = self._places[match.payload.sheet].levels(match)
        return levels


def stack_of(sources: PageSheets, *, quirks: bool) -> Stack:
    """Return the stack of a page's sheets; one that was kept, if all of them are."""
    if not all(source.kept for source in sources.sheets):
        return Stack(sources, quirks=quirks)
    return _cache.get(sources, quirks=quirks)


class _StackCache(threading.local):
    """The stacks used last; one in each thread, as their indexes compile selectors when needed."""

    def __init__(self) -> None:
        self._stacks: OrderedDict[Hashable, Stack] = OrderedDict()

    def get(self, sources: PageSheets, *, quirks: bool) -> Stack:
        sheets = tuple((id(one.sheet), one.layer, one.number) for one in sources.sheets)
        key = (quirks, sheets, tuple(sources.layers))
        stack = self._stacks.get(key)
        if stack is None:
            stack = self._stacks[key] = Stack(sources, quirks=quirks)
        self._stacks.move_to_end(key)
        sizes = sum(one.size for one in self._stacks.values())
        while len(self._stacks) > MOST_STACKS or (sizes > MOST_KEPT and len(self._stacks) > 1):
            _, oldest = self._stacks.popitem(last=False)
            sizes -= oldest.size
        if sizes > MOST_KEPT:
            self._stacks.clear()  # the page has it; the next one begins anew
        return stack


_cache = _StackCache()


def _places(sources: PageSheets, *, quirks: bool) -> dict[FiledRules, _CascadePosition]:
    """Return the place in the cascade of each sheet's rules, which may be filed already."""
    layers = Layers()
    for path in sources.layers:
        layers.add(path)
    places = {ua_rules(quirks=quirks): _CascadePosition(0, {None: layers.rank(())}, ua=True)}
    copies: dict[tuple[int, tuple[str, ...]], int] = {}
    for number, source in enumerate(sources.sheets, 1):
        # Of two equal sheets the later counts, unless they are in different layers.
        copy = copies.setdefault((id(source.sheet), source.layer), len(copies))
        if source.kept:
            rules = filed_rules(source.sheet, quirks=quirks, copy=copy if source.layer else 0)
        else:
            rules = FiledRules(source.sheet, quirks=quirks)
        places[rules] = _CascadePosition(number, _ranks(source, layers))
    return places


def _ranks(source: Source, layers: Layers) -> dict[str | None, int]:
    """Return the places of the layers of a sheet."""
    names: list[str | None] = [None, *source.sheet.layers]
    return {name: layers.rank(source.path(name)) for name in names}


def _scope(sources: PageSheets) -> Scope:
    return Scope(
        {
            name: (initial_value, inherits)
            for source in sources.sheets
            for name, initial_value, inherits in source.sheet.properties
        }
    )
