"""Tokens of dates in folded text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.fields.dates.vocabulary import PUNCTUATION

if TYPE_CHECKING:
    from newscrawl.fields.dates.vocabulary import Vocabulary

_UNITS = {"年": "y", "년": "y", "月": "m", "월": "m", "日": "d", "号": "d", "號": "d", "일": "d"}
_TOKEN = re.compile(
    rf"(?P<other>\d++(?=:\d)|(?<=\d:)\d+|\d{{5,}})|(?P<number>\d+)|(?P<unit>[年月日号號]|(?<=\d)[년월일])"
    rf"|(?P<word>[^\s\d#{PUNCTUATION}年月日号號]+)|(?P<mark>\S)"
)
_SEPARATORS = frozenset(",.'-/()[]|º°،、॰׳")
# Mongolian: "11 сарын 17", "3-р сарын 14".
_MONTH_UNIT = re.compile(r"(?:-р)? сар(?:ын)?(?!\w)")
# For example "th" in "17th" and "án" in "20-án".
_MAX_SUFFIX_LENGTH = 4
_MAX_NAME_WORDS = 4


class DateToken(NamedTuple):
    """A token of a date.

    Kinds: ``n`` number, ``y`` year number, ``d`` day number, ``m`` month, ``p`` Persian month,
    ``f`` filler ("de", "th"), ``s`` separator, ``x`` anything else.
    """

    kind: str
    value: int
    start: int
    end: int

    @property
    def digits(self) -> int:
        """Length of the token; for a number, its digits."""
        return self.end - self.start


def read_tokens(folded: str, words: Vocabulary) -> list[DateToken]:
    """Return the tokens of *folded* in text order, and one at its end."""
    matches = list(_TOKEN.finditer(folded))
    tokens: list[DateToken] = []
    index = 0
    while index < len(matches):
        kind = matches[index].lastgroup
        if kind == "number":
            index += _read_number(matches, index, folded, tokens)
        elif kind == "word":
            index += _read_word(matches, index, words, tokens)
        else:
            is_separator = matches[index][0] in _SEPARATORS
            tokens.append(DateToken("s" if is_separator else "x", 0, *matches[index].span()))
            index += 1
    return [*tokens, DateToken("x", 0, len(folded), len(folded))]


def _read_number(
    matches: list[re.Match[str]], index: int, folded: str, tokens: list[DateToken]
) -> int:
    """Append the number at *index* and return how many matches it consumes."""
    start, end = matches[index].span()
    value = int(matches[index][0])
    unit = matches[index + 1] if index + 1 < len(matches) else None
    kind = _UNITS.get(unit[0]) if unit else None
    if unit and kind and unit.start() - end <= 1 and (kind != "m" or 1 <= value <= 12):
        # A token of its own, so that the unit does not count as a digit.
        tokens += [DateToken(kind, value, start, end), DateToken("f", 0, *unit.span())]
        return 2
    if 1 <= value <= 12 and (name := _MONTH_UNIT.match(folded, end)):
        tokens += [DateToken("m", value, start, end), DateToken("f", 0, *name.span())]
        return 1 + sum(match.start() < name.end() for match in matches[index + 1 : index + 4])
    tokens.append(DateToken("n", value, start, end))
    return 1


def _read_word(
    matches: list[re.Match[str]], index: int, words: Vocabulary, tokens: list[DateToken]
) -> int:
    """Append the word or month name at *index* and return how many matches it consumes."""
    word, (start, end) = matches[index][0], matches[index].span()
    name, last = _longest_name(matches, index, words) if word in words.starts else (word, index)
    kind, value = "x", 0
    if name in words.months:
        kind, value = "m", words.months[name]
    elif name in words.jalali:
        kind, value = "p", words.jalali[name]
    elif word in words.month_words and _is_month_number(matches, index + 1):
        kind, value, last = "m", int(matches[index + 1][0]), index + 1
    elif word in words.fillers or len(word) == 1 or _is_suffix(word, start, tokens):
        kind = "f"
    if kind not in "mp":
        last = index
    tokens.append(DateToken(kind, value, start, matches[last].end() if last > index else end))
    return last - index + 1


def _longest_name(matches: list[re.Match[str]], index: int, words: Vocabulary) -> tuple[str, int]:
    """Return the longest month name that begins at *index*, and the index of its last match."""
    name = best = matches[index][0]
    last = index
    for ahead in range(index + 1, min(index + 2 * _MAX_NAME_WORDS, len(matches))):
        if matches[ahead].lastgroup == "word":
            name += " " + matches[ahead][0]
            if name in words.months:
                best, last = name, ahead
        elif matches[ahead][0] not in {".", "-", "'"}:
            break
    return best, last


def _is_month_number(matches: list[re.Match[str]], index: int) -> bool:
    number = matches[index][0] if index < len(matches) else ""
    return len(number) <= 2 and number.isdigit() and 1 <= int(number) <= 12


def _is_suffix(word: str, start: int, tokens: list[DateToken]) -> bool:
    """Return whether *word* is attached to the number before it, directly or by a separator."""
    if len(word) > _MAX_SUFFIX_LENGTH or not tokens:
        return False
    last = tokens[-1]
    if last.kind == "s" and last.end == start and len(tokens) > 1:
        start, last = last.start, tokens[-2]
    return last.kind == "n" and last.end == start
