"""Matching of rules with the elements of a page.

:class:`MatchCache` holds results that depend only on the names of elements and outlives the page.
:class:`Matcher` matches the elements of one page, once for all elements with the same path id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from newscrawl.css.selectors.compiled_selectors import ANCESTORS, NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.css.cascade.rule_index import Match, RuleIndex, SelectorEntry
    from newscrawl.css.selectors.style_tree import StyleTree

P = TypeVar("P")


class _NameCandidates(NamedTuple, Generic[P]):
    """The selectors with one key in all sheets of a page."""

    name: str
    #: rules that require only the key
    certain: list[Match[P]]
    #: the other compiled selectors
    conditional: list[SelectorEntry[P]]
    #: required ancestor names of selectors that are not compiled yet
    deferred: set[str]


class _Candidates(NamedTuple, Generic[P]):
    """The candidate rules of elements with the same names."""

    #: rules that apply
    certain: tuple[Match[P], ...]
    #: selectors to be matched with each element
    conditional: tuple[SelectorEntry[P], ...]
    #: keys with deferred selectors
    deferred: tuple[_NameCandidates[P], ...] = ()


class MatchCache(Generic[P]):
    """Matching results that hold for any page with the rules of *indexes*."""

    def __init__(self, indexes: Iterable[RuleIndex[P]]) -> None:
        self.indexes = tuple(indexes)
        self.by_name: dict[str, _NameCandidates[P]] = {}
        self.by_names: dict[frozenset[str], _Candidates[P]] = {}
        self._interned: dict[tuple[int, ...], tuple[Match[P], ...]] = {}

    @property
    def size(self) -> int:
        """Number of cached entries."""
        return len(self.by_name) + len(self.by_names) + len(self._interned)

    def intern(self, matches: Sequence[Match[P]]) -> tuple[Match[P], ...]:
        """Return *matches* as a tuple, the same object for the same matches."""
        return self._interned.setdefault(tuple(map(id, matches)), tuple(matches))


class Matcher(Generic[P]):
    """Finds the rules that apply to the elements of one page."""

    def __init__(self, tree: StyleTree, cache: MatchCache[P]) -> None:
        self._tree = tree
        self._cache = cache
        if any(index.quirks != tree.quirks for index in cache.indexes):
            raise ValueError("the page and the rule indexes must have the same quirks mode")
        self._by_path: dict[int, _Candidates[P]] = {}

    def matches(self, row: int) -> tuple[Match[P], ...]:
        """Return the rules that apply to the element of *row*, in no particular order.

        Elements with the same rules get the same tuple. Once the tree is ``exhausted``, no further
        rules match.
        """
        tree = self._tree
        path_id = tree.path_id(row)
        candidates = self._by_path.get(path_id)
        if candidates is None:
            candidates = self._by_path[path_id] = self._path_candidates(row)
        if not candidates.conditional:
            return candidates.certain
        tree.steps += len(candidates.conditional)
        more = [entry.match for entry in candidates.conditional if entry.matches(row, tree)]
        return self._cache.intern([*candidates.certain, *more]) if more else candidates.certain

    def is_shared(self, path_id: int) -> bool:
        """Return whether all elements of a path id, one of which was matched, have equal rules."""
        candidates = self._by_path.get(path_id)
        return candidates is not None and not candidates.conditional

    def _path_candidates(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements with the path id of *row*."""
        tree = self._tree
        if tree.exhausted:
            return _Candidates((), ())
        candidates = self._candidates(row)
        if not candidates.conditional:
            return candidates
        tree.steps += len(candidates.conditional)
        ancestors = tree.ancestor_names(row)
        if ancestors is None:
            entries, decided = candidates.conditional, NAMES
        else:
            decided = ANCESTORS
            entries = tuple(
                [entry for entry in candidates.conditional if entry.ancestors <= ancestors]
            )
        certain = list(candidates.certain)
        certain += [
            entry.match
            for entry in entries
            if entry.decided_by <= decided or (not entry.per_element and entry.matches(row, tree))
        ]
        return _Candidates(
            self._cache.intern(certain), tuple([entry for entry in entries if entry.per_element])
        )

    def _candidates(self, row: int) -> _Candidates[P]:
        """Return the candidates of all elements with the names and ancestor names of *row*."""
        names = self._tree.names[row]
        candidates = self._cache.by_names.get(names) or self._candidates_by_names(names)
        if candidates.deferred and self._compile_deferred(candidates.deferred, row):
            candidates = self._candidates_by_names(names)
        return candidates

    def _compile_deferred(self, keys: Iterable[_NameCandidates[P]], row: int) -> bool:
        """Compile deferred selectors that the ancestors of *row* satisfy; return whether any."""
        tree, cache = self._tree, self._cache
        ancestors = tree.ancestor_names(row)
        compiled = False
        for key in keys:
            tree.steps += len(key.deferred)
            if ancestors is None or not ancestors.isdisjoint(key.deferred):
                compiled = True
                for index in cache.indexes:
                    if key.name in index:
                        index.compile_deferred(key.name, ancestors, tree)
                self._read(key.name)
        return compiled

    def _candidates_by_names(self, names: frozenset[str]) -> _Candidates[P]:
        """Return the candidates of elements with *names*, regardless of their ancestors."""
        certain: list[Match[P]] = []
        conditional: list[SelectorEntry[P]] = []
        deferred: list[_NameCandidates[P]] = []
        tree, cache = self._tree, self._cache
        for name in (*names, "*"):
            key = cache.by_name.get(name) or self._read(name)
            if key.certain:
                certain += key.certain
            if key.conditional:
                conditional += [entry for entry in key.conditional if entry.names <= names]
            if key.deferred:
                deferred.append(key)
            tree.steps += len(key.certain) + len(key.conditional)
        certain += [entry.match for entry in conditional if entry.decided_by == NAMES]
        undecided = tuple([entry for entry in conditional if entry.decided_by != NAMES])
        found = _Candidates(cache.intern(certain), undecided, tuple(deferred))
        if not tree.exhausted:
            cache.by_names[names] = found
        return found

    def _read(self, name: str) -> _NameCandidates[P]:
        """Return the selectors with the key *name* in all sheets."""
        found: _NameCandidates[P] = _NameCandidates(name, [], [], set())
        for index in self._cache.indexes:
            if name in index:
                bucket = index.read(name, self._tree)
                found.certain.extend(bucket.certain)
                found.conditional.extend(bucket.conditional)
                found.deferred.update(bucket.deferred)
        if not self._tree.exhausted:
            self._cache.by_name[name] = found
        return found
