"""Machine-readable dates: attributes, JSON-LD and URLs."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from dateutil import tz

from newscrawl.fields.dates.calendars import VisibleDate, make_day
from newscrawl.fields.dates.visible_dates import read_dates
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

_MIDNIGHT = lazy_regex(r"(?<=[T ])24(?=:00(?::00)?(?![:.\d]))")  # ISO 8601, the end of a day
_COMPACT = lazy_regex(r"((?:19|20)\d\d) ?(\d\d) ?(\d\d) ?(\d\d:?\d\d(?::?\d\d)?)?", re.ASCII)
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


def parse_date(
    text: str, fetched_at: datetime, language: str | None = None, *, guesses_order: bool = False
) -> Day | datetime | None:
    """Parse a day or an instant in a standard notation, or with the words of *language*.

    An instant is aware if *text* names an unambiguous zone. Return None for an incomplete day, for
    several days, for a date before :data:`EARLIEST` or more than :data:`TOLERANCE` after
    *fetched_at*, and, unless *guesses_order*, for an ambiguous order of day and month.
    """
    text = " ".join(text[: MAX_LENGTH + 1].split())
    if not 8 <= len(text) <= MAX_LENGTH:
        return None
    try:
        value = _parse(text, fetched_at, language, guesses_order=guesses_order)
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
    url = _SNAPSHOT.sub("", url) if "/http" in url else url
    path = url.partition("?")[0].partition("#")[0]
    for day in chain(_url_days(path), _url_days_day_first(path, fetched_at)):
        if day is not None and is_plausible(day, fetched_at):
            return day
    return None


def _url_days(path: str) -> Iterator[Day | None]:
    for match in _URL_DAY.finditer(path):
        year, month, day = (part.lower() for part in match.groups() if part)
        month_number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
        yield make_day(int(year), month_number, int(day))


def _url_days_day_first(path: str, fetched_at: datetime) -> Iterator[Day | None]:
    for match in _URL_DAY_FIRST.finditer(path):
        first, second, year = map(int, match.groups())
        if first == second or max(first, second) > 12:
            yield make_day(year, min(first, second), max(first, second))
        else:
            days = make_day(year, second, first), make_day(year, first, second)
            plausible = [day for day in days if day and is_plausible(day, fetched_at)]
            if len(plausible) == 1:  # the other one is in the future
                yield plausible[0]


def is_plausible(value: Day | datetime, fetched_at: datetime) -> bool:
    """Return whether *value* is plausible for a page fetched at *fetched_at*."""
    return EARLIEST <= day_of(value) <= (fetched_at + TOLERANCE).date()


def day_of(value: Day | datetime) -> Day:
    """Return the day of *value*, in its own zone."""
    return value.date() if isinstance(value, datetime) else value


def _parse(
    text: str, now: datetime, language: str | None, *, guesses_order: bool
) -> Day | datetime | None:
    if text.isdecimal() and _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    if parts := _COMPACT.fullmatch(text):
        text = f"{parts[1]}-{parts[2]}-{parts[3]} {parts[4] or ''}".rstrip()
    extra = timedelta(days=1 if "24:00" in text and _MIDNIGHT.search(text) else 0)
    text = _MIDNIGHT.sub("00", text) if extra else text
    zone = _ZONE_ID.search(text) if "/" in text else None
    text = text[: zone.start()].rstrip() if zone else text
    value: Day | datetime | None
    try:
        value = _from_iso_format(text)
    except ValueError:
        match read_dates(text, language=language, now=now):
            case [VisibleDate(kind="absolute", has_year=True) as found]:
                value = found.value if guesses_order or not found.ambiguous else None
            case _:
                value = None
    if isinstance(value, datetime) and value.tzinfo is None and zone:
        value = value.replace(tzinfo=tz.gettz(zone[1]))
    return None if value is None else value + extra


def _from_iso_format(text: str) -> Day | datetime:
    is_day = len(text) <= len("2026-11-20")
    return date.fromisoformat(text) if is_day else datetime.fromisoformat(text.upper())
