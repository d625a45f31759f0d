# ruff: noqa: DTZ001  # naive instants are a result of parse_date
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.fields.metadata.structured_date import is_plausible, parse_date, parse_url_date

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


def zone(hours: int) -> timezone:
    return timezone(timedelta(hours=hours))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2023-01-05", date(2023, 1, 5)),
        ("20230105", date(2023, 1, 5)),
        ("2023-1-5", date(2023, 1, 5)),
        ("2023/01/05", date(2023, 1, 5)),
        ("2023-01-05T10:00:00Z", datetime(2023, 1, 5, 10, tzinfo=UTC)),
        ("2023-01-05T10:00:00.0000000+0100", datetime(2023, 1, 5, 10, tzinfo=zone(1))),
        ("2023-01-05T10:00:00 +01:00", datetime(2023, 1, 5, 10, tzinfo=zone(1))),
        ("2023-01-05 10:00", datetime(2023, 1, 5, 10)),
        ("20230105103000", datetime(2023, 1, 5, 10, 30)),
        ("1609459200", datetime(2021, 1, 1, tzinfo=UTC)),
        ("1609459200000", datetime(2021, 1, 1, tzinfo=UTC)),
        ("Tue, Sep 15 2020 10:01:41 EDT", datetime(2020, 9, 15, 10, 1, 41, tzinfo=zone(-4))),
        ("Tue, 15 Sep 2020 10:01:41 +0200", datetime(2020, 9, 15, 10, 1, 41, tzinfo=zone(2))),
        (
            "Tue Jan 03 2023 10:00:00 GMT+0100 (Central European Time)",
            datetime(2023, 1, 3, 10, tzinfo=zone(1)),
        ),
        ("Jan 5, 2023", date(2023, 1, 5)),
        ("25/06/2023", date(2023, 6, 25)),
        ("5.6.2023", date(2023, 6, 5)),
        ("5 Jan 23", date(2023, 1, 5)),
        ("Thu, 5 Jan 23 10:00:00 GMT", datetime(2023, 1, 5, 10, tzinfo=UTC)),
        ("Thu Jan 5 10:00:00 2023 UTC", datetime(2023, 1, 5, 10, tzinfo=UTC)),
        ("5 January 2023 at 10:00 AM GMT+01:00", datetime(2023, 1, 5, 10, tzinfo=zone(1))),
        ("2023 01 05 10:00:00", datetime(2023, 1, 5, 10)),
        ("202301051030", datetime(2023, 1, 5, 10, 30)),
    ],
)
def test_parses_dates_of_pages(text: str, value: date):
    """ISO 8601 and variants, RFC 2822, JavaScript, epochs; a day stays a day."""
    assert parse_date(text, NOW) == value
    assert type(parse_date(text, NOW)) is type(value)


@pytest.mark.parametrize("name", ["IST", "BST", "XYZ"])
def test_ignores_ambiguous_and_unknown_zones(name: str):
    assert parse_date(f"15 Sep 2020 10:01:41 {name}", NOW) == datetime(2020, 9, 15, 10, 1, 41)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "January 2023",
        "2023",
        "2023-01",
        "10:30 AM",
        "Thursday",
        "Jan 5",
        "05/06/2023",
        "05/06/2023 10:00",
        "0000-00-00 00:00:00",
        "2023-02-30",
        "published",
        "9" * 60,
        "2023-01-05 " * 20,
    ],
)
def test_rejects_incomplete_and_ambiguous_dates(text: str):
    assert parse_date(text, NOW) is None


def test_accepts_dates_from_1990_to_two_days_after_the_fetch():
    assert parse_date("1989-12-31", NOW) is None
    assert parse_date("1990-01-01", NOW) == date(1990, 1, 1)
    assert parse_date("2024-06-03", NOW) == date(2024, 6, 3)
    assert parse_date("2024-06-04", NOW) is None


@given(st.text())
def test_any_text_is_a_plausible_date_or_none(text: str):
    value = parse_date(text, NOW)
    assert value is None or is_plausible(value, NOW)


@given(st.text(alphabet="0123456789-/:., TZ+ADEPMJanFebTue", min_size=6, max_size=40))
def test_text_similar_to_dates_is_a_plausible_date_or_none(text: str):
    value = parse_date(text, NOW)
    assert value is None or is_plausible(value, NOW)


@given(st.datetimes(min_value=datetime(1990, 1, 2), max_value=datetime(2024, 5, 30)))
def test_parses_iso_instants(instant: datetime):
    assert parse_date(instant.isoformat(), NOW) == instant
    aware = instant.replace(tzinfo=zone(-5))
    assert parse_date(aware.isoformat(), NOW) == aware


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://news.example/2023/01/05/story", date(2023, 1, 5)),
        ("https://news.example/2023/1/5/story", date(2023, 1, 5)),
        ("https://news.example/story-2023-01-05.html", date(2023, 1, 5)),
        ("https://news.example/20230105/story", date(2023, 1, 5)),
        ("https://news.example/2023/dec/21/story", date(2023, 12, 21)),
        ("https://news.example/n1/2023/0105/c1001-12345.html", date(2023, 1, 5)),
        ("https://news.example/a/202301/05/story.html", date(2023, 1, 5)),
        ("https://news.example/2023-01/05/c_1123.htm", date(2023, 1, 5)),
        ("https://news.example/2023/01/0523", None),
        ("https://news.example/2023/01/story", None),
        ("https://news.example/2023/13/45/story", None),
        ("https://news.example/story-120230105", None),
        ("https://news.example/A2023010514320005196", date(2023, 1, 5)),
        ("https://news.example/A20230105196", None),
        ("https://news.example/2030/01/05/story", None),
        ("https://news.example/story?day=2023-01-05", None),
        ("https://news.example/bridge-15-09-2020", date(2020, 9, 15)),
        ("https://news.example/bridge-09-15-2020.html", date(2020, 9, 15)),
        ("https://news.example/bridge-09-10-2020", None),
    ],
)
def test_finds_a_day_in_the_path_of_a_url(url: str, day: date | None):
    assert parse_url_date(url, NOW) == day
