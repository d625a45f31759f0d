"""Names of months and days, and phrases such as "2 hours ago", by language.

The table ``datenames.json`` is made of CLDR by ``python tools/datenames.py`` (babel for names,
patterns and the order of numbers; dateparser for what it adds to them). The table takes 3 ms to
read, once, and 2 ms more for each language met. From babel at run time, a language without its
regional forms and relative expressions takes 4 ms, all of one 29 ms (medians of ten), and what is
shared by all languages would need all of them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

SHARED = "und"
"""Language tag of the names that mean one thing in all languages that have them."""

_DEFAULT_LANGUAGE = "en"
PUNCTUATION = (
    r"!-\"$-/:-@\[-`{-~\u00a1-\u00bf\u055a-\u055f\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b"
    r"\u0964\u0965\u0970\u2000-\u206f\u3000-\u303f\uff00-\uff0f"
)
"""Characters between words, for a class of a regular expression; ``#`` stands for a number."""

_KEY = 3
_PUNCTUATION = re.compile(f"[{PUNCTUATION}]+")
# Letters that are typed for one another: Arabic and Persian keyboards, Turkish capitals, sigma.
_ALIKE = {"ı": "i", "ς": "σ", "ي": "ی", "ى": "ی", "ك": "ک"}
_ALIKE |= dict.fromkeys("‐‒–—―−", "-") | dict.fromkeys("‘’ʼ", "'")


class _Fold(dict[int, str]):
    """Map of one character to one, filled as texts need it."""

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
    return _ALIKE.get(lower, lower)


_FOLD = _Fold()


def fold(text: str) -> str:
    """Return *text* in lower case without accents and with ASCII digits, of the same length."""
    return text.lower() if text.isascii() else text.translate(_FOLD)


def phrase(text: str) -> str:
    """Return the folded words of *text* with one space between them; ``#`` stands for a number."""
    return " ".join(_PUNCTUATION.sub(" ", fold(text)).split())


class Ago(NamedTuple):
    """What stands before and after the number of "2 hours ago", and the unit."""

    before: str
    after: str
    unit: str
    #: place among all, the longest first
    rank: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one language's dates, folded; phrases have one space between words."""

    #: phrase -> month, 1 to 12
    months: dict[str, int]
    #: phrase -> month of the Persian calendar
    jalali: dict[str, int]
    #: words before the number of a month (Vietnamese "tháng 12")
    month_words: frozenset[str]
    #: first words of the months' names that have several
    starts: frozenset[str]
    #: first words of all of the above
    month_starts: frozenset[str]
    #: words that stand between day, month and year
    fillers: frozenset[str]
    #: phrase -> whether it makes the hour one after noon
    day_periods: dict[str, bool]
    #: up to three first characters of what follows the number -> all that follows it
    ago: dict[str, dict[str, list[Ago]]]
    #: where nothing does, the last word of what precedes it -> longest first
    ago_before: dict[str, list[Ago]]
    #: phrase -> days from today, -3 to 0
    days: dict[str, int]
    #: words for the number one ("an hour ago")
    ones: frozenset[str]
    #: first words of ``days``, and ``ones``
    relative_words: frozenset[str]

    def ago_with(self, after: str) -> dict[str, list[Ago]]:
        """Return the phrases that *after*, which follows a number, may begin with."""
        for length in range(_KEY, 0, -1):
            if found := self.ago.get(after[:length]):
                return found
        return {}


@cache
def _table() -> dict[str, Any]:
    data = files("newscrawl.fields.dates").joinpath("datenames.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(data)
    return table


@lru_cache(maxsize=64)
def vocabulary(language: str | None) -> Vocabulary:
    """Return the words of *language* (a BCP 47 tag) over those of English and of all languages."""
    languages = _table()["languages"]
    own = languages.get(base_language(language) or "", {})
    layers = [languages[SHARED], languages[_DEFAULT_LANGUAGE], own]

    def merged(name: str) -> dict[str, str]:
        """Return phrase -> value; a language's own words come last and win."""
        return {
            key: value
            for layer in layers
            for value, phrases in layer.get(name, {}).items()
            for key in phrases
        }

    months, jalali = _numbers(merged("months")), _numbers(merged("jalali"))
    days = _numbers(merged("days"))
    ago, ago_before = _by_neighbour(merged("ago"))
    ones = frozenset(word for layer in layers[1:] for word in layer.get("ones", ()))
    month_words = frozenset(word for layer in layers for word in layer.get("month_words", ()))
    return Vocabulary(
        months=months,
        jalali=jalali,
        month_words=month_words,
        starts=frozenset(key.partition(" ")[0] for key in months if " " in key),
        month_starts=month_words | {key.partition(" ")[0] for key in (*months, *jalali)},
        fillers=frozenset(word for layer in layers[1:] for word in layer.get("fillers", ())),
        day_periods={key: half == "pm" for key, half in merged("day_periods").items()},
        ago=ago,
        ago_before=ago_before,
        days=days,
        ones=ones,
        relative_words=ones | {key.partition(" ")[0] for key in days},
    )


def _numbers(names: dict[str, str]) -> dict[str, int]:
    return {key: int(value) for key, value in names.items()}


def _by_neighbour(
    units: dict[str, str],
) -> tuple[dict[str, dict[str, list[Ago]]], dict[str, list[Ago]]]:
    """Return the phrases by what begins behind the number, and the others by what ends before it."""
    behind: dict[str, dict[str, list[Ago]]] = {}
    before: dict[str, list[Ago]] = {}
    longest_first = sorted(units.items(), key=lambda item: -len(item[0]))
    for rank, (text, unit) in enumerate(longest_first):
        left, _, right = text.partition("#")
        one = Ago(left.strip(), right.strip(), unit, rank)
        if one.after:
            behind.setdefault(one.after[:_KEY], {}).setdefault(one.after, []).append(one)
        else:
            before.setdefault(one.before.rpartition(" ")[2], []).append(one)
    whole: dict[str, dict[str, list[Ago]]] = {key: {} for key in behind}
    for key, phrases in whole.items():
        for length in range(1, len(key) + 1):
            phrases.update(behind.get(key[:length], {}))
    return whole, before


def base_language(language: str | None) -> str | None:
    """Return the language of a BCP 47 tag in CLDR's spelling ("nb" of "no-NO")."""
    if not language:
        return None
    base = language.replace("_", "-").partition("-")[0].lower()
    alias: str = _table()["aliases"].get(base, base)
    return alias


@lru_cache(maxsize=256)
def number_order(language: str | None, region: str | None) -> tuple[str, bool]:
    """Return the order of a numeric date ("DMY", "MDY", "YMD") and whether that is certain.

    It is not where neither the tag nor *region* (ISO 3166) says which of a language's countries
    writes, and they differ; without a language, the order of most: "DMY".
    """
    orders = _table()["orders"]
    base = base_language(language)
    if base not in orders:
        by_region = _table()["regions"].get(region or "")
        return (by_region or "DMY", by_region is not None)
    subtag = next((part for part in (language or "").split("-")[1:] if len(part) == 2), None)
    places: dict[str, str] = orders[base]
    for place in (region, subtag and subtag.upper()):
        if place and place in places:
            return places[place], True
    return places[""], len(places) == 1 or bool(region or subtag)
