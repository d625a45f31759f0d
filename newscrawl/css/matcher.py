"""Which rules apply to an element: an index of rules, and its use on one page.

:class:`RuleIndex` files rules under a name that their subject must have, and compiles a selector
when an element has that name; it outlives the page. :class:`Matcher` finds the rules of elements of
one page and finds them once for elements that no selector can tell apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from newscrawl.css.compounds import ANCESTORS, NAMES, SelectorError
from newscrawl.css.keys import rightmost_names
from newscrawl.css.selectors import compile_list, compile_selector
from newscrawl.css.tree import StyleTree, ascii_lower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from newscrawl.css.compounds import Selector, Specificity

__all__ = ["Match", "Matcher", "RuleIndex", "StyleTree"]

P = TypeVar("P")

_NEVER = (":active", ":after", ":before", ":focus", ":focus-visible", ":hover", ":visited")


class Match(NamedTuple, Generic[P]):
    """A rule that applies."""

    specificity: Specificity
    payload: P


class _Entry(Generic[P]):
    """One selector of a rule, compiled."""

    __slots__ = ("ancestors", "decided_by", "fragile", "match", "matches", "names")

    def __init__(self, selector: Selector, payload: P) -> None:
        self.names = selector.compounds[0].names
        self.ancestors = selector.ancestors
        self.decided_by = selector.decided_by
        self.fragile = selector.fragile
        self.matches = selector.matches
        self.match = Match(selector.specificity, payload)


class _Bucket(NamedTuple, Generic[P]):
    """What is filed under one name: rules that need no other, and the rest."""

    sure: list[Match[P]]
    open: list[_Entry[P]]


class RuleIndex(Generic[P]):
    """Rules by the name of what they select, for any number of pages of one mode.

    *rules* are their lists of complex selectors. *payload* gives what the rule of a number says:
    its declarations, its place in the order of rules. It is asked when a selector is compiled.
    """

    def __init__(
        self, rules: Sequence[Sequence[str]], payload: Callable[[int], P], *, quirks: bool = False
    ) -> None:
        #: whether the pages are in quirks mode
        self.quirks = quirks
        self._rules = rules
        self._payload = payload
        # Two flat lists: an object for each selector would keep the garbage collector busy.
        self._texts = [text for selectors in rules for text in selectors]
        self._numbers = [number for number, selectors in enumerate(rules) for _ in selectors]
        self._new: dict[str, list[int]] = self._filed()
        #: the names that rules are filed under
        self.names = frozenset(self._new)
        self._buckets: dict[str, _Bucket[P]] = {}
        self._valid: dict[int, bool] = {}

    def _filed(self) -> dict[str, list[int]]:
        """Return the places of the selectors that may match, by name."""
        new: dict[str, list[int]] = {}
        texts = self._texts
        for place, name in enumerate(rightmost_names(texts)):
            if texts[place].endswith(_NEVER) and "\\" not in texts[place]:
                continue
            key = ascii_lower(name) if self.quirks else name
            if key in new:
                new[key].append(place)
            else:
                new[key] = [place]
        return new

    def bucket(self, name: str, tree: StyleTree) -> _Bucket[P]:
        """Return what is filed under *name*, compiled; without what is invalid or never matches."""
        if name in self._new:
            self._compile(name, tree)
        return self._buckets[name]

    def _compile(self, name: str, tree: StyleTree) -> None:
        new = self._new.pop(name)
        bucket = self._buckets.setdefault(name, _Bucket([], []))
        while new and not tree.exhausted:
            place = new.pop()
            text, number = self._texts[place], self._numbers[place]
            tree.steps += len(text)
            selector = compile_selector(text, quirks=self.quirks)
            if isinstance(selector, SelectorError) or selector.never:
                continue
            if len(self._rules[number]) > 1 and not self._is_valid(number, tree):
                continue
            entry = _Entry(selector, self._payload(number))
            if entry.decided_by == NAMES and entry.names <= {name}:
                bucket.sure.append(entry.match)
            else:
                bucket.open.append(entry)
        if new:
            self._new[name] = new

    def _is_valid(self, number: int, tree: StyleTree) -> bool:
        """Return whether each of a rule's selectors is one; else the rule is void."""
        known = self._valid.get(number)
        if known is None:
            selectors = self._rules[number]
            tree.steps += sum(map(len, selectors))
            compiled = compile_list(selectors, quirks=self.quirks)
            known = self._valid[number] = not isinstance(compiled, SelectorError)
        return known


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
        self._of_names: dict[frozenset[str], _Candidates[P]] = {}
        self._of_chain: dict[int, _Candidates[P]] = {}
        self._shared: dict[tuple[int, ...], tuple[Match[P], ...]] = {}

    def matches(self, row: int) -> tuple[Match[P], ...]:
        """Return the rules that apply to the element of *row*, in no order.

        Elements of the same rules get the same tuple. Once the tree is ``exhausted``, nothing is
        matched any more.
        """
        tree = self._tree
        chain = tree.chain(row)
        candidates = self._of_chain.get(chain)
        if candidates is None:
            candidates = self._of_chain[chain] = self._sift(row)
        if not candidates.open:
            return candidates.sure
        tree.steps += len(candidates.open)
        more = [entry.match for entry in candidates.open if entry.matches(row, tree)]
        return self._share([*candidates.sure, *more]) if more else candidates.sure

    def shares(self, chain: int) -> bool:
        """Return whether the elements of a chain, once one was matched, have the same rules."""
        candidates = self._of_chain.get(chain)
        return candidates is not None and not candidates.open

    def _share(self, matches: list[Match[P]]) -> tuple[Match[P], ...]:
        return self._shared.setdefault(tuple(map(id, matches)), tuple(matches))

    def _sift(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements that have the chain of *row*."""
        tree = self._tree
        if tree.exhausted:
            return _Candidates((), ())
        candidates = self._candidates(row)
        if not candidates.open:
            return candidates
        tree.steps += len(candidates.open)
        above = tree.ancestor_names(row)
        if above is None:
            left, decided = candidates.open, NAMES
        else:
            left = tuple([entry for entry in candidates.open if entry.ancestors <= above])
            decided = ANCESTORS
        sure = list(candidates.sure)
        sure += [
            entry.match
            for entry in left
            if entry.decided_by <= decided or (not entry.fragile and entry.matches(row, tree))
        ]
        return _Candidates(self._share(sure), tuple([entry for entry in left if entry.fragile]))

    def _candidates(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements that have the names of *row*."""
        names = self._tree.names[row]
        candidates = self._of_names.get(names)
        if candidates is None:
            candidates = self._of_names[names] = self._filed(names)
        return candidates

    def _filed(self, names: frozenset[str]) -> _Candidates[P]:
        """Return the candidates of elements with *names*, to judge by nothing else."""
        sure: list[Match[P]] = []
        left: list[_Entry[P]] = []
        either = names | {"*"}
        for index in self._indexes:
            for name in either & index.names:
                bucket = index.bucket(name, self._tree)
                self._tree.steps += len(bucket.sure) + len(bucket.open)
                sure += bucket.sure
                left += [entry for entry in bucket.open if entry.names <= names]
        sure += [entry.match for entry in left if entry.decided_by == NAMES]
        undecided = tuple([entry for entry in left if entry.decided_by != NAMES])
        return _Candidates(self._share(sure), undecided)
