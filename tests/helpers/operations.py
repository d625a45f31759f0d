"""Steps of regular expressions, for tests of complexity on any machine."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from re import _compiler, _parser  # type: ignore[attr-defined]  # the standard library's parser
from typing import Any

from newscrawl.patterns import CJKPattern, LazyPattern

_SINGLE_CHARACTER = {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


class CountingPattern:
    """A backtracking matcher of *pattern* that counts its steps, up to *max_steps*.

    Each result is checked against that of the pattern.
    """

    def __init__(self, pattern: re.Pattern[Any], max_steps: int) -> None:
        self._pattern = pattern
        self.steps = 0
        self._max_steps = max_steps
        self._tree = _parser.parse(pattern.pattern, pattern.flags)
        self._single: dict[tuple[int, int], re.Pattern[Any]] = {}
        self._groups: dict[int, tuple[int, int]] = {}
        self._text: Any = ""

    def match(self, text: Any) -> None:
        """Match at the start of *text*."""
        end = self._end_of(text, 0)  # before the pattern, which has no limit
        _checked(self._pattern.match(text), 0, end)

    def fullmatch(self, text: Any) -> None:
        """Match all of *text*."""
        end = self._end_of(text, 0, full=True)
        _checked(self._pattern.fullmatch(text), 0, end)

    def _search(self, text: Any, place: int) -> re.Match[Any] | None:
        for start in range(place, len(text) + 1):
            if (end := self._end_of(text, start)) >= 0:
                return _checked(self._pattern.search(text, place), start, end)
        return _checked(self._pattern.search(text, place), place, -1)

    def findall(self, text: Any) -> None:
        """Find all matches."""
        place = 0
        while place <= len(text) and (found := self._search(text, place)):
            place = found.end() + (found.end() == found.start())

    def _end_of(self, text: Any, place: int, *, full: bool = False) -> int:
        """Return the end of the match at *place*, -1 if there is none."""
        self._text = text
        self._groups.clear()
        ends = self._sequence(self._tree.data, place, self._pattern.flags)
        return next((end for end in ends if not full or end == len(text)), -1)

    def _sequence(self, nodes: Sequence[Any], place: int, flags: int) -> Iterator[int]:
        """Yield the possible ends of a match of *nodes*, in the order of backtracking."""
        if not nodes:
            yield place
            return
        (code, argument), rest = nodes[0], nodes[1:]
        for end in self._node(str(code), argument, nodes[0], place, flags):
            yield from self._sequence(rest, end, flags)

    def _node(self, code: str, argument: Any, node: Any, place: int, flags: int) -> Iterable[int]:
        self.steps += 1
        assert self.steps <= self._max_steps
        if code in _SINGLE_CHARACTER:
            end = self._character(node, place, flags)
            return (end,) if end >= 0 else ()
        if code in _REPEATS:
            return self._repeat(code, argument, place, flags)
        if code in {"ASSERT", "ASSERT_NOT"}:
            return (place,) if self._asserted(argument, place, flags) == (code == "ASSERT") else ()
        others: dict[str, Callable[[Any, int, int], Iterable[int]]] = {
            "BRANCH": self._branches,
            "SUBPATTERN": self._group,
            "ATOMIC_GROUP": self._first,
            "GROUPREF": self._reference,
        }
        return others[code](argument, place, flags)

    def _branches(self, argument: Any, place: int, flags: int) -> Iterator[int]:
        for branch in argument[1]:
            yield from self._sequence(branch.data, place, flags)

    def _group(self, argument: Any, place: int, flags: int) -> Iterator[int]:
        number, added, removed, inner = argument
        for end in self._sequence(inner.data, place, (flags | added) & ~removed):
            if number is not None:
                self._groups[number] = place, end
            yield end

    def _first(self, nodes: Sequence[Any], place: int, flags: int) -> Sequence[int]:
        end = next(iter(self._sequence(nodes, place, flags)), None)
        return () if end is None else (end,)

    def _reference(self, group: int, place: int, _flags: int) -> Sequence[int]:
        start, end = self._groups[group]
        part = self._text[start:end]
        return (place + len(part),) if self._text.startswith(part, place) else ()

    def _asserted(self, argument: Any, place: int, flags: int) -> bool:
        direction, inner = argument
        if direction > 0:
            return bool(self._first(inner.data, place, flags))
        start = place - inner.getwidth()[0]
        return start >= 0 and place in self._sequence(inner.data, start, flags)

    def _character(self, node: Any, place: int, flags: int) -> int:
        """Return the end of a match of a one-character *node* or anchor, -1 for none."""
        key = id(node), flags
        if key not in self._single:
            tree = _parser.SubPattern(self._tree.state, [node])
            self._single[key] = _compiler.compile(tree, flags)
        found = self._single[key].match(self._text, place)
        return -1 if found is None else found.end()

    def _repeat(self, code: str, argument: Any, place: int, flags: int) -> Iterable[int]:
        minimum, maximum, inner = argument
        nodes = inner.data
        if code == "MIN_REPEAT":
            return self._match_lazily(nodes, minimum, maximum, place, flags)
        is_single = len(nodes) == 1 and str(nodes[0][0]) in _SINGLE_CHARACTER
        if code == "POSSESSIVE_REPEAT":
            ends = self._match_run(nodes, place, maximum, flags)
            return ends[-1:] if len(ends) > minimum else ()
        if is_single:
            return reversed(self._match_run(nodes, place, maximum, flags)[minimum:])
        return self._match_greedily(nodes, minimum, maximum, place, flags)

    def _match_run(self, nodes: Sequence[Any], place: int, maximum: int, flags: int) -> list[int]:
        """Return *place* and the ends of up to *maximum* consecutive matches."""
        ends = [place]
        while len(ends) <= maximum and (found := self._first(nodes, ends[-1], flags)):
            ends += found
            if ends[-1] == ends[-2]:
                break
        return ends

    def _match_greedily(
        self, nodes: Sequence[Any], minimum: int, maximum: int, place: int, flags: int
    ) -> Iterator[int]:
        if maximum:
            for end in self._sequence(nodes, place, flags):
                if end > place:
                    yield from self._match_greedily(
                        nodes, max(0, minimum - 1), maximum - 1, end, flags
                    )
                elif minimum:
                    yield end
        if not minimum:
            yield place

    def _match_lazily(
        self, nodes: Sequence[Any], minimum: int, maximum: int, place: int, flags: int
    ) -> Iterator[int]:
        if not minimum:
            yield place
        if maximum:
            for end in self._sequence(nodes, place, flags):
                if end > place:
                    yield from self._match_lazily(
                        nodes, max(0, minimum - 1), maximum - 1, end, flags
                    )


def _checked(found: re.Match[Any] | None, start: int, end: int) -> re.Match[Any] | None:
    """Return *found* after checking that the matcher found the same span."""
    assert (found.span() if found else (start, -1)) == (start, end)
    return found


def compiled_pattern(value: Any) -> re.Pattern[Any] | None:
    """Return the pattern that *value* is or compiles; None if it is something else."""
    if isinstance(value, CJKPattern):
        value = value.whole
    if isinstance(value, LazyPattern):
        value = re.compile(*value.arguments)
    return value if isinstance(value, re.Pattern) else None
