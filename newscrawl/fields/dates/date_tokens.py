"""A folded text as the tokens that dates are made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.fields.dates.vocabulary import PUNCTUATION

if TYPE_CHECKING:
    from collections.abc import Collection

    from newscrawl.fields.dates.vocabulary import Vocabulary

_UNITS = {"年": "y", "년": "y", "月": "m", "월": "m", "日": "d", "号": "d", "號": "d", "일": "d"}
_TOKEN = re.compile(
    rf"(?P<number>\d+)|(?P<unit>[年月日号號]|(?<=\d)[년월일])"
    rf"|(?P<word>[^\s\d#{PUNCTUATION}年月日号號]+)|(?P<mark>\S)"
)
# Words that are glued to these are several tokens.
_GLUE = re.compile("[#年月월日号號]")
_SOFT = frozenset(",.'-/()[]|º°،、॰׳")
# A word that is glued to a number, as in "17th" and "20-án", is a suffix of it.
_LONGEST_SUFFIX = 4
_LONGEST_NAME = 4


class Atom(NamedTuple):
    """A token, as dates see it.

    Kinds: ``n`` number, ``y`` number of a year, ``d`` of a day, ``m`` month, ``p`` Persian month,
    ``f`` filler ("de", "th"), ``s`` mark that may stand in a date, ``x`` anything else.
    """

    kind: str
    value: int
    start: int
    end: int

    @property
    def digits(self) -> int:
        """Characters of the token: of a number, its digits."""
        return self.end - self.start


def may_hold_month(folded: str, spoken: Collection[str], words: Vocabulary) -> bool:
    """Return whether one of the tokens of *folded* may be a month: reading them costs ten times this.

    *spoken* are its :func:`~newscrawl.fields.dates.relative_dates.spoken_words`.
    """
    return not words.month_starts.isdisjoint(spoken) or _GLUE.search(folded) is not None


def read_atoms(folded: str, words: Vocabulary) -> list[Atom]:
    """Return the tokens of *folded* in its order."""
    tokens = list(_TOKEN.finditer(folded))
    atoms: list[Atom] = []
    place = 0
    while place < len(tokens):
        kind = tokens[place].lastgroup
        if kind == "number":
            taken = _number(tokens, place, folded, atoms)
        elif kind == "word":
            taken = _word(tokens, place, words, atoms)
        else:
            taken = 1
            soft = tokens[place][0] in _SOFT
            atoms.append(Atom("s" if soft else "x", 0, *tokens[place].span()))
        place += taken
    return atoms


def _number(tokens: list[re.Match[str]], place: int, folded: str, atoms: list[Atom]) -> int:
    """Append the number at *place*, and return how many tokens it takes."""
    start, end = tokens[place].span()
    if end - start > 4 or _is_of_clock(folded, start, end):
        atoms.append(Atom("x", 0, start, end))
        return 1
    value = int(tokens[place][0])
    unit = tokens[place + 1] if place + 1 < len(tokens) else None
    kind = _UNITS.get(unit[0]) if unit else None
    if unit and kind and unit.start() - end <= 1 and (kind != "m" or 1 <= value <= 12):
        # The unit's own characters are no part of the number of digits.
        atoms += [Atom(kind, value, start, end), Atom("f", 0, *unit.span())]
        return 2
    atoms.append(Atom("n", value, start, end))
    return 1


def _is_of_clock(folded: str, start: int, end: int) -> bool:
    if folded[end : end + 1] == ":" and folded[end + 1 : end + 2].isdecimal():
        return True
    return start >= 2 and folded[start - 1] == ":" and folded[start - 2].isdigit()


def _word(tokens: list[re.Match[str]], place: int, words: Vocabulary, atoms: list[Atom]) -> int:
    """Append the word or name at *place*, and return how many tokens it takes."""
    word, (start, end) = tokens[place][0], tokens[place].span()
    name = _name(tokens, place, words) if word in words.starts else (word, place)
    kind, value = "x", 0
    if name[0] in words.months:
        kind, value = "m", words.months[name[0]]
    elif name[0] in words.jalali:
        kind, value = "p", words.jalali[name[0]]
    elif word in words.month_words and _is_month_number(tokens, place + 1):
        kind, value, name = "m", int(tokens[place + 1][0]), ("", place + 1)
    elif word in words.fillers or len(word) == 1 or _is_suffix(word, start, atoms):
        kind = "f"
    last = name[1] if kind in "mp" else place
    atoms.append(Atom(kind, value, start, tokens[last].end() if last > place else end))
    return last - place + 1


def _name(tokens: list[re.Match[str]], place: int, words: Vocabulary) -> tuple[str, int]:
    """Return the longest name of a month of several words at *place*, and its last token."""
    name = best = tokens[place][0]
    last = place
    for ahead in range(place + 1, min(place + 2 * _LONGEST_NAME, len(tokens))):
        if tokens[ahead].lastgroup == "word":
            name += " " + tokens[ahead][0]
            if name in words.months:
                best, last = name, ahead
        elif tokens[ahead][0] not in {".", "-", "'"}:
            break
    return best, last


def _is_month_number(tokens: list[re.Match[str]], place: int) -> bool:
    number = tokens[place][0] if place < len(tokens) else ""
    return len(number) <= 2 and number.isdigit() and 1 <= int(number) <= 12


def _is_suffix(word: str, start: int, atoms: list[Atom]) -> bool:
    if len(word) > _LONGEST_SUFFIX or not atoms:
        return False
    last = atoms[-1]
    if last.kind == "s" and last.end == start and len(atoms) > 1:
        start, last = last.start, atoms[-2]
    return last.kind == "n" and last.end == start
