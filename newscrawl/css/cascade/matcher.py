"""Which rules apply to an element: an index of rules, and its use on one page.

:class:`RuleIndex` files rules under a name that their subject must have, and compiles a selector
when an element has that name; it outlives the page, as does what is :class:`MatchCache` of the names of
elements. :class:`Matcher` finds the rules of elements of one page and finds them once for elements
that no selector can tell apart.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from newscrawl.css.selectors.compiled_selectors import ANCESTORS, NAMES, SelectorError
from newscrawl.css.selectors.element_tree import StyleTree, ascii_lower
from newscrawl.css.selectors.rule_keys import END, ancestor_name
from newscrawl.css.selectors.selectors import all_valid, compile_selector
from newscrawl.css.sheets.scanner import file_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from newscrawl.css.selectors.compiled_selectors import Selector, Specificity

__all__ = ["Match", "Matcher", "RuleIndex", "StyleTree"]

P = TypeVar("P")

_SPECIFICITY: dict[str, Specificity] = {"#": (1, 0, 0), ".": (0, 1, 0)}


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


class _Bucket(Generic[P]):
    """What is filed under one name."""

    __slots__ = ("drafts", "new", "open", "sure")

    def __init__(self, new: list[int]) -> None:
        #: places of selectors that nobody has looked at yet
        self.new = new
        #: places of those that need an ancestor of some name, by that name
        self.drafts: dict[str, list[int]] = {}
        #: rules that need nothing but the name
        self.sure: list[Match[P]] = []
        #: the other selectors that are compiled
        self.open: list[_Entry[P]] = []


class RuleIndex(Generic[P]):
    """Rules by the name of what they select, for any number of pages of one mode.

    *rules* are their complex selectors, with :data:`~newscrawl.css.selectors.rule_keys.END` between those of one.
    *payload* gives what the rule of a number says: its declarations, its place in the order of
    rules. It is asked when a selector is compiled: when an element has the name under which it is
    filed, and an ancestor the name that :func:`~newscrawl.css.selectors.rule_keys.ancestor_name` tells.
    """

    def __init__(
        self, rules: Sequence[str], payload: Callable[[int], P], *, quirks: bool = False
    ) -> None:
        #: whether the pages are in quirks mode
        self.quirks = quirks
        self._rules = rules
        self._payload = payload
        # Flat lists: an object for each selector would keep the garbage collector busy.
        self._texts, self._ends, self._places = file_rules(rules, quirks=quirks)
        self._buckets: dict[str, _Bucket[P]] = {}
        self._valid: dict[int, bool] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether rules are filed under *name*."""
        return name in self._places

    def read(self, name: str, tree: StyleTree) -> _Bucket[P]:
        """Return what is filed under *name*, the selectors without a known ancestor compiled."""
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = _Bucket(self._places[name])
        plain = name[1:2] if name[0] in ".#" else name[0]
        easy = plain.isascii() and plain.isalpha()
        while bucket.new and not tree.exhausted:
            place = bucket.new.pop()
            text = self._texts[place]
            tree.steps += 1 + len(text) // 16
            if easy and text == name:
                self._add_name(bucket, place, tree)
            elif above := ancestor_name(text):
                above = ascii_lower(above) if self.quirks else above
                bucket.drafts.setdefault(above, []).append(place)
            else:
                self._add(bucket, name, place, tree)
        return bucket

    def complete(self, name: str, above: Collection[str] | None, tree: StyleTree) -> None:
        """Compile what is filed under *name* for elements with ancestors of names *above*.

        None stands for any.
        """
        bucket = self._buckets[name]
        drafts = bucket.drafts
        for one in list(drafts) if above is None else [one for one in drafts if one in above]:
            places = drafts[one]
            while places and not tree.exhausted:
                self._add(bucket, name, places.pop(), tree)
            if not places:
                del drafts[one]

    def _add_name(self, bucket: _Bucket[P], place: int, tree: StyleTree) -> None:
        """Add a selector that is a name and nothing else."""
        number = bisect_right(self._ends, place)
        if self._is_valid(number, tree):
            specificity = _SPECIFICITY.get(self._texts[place][0], (0, 0, 1))
            bucket.sure.append(Match(specificity, self._payload(number)))

    def _add(self, bucket: _Bucket[P], name: str, place: int, tree: StyleTree) -> None:
        """Add a selector, unless it is invalid or never matches."""
        text, number = self._texts[place], bisect_right(self._ends, place)
        tree.steps += len(text)
        selector = compile_selector(text, quirks=self.quirks)
        if isinstance(selector, SelectorError) or selector.never:
            return
        if not self._is_valid(number, tree):
            return
        entry = _Entry(selector, self._payload(number))
        if entry.decided_by == NAMES and entry.names <= {name}:
            bucket.sure.append(entry.match)
        else:
            bucket.open.append(entry)

    def _is_valid(self, number: int, tree: StyleTree) -> bool:
        """Return whether each of a rule's selectors is one; else the rule is void."""
        rule = self._rules[number]
        if END not in rule:
            return True
        known = self._valid.get(number)
        if known is None:
            tree.steps += len(rule)
            known = self._valid[number] = all_valid(rule.split(END), quirks=self.quirks)
        return known


class _Filed(NamedTuple, Generic[P]):
    """What all sheets of a page have filed under a name, as in :class:`_Bucket`."""

    name: str
    sure: list[Match[P]]
    open: list[_Entry[P]]
    drafts: dict[str, list[int]]


class _Candidates(NamedTuple, Generic[P]):
    """The rules of elements that look alike."""

    #: those that apply
    sure: tuple[Match[P], ...]
    #: those to be tried on each
    open: tuple[_Entry[P], ...]
    #: where there may be others, below other ancestors
    drafts: tuple[_Filed[P], ...] = ()


class MatchCache(Generic[P]):
    """What is known of any page with the rules of *indexes*."""

    def __init__(self, indexes: Iterable[RuleIndex[P]]) -> None:
        self.indexes = tuple(indexes)
        self.of_name: dict[str, _Filed[P]] = {}
        self.of_names: dict[frozenset[str], _Candidates[P]] = {}
        self._shared: dict[tuple[int, ...], tuple[Match[P], ...]] = {}

    @property
    def size(self) -> int:
        """How much that is."""
        return len(self.of_name) + len(self.of_names) + len(self._shared)

    def share(self, matches: Sequence[Match[P]]) -> tuple[Match[P], ...]:
        """Return *matches* as a tuple, the same for the same ones."""
        return self._shared.setdefault(tuple(map(id, matches)), tuple(matches))


class Matcher(Generic[P]):
    """The rules that apply to the elements of one page."""

    def __init__(self, tree: StyleTree, known: MatchCache[P]) -> None:
        self._tree = tree
        self._known = known
        if any(index.quirks != tree.quirks for index in known.indexes):
            raise ValueError("a page in quirks mode needs an index in quirks mode, and only that")
        self._of_chain: dict[int, _Candidates[P]] = {}

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
        return self._known.share([*candidates.sure, *more]) if more else candidates.sure

    def shares(self, chain: int) -> bool:
        """Return whether the elements of a chain, once one was matched, have the same rules."""
        candidates = self._of_chain.get(chain)
        return candidates is not None and not candidates.open

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
        return _Candidates(
            self._known.share(sure), tuple([entry for entry in left if entry.fragile])
        )

    def _candidates(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements that have the names of *row*, and its ancestors."""
        names = self._tree.names[row]
        candidates = self._known.of_names.get(names) or self._judged(names)
        if candidates.drafts and self._complete(candidates.drafts, row):
            candidates = self._judged(names)
        return candidates

    def _complete(self, drafts: Iterable[_Filed[P]], row: int) -> bool:
        """Compile what may match below the ancestors of *row*; return whether there is any."""
        tree, known = self._tree, self._known
        above = tree.ancestor_names(row)
        found = False
        for filed in drafts:
            tree.steps += len(filed.drafts)
            if above is None or not above.isdisjoint(filed.drafts):
                found = True
                for index in known.indexes:
                    if filed.name in index:
                        index.complete(filed.name, above, tree)
                self._filed(filed.name)
        return found

    def _judged(self, names: frozenset[str]) -> _Candidates[P]:
        """Return the candidates of elements with *names*, to judge by nothing else."""
        sure: list[Match[P]] = []
        left: list[_Entry[P]] = []
        drafts: list[_Filed[P]] = []
        tree, known = self._tree, self._known
        for name in (*names, "*"):
            filed = known.of_name.get(name) or self._filed(name)
            if filed.sure:
                sure += filed.sure
            if filed.open:
                left += [entry for entry in filed.open if entry.names <= names]
            if filed.drafts:
                drafts.append(filed)
            tree.steps += len(filed.sure) + len(filed.open)
        sure += [entry.match for entry in left if entry.decided_by == NAMES]
        undecided = tuple([entry for entry in left if entry.decided_by != NAMES])
        found = _Candidates(known.share(sure), undecided, tuple(drafts))
        if not tree.exhausted:
            known.of_names[names] = found
        return found

    def _filed(self, name: str) -> _Filed[P]:
        """Return what the sheets have filed under *name*."""
        found: _Filed[P] = _Filed(name, [], [], {})
        for index in self._known.indexes:
            if name in index:
                bucket = index.read(name, self._tree)
                found.sure.extend(bucket.sure)
                found.open.extend(bucket.open)
                found.drafts.update(bucket.drafts)
        if not self._tree.exhausted:
            self._known.of_name[name] = found
        return found
