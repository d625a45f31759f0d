"""Matching of rules with the elements of a page.

:class:`MatchCache` holds results that depend only on the names of elements and outlives the page.
:class:`Matcher` matches the elements of one page, once for all elements with the same path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from newscrawl.css.cascade.rule_index import ANCESTORS, SIGNATURE
from newscrawl.css.selectors.compiled_selectors import passes
from newscrawl.css.selectors.style_tree import MAX_MATCH_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from newscrawl.css.cascade.rule_index import Bucket, Match, RuleIndex, SelectorEntry
    from newscrawl.css.selectors.style_tree import Path, Signature, StyleTree

P = TypeVar("P")


class _Key(NamedTuple, Generic[P]):
    """The selectors with one key in all sheets of a page."""

    buckets: Sequence[Bucket[P]]
    #: those with selectors that require no ancestor name
    everywhere: Sequence[Bucket[P]]
    #: rules that require only the key
    certain: list[Match[P]]
    #: required ancestor names
    ancestors: frozenset[str]


class _Candidates(NamedTuple, Generic[P]):
    """The candidate rules of elements with one signature and some ancestor names."""

    #: rules that apply
    certain: tuple[Match[P], ...]
    #: selectors to be matched
    conditional: tuple[SelectorEntry[P], ...]
    #: names that those require of ancestors
    ancestors: frozenset[str]
    #: those names that occur -> candidates without the selectors that require another
    filtered: dict[frozenset[str], _Candidates[P]]


class _Subject(NamedTuple, Generic[P]):
    """The candidate rules of elements with one signature."""

    #: those that require no ancestor name
    everywhere: _Candidates[P]
    #: its keys with selectors that require an ancestor name
    keys: Sequence[_Key[P]]
    #: required ancestor names that occur -> all candidates; None: any may occur
    candidates: dict[frozenset[str] | None, _Candidates[P]]


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
        #: rules that apply, and selectors to be matched with each element
        self._by_path: dict[Path, _Candidates[P]] = {}
        #: whether the limit was reached
        self.exhausted = False

    def matches(self, row: int) -> tuple[Match[P], ...]:
        """Return the rules that apply to the element of *row*, in no particular order.

        Elements with the same rules get the same tuple.
        """
        tree = self._tree
        path = tree.path(row)
        candidates = self._by_path.get(path)
        if candidates is None:
            candidates = self._by_path[path] = self._path_candidates(row, path)
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

    def _path_candidates(self, row: int, path: Path) -> _Candidates[P]:
        """Return the candidates of all elements with the *path* of *row*."""
        tree = self._tree
        ancestors = tree.ancestor_names(path)
        candidates = self._candidates(row, path.signature, ancestors)
        if not candidates.conditional:
            return candidates
        if ancestors is not None:
            candidates = self._filtered(candidates, candidates.ancestors & ancestors)
        certain: list[Match[P]] = []
        per_element = []
        for entry in candidates.conditional:
            if entry.per_element:
                per_element.append(entry)
            elif entry.matches(row, tree):
                certain.append(entry.match)
        found = candidates.certain
        if certain:
            found = self._cache.intern([*found, *certain])
        return _Candidates(found, tuple(per_element), candidates.ancestors, {})

    def _filtered(self, candidates: _Candidates[P], names: frozenset[str]) -> _Candidates[P]:
        """Return those candidates that require none of the ancestor names but *names*."""
        found = candidates.filtered.get(names)
        if found is None:
            self._tree.steps += 1 + len(candidates.conditional) // 4
            possible = [entry for entry in candidates.conditional if entry.ancestors <= names]
            decided = [entry.match for entry in possible if entry.decided_by == ANCESTORS]
            others = [entry for entry in possible if entry.decided_by != ANCESTORS]
            found = self._finished([*candidates.certain, *decided], others)
            candidates.filtered[names] = found
            self._cache.candidate_count += 1
        return found

    def _finished(
        self, certain: Sequence[Match[P]], conditional: Sequence[SelectorEntry[P]]
    ) -> _Candidates[P]:
        ancestors = frozenset().union(*[entry.ancestors for entry in conditional])
        return _Candidates(self._cache.intern(certain), tuple(conditional), ancestors, {})

    def _candidates(
        self, row: int, signature: Signature, ancestors: frozenset[str] | None
    ) -> _Candidates[P]:
        """Return the candidates of all elements with the signature and ancestor names of *row*."""
        tree, cache = self._tree, self._cache
        subject = cache.subjects.get(signature) or self._subject(row, signature)
        if not subject.keys:
            return subject.everywhere
        names: frozenset[str] | None = None
        if ancestors is not None:
            # No union of all required names is kept: each signature would have its own.
            names = frozenset().union(*[key.ancestors & ancestors for key in subject.keys])
            if not names:
                return subject.everywhere
        candidates = subject.candidates.get(names)
        if candidates is None:
            found = [
                bucket.entries(ancestor, tree)
                for key in subject.keys
                for ancestor in (key.ancestors if names is None else key.ancestors & names)
                for bucket in key.buckets
                if ancestor in bucket.deferred
            ]
            known = subject.everywhere
            candidates = self._compiled(found, row, known.certain, known.conditional)
            if not tree.exhausted:
                subject.candidates[names] = candidates
                cache.candidate_count += 1
        return candidates

    def _subject(self, row: int, signature: Signature) -> _Subject[P]:
        """Return the candidates of all elements with the *signature* of *row*."""
        tree, known = self._tree, self._cache.keys
        keys = [
            key
            for name in (*tree.names[row], "*")
            if (key := known[name] if name in known else self._key(name)) is not None
        ]
        certain = [match for key in keys for match in key.certain]
        tree.steps += len(certain)
        found = [bucket.entries("", tree) for key in keys for bucket in key.everywhere]
        everywhere = self._compiled(found, row, certain, ())
        nested = [key for key in keys if key.ancestors]
        subject = _Subject(everywhere, nested, {})
        if not tree.exhausted:
            self._cache.subjects[signature] = subject
        return subject

    def _compiled(
        self,
        found: Iterable[Sequence[SelectorEntry[P]]],
        row: int,
        certain: Iterable[Match[P]],
        conditional: Iterable[SelectorEntry[P]],
    ) -> _Candidates[P]:
        """Return the given candidates and those of *found* that the signature of *row* allows."""
        tree, names = self._tree, self._tree.names[row]
        certain, conditional = list(certain), list(conditional)
        for entries in found:
            tree.steps += 1 + len(entries) // 4
            for entry in entries:
                if (
                    entry.names <= names
                    and (entry.alternatives is None or not names.isdisjoint(entry.alternatives))
                    and (not entry.local or passes(entry.local, tree, row))
                ):
                    if entry.decided_by == SIGNATURE:
                        certain.append(entry.match)
                    else:
                        conditional.append(entry)
        return self._finished(certain, conditional)

    def _key(self, name: str) -> _Key[P] | None:
        """Return the selectors with the key *name* in all sheets, None if there are none."""
        tree, cache = self._tree, self._cache
        buckets = [index.read(name, tree) for index in cache.indexes if name in index.selectors]
        key = None
        if buckets:
            certain = [match for bucket in buckets for match in bucket.certain]
            ancestors = frozenset().union(*[bucket.deferred for bucket in buckets]) - {""}
            everywhere = [bucket for bucket in buckets if "" in bucket.deferred]
            key = _Key(buckets, everywhere, certain, ancestors)
        if not tree.exhausted:
            cache.keys[name] = key
        return key
