from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

import pytest
from babel import Locale
from babel.dates import format_date, format_skeleton
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.fields.dates.calendars import make_day
from newscrawl.fields.dates.visible_dates import latest_day, read_dates
from newscrawl.fields.dates.vocabulary import fold

if TYPE_CHECKING:
    from newscrawl.fields.dates.calendars import Calendar, VisibleDate

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)

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


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ar", "الأحد ١٧ كانون الأول / ديسمبر ٢٠٢٣"),
        ("de", "So., 17. Dez. 2023"),
        ("de", "17.12.23"),
        ("el", "ΚΥΡΙΑΚΗ 17 ΔΕΚΕΜΒΡΙΟΥ 2023"),
        ("en", "Dec. 17th, 2023"),
        ("en", "Sunday 17 Dec '23"),
        ("en", "2023-12-17"),
        ("es", "17 de diciembre del 2023"),
        ("eu", "2023ko abenduaren 17a"),
        ("fa", "۲۶ آذر ۱۴۰۲"),
        ("fa", "1402/09/26"),
        ("fr", "Publié le 17 déc. 2023"),
        ("he", "17 בדצמבר 2023"),
        ("hi", "१७ दिसंबर २०२३"),
        ("hu", "2023. december 17-én"),
        ("ja", "2023年12月17日(日)"),
        ("ja", "２０２３／１２／１７"),
        ("ko", "2023년 12월 17일"),
        ("ko", "2023. 12. 17."),
        ("lt", "2023 m. gruodžio 17 d."),
        ("lv", "2023. gada 17. decembris"),
        ("no", "17. desember 2023"),
        ("ru", "17 декабря 2023 г."),
        ("th", "17 ธันวาคม 2566"),
        ("th", "17 ธ.ค. 66"),
        ("tr", "17 ARALIK 2023"),
        ("uk", "17 ГРУДНЯ 2023"),
        ("vi", "ngày 17 tháng 12 năm 2023"),
        ("zh", "发布于2023年12月17日"),
        ("zh", "二〇二三年十二月十七日"),
        ("zh", "中華民國一一二年十二月十七日"),
        ("ja", "令和五年十二月十七日"),
        (None, "17 décembre 2023"),
        ("en", "17. prosince 2023"),
    ],
)
def test_reads_dates_as_sites_write_them(language: str | None, text: str):
    """Digits and calendars of other scripts, suffixes, double months, names of another language."""
    found = read(text, language)
    assert (found.day, found.kind, found.ambiguous) == (date(2023, 12, 17), "absolute", False)


@pytest.mark.parametrize(
    ("language", "text", "clock", "zone"),
    [
        ("en", "Dec. 17, 2023 at 10:30 p.m. ET", time(22, 30), timedelta(hours=-5)),
        ("en", "June 17, 2023, 12:05 AM ET", time(0, 5), timedelta(hours=-4)),
        ("en", "Updated 5 PM GMT, 17 Dec 2023", time(17), timedelta(0)),
        ("en", "2023-12-17T10:30:15+05:30", time(10, 30, 15), timedelta(hours=5.5)),
        ("de", "17.12.2023, 17:40 Uhr", time(17, 40), None),
        ("de", "17. Dezember 2023 um 17.40 Uhr", time(17, 40), None),
        ("es", "17 de diciembre de 2023 a las 5:40 p. m.", time(17, 40), None),
        ("fi", "17.12.2023 klo 17.40", time(17, 40), None),
        ("fr", "17 décembre 2023 à 17h40", time(17, 40), None),
        ("ja", "2023年12月17日 午後5時40分", time(17, 40), None),
        ("ja", "2023/12/17 17:40 JST", time(17, 40), timedelta(hours=9)),
        ("ko", "2023년 12월 17일 오후 5:40", time(17, 40), None),
        ("th", "17 ธ.ค. 2566 17:40 น.", time(17, 40), None),
        ("vi", "17/12/2023 17:40 (GMT+7)", time(17, 40), timedelta(hours=7)),
        ("vi", "17:40 - 17/12/2023 (GMT+7)", time(17, 40), timedelta(hours=7)),
        ("de", "17.12.2023, 17:40 Uhr MEZ", time(17, 40), timedelta(hours=1)),
        ("zh", "2023年12月17日 17时40分", time(17, 40), None),
        ("zh", "2023-12-17 HKT 21:06", time(21, 6), timedelta(hours=8)),
        ("de", "17.12.2023 17:40 MEZ", time(17, 40), timedelta(hours=1)),
        ("es", "17 de diciembre de 2023, 10:30 de la noche", time(22, 30), None),
        ("bn", "১৭ ডিসেম্বর ২০২৩, রাত ৯:০৫", time(21, 5), None),
        ("ru", "17 декабря 2023, 1:05 ночи", time(1, 5), None),
        ("fr", "17 décembre 2023 à 17 h 40", time(17, 40), None),
        ("en", "17.12.2023 - 5 comments", None, None),
    ],
)
def test_reads_the_time_and_zone_next_to_a_date(
    language: str, text: str, clock: time | None, zone: timedelta | None
):
    found = read(text, language)
    assert (found.day.year, found.day.day, found.time) == (2023, 17, clock)
    assert (found.zone and found.zone.utcoffset(None)) == zone


@pytest.mark.parametrize(
    ("language", "text", "day", "clock"),
    [
        ("ar", "قبل 3 ساعات", 0, time(9)),
        ("de", "gestern", -1, None),
        ("de", "Heute, 12:19", 0, time(12, 19)),
        ("de", "vor 2 Std.", 0, time(10)),
        ("en", "3 hours ago", 0, time(9)),
        ("en", "Published 2 days ago", -2, None),
        ("en", "13h ago", -1, time(23)),
        ("en", "An hour ago", 0, time(11)),
        ("de", "vor einer Stunde", 0, time(11)),
        ("fr", "aujourd’hui à 11:40", 0, time(11, 40)),
        ("th", "2 ชั่วโมงที่แล้ว", 0, time(10)),
        ("vi", "hôm qua", -1, None),
        ("en", "Yesterday at 6:05 pm", -1, time(18, 5)),
        ("es", "hace 5 días", -5, None),
        ("fr", "il y a 2 heures", 0, time(10)),
        ("hi", "3 घंटे पहले", 0, time(9)),
        ("ja", "昨日", -1, None),
        ("ja", "3時間前", 0, time(9)),
        ("ko", "3시간 전", 0, time(9)),
        ("pl", "2 dni temu", -2, None),
        ("ru", "вчера, 18:05", -1, time(18, 5)),
        ("tr", "3 gün önce", -3, None),
        ("zh", "2天前", -2, None),
        ("ar", "منذ يومين", -2, None),
        ("ar", "منذ ساعتين", 0, time(10)),
        ("ar", "نشر قبل ساعة", 0, time(11)),
        ("he", "לפני שעתיים", 0, time(10)),
        ("de", "Montag, 14:30", -5, time(14, 30)),
        ("en", "Published on Friday at 2:30 pm", -1, time(14, 30)),
        ("fr", "Samedi à 11h40", 0, time(11, 40)),
        ("pt", "Segunda-feira, 14h30", -5, time(14, 30)),
        ("en", "Last Saturday", -7, None),
        ("de", "Letzten Dienstag", -4, None),
        ("vi", "Thứ Ba, 18:40", -4, time(18, 40)),
        ("he", "יום שני, 18:40", -5, time(18, 40)),
        ("en", "2 days, 3 hours ago", -2, None),
        ("el", "πριν 3 ημέρες", -3, None),
    ],
)
def test_resolves_relative_dates(language: str, text: str, day: int, clock: time | None):
    """With a time if the unit is shorter than a day."""
    found = read(text, language)
    assert (found.kind, found.time) == ("relative", clock)
    assert found.day == NOW.date() + timedelta(days=day)


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
    ("language", "text"),
    [
        ("ar", "١٧ ذو القعدة ١٤٤٧"),
        ("ar", "17 ذو القعدة 1447 هـ الموافق 4 مايو 2026"),
        ("am", "ሚያዝያ 26 ቀን 2018 ዓ.ም"),
        ("ne", "२१ वैशाख २०८३"),
        ("ne", "२१ वैशाख २०८३ (4 May 2026)"),
        ("fa", "۱۴ ثور ۱۴۰۵"),
        ("ps", "۱۴۰۵ د غويي ۱۴"),
        ("ckb", "4ی ئایاری 2026"),
        ("lo", "ວັນທີ 4 ພຶດສະພາ 2026"),
        ("my", "၂၀၂၆ ခုနှစ် မေလ ၄ ရက်"),
        ("mt", "4 ta’ Mejju 2026"),
        ("zh-TW", "115/05/04"),
        ("zh-TW", "發布日期：115.05.04"),
        ("en", "may-04-26 1:14 pm"),
    ],
)
def test_calendars_and_forms_of_countries(language: str, text: str):
    (found,) = read_dates(text, language=language, now=datetime(2026, 5, 20, tzinfo=UTC))
    assert found.day == date(2026, 5, 4)


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
