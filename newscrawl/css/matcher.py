"""Which rules apply to an element: an index of rules, and its use on one page.

:class:`RuleIndex` files rules under a name that their subject must have, and compiles a selector
when an element has that name; it outlives the page. :class:`Matcher` finds the rules of elements of
one page and finds them once for elements that no selector can tell apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from newscrawl.css.compounds import SelectorError
from newscrawl.css.keys import rightmost_name
from newscrawl.css.selectors import compile_list, compile_selector
from newscrawl.css.tree import Identity, StyleTree, ascii_lower

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.css.compounds import Selector, Specificity

__all__ = ["Match", "Matcher", "RuleIndex", "StyleTree"]

P = TypeVar("P")


class Match(NamedTuple, Generic[P]):
    """A rule that applies."""

    specificity: Specificity
    payload: P


class _Rule(Generic[P]):
    """The selectors of a rule; one that is invalid makes the rule void."""

    __slots__ = ("_valid", "payload", "selectors")

    def __init__(self, selectors: Sequence[str], payload: P) -> None:
        self.selectors = selectors
        self.payload = payload
        self._valid: bool | None = None

    def is_valid(self, tree: StyleTree) -> bool:
        if self._valid is None:
            tree.steps += sum(map(len, self.selectors))
            compiled = compile_list(self.selectors, quirks=tree.quirks)
            self._valid = not isinstance(compiled, SelectorError)
        return self._valid


class _Entry(Generic[P]):
    """One selector of a rule, compiled when an element has the name that it is filed under."""

    __slots__ = ("ancestors", "match", "rule", "selector", "text")

    selector: Selector
    ancestors: frozenset[str]
    match: Match[P]

    def __init__(self, text: str, rule: _Rule[P]) -> None:
        self.text = text
        self.rule = rule

    def compile(self, tree: StyleTree) -> bool:
        """Return whether anything can match."""
        tree.steps += len(self.text)
        selector = compile_selector(self.text, quirks=tree.quirks)
        if isinstance(selector, SelectorError) or selector.never or not self.rule.is_valid(tree):
            return False
        self.selector, self.ancestors = selector, selector.ancestors
        self.match = Match(selector.specificity, self.rule.payload)
        return True


class RuleIndex(Generic[P]):
    """Rules by the name of what they select, for any number of pages of one mode.

    A *payload* is what a rule says: its declarations, its place in the order of rules.
    """

    def __init__(self, *, quirks: bool = False) -> None:
        #: whether the pages are in quirks mode
        self.quirks = quirks
        self._new: dict[str, list[_Entry[P]]] = {}
        self._compiled: dict[str, list[_Entry[P]]] = {}

    def add(self, selectors: Sequence[str], payload: P) -> None:
        """Add a rule with its list of complex selectors."""
        rule = _Rule(selectors, payload)
        for text in selectors:
            name = rightmost_name(text)
            if self.quirks:
                name = ascii_lower(name)
            self._new.setdefault(name, []).append(_Entry(text, rule))

    def entries(self, name: str, tree: StyleTree) -> list[_Entry[P]]:
        """Return what is filed under *name*, compiled; without what is invalid or never matches."""
        compiled = self._compiled.get(name, [])
        if name in self._new:
            compiled = self._compiled.setdefault(name, compiled)
            new = self._new.pop(name)
            while new and not tree.exhausted:
                entry = new.pop()
                if entry.compile(tree):
                    compiled.append(entry)
            if new:
                self._new[name] = new
        tree.steps += len(compiled)
        return compiled


class _Candidates(NamedTuple, Generic[P]):
    """The rules of elements that look alike: those that apply, those to be tried on each."""

    sure: tuple[Match[P], ...]
    open: tuple[_Entry[P], ...]


class Matcher(Generic[P]):
    """The rules that apply to the elements of one page."""

    def __init__(self, tree: StyleTree, indexes: Iterable[RuleIndex[P]]) -> None:
        self._tree = tree
        self._indexes = tuple(indexes)
        if any(index.quirks != tree.quirks for index in self._indexes):
            raise ValueError("a page in quirks mode needs an index in quirks mode, and only that")
        self._of_identity: dict[Identity, _Candidates[P]] = {}
        self._of_chain: dict[int, _Candidates[P]] = {}
        self._shared: dict[tuple[int, ...], tuple[Match[P], ...]] = {}

    def matches(self, row: int) -> tuple[Match[P], ...]:
        """Return the rules that apply to the element of *row*, in no order.

        Elements of the same rules get the same tuple. Nothing matches once the tree is
        ``exhausted``.
        """
        tree = self._tree
        chain = tree.chain(row)
        candidates = self._of_chain.get(chain)
        if candidates is None:
            candidates = self._of_chain[chain] = self._sift(row)
        if not candidates.open:
            return candidates.sure
        more = [entry.match for entry in candidates.open if entry.selector.matches(row, tree)]
        return self._share([*candidates.sure, *more]) if more else candidates.sure

    def _share(self, matches: list[Match[P]]) -> tuple[Match[P], ...]:
        return self._shared.setdefault(tuple(map(id, matches)), tuple(matches))

    def _sift(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements that have the chain of *row*."""
        tree = self._tree
        candidates = self._candidates(row)
        tree.steps += len(candidates.open) >> 2
        above = tree.ancestor_names(row)
        left = [entry for entry in candidates.open if above is None or entry.ancestors <= above]
        sure = list(candidates.sure)
        sure += [e.match for e in left if not e.selector.fragile and e.selector.matches(row, tree)]
        return _Candidates(self._share(sure), tuple([e for e in left if e.selector.fragile]))

    def _candidates(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements that have the identity of *row*."""
        identity = self._tree.identity[row]
        candidates = self._of_identity.get(identity)
        if candidates is None:
            entries = list(self._filed(row))
            candidates = self._of_identity[identity] = _Candidates(
                tuple([entry.match for entry in entries if entry.selector.names_only]),
                tuple([entry for entry in entries if not entry.selector.names_only]),
            )
        return candidates

    def _filed(self, row: int) -> Iterator[_Entry[P]]:
        """Yield the entries whose subject may be the element of *row*, to judge by its names."""
        tree, names = self._tree, self._tree.names[row]
        for index in self._indexes:
            for name in ("*", *names):
                for entry in index.entries(name, tree):
                    if entry.selector.compounds[0].names <= names:
                        yield entry
