"""Relative dates: "3 hours ago", "gestern, 12:19", "il y a 2 jours", "昨日"."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dateutil.relativedelta import relativedelta

from newscrawl.fields.dates.calendars import VisibleDate
from newscrawl.fields.dates.times_of_day import with_time
from newscrawl.fields.dates.vocabulary import KEY_LENGTH, PUNCTUATION, phrase
from newscrawl.patterns import lazy_regex

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from newscrawl.fields.dates.vocabulary import Ago, Vocabulary

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
    is_word = len(near) == KEY_LENGTH and near.isascii() and near.isalpha()
    if is_word and near not in words.ago_starts and not any_number:  # the common case
        return None
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
        for end in range(1, len(after) + 1)
        if (entries := words.ago.get(after[:end])) and _is_word_end(after, end)
        for ago in entries
    ]
    return sorted(phrases, key=lambda ago: ago.rank) if len(phrases) > 1 else phrases


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
    """Return *found* with the time next to its name; without a time, only if the name is *alone*."""
    timed = found if found.time else with_time(found, text, folded, words)
    return timed if timed is not found or (alone and not _DIGIT.search(folded)) else None
