"""Years after the time, of eras and before a word for "year", and words for parts of the day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newscrawl.fields.dates.visible_dates import read_dates


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Tue Nov 24 10:15:00 2020", "en", "2020-11-24T10:15"),
        ("Tue Nov 24 10:15:00 GMT 2020", "en", "2020-11-24T10:15"),
        ("24 Nov 10:15 PM 2020", "en", "2020-11-24T22:15"),
        ("平成30年9月14日", "ja", "2018-09-14"),
        ("令和元年12月1日 午後3時5分", "ja", "2019-12-01T15:05"),
        ("2020年（令和2年）9月14日", "ja", "2020-09-14"),
        ("2020(令和2)年9月14日", "ja", "2020-09-14"),
        ("民國109年9月14日", "zh", "2020-09-14"),
        ("2020 жылғы 17 қараша", "kk", "2020-11-17"),
        ("2020年9月14日 晚上8:00", "zh", "2020-09-14T20:00"),
        ("2020年9月14日晚8:00", "zh", "2020-09-14T20:00"),
        ("2020年9月14日凌晨3:00", "zh", "2020-09-14T03:00"),
        ("2020-09-14 오후 3시 5분", "ko", "2020-09-14T15:05"),
        ("14 सितंबर 2020 11:08 अपराह्न", "hi", "2020-09-14T23:08"),
        ("১৪ সেপ্টেম্বর ২০২০, ০৩:০৫ পিএম", "bn", "2020-09-14T15:05"),
        ("14 Sep 2020 9:05 malam", "ms", "2020-09-14T21:05"),
        ("14 September 2020, 3:05 petang", "ms", "2020-09-14T15:05"),
    ],
)
def test_year_and_half_of_the_day(text: str, language: str, expected: str):
    (found,) = read_dates(text, language=language, now=datetime(2026, 11, 25, 12, tzinfo=UTC))
    time = f"T{found.time:%H:%M}" if found.time else ""
    assert f"{found.day.isoformat()}{time}" == expected


def test_a_later_number_is_no_year():
    (found,) = read_dates("24 Nov 10:15, 2020/21 season", now=datetime(2026, 11, 25, tzinfo=UTC))
    assert not found.has_year
