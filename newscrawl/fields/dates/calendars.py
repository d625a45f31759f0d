"""Calendars of dates in visible text: Gregorian, Buddhist (Thailand) and Persian (Jalali)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.items import Day

_GREGORIAN = range(1900, 2100)
_PERSIAN = range(1300, 1479)
_BUDDHIST_OFFSET = 543
# Day 0 of the formula below, as a proleptic Gregorian ordinal.
_PERSIAN_EPOCH = -356_033
# Years to add so that a cycle of 33 begins with year 0.
_CYCLE_SHIFT = 1595


def make_day(year: int, month: int, day: int, *, persian: bool = False) -> Day | None:
    """Return the day, or None where there is none in these numbers.

    The year tells the calendar: 1300 to 1478 is Persian, 2443 to 2642 Buddhist. With *persian*
    the month is one of the Persian calendar.
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
    """Return the year that two digits stand for, at *now* or since 1990; None for others."""
    if buddhist:
        year = (year - _BUDDHIST_OFFSET) % 100
    if year <= now.year % 100 + 1:
        return 2000 + year
    return 1900 + year if year >= 90 else None


def persian_year(day: Day) -> int:
    """Return the Persian year in which the Gregorian *day* lies."""
    year = day.year - 621
    return year if day >= _from_persian(year, 1, 1) else year - 1


def _from_persian(year: int, month: int, day: int) -> Day:
    """Return the Gregorian day; leap years by the cycle of 33 years, exact from 1178 to 1633."""
    if not (1 <= month <= 12 and 1 <= day <= (31 if month <= 6 else 30)):
        raise ValueError("no such day")
    year += _CYCLE_SHIFT
    before = 31 * (month - 1) if month <= 7 else 186 + 30 * (month - 7)
    leap_days = (year // 33) * 8 + (year % 33 + 3) // 4
    return date.fromordinal(_PERSIAN_EPOCH + 365 * year + leap_days + before + day)
