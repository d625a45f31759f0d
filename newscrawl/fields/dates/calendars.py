"""Dates in visible text, and calendars whose dates are converted to Gregorian days.

Buddhist (Thailand), Persian (Jalali), Islamic (Hijri), Ethiopic and Bikram Sambat (Nepal) dates
are recognized by their years or by the names of their months.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import time, tzinfo

    from newscrawl.items import Day

_GREGORIAN = range(1900, 2100)
_PERSIAN = range(1300, 1479)
_BUDDHIST_OFFSET = 543
Calendar = Literal["gregorian", "persian", "islamic", "ethiopic", "bikram"]
# Day 0 of the formulas, as proleptic Gregorian ordinals; the last one is 1 Baisakh 2076.
_PERSIAN_EPOCH, _ISLAMIC_EPOCH, _ETHIOPIC_EPOCH = -356_033, 226_630, 2796
_BIKRAM_YEAR, _BIKRAM_EPOCH = 2076, 737_163
# Years to add so that a 33-year cycle begins with year 0.
_CYCLE_SHIFT = 1595
# Days of the months in four successive years of Nepal's calendar, which go on in this way around
# the present; that calendar has no rule.
_BIKRAM_MONTHS = (
    (31, 32, 31, 32, 31, 30, 30, 30, 29, 29, 30, 30),
    (31, 32, 31, 32, 31, 30, 30, 30, 29, 30, 29, 31),
    (31, 31, 31, 32, 31, 31, 30, 29, 30, 29, 30, 30),
    (31, 31, 32, 31, 31, 31, 30, 29, 30, 29, 30, 30),
)


class VisibleDate(NamedTuple):
    """A date in a text."""

    day: Day
    #: span in the text, including the time
    start: int
    end: int
    time: time | None = None
    #: zone of ``time`` if the text names it
    zone: tzinfo | None = None
    kind: Literal["absolute", "relative"] = "absolute"
    #: whether the order of day and month is guessed, as of "3/4/2024" on an English page
    ambiguous: bool = False
    #: if False, the year is the latest in which the day is not in the future
    has_year: bool = True
    #: whether the day may be another one: that of a calendar by observation
    approximate: bool = False
    text: str = ""

    @property
    def value(self) -> Day | datetime:
        """The day, or the instant if the text has a time."""
        return datetime.combine(self.day, self.time, self.zone) if self.time else self.day


def make_day(year: int, month: int, day: int, calendar: Calendar = "gregorian") -> Day | None:
    """Return the Gregorian day, or None for an impossible date.

    If the month does not tell the *calendar*, the year does: 1300 to 1478 is Persian, 2443 to 2642
    Buddhist.
    """
    try:
        if calendar == "gregorian" and year in _PERSIAN:
            calendar = "persian"
        if calendar != "gregorian":
            years, convert = _CALENDARS[calendar]
            return convert(year, month, day) if year in years else None
        if year - _BUDDHIST_OFFSET in _GREGORIAN:
            year -= _BUDDHIST_OFFSET
        return date(year, month, day) if year in _GREGORIAN else None
    except ValueError:
        return None


def full_year(year: int, now: Day, *, buddhist: bool = False) -> int | None:
    """Expand a two-digit year to one between 1990 and next year, else return None."""
    if buddhist:
        year = (year - _BUDDHIST_OFFSET) % 100
    if year <= now.year % 100 + 1:
        return 2000 + year
    return 1900 + year if year >= 90 else None


def latest_year(day: Day, calendar: Calendar) -> int:
    """Return the latest year of *calendar* that can have begun by the Gregorian *day*."""
    if calendar == "gregorian":
        return day.year
    years, convert = _CALENDARS[calendar]
    return next((year for year in reversed(years) if convert(year, 1, 1) <= day), years[0])


def _from_persian(year: int, month: int, day: int) -> Day:
    """Convert to a Gregorian day by the 33-year leap cycle, exact from 1178 to 1633.

    Raises ``ValueError`` for an impossible date.
    """
    if not (1 <= month <= 12 and 1 <= day <= (31 if month <= 6 else 30)):
        raise ValueError("no such day")
    year += _CYCLE_SHIFT
    before = 31 * (month - 1) if month <= 7 else 186 + 30 * (month - 7)
    leap_days = (year // 33) * 8 + (year % 33 + 3) // 4
    return date.fromordinal(_PERSIAN_EPOCH + 365 * year + leap_days + before + day)


def _from_islamic(year: int, month: int, day: int) -> Day:
    """Convert by the tabular calendar, which is a day from the observed one at times."""
    if not (1 <= month <= 12 and 1 <= day <= 30):
        raise ValueError("no such day")
    before = 354 * year + (11 * year + 3) // 30 + 30 * month - (month - 1) // 2
    return date.fromordinal(_ISLAMIC_EPOCH + before + day)


def _from_ethiopic(year: int, month: int, day: int) -> Day:
    if not (1 <= month <= 13 and 1 <= day <= (30 if month <= 12 else 6)):
        raise ValueError("no such day")
    return date.fromordinal(
        _ETHIOPIC_EPOCH + 365 * (year - 1) + year // 4 + 30 * (month - 1) + day - 1
    )


def _from_bikram(year: int, month: int, day: int) -> Day:
    """Convert by a cycle of four years."""
    cycles, place = divmod(year - _BIKRAM_YEAR, len(_BIKRAM_MONTHS))
    months = [days for of_year in _BIKRAM_MONTHS[: place + 1] for days in of_year]
    before = months[: 12 * place + month - 1]
    if not (1 <= month <= 12 and 1 <= day <= months[12 * place + month - 1]):
        raise ValueError("no such day")
    cycle = sum(map(sum, _BIKRAM_MONTHS))
    return date.fromordinal(_BIKRAM_EPOCH + cycles * cycle + sum(before) + day - 1)


_CALENDARS: dict[Calendar, tuple[range, Callable[[int, int, int], Day]]] = {
    "persian": (_PERSIAN, _from_persian),
    "islamic": (range(1410, 1501), _from_islamic),
    "ethiopic": (range(1980, 2100), _from_ethiopic),
    "bikram": (range(2060, 2101), _from_bikram),
}
OTHER_CALENDARS = tuple(_CALENDARS)
"""Calendars with names of months other than the Gregorian ones."""

APPROXIMATE: frozenset[Calendar] = frozenset({"islamic", "bikram"})
"""Calendars whose days may be observed a day earlier or later."""
