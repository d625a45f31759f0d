"""Dates in visible text: "Dec. 17, 2023", "17 tháng 12", "2026年11月20日", "vor 2 Stunden".

A text is folded (:func:`~newscrawl.fields.dates.vocabulary.fold`) and cut into tokens once; every date is
then read from a bounded number of tokens around a month, or is three numbers, so that the time is
linear in the text whatever it holds.

On 179 short texts of news212 and fundus that hold the numbers of the labelled day, 21 languages,
the day is right in 0.994; in 0.82 by dateparser, at 31 ms a text to our 0.06, and in 0.71 by
dateutil, which gives a wrong one in 0.19: ``benchmarks/dates.py``.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl import clock
from newscrawl.fields.dates.calendars import full_year, make_day, persian_year
from newscrawl.fields.dates.date_tokens import Atom, may_hold_month, read_atoms
from newscrawl.fields.dates.relative_dates import has_relative_words, relative_dates, spoken_words
from newscrawl.fields.dates.times_of_day import clock_after, clock_before
from newscrawl.fields.dates.vocabulary import base_language, fold, number_order, vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime, time, tzinfo

    from newscrawl.fields.dates.vocabulary import Vocabulary
    from newscrawl.items import Day

_AHEAD = timedelta(days=2)
_DIGIT = re.compile(r"\d")
_MOST_BETWEEN = 6
_MOST_CHARACTERS_BETWEEN = 14
# What all dates in numbers have.
_MARK = re.compile(r"\d\s?[./-]\s?\d")
# What stands before a number is looked at behind its first digit: a pattern that begins with a
# digit is not tried at every other character.
_NUMERIC = re.compile(
    r"(\d(?<![a-z\d]\d)(?<!\d[.,/:-]\d)\d{0,3})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{1,4})(?!\d|[./:-]\d)"
)
# Without a year, only with a clock behind it: "17.12. 10:30", "12/17(日) 10:30".
_SHORT = re.compile(
    r"(\d(?<![a-z\d]\d)(?<!\d[.,/:-]\d)\d?)([./])(\d{1,2})\2?(?:\(\D{1,4}\))?[,\s|-]{1,3}(?=\d{1,2}:\d\d(?!\d))"
)


class VisibleDate(NamedTuple):
    """A date in a text."""

    day: Day
    time: time | None
    #: of ``time``, where the text names it
    zone: tzinfo | None
    #: where it stands in the text, the time included
    start: int
    end: int
    text: str
    kind: Literal["absolute", "relative"]
    #: the order of day and month is a guess: "3/4/2024" on an English page
    ambiguous: bool
    #: without one, the year is the latest in which the day is not ahead of ``now``
    has_year: bool


def read_dates(
    text: str,
    *,
    language: str | None = None,
    region: str | None = None,
    now: datetime | None = None,
) -> list[VisibleDate]:
    """Return the dates in *text*, in its order.

    *language* is a BCP 47 tag, whose words come before those of English and those that mean one
    thing everywhere; *region* an ISO 3166 code, which tells the order of day and month. Relative
    dates and those without a year are resolved against *now* (default: the clock's).
    """
    folded, words = fold(text), vocabulary(language)
    spoken = spoken_words(folded)
    if not _may_hold_date(folded, spoken, words):
        return []
    now = now or clock.now()
    found = _numeric_dates(folded, language, region, now)
    if may_hold_month(folded, spoken, words):
        found = [*_month_dates(read_atoms(folded, words), folded, language, now), *found]
    dates = [_with_clock(one, text, folded, words) for one in _apart(found)]
    dates += [
        VisibleDate(*one[:5], text[one.start : one.end], "relative", False, True)  # noqa: FBT003
        for one in relative_dates(text, folded, spoken, words, now)
        if not any(other.start < one.end and one.start < other.end for other in dates)
    ]
    return sorted(dates, key=lambda one: one.start) if len(dates) > 1 else dates


def any_may_hold_date(texts: Iterable[str], language: str | None) -> bool:
    """Return whether there may be a date in *texts*: to see it in all together costs less."""
    folded = fold(" ".join(texts))
    return _may_hold_date(folded, spoken_words(folded), vocabulary(language))


def _may_hold_date(folded: str, spoken: Collection[str], words: Vocabulary) -> bool:
    return _DIGIT.search(folded) is not None or has_relative_words(spoken, words)


class _Found(NamedTuple):
    day: Day
    start: int
    end: int
    has_year: bool = True
    ambiguous: bool = False


def _apart(found: list[_Found]) -> list[_Found]:
    """Return the dates that do not overlap; those with a year count before others."""
    if len(found) < 2:
        return found
    apart = []
    taken: set[int] = set()
    for one in sorted(found, key=lambda one: (not one.has_year, one.start)):
        span = range(one.start, one.end)
        if taken.isdisjoint(span):
            taken.update(span)
            apart.append(one)
    return apart


def _with_clock(one: _Found, text: str, folded: str, words: Vocabulary) -> VisibleDate:
    found = clock_after(text, folded, one.end, words, one.day) or clock_before(
        text, folded, one.start, words, one.day
    )
    time, zone, start, end = found or (None, None, one.start, one.end)
    start, end = min(start, one.start), max(end, one.end)
    return VisibleDate(
        one.day, time, zone, start, end, text[start:end], "absolute", one.ambiguous, one.has_year
    )


def _month_dates(
    atoms: Sequence[Atom], folded: str, language: str | None, now: datetime
) -> Iterator[_Found]:
    buddhist = base_language(language) == "th"
    for place, atom in enumerate(atoms):
        if atom.kind in "mp":
            around = _Around(atoms, place, folded, now, buddhist=buddhist)
            if found := around.read():
                yield found


class _Around:
    """The numbers around a month."""

    def __init__(
        self, atoms: Sequence[Atom], place: int, folded: str, now: datetime, *, buddhist: bool
    ) -> None:
        self._atoms, self._folded, self._now, self._buddhist = atoms, folded, now, buddhist
        self._month = atoms[place]
        self._left, self._at_left = self._number(place, -1)
        self._right, self._at_right = self._number(place, 1)

    def read(self) -> _Found | None:
        """Return the date: year month day, month day year, day month year, year day month."""
        left, right = self._left, self._right
        if left and right and _is_year(left) and _is_day(right):
            return self._found(left, right)
        after = self._number(self._at_right, 1)[0] if right and _is_day(right) else None
        if right and after and _is_year(after):
            return self._found(after, right)
        if left and _is_day(left):
            return self._day_first(left)
        return self._month_first(right, after) if right and _is_day(right) else None

    def _day_first(self, day: Atom) -> _Found | None:
        year = self._right
        if year and (_is_year(year) or self._is_short_year(year)):
            return self._found(year, day)
        before, _ = self._number(self._at_left, -1)
        if before and _is_year(before):
            return self._found(before, day)
        return self._without_year(day)

    def _month_first(self, day: Atom, year: Atom | None) -> _Found | None:
        if year and year.digits == 2 and self._folded[year.start - 1] == "'":
            return self._found(year, day)
        return self._without_year(day)

    def _number(self, place: int | None, step: int) -> tuple[Atom | None, int | None]:
        """Return the next number, if only fillers, marks and the same month stand before it."""
        if place is None:
            return None, None
        origin = self._atoms[place]
        for _ in range(_MOST_BETWEEN):
            place += step
            if not 0 <= place < len(self._atoms):
                break
            atom = self._atoms[place]
            between = atom.start - origin.end if step > 0 else origin.start - atom.end
            if between > _MOST_CHARACTERS_BETWEEN:
                break
            if atom.kind in "nyd":
                return atom, place
            # Two names for one month: "نيسان / أبريل".
            if atom.kind not in "fs" and (atom.kind, atom.value) != self._month[:2]:
                break
        return None, None

    def _is_short_year(self, atom: Atom) -> bool:
        if atom.kind == "y":
            return atom.digits == 2
        if atom.digits != 2 or self._full_year(atom) is None:
            return False
        mark = self._folded[atom.start - 1 : atom.start]
        rest = self._folded[atom.end : atom.end + 2].strip()
        return mark in "'-/." or not rest or rest[0] in ",)|-" or self._buddhist

    def _found(self, year: Atom, day: Atom) -> _Found | None:
        number = self._full_year(year)
        if number is None:
            return None
        found = make_day(number, self._month.value, day.value, persian=self._month.kind == "p")
        return None if found is None else _Found(found, *self._span(year, day))

    def _full_year(self, atom: Atom) -> int | None:
        if atom.digits > 2:
            return atom.value
        return full_year(atom.value, self._now, buddhist=self._buddhist)

    def _without_year(self, day: Atom) -> _Found | None:
        if day.kind == "n" and day.digits > 2:
            return None
        persian = self._month.kind == "p"
        found = latest_day(self._month.value, day.value, self._now, persian=persian)
        return None if found is None else _Found(found, *self._span(day), has_year=False)

    def _span(self, *atoms: Atom) -> tuple[int, int]:
        together = (*atoms, self._month)
        end = max(atom.end for atom in together)
        unit = self._folded[end : end + 1]
        return min(atom.start for atom in together), end + (unit in _DAY_UNITS if unit else 0)


_DAY_UNITS = frozenset("日号號일")


def _is_day(atom: Atom) -> bool:
    return atom.kind in "nd" and atom.digits <= 2 and 1 <= atom.value <= 32


def _is_year(atom: Atom) -> bool:
    return atom.kind in "ny" and atom.digits == 4


def latest_day(month: int, day: int, now: datetime, *, persian: bool = False) -> Day | None:
    """Return the latest such day that is not more than two days ahead of *now*."""
    latest = (now + _AHEAD).date()
    year = persian_year(latest) if persian else latest.year
    # 29 February is at most eight years away.
    for candidate in range(year, year - 9, -1):
        found = make_day(candidate, month, day, persian=persian)
        if found and found <= latest:
            return found
    return None


def _numeric_dates(
    folded: str, language: str | None, region: str | None, now: datetime
) -> list[_Found]:
    if _MARK.search(folded) is None:
        return []
    order, certain = number_order(language, region)
    found = [_numeric(one, order, certain=certain, now=now) for one in _NUMERIC.finditer(folded)]
    found += [_short(one, order, certain=certain, now=now) for one in _SHORT.finditer(folded)]
    return list(filter(None, found))


def _short(match: re.Match[str], order: str, *, certain: bool, now: datetime) -> _Found | None:
    """Return the date of two numbers: where the year comes first, the month is next."""
    first, second = int(match[1]), int(match[3])
    day_first = (order == "DMY" or match[2] == "." or first > 12) and second <= 12
    day, month = (first, second) if day_first else (second, first)
    found = latest_day(month, day, now)
    if found is None:
        return None
    ambiguous = not certain and day <= 12 and day != month
    return _Found(found, match.start(), match.end(3), has_year=False, ambiguous=ambiguous)


def _numeric(match: re.Match[str], order: str, *, certain: bool, now: datetime) -> _Found | None:
    first, second, third = match.group(1, 3, 4)
    mark = match[2]
    if len(first) == 4:
        day = make_day(int(first), int(second), int(third)) if len(third) <= 2 else None
        return None if day is None else _Found(day, *match.span())
    if len(first) == 3 or len(third) in {1, 3}:
        return None
    if len(third) == 2:
        if mark != "/" and (len(first), len(second)) != (2, 2):
            return None
        if order == "YMD":
            first, third = third, first
    year = full_year(int(third), now) if len(third) == 2 else int(third)
    if year is None:
        return None
    return _ordered(match, int(first), int(second), year, order, certain=certain)


def _ordered(
    match: re.Match[str], first: int, second: int, year: int, order: str, *, certain: bool
) -> _Found | None:
    """Return the date of day and month in the order that the numbers leave open or do not."""
    # Where dots stand between the numbers the day comes first, in every country that writes so.
    certain = (certain and order != "YMD") or match[2] == "." or first == second
    month_first = order == "MDY" and match[2] != "."
    if first > 12 or second > 12:
        certain, month_first = True, second > 12
    day, month = (second, first) if month_first else (first, second)
    found = make_day(year, month, day)
    return None if found is None else _Found(found, *match.span(), ambiguous=not certain)
