from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from newscrawl.fields.dates.decide import (
    CLEAR_WEIGHT,
    CONFIDENCE,
    DateEvidence,
    PublicationDate,
    decide,
    site_zones,
)
from newscrawl.fields.metadata.structured_date import parse_date

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


def stated(source: str, raw: str) -> DateEvidence:
    value = parse_date(raw, NOW)
    assert value is not None
    return DateEvidence(value, raw, source)


def shown(raw: str, position: int, weight: float = 0.5, *, certain: bool = True) -> DateEvidence:
    value = parse_date(raw, NOW)
    assert value is not None
    return DateEvidence(value, raw, "text", position, position, weight, certain)


def choose(*statements: tuple[str, str]) -> tuple[str, str, str] | None:
    found = decide([stated(source, raw) for source, raw in statements])
    return found and (found.value.isoformat(), found.raw, found.evidence.source)


def date_of(*evidence: DateEvidence, modified: tuple[DateEvidence, ...] = ()) -> PublicationDate:
    result = decide(evidence, modified)
    assert result is not None
    return result


def test_first_statement_wins():
    raw = "2024-05-04T10:00:00+02:00"
    assert choose(("json-ld", raw), ("meta:date", "2024-05-03")) == (raw, raw, "json-ld")
    assert choose() is None


def test_completes_a_day_to_an_instant():
    """Prefers instants with a zone; ignores instants of other days."""
    day = ("json-ld", "2024-05-04")
    local = ("meta:date", "2024-05-04T10:00:00")
    aware = ("time", "2024-05-04T10:00:00+02:00")
    other = ("time", "2024-05-05T10:00:00+02:00")
    assert choose(day, local, aware) == (aware[1], aware[1], "time")
    assert choose(day, other, local) == (local[1], local[1], "meta:date")
    assert choose(day, other) == ("2024-05-04", "2024-05-04", "json-ld")


def test_completes_a_visible_time_with_the_zone_of_its_time_element():
    raw = "2024-05-04T10:00:30+09:00"
    text = shown("2024-05-04T10:00", 3)
    assert date_of(stated("time", raw), text).value.isoformat() == raw
    assert date_of(stated("time", "2024-05-04T10:01:00+09:00"), text).value == text.value


@pytest.mark.parametrize("local", ["2023-12-22 20:48:19", "2023-12-22T20:48:19-05:00"])
def test_converts_utc_to_the_local_zone(local: str):
    expected = ("2023-12-22T20:48:19-05:00", "2023-12-23T01:48:19Z", "json-ld")
    assert choose(("json-ld", "2023-12-23T01:48:19Z"), ("time", local)) == expected


@pytest.mark.parametrize(
    "other",
    [
        ("time", "2023-12-22 20:51:00"),
        ("time", "2023-12-21 01:48:19"),
        ("meta:date", "2023-12-22T20:48:19-06:00"),
        ("meta:date", "2023-12-23"),
    ],
)
def test_keeps_utc_if_other_evidence_is_another_instant(other: tuple[str, str]):
    raw = "2023-12-23T01:48:19+00:00"
    assert choose(("json-ld", raw), other) == (raw, raw, "json-ld")


def test_derives_the_zone_from_a_visible_time():
    """Visible times have no seconds."""
    utc = stated("json-ld", "2023-12-23T01:48:19Z")
    clock = shown("2023-12-22 20:48", 3)
    local = date_of(utc, clock).value
    assert isinstance(local, datetime)
    assert (local, local.utcoffset()) == (utc.value, timedelta(hours=-5))
    later = stated("json-ld", "2023-12-22T20:18:19Z")
    half_day = shown("2023-12-22 08:18", 3)
    assert date_of(later, half_day).value == later.value


def test_converts_utc_to_the_zone_of_the_country_that_gives_the_shown_day():
    """Without a shown day, only if the domain names the country and all its zones agree."""
    utc = stated("json-ld", "2023-12-23T01:48:19Z")
    american = site_zones("https://news.example/", "en-US")
    day = shown("2023-12-22", 3)
    local = decide([utc, day], site=american)
    assert local.value.isoformat() == "2023-12-22T20:48:19-05:00"
    for other, zones in (((), american), ((shown("2023-12-23", 3),), site_zones("https://a.us/"))):
        kept = decide([utc, *other], site=zones)
        assert kept.value.isoformat() == "2023-12-23T01:48:19+00:00"
    japanese = decide([stated("json-ld", "2023-12-22T15:30:00Z")], site=site_zones("https://a.jp/"))
    assert japanese.value.isoformat() == "2023-12-23T00:30:00+09:00"
    weak = decide([stated("time", "2023-12-22T15:30:00Z")], site=site_zones("https://a.jp/"))
    assert weak.value.isoformat() == "2023-12-23T00:30:00+09:00"
    assert weak.evidence.confidence == CONFIDENCE["single"]
    midnight = decide([stated("json-ld", "2023-12-22T00:00:00Z")], site=site_zones("https://a.us/"))
    assert midnight.value.isoformat() == "2023-12-22T00:00:00+00:00"


def test_visible_dates_precede_url_and_time_elements():
    text = shown("2023-12-19", 3)
    assert (
        date_of(stated("time", "2023-12-20"), stated("url", "2023-12-18"), text).raw == "2023-12-19"
    )
    assert date_of(stated("json-ld", "2023-12-18"), text).raw == "2023-12-18"
    assert date_of(stated("meta:date", "2023-12-18"), text).raw == "2023-12-19"
    guessed = shown("2023-12-19", 3, certain=False)
    assert date_of(stated("url", "2023-12-18"), guessed).raw == "2023-12-18"
    assert date_of(stated("url", "2023-12-18")).raw == "2023-12-18"


def test_a_clear_visible_day_wins_if_more_kinds_of_source_give_it():
    """Or if it is earlier and in the head of the story, unless it is that of an update."""
    text, day = shown("2023-12-19", 3), "2023-12-20"
    assert date_of(stated("json-ld", day), shown("2023-12-19", 9, 0.4)).raw == day
    assert date_of(stated("json-ld", day), text).raw == "2023-12-19"
    assert date_of(stated("json-ld", day), shown("2023-12-19", 3, 0.1)).raw == day
    assert date_of(stated("json-ld", day), stated("meta:created", day), text).raw == day
    update = stated("meta:modified", "2023-12-19")
    assert date_of(stated("json-ld", day), text, modified=(update,)).raw == day
    later = shown("2023-12-21", 3)
    assert date_of(stated("json-ld", day), later).raw == day
    assert date_of(stated("json-ld", day), stated("time", "2023-12-21"), later).raw == "2023-12-21"


def test_chooses_the_visible_date_with_the_highest_weight():
    """Of two next to each other the earlier; certain dates first."""
    published, updated = shown("2023-12-17", 3, 0.5), shown("2023-12-19", 4, 0.6)
    teaser = shown("2023-11-01", 15, 0.2)
    assert date_of(teaser, updated, published).raw == "2023-12-17"
    assert date_of(teaser, shown("2024-05-30", 2, 0.9, certain=False)).raw == "2023-11-01"


def test_modified_never_becomes_published():
    assert decide([], [stated("json-ld", "2024-05-04")]) is None


def confidence(*evidence: DateEvidence, modified: tuple[DateEvidence, ...] = ()) -> float:
    return date_of(*evidence, modified=modified).evidence.confidence


def test_confidence_grows_with_agreement():
    """Counts kinds of source, not statements; ignores uncertain dates."""
    values = [date(2024, 5, 4), datetime(2024, 5, 4, 10), date(2024, 5, 4)]  # noqa: DTZ001
    assert CONFIDENCE["single"] < CONFIDENCE["agreed"]
    same_kind = [DateEvidence(value, "", "meta:date") for value in values]
    text = shown("2024-05-04", 3)
    assert confidence(*same_kind, shown("2024-05-04", 3, certain=False)) == CONFIDENCE["single"]
    assert confidence(*same_kind, text) == CONFIDENCE["agreed"]
    assert confidence(*same_kind, stated("url", "2024-05-04")) == CONFIDENCE["agreed"]


def test_confidence_of_text_alone():
    """Lower for uncertain dates and dates far from the title."""
    assert CONFIDENCE["faint"] < CONFIDENCE["text"] < CONFIDENCE["agreed"]
    assert confidence(shown("2024-05-04", 3)) == CONFIDENCE["text"]
    assert confidence(shown("2024-05-04", 3, CLEAR_WEIGHT / 2)) == CONFIDENCE["faint"]
    assert confidence(shown("2024-05-04", 3, certain=False)) == CONFIDENCE["faint"]


def test_confidence_falls_if_sources_disagree():
    old = stated("json-ld", "2022-04-28T12:00:00+01:00")
    new = stated("meta:date", "2023-11-06")
    text = shown("2023-11-06", 3)
    assert confidence(old, new, stated("url", "2023-11-06")) == CONFIDENCE["disputed"]
    assert date_of(old, new, text).raw == "2023-11-06"
    assert confidence(old, new, text, modified=(new,)) == CONFIDENCE["disputed"]
    assert confidence(text, modified=(new,)) == CONFIDENCE["disputed"]


def test_derives_the_zone_from_a_visible_time_with_zone():
    utc = stated("json-ld", "2023-12-20T01:00:21Z")
    eastern = DateEvidence(
        datetime(2023, 12, 19, 20, tzinfo=timezone(timedelta(hours=-5))), "8:00 PM EST", "text"
    )
    assert date_of(utc, eastern).value.isoformat() == "2023-12-19T20:00:21-05:00"
