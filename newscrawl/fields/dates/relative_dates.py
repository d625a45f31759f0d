"""Dates told by their distance from now: "3 hours ago", "gestern, 12:19", "il y a 2 jours", "昨日"."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from dateutil.relativedelta import relativedelta

from newscrawl.fields.dates.times_of_day import clock_after, clock_before
from newscrawl.fields.dates.vocabulary import PUNCTUATION, phrase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from newscrawl.fields.dates.vocabulary import Ago, Vocabulary
    from newscrawl.items import Day

_NUMBER = r"\d(?<![\d.,:/-]\d)\d{0,2}(?![\d:]|[.,/-]\d)"
_ANY_NUMBER = re.compile(_NUMBER)
_NUMBER_BEFORE_WORD = re.compile(rf"{_NUMBER}(?= ?[^\s{PUNCTUATION}])")
_WORD = re.compile(rf"[^\s\d{PUNCTUATION}]+")
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")
# Longer phrases than this stand on neither side of the number.
_SIDE = 32
# "Today" stands in names and sentences; without a clock beside it, it must be nearly all there is.
_MOST_OTHER_WORDS = 1
_LONGEST_NAME = 3
_EXACT = frozenset({"second", "minute", "hour"})


class Relative(NamedTuple):
    """A day, the time and zone where they are known to the unit, and where the words stand."""

    day: Day
    time: time | None
    zone: tzinfo | None
    start: int
    end: int


def relative_dates(
    text: str, folded: str, spoken: Collection[str], words: Vocabulary, now: datetime
) -> list[Relative]:
    """Return the relative dates of *text*, resolved against *now*.

    *folded* is the text folded, *spoken* its :func:`spoken_words`.
    """
    any_number = not words.ago_before.keys().isdisjoint(spoken)
    numbers = list((_ANY_NUMBER if any_number else _NUMBER_BEFORE_WORD).finditer(folded))
    days: list[Relative] = []
    if has_relative_words(spoken, words):
        found = list(_WORD.finditer(folded))
        numbers += [word for word in found if word[0] in words.ones]
        days += _days(found, text, words, now)
    told = [_ago(number, words, now, any_number=any_number) for number in numbers]
    return [*filter(None, told), *days]


def spoken_words(folded: str) -> list[str]:
    """Return what stands in a folded text between white space, punctuation and digits."""
    return _WORD.findall(folded)


def has_relative_words(spoken: Collection[str], words: Vocabulary) -> bool:
    """Return True if there is a word such as "yesterday", or "an" for the number of "an hour ago"."""
    return not words.relative_words.isdisjoint(spoken)


def _ago(
    number: re.Match[str], words: Vocabulary, now: datetime, *, any_number: bool
) -> Relative | None:
    """Return the date of a *number* and what stands around it, nothing behind it with *any_number*."""
    folded = number.string
    start, end = number.span()
    place = end + (folded[end : end + 1] == " ")
    after = phrase(folded[place : place + _SIDE])
    entries = _entries(after, words) if after[:1] == folded[place : place + 1] else []
    if not (entries or any_number):
        return None
    before = phrase(folded[max(0, start - _SIDE) : start])
    for entry in (*entries, *words.ago_before.get(before.rpartition(" ")[2], ())):
        if _ends(before, entry.before):
            count = int(number[0]) if number[0].isdecimal() else 1
            moment = now - relativedelta(**{f"{entry.unit}s": count})  # type: ignore[arg-type]
            exact = entry.unit in _EXACT
            clock = moment.timetz().replace(microsecond=0) if exact else None
            return Relative(
                moment.date(),
                clock.replace(tzinfo=None) if clock else None,
                now.tzinfo if exact else None,
                start - len(entry.before) - bool(entry.before),
                place + len(entry.after),
            )
    return None


def _entries(after: str, words: Vocabulary) -> list[Ago]:
    """Return the phrases around a number that *after* follows, longest first."""
    entries = [
        entry
        for text, entries in words.ago_with(after).items()
        if after.startswith(text) and _is_whole(after, len(text))
        for entry in entries
    ]
    return sorted(entries, key=lambda entry: entry.rank) if len(entries) > 1 else entries


def _is_whole(text: str, end: int) -> bool:
    """Return True if no word goes on at *end*."""
    rest = text[end : end + 1]
    return not rest.isalpha() or _SPACELESS.match(rest) is not None


def _ends(text: str, part: str) -> bool:
    return not part or text == part or text.endswith(" " + part)


def _days(
    found: Sequence[re.Match[str]], text: str, words: Vocabulary, now: datetime
) -> Iterator[Relative]:
    for place, match in enumerate(found):
        if match[0] not in words.relative_words:
            continue
        for count in range(min(_LONGEST_NAME, len(found) - place), 0, -1):
            name = " ".join(word[0] for word in found[place : place + count])
            if name in words.days:
                end = found[place + count - 1].end()
                alone = len(found) - count <= _MOST_OTHER_WORDS
                day = (now + timedelta(days=words.days[name])).date()
                if relative := _day(
                    day, (match.start(), end), text, words, folded=match.string, alone=alone
                ):
                    yield relative
                break


def _day(
    day: Day, place: tuple[int, int], text: str, words: Vocabulary, *, folded: str, alone: bool
) -> Relative | None:
    """Return the date that a word gives with a clock beside it, or where it stands *alone*."""
    start, end = place
    clock = clock_after(text, folded, end, words, day) or clock_before(
        text, folded, start, words, day
    )
    if clock:
        return Relative(day, clock.time, clock.zone, min(clock.start, start), max(clock.end, end))
    if not alone or any(map(str.isdigit, folded)):
        return None
    return Relative(day, None, None, start, end)
