"""Dates in visible text: "Dec. 17, 2023", "17 tháng 12", "2026年11月20日", "vor 2 Stunden".

A text is folded (:func:`~newscrawl.fields.dates.vocabulary.fold`) and tokenized once. A date is
either numeric or read from a bounded number of tokens around a month, so that the time is linear in
the length of any text.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from newscrawl import clock
from newscrawl.fields.dates.calendars import (
    APPROXIMATE,
    VisibleDate,
    full_year,
    latest_year,
    make_day,
)
from newscrawl.fields.dates.relative_dates import (
    relative_dates,
    spoken_words,
    with_time,
    zone_after,
)
from newscrawl.fields.dates.vocabulary import (
    PUNCTUATION,
    base_language,
    fold,
    number_order,
    vocabulary,
)
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.fields.dates.calendars import Calendar
    from newscrawl.fields.dates.vocabulary import Vocabulary
    from newscrawl.items import Day

_MAX_AHEAD = timedelta(days=2)
_DIGIT = lazy_regex(r"\d|[一二三四五六七八九十]日")
# Between two parts of a date.
_MAX_TOKENS_BETWEEN = 6
_MAX_CHARACTERS_BETWEEN = 14
_CLOCK_AFTER = lazy_regex(r"\s\d\d?:\d\d(?!\d)")
_DAY_UNITS = frozenset("日号號일")
# Part of every numeric date.
_NUMERIC_SEPARATOR = lazy_regex(r"\d\s?[./-]\s?\d")
# Word characters that end a token, and names of months after a number.
_GLUE = lazy_regex(r"\d(?:-р)? сар|[#年月월日号號]")
# The look-behinds follow the first digit, as patterns that begin with a digit are faster.
_NUMERIC = lazy_regex(
    r"(\d(?<![a-z\d]\d)(?<!\d[.,/:-]\d)\d{0,3})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{1,4})(?!\d|[./:-]\d)"
)
# Without a year, only if a time follows: "17.12. 10:30", "12/17(日) 10:30".
_SHORT = lazy_regex(
    r"(\d(?<![a-z\d]\d)(?<!\d[.,/:-]\d)\d?)([./])(\d{1,2})\2?(?:\(\D{1,4}\))?[,\s|-]{1,3}(?=\d{1,2}:\d\d(?!\d))"
)

# Years of eras, and western years with them: "令和2年9月14日", "2020年（令和2年）9月14日".
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_ERA_NAME = rf"(?:{'|'.join(_ERAS)})"
# Without an era, Han numerals, or a year of Taiwan: "二〇二六年五月十一日", "115年5月11日".
_HAN = "[〇零一二三四五六七八九十]"
_HAN_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_ERA = lazy_regex(
    rf"(?:({_ERA_NAME})\s?(\d{{1,3}}|元|{_HAN}{{1,3}})|(\d{{4}})年?[(（]{_ERA_NAME}(?:\d{{1,3}}|元)年?[)）]"
    rf"|(?<!\d)(1\d\d|{_HAN}{{4}})(?=年))年?\s?(\d{{1,2}}|{_HAN}{{1,3}})月\s?(\d{{1,2}}|{_HAN}{{1,3}})日?"
)
# "Nov 24 10:15:00 2020": the year after a date without one, and its time.
_YEAR_AFTER = lazy_regex(r"[\s,]{1,3}(?:[a-z]{2,5}[\s,]{1,2})?((?:19|20)\d\d)(?!\d|[./:-]\d)")

# Before "1.9.17", with nothing after it.
_DATE_BEFORE = lazy_regex(r"^$|(?:\b(?:am|vom|den|dne|dnia|le|du|el|il|del|op|от|pa)|[:|,·]) ?$")

# Days of an event or an issue: "12.-14. März", "del 28 de febrero al 3 de marzo", "3月12日～14日".
_TO = (
    r"(?:\s?[~〜至到]\s?|\s?から\s?|\s(?:to|through|till?|until|tot(?: en met)?|and|bis(?: zum)?|und|au|et|al|ao?|ate|y|e"
    r"|en|och|og|do|po|i|az|ja|ve|до|по|и|та|الی|حتی|و|تا|đen|hingga|sampai|dan|εωσ|με|και|&)\s)"
)
_RANGE = lazy_regex(rf"(?:{_TO}|\s?-\s?)(?:(?:the|el|le|il|den|o)\s)?")
_RANGE_BEFORE = lazy_regex(
    r"(?<![\w:./-])\d{1,2}(?:-|/|\. ?- ?|\.\d\d?\. ?- ?"
    rf"|(?:st|nd|rd|th|[.日일º])?(?:[./]\d\d?\.?)?{_TO})(?:(?:the|el|le|il|den)\s)?$"
    r"|(?:^|\b(?:from|vom|du|del?|dal|od|с|van|fra) )\d{1,2}\.? - $"
)
_NO_CLOCK = r"\d\d?(?![\d:時时点點시]|\.\d|\s?(?:h|uhr\b|[ap]\.?m))"
_RANGE_AFTER_YEAR = lazy_regex(rf"(?:\s?[~〜至]\s?(?:\d\d?[./])?|-){_NO_CLOCK}")
_RANGE_AFTER = lazy_regex(rf"(?:{_TO}(?:\d\d?[./])?|-| - (?!\d+ [^\W\d])){_NO_CLOCK}")
_MAX_RANGE = 24
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


def read_dates(
    text: str,
    *,
    language: str | None = None,
    region: str | None = None,
    now: datetime | None = None,
) -> list[VisibleDate]:
    """Return the dates in *text*, in text order.

    *language* is a BCP 47 tag; words of English and words with one meaning in all languages are
    also recognized. *region* is an ISO 3166 code that determines the order of day and month.
    Relative dates and dates without a year are resolved against *now* (default: current time).
    """
    folded, words = fold(text), vocabulary(language)
    spoken = spoken_words(folded)
    if not _DIGIT.search(folded) and words.relative_words.isdisjoint(spoken):
        return []
    now = now or clock.now()
    dates: list[VisibleDate] = []
    has_month = not words.month_starts.isdisjoint(spoken) or _GLUE.search(folded) is not None
    has_separator = _NUMERIC_SEPARATOR.search(folded) is not None
    if has_month or has_separator:
        tokens = read_tokens(folded, words) if has_month else ()
        found = [*_month_dates(tokens, folded, language, now), *_era_dates(folded)]
        if has_separator:
            found += _numeric_dates(folded, language, region, now)
        if not all(date.approximate for date in found):  # the day of another calendar, too
            found = [date for date in found if not date.approximate]
        single = _without_ranges(_without_overlaps(found), folded)
        for date in sorted(single, key=lambda date: date.start):
            dates.append(_with_time(date, text, folded, words, dates[-1].end if dates else 0))
    dates += [
        date
        for date in relative_dates(text, folded, spoken, words, now)
        if not any(other.start < date.end and date.start < other.end for other in dates)
    ]
    dates = [date._replace(text=text[date.start : date.end]) for date in dates]
    return sorted(dates, key=lambda date: date.start) if len(dates) > 1 else dates


def any_may_hold_date(texts: Iterable[str], language: str | None) -> bool:
    """Return whether one of *texts* may contain a date; faster than a check of each text."""
    folded, words = fold(" ".join(texts)), vocabulary(language)
    is_relative = not words.relative_words.isdisjoint(spoken_words(folded))
    return is_relative or _DIGIT.search(folded) is not None


def _without_overlaps(dates: list[VisibleDate]) -> list[VisibleDate]:
    """Drop dates that overlap others; dates with a year take precedence, then earlier ones."""
    if len(dates) < 2:
        return dates
    kept = []
    taken: set[int] = set()
    for date in sorted(dates, key=lambda date: (not date.has_year, date.start)):
        span = range(date.start, date.end)
        if taken.isdisjoint(span):
            taken.update(span)
            kept.append(date)
    return kept


def _without_ranges(dates: list[VisibleDate], folded: str) -> list[VisibleDate]:
    """Drop the first and the last day of a range."""
    ends = {
        date
        for first, last in pairwise(sorted(dates, key=lambda date: date.start))
        if _RANGE.fullmatch(folded, first.end, last.start)
        and (first.day < last.day or not first.has_year)
        for date in (first, last)
    }
    return [date for date in dates if date not in ends and not _is_range_end(date, folded)]


def _is_range_end(date: VisibleDate, folded: str) -> bool:
    if _RANGE_BEFORE.search(folded, max(0, date.start - _MAX_RANGE), date.start):
        return True
    after = _RANGE_AFTER_YEAR if date.has_year else _RANGE_AFTER
    return after.match(folded, date.end) is not None


def _with_time(
    date: VisibleDate, text: str, folded: str, words: Vocabulary, earliest: int
) -> VisibleDate:
    """Return *date* with its time, unless it starts before *earliest*, where another date ends."""
    timed = with_time(date, text, folded, words)
    if not timed.time or timed.start < earliest:
        return date
    if date.has_year or not (year := _YEAR_AFTER.match(folded, timed.end)):
        return timed
    day = make_day(int(year[1]), date.day.month, date.day.day)
    if day is None:
        return timed
    zone, end = zone_after(text, folded, year.end(), datetime.combine(day, timed.time))
    return timed._replace(day=day, has_year=True, zone=timed.zone or zone, end=end)


def _month_dates(
    tokens: Sequence[DateToken], folded: str, language: str | None, now: datetime
) -> Iterator[VisibleDate]:
    context = _MonthContext(tokens, folded, now, is_buddhist=base_language(language) == "th")
    for index, token in enumerate(tokens):
        if token.kind == "m" and (date := context.read(index)):
            yield date


class _MonthContext(NamedTuple):
    """Tokens and what decides on a year of two digits."""

    tokens: Sequence[DateToken]
    folded: str
    now: datetime
    is_buddhist: bool

    def read(self, index: int) -> VisibleDate | None:
        """Return the date of a month.

        The orders are year month day, month day year, day month year and year day month.
        """
        month = self.tokens[index]
        left_index, right_index = self._number(index, -1, month), self._number(index, 1, month)
        left, right = self.tokens[left_index], self.tokens[right_index]
        if _is_year(left) and _is_day(right):
            return self._date(month, right, left)
        after = self.tokens[self._number(right_index, 1, month)]
        if _is_day(right) and _is_year(after):
            return self._date(month, right, after)
        if _is_day(left):
            if _is_year(right) or self._is_short_year(right):
                return self._date(month, left, right)
            before = self.tokens[self._number(left_index, -1, month)]
            return self._date(month, left, before if _is_year(before) else None)
        marks = {self.folded[right.start - 1], self.folded[after.start - 1]}  # "may-11-26"
        has_year = after.digits == 2 and (self.folded[after.start - 1] == "'" or marks == {"-"})
        return self._date(month, right, after if has_year else None) if _is_day(right) else None

    def _number(self, index: int, step: int, month: DateToken) -> int:
        """Return the index of the next number past fillers, separators and the month, or -1."""
        origin, is_closed = self.tokens[index], False
        for _ in range(_MAX_TOKENS_BETWEEN if index >= 0 else 0):
            index += step
            if index < 0:
                break
            token = self.tokens[index]
            between = token.start - origin.end if step > 0 else origin.start - token.end
            mark = self.folded[token.start : token.start + 1]
            # A month in brackets after another number: "No. 5 (May 2024)".
            if between > _MAX_CHARACTERS_BETWEEN or (step < 0 and mark == "(" and not is_closed):
                break
            is_closed = is_closed or mark == ")"
            if token.kind in "nyd":
                return index
            # Two names of the same month may follow each other: "نيسان / أبريل".
            if token.kind not in "fs" and token[:2] != month[:2]:
                break
        return -1

    def _is_short_year(self, token: DateToken) -> bool:
        if token.digits != 2 or token.kind == "y":
            return token.digits == 2
        if self._full_year(token) is None:
            return False
        if _CLOCK_AFTER.match(self.folded, token.end):  # "Fri, 20 Nov 26 10:00:00 GMT"
            return True
        mark = self.folded[token.start - 1 : token.start]
        rest = self.folded[token.end : token.end + 2].strip()
        return mark in "'-/." or not rest or rest[0] in ",)|-" or self.is_buddhist

    def _full_year(self, token: DateToken) -> int | None:
        if token.digits > 2:
            return token.value
        return full_year(token.value, self.now, buddhist=self.is_buddhist)

    def _date(self, month: DateToken, day: DateToken, year: DateToken | None) -> VisibleDate | None:
        if year is None:
            found = latest_day(month.value, day.value, self.now, month.calendar)
        else:
            number = self._full_year(year) or 0
            found = make_day(number, month.value, day.value, month.calendar)
        if found is None:
            return None
        parts = [part for part in (day, month, year) if part]
        end = max(part.end for part in parts)
        end += self.folded[end : end + 1] in _DAY_UNITS
        is_near = month.calendar in APPROXIMATE
        start = min(part.start for part in parts)
        return VisibleDate(found, start, end, has_year=year is not None, approximate=is_near)


def _is_day(token: DateToken) -> bool:
    return token.kind in "nd" and token.digits <= 2 and 1 <= token.value <= 32


def _is_year(token: DateToken) -> bool:
    return token.kind in "ny" and token.digits == 4


def latest_day(month: int, day: int, now: datetime, calendar: Calendar = "gregorian") -> Day | None:
    """Return the latest day with this month and day that is at most two days after *now*."""
    latest = (now + _MAX_AHEAD).date()
    year = latest_year(latest, calendar)
    # 29 February recurs within eight years.
    for candidate in range(year, year - 9, -1):
        found = make_day(candidate, month, day, calendar)
        if found and found <= latest:
            return found
    return None


def _numeric_dates(
    folded: str, language: str | None, region: str | None, now: datetime
) -> list[VisibleDate]:
    order, certain = number_order(language, region)
    dates = [_numeric(m, order, certain=certain, now=now) for m in _NUMERIC.finditer(folded)]
    dates += [
        _ordered(m, int(m[1]), int(m[3]), None, order, certain=certain, now=now)
        for m in _SHORT.finditer(folded)
    ]
    return list(filter(None, dates))


def _era_dates(folded: str) -> Iterator[VisibleDate]:
    for match in _ERA.finditer(folded) if "月" in folded else ():
        era, number, western, alone, month, day = match.groups()
        year = _han_number(number or western or alone) + _ERAS.get(era, 0)
        year += _ERAS["民國"] if year < 200 else 0
        if found := make_day(year, _han_number(month), _han_number(day)):
            yield VisibleDate(found, *match.span())


def _han_number(text: str) -> int:
    """Return the value of digits, or of the numerals of a year, a month or a day."""
    tens, ten, units = text.replace("元", "1").translate(_HAN_DIGITS).partition("十")
    return int(tens or 1) * 10 + int(units or 0) if ten else int(tens)


def _numeric(
    match: re.Match[str], order: str, *, certain: bool, now: datetime
) -> VisibleDate | None:
    first, second, third = match.group(1, 3, 4)
    if len(first) == 4:
        day = make_day(int(first), int(second), int(third)) if len(third) <= 2 else None
        return None if day is None else VisibleDate(day, *match.span())
    if len(first) == 3 and order == "YMD" and len(third) <= 2:  # a year of Taiwan
        day = make_day(int(first) + _ERAS["民國"], int(second), int(third))
        return None if day is None else VisibleDate(day, *match.span())
    if len(first) == 3 or len(third) in {1, 3}:
        return None
    if len(third) == 2:
        # Otherwise a version: "2.11.22" is a date only at the start or after words such as "on".
        whole = match[2] == "." and _DATE_BEFORE.search(match.string[: match.start()])
        if match[2] != "/" and (len(first), len(second)) != (2, 2) and not whole:
            return None
        if order == "YMD":
            first, third = third, first
    year = full_year(int(third), now) if len(third) == 2 else int(third)
    if year is None:
        return None
    return _ordered(match, int(first), int(second), year, order, certain=certain, now=now)


def _ordered(
    match: re.Match[str],
    first: int,
    second: int,
    year: int | None,
    order: str,
    *,
    certain: bool,
    now: datetime,
) -> VisibleDate | None:
    """Return the date of two numbers and *year*; their values may decide which is the month."""
    # With dots between the numbers, the day always comes first.
    is_dotted = match[2] == "."
    certain = (certain and (order != "YMD" or year is None)) or is_dotted or first == second
    month_first = (order == "MDY" or (order == "YMD" and year is None)) and not is_dotted
    if first > 12 or second > 12:
        certain, month_first = True, second > 12
    day, month = (second, first) if month_first else (first, second)
    found = latest_day(month, day, now) if year is None else make_day(year, month, day)
    if found is None:
        return None
    start, end = match.start(), match.end(3 if year is None else 0)
    return VisibleDate(found, start, end, ambiguous=not certain, has_year=year is not None)


class DateToken(NamedTuple):
    """A token of a date.

    Kinds: ``n`` number, ``y`` year number, ``d`` day number, ``m`` month, ``f`` filler ("de",
    "th"), ``s`` separator, ``x`` anything else.
    """

    kind: str
    value: int
    start: int
    end: int
    #: of a month
    calendar: Calendar = "gregorian"

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
    calendar: Calendar = "gregorian"
    if name in words.months:
        kind, value = "m", words.months[name]
    elif name in words.other_months:
        kind, (calendar, value) = "m", words.other_months[name]
    elif word in words.month_words and _is_month_number(matches, index + 1):
        kind, value, last = "m", int(matches[index + 1][0]), index + 1
    elif word in words.fillers or len(word) == 1 or _is_suffix(word, start, tokens):
        kind = "f"
    if kind != "m":
        last = index
    end = matches[last].end() if last > index else end
    tokens.append(DateToken(kind, value, start, end, calendar))
    return last - index + 1


def _longest_name(matches: list[re.Match[str]], index: int, words: Vocabulary) -> tuple[str, int]:
    """Return the longest month name that begins at *index*, and the index of its last match."""
    name = best = matches[index][0]
    last = index
    for ahead in range(index + 1, min(index + 2 * _MAX_NAME_WORDS, len(matches))):
        if matches[ahead].lastgroup == "word":
            name += " " + matches[ahead][0]
            if name in words.months or name in words.other_months:
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
