"""Times of day next to a date in visible text: "at 10:30 p.m. ET", "17h40", "午後5時40分"."""

from __future__ import annotations

from datetime import datetime, time, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from dateutil import tz

from newscrawl.fields.dates.vocabulary import phrase
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    import re

    from newscrawl.fields.dates.calendars import VisibleDate
    from newscrawl.fields.dates.vocabulary import Vocabulary
    from newscrawl.items import Day

# UTC offsets of unambiguous zone names; "IST" and "BST" have several meanings.
_ZONE_HOURS = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "AKST": -9, "AKDT": -8, "HST": -10, "JST": 9, "KST": 9, "MSK": 3, "МСК": 3, "MEZ": 1, "MESZ": 2,
    "WIB": 7, "WITA": 8, "WIT": 9, "HKT": 8, "SGT": 8, "PHT": 8, "AWST": 8, "AEST": 10, "AEDT": 11,
    "NZST": 12, "NZDT": 13, "SAST": 2, "WAT": 1, "CAT": 2, "EAT": 3, "PKT": 5, "TRT": 3, "BRT": -3,
}  # fmt: skip
# North American zone names that do not say whether daylight saving time applies.
_ZONE_REGIONS = {
    "ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver",
    "PT": "America/Los_Angeles",
}  # fmt: skip
# Possessive, bounded repetitions keep hostile text linear.
_GAP = r"([\s,|(@·•/-]{0,4}+(?:[^\s\d,|]{1,12}+[\s,.:(|·•-]{0,3}+){0,3}+)"
_CLOCK = (
    r"(?P<h>\d(?<![\d.,/]\d)\d?)"
    r"(?:\s?[:.h時时点點시]\s?(?P<m>[0-5]\d|\d(?=\s?[分분]))(?!\d|[./]\d)(?::(?P<s>[0-5]\d)(?:\.\d{1,9}+)?)?(?:\s?(?:[分분]|uhr(?![^\W\d_])))?"
    r"|(?P<full>\s?(?:[時时点點시h]|uhr)(?![^\W\d_]))|(?=\s?[^\W\d_]))"
)
_AFTER = lazy_regex(_GAP + _CLOCK)
_BEFORE = lazy_regex(_CLOCK)
_GAP_BEFORE = lazy_regex(r"[\s,|()·•/-]{0,4}(?:[^\s\d]{1,12}+[\s,.|()·•-]{0,3}+){0,3}+")
_WORDS = lazy_regex(r"\s?((?:[^\s\d.,;:|()/_+-]{1,14}\.?\s?){1,3})")  # with combining marks
_WORD_END = lazy_regex(r"(?<=\S)(?=\s|$)|\.")
_ZONE = lazy_regex(
    r"[\s(]{0,2}(?:(?:gmt|utc)\s?)?(?P<sign>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d\d))?(?!\d)"
)
_ZONE_NAME = lazy_regex(r"[\s(]{0,2}([A-ZМСК]{1,5})\b")
_MAX_BEFORE = 48


class _ClockTime(NamedTuple):
    time: time
    zone: tzinfo | None
    #: span in the text
    start: int
    end: int


def with_time(date: VisibleDate, text: str, folded: str, words: Vocabulary) -> VisibleDate:
    """Return *date* with the time next to it, if any, at most three words away.

    The zone may follow the date: "21:06 2026-05-11 HKT", "2026-05-11 HKT 21:06".
    """
    after = _AFTER.match(folded, date.end)
    found = _read(after, text, words, date.day, before=after[1]) if after else None
    found = found or _time_before(date, text, folded, words)
    if found is None:
        return date
    zone, _ = zone_after(text, folded, date.end, datetime.combine(date.day, found.time))
    start, end = min(found.start, date.start), max(found.end, date.end)
    return date._replace(time=found.time, zone=found.zone or zone, start=start, end=end)


def _time_before(date: VisibleDate, text: str, folded: str, words: Vocabulary) -> _ClockTime | None:
    for match in _BEFORE.finditer(folded, max(0, date.start - _MAX_BEFORE), date.start):
        before = folded[max(0, match.start() - 6) : match.start()]
        found = _read(match, text, words, date.day, before=before)
        if (
            found
            and found.end <= date.start
            and _GAP_BEFORE.fullmatch(folded, found.end, date.start)
        ):
            return found
    return None


def _read(
    match: re.Match[str], text: str, words: Vocabulary, day: Day, *, before: str
) -> _ClockTime | None:
    folded = match.string
    hour, minute, second = (int(match[part] or 0) for part in "hms")
    half, end = _day_period(folded, match.end(), words, before)
    if match["m"] is None and match["full"] is None and half is None:
        return None
    if half is not None and 1 <= hour <= 12:
        hour = hour % 12 + 12 * (half == "pm" or (half == "night" and 6 <= hour < 12))
    if hour > 23:
        return None
    moment = time(hour, minute, second)
    zone, end = zone_after(text, folded, end, datetime.combine(day, moment))
    return _ClockTime(moment, zone, match.start("h"), end)


def _day_period(folded: str, end: int, words: Vocabulary, before: str) -> tuple[str | None, int]:
    """Return the half of the day (None: unknown), and the end of the time in the text.

    The day period follows *end*, the end of the numbers, or is at the end of *before*.
    """
    if match := _WORDS.match(folded, end):
        ends = [word.end() for word in _WORD_END.finditer(match[1])]
        for last in sorted({*ends, len(match[1])}, reverse=True):
            text = phrase(match[1][:last])
            if text in words.day_periods:
                return words.day_periods[text], len(folded[: match.start(1) + last].rstrip())
    parts = phrase(before).split()
    for text in (*parts[-1:], " ".join(parts[-2:])):
        if text in words.day_periods:
            return words.day_periods[text], end
    return None, end


def zone_after(text: str, folded: str, start: int, moment: datetime) -> tuple[tzinfo | None, int]:
    """Return the zone that follows *start*, if any, and the end of its name."""
    if match := _ZONE.match(folded, start):
        offset = timedelta(hours=int(match["h"]), minutes=int(match["m"] or 0))
        if offset <= timedelta(hours=14):
            return timezone(-offset if match["sign"] == "-" else offset), match.end()
    # Capitals only: "est" is a French word.
    if match := _ZONE_NAME.match(text, start):
        name = match[1]
        if name in _ZONE_HOURS:
            return timezone(timedelta(hours=_ZONE_HOURS[name])), match.end()
        region = tz.gettz(_ZONE_REGIONS[name]) if name in _ZONE_REGIONS else None
        region_offset = region.utcoffset(moment) if region else None
        if region_offset is not None:
            return timezone(region_offset), match.end()
    return None, start
