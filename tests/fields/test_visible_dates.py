import tomllib
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from babel import Locale
from babel.dates import format_date, format_skeleton
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.fields.dates.calendars import Calendar, VisibleDate, make_day
from newscrawl.fields.dates.visible_dates import latest_day, read_dates
from newscrawl.fields.dates.vocabulary import fold

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
CASES: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    (Path(__file__).parents[1] / "cases" / "visible_dates.toml").read_text(encoding="utf-8")
)

# Languages whose CLDR patterns have month names or unambiguous numbers.
LOCALES = [
    "en", "en_GB", "en_US", "de", "de_AT", "fr", "fr_CA", "es", "es_MX", "it", "pt", "pt_PT",
    "nl", "pl", "ru", "uk", "ar", "ar_EG", "ar_LB", "fa", "hi", "th", "vi", "el", "he", "tr",
    "ja", "ko", "zh", "zh_Hant", "cs", "sk", "hu", "ro", "bg", "sr", "sr_Latn", "hr", "bs", "sl",
    "lt", "lv", "et", "fi", "sv", "da", "nb", "nn", "is", "ca", "eu", "gl", "id", "ms", "bn",
    "ur", "ta", "te", "mr", "gu", "kn", "ml", "fil", "sw", "sq", "mk", "hy", "ka", "az", "kk",
    "uz", "af", "be",
]  # fmt: skip


def read(text: str, language: str | None = None, region: str | None = None) -> VisibleDate:
    """Return the only date of *text*."""
    (found,) = read_dates(text, language=language, region=region, now=NOW)
    return found


@given(
    st.sampled_from(LOCALES),
    st.dates(date(1995, 1, 1), date(2024, 5, 30)),
    st.sampled_from(["full", "long", "medium"]),
)
def test_reads_the_patterns_of_all_locales(locale: str, day: date, pattern: str):
    text = format_date(day, pattern, locale=locale)
    assert read(text, locale.replace("_", "-")).day == day


@given(st.sampled_from(LOCALES), st.dates(date(2023, 7, 1), date(2024, 5, 30)))
def test_takes_the_latest_year_if_it_is_missing(locale: str, day: date):
    found = read(format_skeleton("MMMMd", day, locale=locale), locale.replace("_", "-"))
    assert (found.day, found.has_year) == (day, False)


@given(
    st.sampled_from([name for name in LOCALES if "_" in name]),
    st.dates(date(1995, 1, 1), date(2024, 5, 30)),
)
def test_reads_numbers_in_the_order_of_the_region(locale: str, day: date):
    region = Locale.parse(locale).territory
    text = format_skeleton("yMd", day, locale=locale)
    assert read(text, locale.replace("_", "-"), region).day == day


def cases(kind: str) -> list[tuple[str, str, str]]:
    """Return language, text and expected date of the dates of a *kind*."""
    return [
        (language, text, expected)
        for language, texts in CASES[kind].items()
        for text, expected in texts.items()
    ]


def written(found: VisibleDate) -> str:
    """Return a date in ISO 8601, with the time and zone next to it."""
    if found.time is None:
        return found.day.isoformat()
    return datetime.combine(found.day, found.time, found.zone).isoformat()


@pytest.mark.parametrize(("language", "text", "expected"), cases("absolute"))
def test_reads_dates_as_sites_write_them(language: str, text: str, expected: str):
    """Digits and calendars of other scripts, suffixes, double months, names of another language."""
    known = None if language == "und" else language
    (found,) = read_dates(text, language=known, now=datetime(2026, 11, 25, 12, tzinfo=UTC))
    assert (written(found), found.kind, found.ambiguous) == (expected, "absolute", False)


@pytest.mark.parametrize(("language", "text", "expected"), cases("relative"))
def test_resolves_relative_dates(language: str, text: str, expected: str):
    """With a time if the unit is shorter than a day."""
    found = read(text, language)
    assert (written(found), found.kind) == (expected, "relative")


def test_a_later_number_is_no_year():
    (found,) = read_dates("24 Nov 10:15, 2020/21 season", now=datetime(2026, 11, 25, tzinfo=UTC))
    assert not found.has_year


def test_order_of_day_and_month_follows_region_and_language():
    """Dots and numbers above twelve are unambiguous."""
    american, british = date(2024, 3, 4), date(2024, 4, 3)
    assert (read("3/4/2024", "en").day, read("3/4/2024", "en").ambiguous) == (american, True)
    for language, region, day in [
        ("en-US", None, american),
        ("en", "US", american),
        ("en-GB", None, british),
        ("en-US", "GB", british),
        ("de", None, british),
    ]:
        found = read("3/4/2024", language, region)
        assert (found.day, found.ambiguous) == (day, False)
    assert read("3.4.2024", "en").day == british
    assert read("3/25/2024", "de").day == date(2024, 3, 25)
    assert read("25/3/2024", "en-US").day == date(2024, 3, 25)
    assert read("3/4/2024").ambiguous


def test_latest_day_is_at_most_two_days_ahead():
    assert latest_day(6, 3, NOW) == date(2024, 6, 3)
    assert latest_day(6, 4, NOW) == date(2023, 6, 4)
    assert latest_day(2, 29, datetime(2023, 1, 1, tzinfo=UTC)) == date(2020, 2, 29)
    assert latest_day(2, 30, NOW) is None


@pytest.mark.parametrize(
    "text",
    [
        "Call 030-12-12-23 or +1 555 123 4567",
        "1.2.3.4", "v1.2.2023", "Python 3.11.2", "2:1 (1:0)", "3-1", "24/7", "1/2",
        "$1,200.50", "1.200,50 €", "5 min read", "2 hours", "a day in the life", "12 comments", "17:40", "100 %",
        "32 December 2023", "13/13/2023", "31.02.2024", "20 of 300", "USA Today sports news",
        "You may 500 times", "Sun 17", "12 EST", "2023", "December 2023", "", "heute-show und mehr",
        "2023-12-172", "10.0.0.1:8080", "ISBN 978-3-16-148410-0", "令和5年",
        "Monday", "Mon 9:00 - 18:00", "9am–6pm, Mon–Fri", "Fri 9AM-9", "Monday and Friday 9:00, Sunday 10:00", "12.–14. Mai 2024",
        "12-14 March 2024", "March 12–14, 2024", "12.03.-14.03.2024", "12. - 14.03.2024", "12 – 14 March 2024",
        "del 12 al 14 de marzo", "28 February – 3 March 2024", "vom 12. bis zum 14. März 2024", "dal 28 febbraio al 3 marzo",
        "March 12 to 14, 2024", "с 12 по 14 марта 2024", "3月12日～14日", "2024年3月12日至3月14日", "03/12/2024 - 03/14/2024",
        "từ 12/3 đến 14/3/2024", "12.03. bis 14.03.2024", "2024.3.12 ~ 3.14", "2024. március 12–14.",
        "version 2.11.22", "v 115.05.04", "May 11-26",
    ],
)  # fmt: skip
def test_rejects_other_numbers(text: str):
    """Phone numbers, versions, scores, prices, impossible dates, days of events, opening hours."""
    assert read_dates(text, language="en", now=NOW) == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Published: 12 May 2026 20:15 | Updated: 14 May 2026"),
        ("tr", "Yayınlanma: 12 Mayıs 2026 Salı 20:15 | Güncelleme: 14 Mayıs 2026"),
        ("ru", "Опубликовано 12.05.2026 20:15, обновлено 14.05.2026"),
    ],
)
def test_a_time_belongs_to_one_date(language: str, text: str):
    found = [(date.day.day, date.time) for date in read_dates(text, language=language)]
    assert found == [(12, time(20, 15)), (14, None)]


def test_returns_dates_and_their_spans_in_text_order():
    text = "Published: Dec 17, 2023 | Updated: 18 December 2023, 10:30 UTC"
    first, second = read_dates(text, language="en", now=NOW)
    assert (first.text, second.text) == ("Dec 17, 2023", "18 December 2023, 10:30 UTC")
    assert text[second.start : second.end] == second.text
    assert second.zone == UTC


@given(st.text(max_size=200))
def test_accepts_any_text(text: str):
    for found in read_dates(text, language="de", now=NOW):
        assert 0 <= found.start < found.end <= len(text)
        assert found.text == text[found.start : found.end]
    assert len(fold(text)) == len(text)


@pytest.mark.parametrize(
    ("calendar", "first", "day"),
    [
        ("islamic", (1447, 9, 1), date(2026, 2, 18)),
        ("islamic", (1446, 9, 1), date(2025, 3, 1)),
        ("ethiopic", (2016, 1, 1), date(2023, 9, 12)),
        ("ethiopic", (2015, 13, 6), date(2023, 9, 11)),
        ("bikram", (2080, 1, 1), date(2023, 4, 14)),
        ("bikram", (2081, 1, 1), date(2024, 4, 13)),
        ("bikram", (2082, 12, 30), date(2026, 4, 13)),
        ("persian", (1405, 1, 1), date(2026, 3, 21)),
    ],
)
def test_days_of_other_calendars(calendar: Calendar, first: tuple[int, int, int], day: date):
    assert make_day(*first, calendar) == day
    assert make_day(first[0], 14, 1, calendar) is None
    assert make_day(first[0], 1, 33, calendar) is None
