"""Relative dates, and times next to a date: "3 hours ago", "gestern, 12:19", "17h40", "昨日"."""

from __future__ import annotations

from datetime import datetime, time, timedelta, timezone, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from dateutil import tz
from dateutil.relativedelta import relativedelta

from newscrawl.fields.dates.calendars import VisibleDate
from newscrawl.fields.dates.vocabulary import KEY_LENGTH, PUNCTUATION, phrase
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator, Sequence

    from newscrawl.fields.dates.vocabulary import Ago, Vocabulary
    from newscrawl.items import Day

_NUMBER = r"\d(?<![\d.,:/-]\d)\d{0,2}(?![\d:]|[.,/-]\d)"
_ANY_NUMBER = lazy_regex(_NUMBER)
_NUMBER_BEFORE_WORD = lazy_regex(rf"{_NUMBER}(?= ?[^\s{PUNCTUATION}])")
_WORD = lazy_regex(rf"[^\s\d{PUNCTUATION}]+")
_SPACELESS = lazy_regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")
# Maximum characters of a phrase before or after the number.
_MAX_PHRASE = 32
# "Today" also occurs in names and sentences: without a time next to it, few other words may follow.
_MAX_OTHER_WORDS = 1
_MAX_NAME_WORDS = 3
_DIGIT = lazy_regex(r"\d")
# "Published on Monday at 2:30 pm", but no opening hours.
_MAX_WORDS_AT_WEEKDAY = 5
_ONE_CLOCK = lazy_regex(r"\D*\d\d?[:.h時时點点시] ?\d\d\D*")
_LARGER_UNIT = lazy_regex(r"(?<!\d)(\d{1,3}) ([^\W\d]{1,12}),?(?: and)? $")
_EXACT_UNITS = frozenset({"second", "minute", "hour"})
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
_DAY_PERIOD_WORDS = lazy_regex(
    r"\s?((?:[^\s\d.,;:|()/_+-]{1,14}\.?\s?){1,3})"
)  # with combining marks
_WORD_END = lazy_regex(r"(?<=\S)(?=\s|$)|\.")
_ZONE = lazy_regex(
    r"[\s(]{0,2}(?:(?:gmt|utc)\s?)?(?P<sign>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d\d))?(?!\d)"
)
_ZONE_NAME = lazy_regex(r"[\s(]{0,2}([A-ZМСК]{1,5})\b")
_MAX_BEFORE = 48


def relative_dates(
    text: str, folded: str, spoken: Collection[str], words: Vocabulary, now: datetime
) -> list[VisibleDate]:
    """Return the relative dates of *text*, resolved against *now*.

    *folded* is the folded text, *spoken* its :func:`spoken_words`.
    """
    any_number = not words.ago_before.keys().isdisjoint(spoken)
    numbers = list((_ANY_NUMBER if any_number else _NUMBER_BEFORE_WORD).finditer(folded))
    days: list[VisibleDate] = []
    if not words.relative_words.isdisjoint(spoken):
        matches = list(_WORD.finditer(folded))
        numbers += [word for word in matches if word[0] in words.ones]
        days += _named_days(matches, text, words, now)
        days += filter(None, [_weekday(matches, text, words, now)])
    ago = [_ago(number, words, now, any_number=any_number) for number in numbers]
    return [*filter(None, ago), *days]


def spoken_words(folded: str) -> list[str]:
    """Return the words of a folded text, without punctuation and digits."""
    return _WORD.findall(folded)


def _ago(
    number: re.Match[str], words: Vocabulary, now: datetime, *, any_number: bool
) -> VisibleDate | None:
    """Return the date of a *number* and the phrases around it, if any.

    With *any_number*, a phrase may precede the number and nothing follow it.
    """
    folded = number.string
    start, end = number.span()
    after_start = end + (folded[end : end + 1] == " ")
    near = folded[after_start : after_start + KEY_LENGTH]
    is_word = len(near) == KEY_LENGTH and near.isalpha()
    if is_word and not any_number and words.ago.keys().isdisjoint(_starts(near)):
        return None  # the common case
    after = phrase(folded[after_start : after_start + _MAX_PHRASE])
    phrases = _phrases(after, words) if after[:1] == folded[after_start : after_start + 1] else []
    if not (phrases or any_number):
        return None
    before = phrase(folded[max(0, start - _MAX_PHRASE) : start])
    for ago in (*phrases, *words.ago_before.get(before.rpartition(" ")[2], ())):
        if not ago.before or before == ago.before or before.endswith(" " + ago.before):
            count = int(number[0]) if number[0].isdecimal() else 1
            start, end = start - len(ago.before) - bool(ago.before), after_start + len(ago.after)
            larger = _LARGER_UNIT.search(folded, max(0, start - _MAX_PHRASE), start)
            units = larger and _phrases(f"{larger[2]} {ago.after.partition(' ')[2]}", words)
            if larger and units:  # "2 days, 3 hours ago"
                now -= relativedelta(**{f"{ago.unit}s": count})  # type: ignore[arg-type]
                return _before(now, units[0].unit, int(larger[1]), larger.start(), end)
            return _before(now, ago.unit, count, start, end)
    return None


def _before(now: datetime, unit: str, count: int, start: int, end: int) -> VisibleDate:
    """Return the date *count* units before *now*, with its time unless the unit is longer."""
    moment = now - relativedelta(**{f"{unit}s": count})  # type: ignore[arg-type]
    if unit in _EXACT_UNITS:
        clock = moment.time().replace(microsecond=0)
        return VisibleDate(moment.date(), start, end, clock, now.tzinfo, "relative")
    return VisibleDate(moment.date(), start, end, kind="relative")


def _phrases(after: str, words: Vocabulary) -> list[Ago]:
    """Return the phrases whose part after the number begins *after*, longest first."""
    phrases = [
        ago
        for start in words.ago.keys() & _starts(after)
        for text, entries in words.ago[start].items()
        if after.startswith(text) and _is_word_end(after, len(text))
        for ago in entries
    ]
    return sorted(phrases, key=lambda ago: ago.rank) if len(phrases) > 1 else phrases


def _starts(text: str) -> set[str]:
    """Return the starts of *text* by which phrases are looked up."""
    return {text[:1], text[:2], text[:KEY_LENGTH]}


def _is_word_end(text: str, end: int) -> bool:
    rest = text[end : end + 1]
    return not rest.isalpha() or (rest >= "\u0e00" and _SPACELESS.match(rest) is not None)


def _named_days(
    matches: Sequence[re.Match[str]], text: str, words: Vocabulary, now: datetime
) -> Iterator[VisibleDate]:
    """Yield the dates of "yesterday" and the like; *matches* are the words of the text."""
    for index, match in enumerate(matches):
        if match[0] not in words.relative_words:
            continue
        for count in range(min(_MAX_NAME_WORDS, len(matches) - index), 0, -1):
            name = " ".join(word[0] for word in matches[index : index + count])
            if moment := words.moments.get(name):
                span = (match.start(), matches[index + count - 1].end())
                alone = len(matches) - count <= _MAX_OTHER_WORDS
                found = _before(now, *moment, *span)
                if date := _named_day(found, text, words, folded=match.string, alone=alone):
                    yield date
                break


def _weekday(
    matches: Sequence[re.Match[str]], text: str, words: Vocabulary, now: datetime
) -> VisibleDate | None:
    """Return the day of a weekday with one time, or of "last Monday", in a text of few words."""
    spoken = [word[0] for word in matches]
    both = map(" ".join, pairwise([*spoken, ""]))  # "thứ hai"
    names = [
        (match, words.weekdays[name])
        for match, *texts in zip(matches, spoken, both, strict=True)
        for name in texts
        if name in words.weekdays
    ]
    if len(names) != 1 or len(matches) > _MAX_WORDS_AT_WEEKDAY:
        return None
    name, weekday = names[0]
    is_last = len(matches) == 2 and not words.last.isdisjoint(spoken)
    if not (is_last or _ONE_CLOCK.fullmatch(name.string)):
        return None
    days = (now.weekday() - weekday) % 7 or 7 * is_last
    found = _before(now, "day", days, *name.span())
    return _named_day(found, text, words, folded=name.string, alone=is_last)


def _named_day(
    found: VisibleDate, text: str, words: Vocabulary, *, folded: str, alone: bool
) -> VisibleDate | None:
    """Return *found* with the time next to its name; without, only if the name is *alone*."""
    timed = found if found.time else with_time(found, text, folded, words)
    return timed if timed is not found or (alone and not _DIGIT.search(folded)) else None


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
    if match := _DAY_PERIOD_WORDS.match(folded, end):
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
