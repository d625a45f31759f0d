"""Index of the rules of a sheet by a name of their subject, cached across pages.

:class:`RuleIndex` compiles a selector only when a page has an element with its key and, where the
selector shows one, an ancestor with a required name.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from newscrawl.css.cascade.default_stylesheet import QUIRKS_SHEET, UA_SHEET
from newscrawl.css.selectors.compiled_selectors import DESCENDANT, SelectorError, alternative_names
from newscrawl.css.selectors.pseudo_classes import is_local
from newscrawl.css.selectors.rule_keys import SELECTOR_SEPARATOR, index_selectors
from newscrawl.css.selectors.selector_compiler import all_valid, compile_selector
from newscrawl.css.sheets.sheet import Rule, Sheet, parse_sheet
from newscrawl.css.values.declared_values import Value, parse_declaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from newscrawl.css.cascade.cascaded_values import PropertyValues
    from newscrawl.css.selectors.compiled_selectors import Selector, Specificity, Test
    from newscrawl.css.selectors.style_tree import StyleTree
    from newscrawl.css.syntax.declarations import Declaration

P = TypeVar("P")

MAX_CACHED_RULES = 50_000
"""Maximum number of rules in the cached indexes of a thread, about 50 MB."""

#: what decides a match: the signature of the element, the names of its ancestors, or a tree walk
SIGNATURE, ANCESTORS, WALK = 0, 1, 2

_NAME_SPECIFICITY: dict[str, Specificity] = {"#": (1, 0, 0), ".": (0, 1, 0)}


class Match(NamedTuple, Generic[P]):
    """A matching rule."""

    specificity: Specificity
    payload: P


class SelectorEntry(Generic[P]):
    """A compiled selector and its rule."""

    __slots__ = (
        "alternatives",
        "ancestors",
        "decided_by",
        "local",
        "match",
        "matches",
        "names",
        "per_element",
    )

    def __init__(self, selector: Selector, payload: P) -> None:
        subject = selector.compounds[0]
        self.names = subject.names
        #: names of which a matching element has one, None if those are *names* or unknown
        self.alternatives: frozenset[str] | None = None
        #: tests that elements with the same signature pass or fail together
        self.local: tuple[Test, ...] = ()
        if subject.tests:
            self.local = tuple([test for test in subject.tests if is_local(test)])
            if not subject.names and "*" not in (names := alternative_names(subject)):
                self.alternatives = frozenset(names)
        self.ancestors = selector.ancestors
        self.decided_by = _decided_by(selector)
        self.per_element = selector.per_element
        self.matches = selector.matches
        self.match = Match(selector.specificity, payload)


def _decided_by(selector: Selector) -> int:
    """Return ``SIGNATURE``, ``ANCESTORS`` or ``WALK``."""
    subject, *others = selector.compounds
    if len(others) > 1 or not all(map(is_local, subject.tests)):
        return WALK
    if not others:
        return SIGNATURE
    above = others[0]
    is_decided = above.combinator == DESCENDANT and len(above.names) == 1 and not above.tests
    return ANCESTORS if is_decided else WALK


class Bucket(Generic[P]):
    """The selectors under one key, compiled when an ancestor with the required name occurs."""

    __slots__ = ("_entries", "_index", "certain", "deferred")

    def __init__(self, index: RuleIndex[P], deferred: dict[str, list[int]]) -> None:
        self._index = index
        #: rules that require only the key
        self.certain: list[Match[P]] = []
        #: required ancestor name, "" for none -> indexes of selectors not yet compiled
        self.deferred = deferred
        self._entries: dict[str, list[SelectorEntry[P]]] = {}

    def entries(self, ancestor: str, tree: StyleTree) -> Sequence[SelectorEntry[P]]:
        """Return the selectors with a required ancestor name, compiled."""
        if deferred := self.deferred.get(ancestor):
            entries = self._entries.setdefault(ancestor, [])
            while deferred and not tree.exhausted:
                if entry := self._index.compile(deferred.pop(), tree):
                    entries.append(entry)
        return self._entries.get(ancestor, ())


class RuleIndex(Generic[P]):
    """Rules by the key of their selectors, for any number of pages of one mode.

    *rules* are the selectors of each rule, joined by
    :data:`~newscrawl.css.selectors.rule_keys.SELECTOR_SEPARATOR`. *payload* returns the payload of
    a rule by its number; it is called when a selector of the rule is compiled.
    """

    def __init__(
        self, rules: Sequence[str], payload: Callable[[int], P], *, quirks: bool = False
    ) -> None:
        #: whether the index is for pages in quirks mode
        self.quirks = quirks
        self._rules = rules
        self._payload = payload
        #: the selectors, and whether one has a key; objects would burden the garbage collector
        self.selectors = index_selectors(rules, quirks=quirks)
        self._buckets: dict[str, Bucket[P]] = {}
        self._valid: dict[int, bool] = {}

    def read(self, name: str, tree: StyleTree) -> Bucket[P]:
        """Return the selectors with the key *name*, which occurs."""
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = self._read(name, tree)
        return bucket

    def _read(self, name: str, tree: StyleTree) -> Bucket[P]:
        """Return the selectors with the key *name*, by required ancestor name."""
        deferred, steps = self.selectors.by_ancestor(name)
        tree.steps += steps
        bucket = Bucket(self, deferred)
        bare = name[1:2] if name[0] in ".#" else name[0]
        if bare.isascii() and bare.isalpha():
            others = []
            for index in deferred.pop("", ()):
                if self.selectors.text(index) == name:
                    self._add_name(bucket, index, name, tree)
                else:
                    others.append(index)
            if others:
                deferred[""] = others
        return bucket

    def _add_name(self, bucket: Bucket[P], index: int, name: str, tree: StyleTree) -> None:
        """Add a selector that consists of a single name."""
        number = self.selectors.rule(index)
        if self._is_valid(number, tree):
            specificity = _NAME_SPECIFICITY.get(name[0], (0, 0, 1))
            bucket.certain.append(Match(specificity, self._payload(number)))

    def compile(self, index: int, tree: StyleTree) -> SelectorEntry[P] | None:
        """Return a compiled selector, None if it is invalid or never matches."""
        text, number = self.selectors.text(index), self.selectors.rule(index)
        tree.steps += len(text)
        selector = compile_selector(text, quirks=self.quirks)
        if isinstance(selector, SelectorError) or selector.never_matches:
            return None
        return (
            SelectorEntry(selector, self._payload(number)) if self._is_valid(number, tree) else None
        )

    def _is_valid(self, number: int, tree: StyleTree) -> bool:
        """Return whether all selectors of a rule are valid; otherwise the rule is dropped."""
        rule = self._rules[number]
        if SELECTOR_SEPARATOR not in rule:
            return True
        valid = self._valid.get(number)
        if valid is None:
            tree.steps += len(rule)
            valid = self._valid[number] = all_valid(rule, quirks=self.quirks)
        return valid


class Block:
    """The declarations of a rule, parsed when the rule first applies.

    *number* is the index of the rule in its *sheet*, *layer* its layer there.
    """

    __slots__ = ("_rule", "_values", "layer", "number", "sheet")

    def __init__(self, rule: Rule, number: int, sheet: SheetRules) -> None:
        self._rule = rule
        self._values: tuple[PropertyValues, PropertyValues] | None = None
        self.layer = rule.layer
        self.number = number
        self.sheet = sheet

    @property
    def values(self) -> tuple[PropertyValues, PropertyValues]:
        """The valid (property, value) in order: normal ones, and important ones."""
        if self._values is None:
            self._values = parse_values(self._rule.declarations, quirks=self.sheet.quirks)
        return self._values


def parse_values(
    declarations: Iterable[Declaration], *, quirks: bool
) -> tuple[PropertyValues, PropertyValues]:
    """Return the (property, value) of valid declarations: normal ones, and important ones."""
    parts: tuple[list[tuple[str, Value]], list[tuple[str, Value]]] = ([], [])
    for name, text, important in declarations:
        parts[important].extend(parse_declaration(name, text, quirks=quirks))
    return tuple(parts[0]), tuple(parts[1])


class SheetRules(RuleIndex[Block]):
    """Index of the rules of a sheet, with their blocks as payload."""

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
    """The recently used indexes of this thread, by the identity of their sheet, which is kept.

    One per thread, because an index compiles selectors lazily.
    """

    def __init__(self) -> None:
        self._indexes: OrderedDict[tuple[int, bool, int], tuple[Sheet, SheetRules]] = OrderedDict()
        self._size = 0

    def get(self, sheet: Sheet, *, quirks: bool, copy: int) -> SheetRules:
        key = (id(sheet), quirks, copy)
        if key in self._indexes:
            self._indexes.move_to_end(key)
            return self._indexes[key][1]
        rules = SheetRules(sheet, quirks=quirks)
        if rules.size >= MAX_CACHED_RULES:  # would remove all others, and stay after its page
            return rules
        self._indexes[key] = (sheet, rules)
        self._size += rules.size + 1
        while self._size > MAX_CACHED_RULES:
            _, (_, oldest) = self._indexes.popitem(last=False)
            self._size -= oldest.size + 1
        return rules


_cache = _RuleIndexCache()


def cached_rules(sheet: Sheet, *, quirks: bool, copy: int = 0) -> SheetRules:
    """Return the rule index of *sheet*; *copy* distinguishes several uses on one page."""
    return _cache.get(sheet, quirks=quirks, copy=copy)


@lru_cache(maxsize=2)
def _ua_sheet(*, quirks: bool) -> Sheet:
    return parse_sheet(UA_SHEET + QUIRKS_SHEET if quirks else UA_SHEET)


def ua_rules(*, quirks: bool) -> SheetRules:
    """Return the rule index of the default style sheet."""
    return cached_rules(_ua_sheet(quirks=quirks), quirks=quirks)
