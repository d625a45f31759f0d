"""Steps of regular expressions, and texts on which they may be many, on any machine."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from re import _compiler, _parser  # type: ignore[attr-defined]  # the standard library's parser
from typing import Any, NamedTuple

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


_SAMPLES = "a1 .-=/<>\n\"'é一\x00A~%,:;&"
#: in the repeated word, for boundaries of words
_PREFERRED = ("a", " ", "-")
_LOOPS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_SINGLE = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}
_START = 0
_MAX_VISITED = 20_000


class Attack(NamedTuple):
    """Parts of an adversarial text: *start*, any number of *unit*, *end*."""

    start: str
    unit: str
    end: str

    def texts(self, length: int) -> tuple[str, str]:
        """Return a text whose repetition has about *length* characters, and one twice as long."""
        times = max(6, length // len(self.unit))
        short, long = (self.start + self.unit * n + self.end for n in (times, 2 * times))
        return short, long


@dataclass
class _Part:
    """Positions at which a part of a pattern starts and ends, as often as there are ways."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    #: ways to match nothing; 2 are many
    empty: int = 1


class Automaton:
    """Position automaton of *pattern*; *searched*: it may match anywhere in a text."""

    def __init__(self, pattern: re.Pattern[Any], *, searched: bool) -> None:
        self._tree = _parser.parse(pattern.pattern, pattern.flags)
        self._is_bytes = isinstance(pattern.pattern, bytes)
        self._alphabet = self._characters()
        everything = (1 << len(self._alphabet)) - 1
        self._masks = [everything]  # of the characters that a position reads, by position
        self._known: dict[tuple[str, int], int] = {}
        self._edges: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self._loops = [{_START}]  # positions on a cycle, by outermost repetition
        self._ended: set[int] = set()  # positions in assertions
        self._asserted: set[int] = set()  # the last ones of them
        whole = self._sequence(self._tree.data, pattern.flags)
        self._join([_START], whole.first)
        if searched:
            self._join([_START], [_START])

    def attacks(self) -> Iterable[Attack]:
        """Return texts that may take long."""
        return dict.fromkeys(self._attacks())

    def _attacks(self) -> Iterator[Attack]:
        loops = self._loops
        place = {state: number for number, loop in enumerate(loops) for state in loop}
        for loop in loops:
            for state, word in self._exponential_words(loop):
                yield from self._with_context(state, state, word)
        for state, number in place.items():
            for other in self._reached_from(state) & place.keys():
                insides = loops[number], None, loops[place[other]]
                ends = (state, state, other), (state, other, other)
                if place[other] != number and (found := self._path(*ends, *insides)):
                    yield from self._with_context(state, other, found)

    def _characters(self) -> str:
        """Return characters of which some differ for any two positions of the pattern."""
        found = dict.fromkeys(_SAMPLES)
        for code, argument in _walk(self._tree.data):
            match code:
                case "LITERAL" | "NOT_LITERAL":
                    found[chr(argument)] = None
                case "RANGE":
                    found |= dict.fromkeys(map(chr, argument))
        return "".join(char for char in found if not self._is_bytes or ord(char) < 256)

    def _sequence(self, nodes: Iterable[Any], flags: int) -> _Part:
        whole = _Part()
        for code, argument in nodes:
            part = self._part(str(code), argument, (code, argument), flags)
            self._join(whole.last, part.first)
            whole.first += part.first * whole.empty
            whole.last = part.last + whole.last * part.empty
            whole.empty = min(2, whole.empty * part.empty)
        return whole

    def _part(self, code: str, argument: Any, node: Any, flags: int) -> _Part:
        if code in _SINGLE:
            self._masks.append(self._mask(node, flags))
            position = len(self._masks) - 1
            return _Part([position], [position], empty=0)
        if code in _LOOPS:
            minimum, maximum, inner = argument
            return self._repeat(minimum, maximum, inner, flags)
        if code == "SUBPATTERN":
            _, added, removed, inner = argument
            return self._sequence(inner, (flags | added) & ~removed)
        if code == "ATOMIC_GROUP":
            return self._sequence(argument, flags)
        if code == "BRANCH":
            parts = [self._sequence(branch, flags) for branch in argument[1]]
            return _Part(
                [position for part in parts for position in part.first],
                [position for part in parts for position in part.last],
                min(2, sum(part.empty for part in parts)),
            )
        if code in {"ASSERT", "ASSERT_NOT"} and argument[0] > 0:
            start = len(self._masks)
            part = self._sequence(argument[1], flags)
            self._ended.update(range(start, len(self._masks)))
            self._asserted.update(part.last)
            return _Part(part.first)
        return _Part()

    def _repeat(self, minimum: int, maximum: int, nodes: Any, flags: int) -> _Part:
        start = len(self._masks)
        part = self._sequence(nodes, flags)
        if maximum > 1:
            self._join(part.last, part.first)
            inside = set(range(start, len(self._masks))) - self._ended
            self._loops = [*(loop for loop in self._loops if not loop <= inside), inside]
        part.empty = min(2, part.empty + (not minimum))
        return part

    def _join(self, ends: Iterable[int], starts: Sequence[int]) -> None:
        for end in ends:
            self._edges[end].update(starts)

    def _mask(self, node: Any, flags: int) -> int:
        key = repr(node), flags
        if key not in self._known:
            single = _compiler.compile(_parser.SubPattern(self._tree.state, [node]), flags)
            matches = [
                single.match(char.encode("latin-1") if self._is_bytes else char)
                for char in self._alphabet
            ]
            self._known[key] = sum(1 << number for number, found in enumerate(matches) if found)
        return self._known[key]

    def _with_context(self, state: int, other: int, words: Sequence[int]) -> Iterator[Attack]:
        """Yield attacks of *words*, masks by place, that start at *state* and fail at *other*."""
        start = self._text(self._path((_START,), (state,)) or [])
        follow = {*self._edges[state], *self._edges[other], state, other} - {_START}
        accepted = 0
        for position in follow:
            accepted |= self._masks[position]
        ends = [self._text([~accepted]) or "\x00", ""]
        if other in self._ended:  # each assertion may succeed
            paths = (self._path((other,), (last,)) for last in self._asserted)
            ends += map(self._text, filter(None, paths))
        for unit in dict.fromkeys(self._text(words, preferred) for preferred in _PREFERRED):
            for end in ends:
                yield Attack(start, unit, end)

    def _text(self, masks: Iterable[int], preferred: str = "") -> str:
        """Return a text of *masks* by place, with the character *preferred* where it is read."""
        order = preferred + self._alphabet
        places = [(char, 1 << self._alphabet.index(char)) for char in order]
        found = (next((char for char, bit in places if mask & bit), "") for mask in masks)
        return "".join(found)

    def _exponential_words(self, inside: set[int]) -> Iterator[tuple[int, list[int]]]:
        """Yield states of a loop, and a word that two paths from each to itself read."""
        for state in inside:
            for after, ways in self._edges[state].items():
                if ways > 1 and after in inside:
                    back = self._path((after,), (state,), inside)
                    if back is not None:
                        yield state, [self._masks[after], *back]
        first = min(inside)
        if word := self._path((first, first), (first, first), inside, inside, apart=True):
            yield first, word

    def _reached_from(self, state: int) -> set[int]:
        seen, queue = {state}, [state]
        while queue:
            new = self._edges[queue.pop()].keys() - seen
            seen |= new
            queue += new
        return seen

    def _path(
        self,
        start: tuple[int, ...],
        end: tuple[int, ...],
        *inside: set[int] | None,
        apart: bool = False,
    ) -> list[int] | None:
        """Return the masks of a word that leads from each of *start* to its *end*.

        Each path stays in its set of states; *apart*: two of them must differ somewhere.
        """
        if start == end and not apart and len(start) == 1:
            return []
        sets = [*inside, *[None] * (len(start) - len(inside))]
        first = (start, False)
        came: dict[Hashable, tuple[Any, int]] = {first: (None, 0)}
        queue = deque([first])
        while queue and len(came) < _MAX_VISITED:
            here = queue.popleft()
            states, differed = here
            for after, mask in self._steps(states, sets):
                there = after, differed or (apart and after[0] != after[1])
                if after == end and there[1] == apart:
                    word = [mask]
                    while here != first:
                        here, before = came[here]
                        word.append(before)
                    return word[::-1]
                if there not in came:
                    came[there] = here, mask
                    queue.append(there)
        return None

    def _steps(
        self, states: tuple[int, ...], sets: Sequence[set[int] | None]
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield the states after one more character, and the mask of that."""
        found: list[tuple[tuple[int, ...], int]] = [((), self._masks[_START])]
        for state, inside in zip(states, sets, strict=True):
            found = [
                ((*before, after), mask & self._masks[after])
                for before, mask in found
                for after in self._edges[state]
                if (inside is None or after in inside) and mask & self._masks[after]
            ]
        yield from found


def _walk(nodes: Any) -> Iterator[tuple[str, Any]]:
    """Yield the codes and arguments of a parse tree."""
    if isinstance(nodes, (list, tuple, _parser.SubPattern)):
        if len(nodes) == 2 and isinstance(nodes[0], int) and type(nodes[0]) is not int:
            yield str(nodes[0]), nodes[1]
        for node in nodes:
            yield from _walk(node)
