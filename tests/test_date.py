from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from newscrawl.fields.date import choose_date
from newscrawl.fields.metadata import Stated
from newscrawl.fields.structured_date import parse_date

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


def choose(*statements: tuple[str, str]) -> tuple[str, str, str] | None:
    stated = []
    for source, raw in statements:
        value = parse_date(raw, NOW)
        assert value is not None
        stated.append(Stated(source, raw, value))
    found = choose_date(stated)
    return found and (found.value.isoformat(), found.raw, found.evidence.source)


def test_first_statement_counts():
    """The sources are in order of trust."""
    raw = "2024-05-04T10:00:00+02:00"
    assert choose(("json-ld", raw), ("meta:date", "2024-05-03")) == (raw, raw, "json-ld")
    assert choose_date([]) is None


def test_day_becomes_the_instant_of_that_day():
    """One with a zone before one without; another day's instant does not count."""
    day = ("json-ld", "2024-05-04")
    local = ("meta:date", "2024-05-04T10:00:00")
    aware = ("time", "2024-05-04T10:00:00+02:00")
    other = ("time", "2024-05-05T10:00:00+02:00")
    assert choose(day, local, aware) == (aware[1], aware[1], "time")
    assert choose(day, other, local) == (local[1], local[1], "meta:date")
    assert choose(day, other) == ("2024-05-04", "2024-05-04", "json-ld")


@pytest.mark.parametrize("local", ["2023-12-22 20:48:19", "2023-12-22T20:48:19-05:00"])
def test_utc_is_told_in_the_newsroom_s_zone(local: str):
    """The same instant on the newsroom's clock gives the day that readers see."""
    found = choose(("json-ld", "2023-12-23T01:48:19Z"), ("time", local))
    assert found == ("2023-12-22T20:48:19-05:00", "2023-12-23T01:48:19Z", "json-ld")


@pytest.mark.parametrize(
    "other",
    [
        ("time", "2023-12-22 20:51:00"),
        ("time", "2023-12-21 01:48:19"),
        ("meta:date", "2023-12-22T20:48:19-06:00"),
        ("meta:date", "2023-12-23"),
    ],
)
def test_another_instant_is_no_zone(other: tuple[str, str]):
    """Minutes that differ, more than a day's turn, another instant: UTC stays."""
    raw = "2023-12-23T01:48:19+00:00"
    assert choose(("json-ld", raw), other) == (raw, raw, "json-ld")


def test_confidence_grows_with_agreement():
    """Kinds of source, not statements, are counted."""
    values = [date(2024, 5, 4), datetime(2024, 5, 4, 10), date(2024, 5, 4)]  # noqa: DTZ001
    one = choose_date([Stated("meta:date", "", value) for value in values])
    sources = ("json-ld", "meta:date", "url")
    three = choose_date(
        [Stated(source, "", value) for source, value in zip(sources, values, strict=True)]
    )
    assert one is not None
    assert three is not None
    assert 0 < one.evidence.confidence < three.evidence.confidence <= 1
