"""Rules of a sheet, filed for matching, and kept for the next page with the same sheet."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING

from newscrawl.css.cascade.default_stylesheet import QUIRKS_SHEET, UA_SHEET
from newscrawl.css.cascade.matcher import RuleIndex
from newscrawl.css.sheets.sheet import Rule, Sheet, parse_sheet
from newscrawl.css.values.values import Value, parse_declaration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from newscrawl.css.cascade.cascade import Pairs
    from newscrawl.css.syntax.declarations import Declaration

MOST_RULES = 50_000
"""Rules of all sheets that stay filed in a thread, some 50 MB."""


class Block:
    """The declarations of a rule, read when the rule first applies.

    *number* is the rule's place in its *sheet*, *layer* the name of its layer there.
    """

    __slots__ = ("_pairs", "_rule", "layer", "number", "sheet")

    def __init__(self, rule: Rule, number: int, sheet: FiledRules) -> None:
        self._rule = rule
        self._pairs: tuple[Pairs, Pairs] | None = None
        self.layer = rule.layer
        self.number = number
        self.sheet = sheet

    @property
    def pairs(self) -> tuple[Pairs, Pairs]:
        """The valid (property, value), in order: those not important, and the important."""
        if self._pairs is None:
            self._pairs = valid_pairs(self._rule.declarations, quirks=self.sheet.quirks)
        return self._pairs


def valid_pairs(declarations: Iterable[Declaration], *, quirks: bool) -> tuple[Pairs, Pairs]:
    """Return the (property, value) of valid declarations: not important, and important."""
    parts: tuple[list[tuple[str, Value]], list[tuple[str, Value]]] = ([], [])
    for name, text, important in declarations:
        parts[important].extend(parse_declaration(name, text, quirks=quirks))
    return tuple(parts[0]), tuple(parts[1])


class FiledRules(RuleIndex[Block]):
    """The rules of a sheet, their payload the blocks; for pages of one mode."""

    def __init__(self, sheet: Sheet, *, quirks: bool) -> None:
        self.size = len(sheet.blocks)
        self._sheet = sheet
        self._blocks: dict[int, Block] = {}
        super().__init__(sheet.selectors, self._block, quirks=quirks)

    def _block(self, number: int) -> Block:
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = Block(self._sheet.rule(number), number, self)
        return block


class _RuleIndexCache(threading.local):
    """The rules filed last, by the identity of their sheet, which is held, too.

    One in each thread: an index compiles selectors as they are needed.
    """

    def __init__(self) -> None:
        self._filed: OrderedDict[tuple[int, bool, int], tuple[Sheet, FiledRules]] = OrderedDict()
        self._size = 0

    def get(self, sheet: Sheet, *, quirks: bool, copy: int) -> FiledRules:
        key = (id(sheet), quirks, copy)
        if key in self._filed:
            self._filed.move_to_end(key)
            return self._filed[key][1]
        filed = FiledRules(sheet, quirks=quirks)
        self._filed[key] = (sheet, filed)
        self._size += filed.size + 1
        while self._size > MOST_RULES:
            _, (_, oldest) = self._filed.popitem(last=False)
            self._size -= oldest.size + 1
        return filed


_cache = _RuleIndexCache()


def filed_rules(sheet: Sheet, *, quirks: bool, copy: int = 0) -> FiledRules:
    """Return the rules of *sheet*; *copy* tells several uses of it on one page apart."""
    return _cache.get(sheet, quirks=quirks, copy=copy)


@lru_cache(maxsize=2)
def _ua_sheet(*, quirks: bool) -> Sheet:
    return parse_sheet(UA_SHEET + QUIRKS_SHEET if quirks else UA_SHEET)


def ua_rules(*, quirks: bool) -> FiledRules:
    """Return the rules of the browser's own sheet."""
    return filed_rules(_ua_sheet(quirks=quirks), quirks=quirks)
