"""Matching of rules with the elements of a page.

:class:`MatchCache` holds results that depend only on the names of elements and outlives the page.
:class:`Matcher` matches the elements of one page, once for all elements with the same path id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from newscrawl.css.cascade.rule_index import SIGNATURE, WALK
from newscrawl.css.selectors.compiled_selectors import passes
from newscrawl.css.selectors.style_tree import MAX_MATCH_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.css.cascade.rule_index import Match, RuleIndex, SelectorEntry, SelectorGroup
    from newscrawl.css.selectors.style_tree import Signature, StyleTree

P = TypeVar("P")


class _Key(NamedTuple, Generic[P]):
    """The selectors with one key in all sheets of a page."""

    #: rules that require only the key
    certain: list[Match[P]]
    #: required ancestor name, "" for none -> the other selectors
    groups: dict[str, list[SelectorGroup[P]]]
    #: required ancestor names
    ancestors: frozenset[str]


class _Candidates(NamedTuple, Generic[P]):
    """The candidate rules of elements with one signature and some ancestor names."""

    #: rules that apply
    certain: tuple[Match[P], ...]
    #: selectors to be matched
    conditional: tuple[SelectorEntry[P], ...]


class _Subject(NamedTuple, Generic[P]):
    """The candidate rules of elements with one signature."""

    #: those that require no ancestor name
    everywhere: _Candidates[P]
    #: required ancestor names -> groups of selectors, for each key
    groups: tuple[tuple[frozenset[str], dict[str, list[SelectorGroup[P]]]], ...]
    #: required ancestor names -> all candidates
    candidates: dict[frozenset[str], _Candidates[P]]


class MatchCache(Generic[P]):
    """Matching results that hold for any page with the rules of *indexes*.

    *default* has the rules of the default style sheet, which also match beyond the limit.
    """

    def __init__(
        self, indexes: Iterable[RuleIndex[P]], default: MatchCache[P] | None = None
    ) -> None:
        self.indexes = tuple(indexes)
        self.default = default
        self.keys: dict[str, _Key[P] | None] = {}
        self.subjects: dict[Signature, _Subject[P]] = {}
        #: number of cached candidates
        self.candidate_count = 0
        self._interned: dict[tuple[int, ...], tuple[Match[P], ...]] = {}

    @property
    def size(self) -> int:
        """Number of cached entries."""
        return len(self.keys) + len(self.subjects) + self.candidate_count + len(self._interned)

    def intern(self, matches: Sequence[Match[P]]) -> tuple[Match[P], ...]:
        """Return *matches* as a tuple, the same object for the same matches."""
        return self._interned.setdefault(tuple(map(id, matches)), tuple(matches))


class Matcher(Generic[P]):
    """Finds the rules that apply to the elements of one page.

    Beyond the limit of the matching work, only the rules of the default style sheet match.
    """

    def __init__(self, tree: StyleTree, cache: MatchCache[P]) -> None:
        self._tree = tree
        self._cache = cache
        if any(index.quirks != tree.quirks for index in cache.indexes):
            raise ValueError("the page and the rule indexes must have the same quirks mode")
        #: path id -> rules that apply, and selectors to be matched with each element
        self._by_path: dict[int, _Candidates[P]] = {}
        #: whether the limit was reached
        self.exhausted = False

    def matches(self, row: int) -> tuple[Match[P], ...]:
        """Return the rules that apply to the element of *row*, in no particular order.

        Elements with the same rules get the same tuple.
        """
        tree = self._tree
        path_id = tree.path_id(row)
        candidates = self._by_path.get(path_id)
        if candidates is None:
            candidates = self._by_path[path_id] = self._path_candidates(row)
        found = candidates.certain
        if candidates.conditional:
            tree.steps += len(candidates.conditional)
            more = [entry.match for entry in candidates.conditional if entry.matches(row, tree)]
            if more:
                found = self._cache.intern([*found, *more])
        if tree.steps > MAX_MATCH_STEPS and not self.exhausted:
            self._give_up()
            return self.matches(row)
        return found

    def _give_up(self) -> None:
        """Match only the default style sheet from now on, with a new limit."""
        self.exhausted = True
        self._tree.steps = 0
        self._cache = self._cache.default or MatchCache(())
        self._by_path.clear()

    def _path_candidates(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements with the path id of *row*."""
        tree = self._tree
        ancestors = tree.ancestor_names(row)
        candidates = self._candidates(row, ancestors)
        if not candidates.conditional:
            return candidates
        tree.steps += 1 + len(candidates.conditional) // 4  # comparing names is no step yet
        certain: list[Match[P]] = []
        per_element = []
        for entry in candidates.conditional:
            if ancestors is not None and not entry.ancestors <= ancestors:
                continue
            if entry.per_element:
                per_element.append(entry)
            elif (ancestors is not None and entry.decided_by != WALK) or entry.matches(row, tree):
                certain.append(entry.match)
        found = candidates.certain
        if certain:
            found = self._cache.intern([*found, *certain])
        return _Candidates(found, tuple(per_element))

    def _candidates(self, row: int, ancestors: frozenset[str] | None) -> _Candidates[P]:
        """Return the candidates of all elements with the signature and ancestor names of *row*."""
        tree, cache = self._tree, self._cache
        subject = cache.subjects.get(tree.signatures[row]) or self._subject(row)
        required: set[str] = set()
        for names, groups in subject.groups:
            required |= groups.keys() if ancestors is None else names & ancestors
        if not required:
            return subject.everywhere
        key = frozenset(required)
        candidates = subject.candidates.get(key)
        if candidates is None:
            found = [
                group
                for names, groups in subject.groups
                for ancestor in names & required
                for group in groups[ancestor]
            ]
            candidates = self._compiled(found, row, subject.everywhere)
            if not tree.exhausted:
                subject.candidates[key] = candidates
                cache.candidate_count += 1
        return candidates

    def _subject(self, row: int) -> _Subject[P]:
        """Return the candidates of all elements with the signature of *row*."""
        tree = self._tree
        certain: list[Match[P]] = []
        everywhere: list[SelectorGroup[P]] = []
        nested = []
        for name in (*tree.names[row], "*"):
            key = self._key(name)
            if key is not None:
                certain += key.certain
                everywhere += key.groups.get("", ())
                if key.ancestors:
                    nested.append((key.ancestors, key.groups))
        tree.steps += len(certain)
        known = _Candidates(tuple(certain), ())
        subject = _Subject(self._compiled(everywhere, row, known), tuple(nested), {})
        if not tree.exhausted:
            self._cache.subjects[tree.signatures[row]] = subject
        return subject

    def _compiled(
        self, groups: Iterable[SelectorGroup[P]], row: int, known: _Candidates[P]
    ) -> _Candidates[P]:
        """Return *known* candidates and those from *groups* that the signature of *row* allows."""
        tree, names = self._tree, self._tree.names[row]
        names_and_any = names | {"*"}
        certain, conditional = list(known.certain), list(known.conditional)
        for group in groups:
            entries = group.compiled(tree) if group.deferred else group.entries
            tree.steps += 1 + len(entries) // 4
            for entry in entries:
                if (
                    entry.names <= names
                    and not names_and_any.isdisjoint(entry.alternatives)
                    and passes(entry.local, tree, row)
                ):
                    if entry.decided_by == SIGNATURE:
                        certain.append(entry.match)
                    else:
                        conditional.append(entry)
        return _Candidates(self._cache.intern(certain), tuple(conditional))

    def _key(self, name: str) -> _Key[P] | None:
        """Return the selectors with the key *name* in all sheets, None if there are none."""
        tree, cache = self._tree, self._cache
        if name in cache.keys:
            return cache.keys[name]
        buckets = [index.read(name, tree) for index in cache.indexes if name in index.by_name]
        certain = [match for bucket in buckets for match in bucket.certain]
        groups: dict[str, list[SelectorGroup[P]]] = {}
        for bucket in buckets:
            for ancestor, group in bucket.groups.items():
                groups.setdefault(ancestor, []).append(group)
        key = _Key(certain, groups, frozenset(groups) - {""}) if buckets else None
        if not tree.exhausted:
            cache.keys[name] = key
        return key
