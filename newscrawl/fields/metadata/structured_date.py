"""Machine-readable dates: attributes, JSON-LD and URLs."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from itertools import chain
from typing import TYPE_CHECKING

from dateutil import parser as dateutil_parser
from dateutil import tz

from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newscrawl.items import Day

EARLIEST = date(1990, 1, 1)
"""Earliest plausible date of a web page."""

TOLERANCE = timedelta(days=2)
"""Maximum time of a date after the fetch: time zones, wrong clocks, embargoes."""

MAX_LENGTH = 100
"""Maximum length of a date."""

ZONE_HOURS = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "AKST": -9, "AKDT": -8, "HST": -10, "JST": 9, "KST": 9, "MSK": 3, "МСК": 3, "MEZ": 1, "MESZ": 2,
    "WIB": 7, "WITA": 8, "WIT": 9, "HKT": 8, "SGT": 8, "PHT": 8, "AWST": 8, "AEST": 10, "AEDT": 11,
    "NZST": 12, "NZDT": 13, "SAST": 2, "WAT": 1, "CAT": 2, "EAT": 3, "PKT": 5, "TRT": 3, "BRT": -3,
}  # fmt: skip
"""UTC offsets of unambiguous zone names; "IST" and "BST" have several meanings."""

_SLASHED = lazy_regex(r"(\d{1,2})[/-](\d{1,2})[/-]\d{4}")
_DOTTED = lazy_regex(r"\d{1,2}\. ?\d{1,2}\. ?\d{4}")
_YEAR = lazy_regex(r"(?<!\d)(?:19|20)\d\d")
# "(Coordinated Universal Time)"; and dateutil reads "GMT+1" as in POSIX, one hour behind.
_REMARK = lazy_regex(r"\([^()]*\)|\b(?:GMT|UTC)(?=[+-]\d)")
_MAX_DAY_LENGTH = len("2026-11-22")
_MIDNIGHT = lazy_regex(r"(?<=[T ])24(?=:00(?::00)?(?![:.\d]))")  # ISO 8601, the end of a day
_COMPACT = lazy_regex(r"(?:19|20)\d{12}", re.ASCII)
_ZONE_ID = lazy_regex(r"\[?([A-Z][a-z]{2,9}/[A-Z][\w/+-]{2,30})\]?$")  # "Europe/Paris"
_EPOCH = lazy_regex(r"\d{10}(?:\d{3})?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_URL_DAY = lazy_regex(
    r"((?:19|20)(?<![0-9]..)\d\d)"
    r"(?:/(\d{1,2})/(\d{1,2})|-(\d{1,2})-(\d{1,2})|([01]\d)/?([0-3]\d)|/([01]\d)([0-3]\d)(?=/)|-([01]\d)/([0-3]\d)(?=/)"
    # A time may follow eight digits.
    rf"|/({'|'.join(_MONTHS)})[a-z]*/(\d{{1,2}}))(?:(?![0-9])|(?<=[0-9]{{8}})(?=[0-2][0-9][0-5][0-9]))",
    re.IGNORECASE,
)
_URL_DAY_FIRST = lazy_regex(
    r"(?<![0-9])(?<![0-9]-)(\d{1,2})-(\d{1,2})-((?:19|20)\d\d)(?![0-9-]|/\d)"
)
# RFC 2822, which many meta elements use: a fast path before dateutil.
_RFC_2822 = lazy_regex(
    rf"(?:mon|tue|wed|thu|fri|sat|sun), (\d\d?) ({'|'.join(_MONTHS)}) ((?:19|20)?\d\d) "
    r"(\d\d:\d\d:\d\d) ([+-]\d\d[0-5]\d)",
    re.IGNORECASE | re.ASCII,
)
# Two instants without a common part: missing parts of a text differ between them.
_DEFAULTS = (datetime(2000, 1, 1, 0, 0), datetime(2004, 2, 2, 1, 1))  # noqa: DTZ001  # naive on purpose


def parse_date(text: str, fetched_at: datetime) -> Day | datetime | None:
    """Parse a day or an instant, which is aware if *text* names an unambiguous zone.

    Return None for an incomplete or ambiguous day, and for a date before :data:`EARLIEST` or more
    than :data:`TOLERANCE` after *fetched_at*.
    """
    text = " ".join(text.split())
    if not 8 <= len(text) <= MAX_LENGTH:
        return None
    try:
        value = _parse(text)
    # dateutil raises OverflowError for large numbers; zones beyond a day are ValueErrors.
    except (ValueError, OverflowError):
        return None
    return value if value is not None and is_plausible(value, fetched_at) else None


# Address of a page in an archive, whose date is that of the snapshot.
_SNAPSHOT = lazy_regex(r"https?://[^?#]{4,120}/(?=https?:/)")


def parse_url_date(url: str, fetched_at: datetime) -> Day | None:
    """Return the day in the path of *url*.

    Recognizes ``/2020/09/15/``, ``/2020/0915/``, ``/2020/sep/15/``, ``-2020-09-15``, ``20200915``
    and, if the order of day and month is certain, ``15-09-2020``; not that of a snapshot in an
    archive.
    """
    path = _SNAPSHOT.sub("", url).partition("?")[0].partition("#")[0]
    for day in chain(_url_days(path), _url_days_day_first(path, fetched_at)):
        if day is not None and is_plausible(day, fetched_at):
            return day
    return None


def _url_days(path: str) -> Iterator[Day | None]:
    for match in _URL_DAY.finditer(path):
        year, month, day = (part.lower() for part in match.groups() if part)
        month_number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
        yield _make_day(int(year), month_number, int(day))


def _url_days_day_first(path: str, fetched_at: datetime) -> Iterator[Day | None]:
    for match in _URL_DAY_FIRST.finditer(path):
        first, second, year = map(int, match.groups())
        if first == second or max(first, second) > 12:
            yield _make_day(year, min(first, second), max(first, second))
        else:
            days = _make_day(year, second, first), _make_day(year, first, second)
            plausible = [day for day in days if day and is_plausible(day, fetched_at)]
            if len(plausible) == 1:  # the other one is in the future
                yield plausible[0]


def _make_day(year: int, month: int, day: int) -> Day | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def is_plausible(value: Day | datetime, fetched_at: datetime) -> bool:
    """Return whether *value* is plausible for a page fetched at *fetched_at*."""
    return EARLIEST <= day_of(value) <= (fetched_at + TOLERANCE).date()


def day_of(value: Day | datetime) -> Day:
    """Return the day of *value*, in its own zone."""
    return value.date() if isinstance(value, datetime) else value


def _parse(text: str) -> Day | datetime | None:
    if text.isdecimal() and _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    if _COMPACT.fullmatch(text):
        text = f"{text[:8]}T{text[8:]}"
    if zone := _ZONE_ID.search(text):
        return _with_zone(_parse(text[: zone.start()].rstrip()), zone[1])
    if _MIDNIGHT.search(text) and (value := _parse(_MIDNIGHT.sub("00", text))):
        return value + timedelta(days=1)
    if len(text) <= _MAX_DAY_LENGTH:
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _parse_rfc_2822(text) or _parse_tolerantly(_REMARK.sub("", text))


def _with_zone(value: Day | datetime | None, name: str) -> Day | datetime | None:
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=tz.gettz(name))
    return value


def _parse_rfc_2822(text: str) -> datetime | None:
    match = _RFC_2822.fullmatch(text)
    if match is None:
        return None
    day, month, year, clock, zone = match.groups()
    number = _MONTHS.index(month.lower()) + 1
    year = year if len(year) == 4 else f"20{year}"
    return datetime.fromisoformat(f"{year}-{number:02}-{int(day):02}T{clock}{zone}")


def _parse_tolerantly(text: str) -> Day | datetime | None:
    if _YEAR.search(text) is None:
        return None
    if match := _SLASHED.search(text):
        first, second = map(int, match.groups())
        ambiguous = first != second and max(first, second) <= 12
        return None if ambiguous else _parse_complete(text, day_first=False)
    # With dots between the numbers, the day always comes first.
    return _parse_complete(text, day_first=_DOTTED.search(text) is not None)


def _parse_complete(text: str, *, day_first: bool) -> Day | datetime | None:
    """Return the parts that *text* specifies, or None for an incomplete day."""
    first, second = (
        dateutil_parser.parse(text, default=default, dayfirst=day_first, tzinfos=_zone)
        for default in _DEFAULTS
    )
    if first.date() != second.date():
        return None
    return first if first.time() == second.time() else first.date()


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    hours = ZONE_HOURS.get(name or "")
    return None if hours is None else timezone(timedelta(hours=hours))
