"""Dates in visible text, of the calendars Gregorian, Buddhist (Thailand) and Persian (Jalali)."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from datetime import time, tzinfo

    from newscrawl.items import Day

_GREGORIAN = range(1900, 2100)
_PERSIAN = range(1300, 1479)
_BUDDHIST_OFFSET = 543
# Day 0 of the formula in _from_persian, as a proleptic Gregorian ordinal.
_PERSIAN_EPOCH = -356_033
# Years to add so that a 33-year cycle begins with year 0.
_CYCLE_SHIFT = 1595


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
    text: str = ""

    @property
    def value(self) -> Day | datetime:
        """The day, or the instant if the text has a time."""
        return datetime.combine(self.day, self.time, self.zone) if self.time else self.day


def make_day(year: int, month: int, day: int, *, persian: bool = False) -> Day | None:
    """Return the Gregorian day, or None for an impossible date.

    The year determines the calendar: 1300 to 1478 is Persian, 2443 to 2642 Buddhist. With
    *persian*, only Persian years are accepted.
    """
    try:
        if persian or year in _PERSIAN:
            return _from_persian(year, month, day) if year in _PERSIAN else None
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


def persian_year(day: Day) -> int:
    """Return the Persian year of the Gregorian *day*."""
    year = day.year - 621
    return year if day >= _from_persian(year, 1, 1) else year - 1


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
