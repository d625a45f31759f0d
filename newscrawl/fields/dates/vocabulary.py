"""Names of months and days, and phrases such as "2 hours ago", by language.

``tools/datenames.py`` generates the table ``datenames.json`` from CLDR, by way of babel and
dateparser. A generated table loads faster than babel at run time, and words that are shared by all
languages would need all of babel's.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from dateutil import tz

from newscrawl.fields.dates.calendars import OTHER_CALENDARS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from newscrawl.fields.dates.calendars import Calendar

SHARED = "und"
"""Language tag of names with the same meaning in all languages that have them."""

_DEFAULT_LANGUAGE = "en"
PUNCTUATION = (
    r"!-\"$-/:-@\[-`{-~\u00a1-\u00bf\u055a-\u055f\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b"
    r"\u0964\u0965\u0970\u2000-\u206f\u3000-\u303f\uff00-\uff0f"
)
"""Characters between words, for a regular expression class; without ``#``, the number
placeholder."""

KEY_LENGTH = 3  # characters after a number by which phrases are looked up
_PUNCTUATION = re.compile(f"[{PUNCTUATION}]+")
# Interchangeable letters: Arabic and Persian keyboards, Turkish capitals, final sigma.
_EQUIVALENT = {"ı": "i", "ς": "σ", "ي": "ی", "ى": "ی", "ك": "ک"}
_EQUIVALENT |= dict.fromkeys("‐‒–—―−", "-") | dict.fromkeys("‘’ʼ", "'")


class _FoldTable(dict[int, str]):
    """Translation table of folded characters, filled on demand."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character.isspace() or unicodedata.category(character) in {"Cc", "Cf"}:
        return " "
    base, *marks = list(unicodedata.normalize("NFKD", character))
    if not all(map(unicodedata.combining, marks)):
        base = character
    if base.isdecimal():
        return str(unicodedata.decimal(base))
    lower = base.lower()[0]
    return _EQUIVALENT.get(lower, lower)


_FOLD_TABLE = _FoldTable()


def fold(text: str) -> str:
    """Return *text* in lower case, without accents, with ASCII digits, and of the same length."""
    return text.lower() if text.isascii() else text.translate(_FOLD_TABLE)


def phrase(text: str) -> str:
    """Return the folded words of *text* separated by single spaces."""
    return " ".join(_PUNCTUATION.sub(" ", fold(text)).split())


class Ago(NamedTuple):
    """Phrases before and after the number of "2 hours ago", and the unit."""

    before: str
    after: str
    unit: str
    #: rank by length among all, the longest first
    rank: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Date words of one language, folded; words of a phrase are separated by single spaces."""

    #: phrase -> month, 1 to 12
    months: dict[str, int]
    #: phrase -> calendar other than the Gregorian one, and month
    other_months: dict[str, tuple[Calendar, int]]
    #: words before the number of a month (Vietnamese "tháng 12")
    month_words: frozenset[str]
    #: first words of multi-word month names
    starts: frozenset[str]
    #: ``month_words`` and the first words of all month names
    month_starts: frozenset[str]
    #: words between day, month and year
    fillers: frozenset[str]
    #: phrase -> "am", "pm" or "night", which has hours of both
    day_periods: dict[str, str]
    #: first characters of the phrase after the number, at most KEY_LENGTH -> phrase -> entries
    ago: dict[str, dict[str, list[Ago]]]
    #: last word before the number -> entries with nothing after it, longest first
    ago_before: dict[str, list[Ago]]
    #: phrase such as "yesterday" -> unit and number of them before now
    moments: dict[str, tuple[str, int]]
    #: name, or its first word if no other begins with it -> weekday, 0 (Monday) to 6
    weekdays: dict[str, int]
    #: words next to a weekday of the past week: "last"
    last: frozenset[str]
    #: words for the number one ("an hour ago")
    ones: frozenset[str]
    #: first words of ``moments``, ``weekdays`` and ``ones``
    relative_words: frozenset[str]


@cache
def _table() -> dict[str, Any]:
    data = files("newscrawl.fields.dates").joinpath("datenames.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(data)
    return table


@lru_cache(maxsize=256)
def vocabulary(language: str | None) -> Vocabulary:
    """Return the words of *language* (a BCP 47 tag), of English and of all languages."""
    base = base_language(language) or _DEFAULT_LANGUAGE
    return _vocabulary(base if base in _table()["languages"] else _DEFAULT_LANGUAGE)


@lru_cache(maxsize=64)
def _vocabulary(base: str) -> Vocabulary:
    names = SHARED, _DEFAULT_LANGUAGE, base
    layers = list(map(_table()["languages"].__getitem__, names))

    def merged(name: str) -> dict[str, str]:
        """Return phrase -> value; the language's own words override the others."""
        shared, english, own = (_values(name, language) for language in names)
        return shared | english | own

    months: dict[str, int] = {}
    starts: frozenset[str] = frozenset()
    firsts: frozenset[str] = frozenset()
    for own in map(_months, names):
        months, starts, firsts = months | own.names, starts | own.starts, firsts | own.firsts
    others: dict[str, tuple[Calendar, int]] = {
        key: (calendar, int(month))
        for calendar in OTHER_CALENDARS
        for key, month in merged(calendar).items()
    }
    counts = {key: value.split() for key, value in merged("moments").items()}
    weekdays = _numbers(merged("weekdays"))
    ambiguous = _first_words(key for key in weekdays if " " in key)  # "thứ", in English "Thu"
    weekdays = {key: number for key, number in weekdays.items() if key not in ambiguous}
    added = _values("ago", base).items() - _values("ago", SHARED).items()  # of few languages
    ago, ago_before = _index_ago_phrases(base if added else _DEFAULT_LANGUAGE)
    ones = frozenset(word for layer in layers[1:] for word in layer.get("ones", ()))
    month_words = frozenset(word for layer in layers for word in layer.get("month_words", ()))
    return Vocabulary(
        months=months,
        other_months=others,
        month_words=month_words,
        starts=starts | _first_words(key for key in others if " " in key),
        month_starts=month_words | firsts | _first_words(others),
        fillers=frozenset(word for layer in layers[1:] for word in layer.get("fillers", ())),
        day_periods=merged("day_periods"),
        ago=ago,
        ago_before=ago_before,
        moments={key: (unit, int(count)) for key, (count, unit) in counts.items()},
        weekdays=weekdays,
        last=frozenset(word for layer in layers[1:] for word in layer.get("last", ())),
        ones=ones,
        relative_words=ones | _first_words((*counts, *weekdays)),
    )


class _Months(NamedTuple):
    """Names of months of one language, the first words of those of several words, and of all."""

    names: dict[str, int]
    starts: frozenset[str]
    firsts: frozenset[str]


@cache  # most names are of all languages
def _months(language: str) -> _Months:
    names = _numbers(_values("months", language))
    return _Months(names, _first_words(key for key in names if " " in key), _first_words(names))


def _first_words(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.partition(" ")[0] for name in names)


@cache
def _values(name: str, language: str) -> dict[str, str]:
    """Return phrase -> value of the words *name* of *language* alone."""
    groups = _table()["languages"][language].get(name, {})
    return {key: value for value, phrases in groups.items() for key in phrases}


def _numbers(names: dict[str, str]) -> dict[str, int]:
    return {key: int(value) for key, value in names.items()}


@cache
def _index_ago_phrases(
    language: str,
) -> tuple[dict[str, dict[str, list[Ago]]], dict[str, list[Ago]]]:
    """Return the fields ``ago`` and ``ago_before`` of :class:`Vocabulary`."""
    after: dict[str, dict[str, list[Ago]]] = {}
    before: dict[str, list[Ago]] = {}
    units = _values("ago", SHARED) | _values("ago", _DEFAULT_LANGUAGE) | _values("ago", language)
    longest_first = sorted(units.items(), key=lambda item: (-len(item[0]), item))
    for rank, (text, unit) in enumerate(longest_first):
        left, _, right = text.partition("#")
        ago = Ago(left.strip(), right.strip(), unit, rank)
        if ago.after:
            after.setdefault(ago.after[:KEY_LENGTH], {}).setdefault(ago.after, []).append(ago)
        else:
            before.setdefault(ago.before.rpartition(" ")[2], []).append(ago)
    return after, before


@lru_cache(maxsize=256)
def base_language(language: str | None) -> str | None:
    """Return the language of a BCP 47 tag in CLDR's spelling ("nb" for "no-NO")."""
    if not language:
        return None
    base = language.replace("_", "-").partition("-")[0].lower()
    alias: str = _table()["aliases"].get(base, base)
    return alias


@lru_cache(maxsize=256)
def number_order(language: str | None, region: str | None) -> tuple[str, bool]:
    """Return the order of numeric dates ("DMY", "MDY" or "YMD") and whether it is certain.

    It is uncertain if the countries of the language differ and neither the tag nor *region* (ISO
    3166) names one. Without language and region the order is "DMY", the most frequent.
    """
    orders = _table()["orders"]
    base = base_language(language)
    if base not in orders:
        by_region = _table()["regions"].get(region or "")
        return (by_region or "DMY", by_region is not None)
    subtag = next((part for part in (language or "").split("-")[1:] if len(part) == 2), None)
    by_country: dict[str, str] = orders[base]
    for country in (region, subtag and subtag.upper()):
        if country and country in by_country:
            return by_country[country], True
    return by_country[""], len(by_country) == 1 or bool(region or subtag)


@lru_cache(maxsize=256)
def zones_of(region: str) -> tuple[tzinfo, ...]:
    """Return the time zones of a country (ISO 3166), one of several with the same offsets."""
    names = _table()["zones"].get(region, ())
    return tuple(zone for zone in map(tz.gettz, names) if zone is not None)
