"""Filters of articles: publication window, languages, keywords."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from scrapy.settings import Settings

from newscrawl import Article, clock
from newscrawl.crawling.article_filters import ArticleFilters

CEST = timezone(timedelta(hours=2))


def reason(article: Article, **filters: Any) -> str | None:
    settings = Settings({f"NEWSCRAWL_{name.upper()}": value for name, value in filters.items()})
    return ArticleFilters.read(settings).reason(article)


@pytest.mark.parametrize(
    ("published", "filters", "expected"),
    [
        (None, {}, None),
        (None, {"since": "2026-05-01"}, "undated"),
        (None, {"until": "2026-05-01"}, "undated"),
        (date(2026, 5, 1), {"since": "2026-05-01", "until": "2026-05-01"}, None),
        (date(2026, 4, 30), {"since": "2026-05-01"}, "too_old"),
        (date(2026, 5, 2), {"until": "2026-05-01"}, "too_new"),
        # a day includes all of it
        (datetime(2026, 5, 1, 23, 59, tzinfo=CEST), {"until": "2026-05-01"}, None),
        (datetime(2026, 5, 1, 0, 1, tzinfo=CEST), {"since": "2026-05-01"}, None),
        (datetime(2026, 5, 2, 0, 1, tzinfo=CEST), {"until": "2026-05-01"}, "too_new"),
        # times: in their zones; UTC without one
        (datetime(2026, 5, 1, 13, tzinfo=CEST), {"since": "2026-05-01T12:00"}, "too_old"),
        (datetime(2026, 5, 1, 14, tzinfo=CEST), {"since": "2026-05-01T12:00"}, None),
        (datetime(2026, 5, 1, 11, 59), {"since": "2026-05-01T14:00+02:00"}, "too_old"),  # noqa: DTZ001
        (date(2026, 5, 1), {"since": "2026-05-01T12:00"}, None),
        (date(2026, 5, 1), {"since": date(2026, 5, 2)}, "too_old"),
        (date(2026, 5, 1), {"since": datetime(2026, 5, 2)}, "too_old"),  # noqa: DTZ001
    ],
)
def test_publication_window(published: date | None, filters: dict[str, Any], expected: str | None):
    assert reason(Article(date=published), **filters) == expected


def test_ages(monkeypatch: pytest.MonkeyPatch):
    """Relative to the time of the crawl."""
    now = datetime(2026, 5, 10, 12, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: now)
    article = Article(date=now - timedelta(hours=25))
    assert reason(article, since="24h") == "too_old"
    assert reason(article, since="2d") is None
    assert reason(article, until="24h") is None


@pytest.mark.parametrize("name", ["NEWSCRAWL_SINCE", "NEWSCRAWL_UNTIL"])
@pytest.mark.parametrize("value", ["yesterday", "2026-02-31", "7w"])
def test_invalid_window(name: str, value: str):
    """The error names the setting and the accepted forms."""
    with pytest.raises(ValueError, match=f"{name}: '{value}' is not a day"):
        ArticleFilters.read(Settings({name: value}))


@pytest.mark.parametrize(
    ("language", "accepted", "expected"),
    [
        ("de", "de,en", None),
        ("de-AT", "de", None),
        ("DE", ["de"], None),
        ("de", "de-AT", "language"),
        ("den", "de", "language"),
        ("fr", "de,en", "language"),
        (None, "de", None),
        ("fr", "", None),
    ],
)
def test_languages(language: str | None, accepted: Any, expected: str | None):
    """A tag accepts its subtags; pages without a language are kept."""
    assert reason(Article(language=language), languages=accepted) == expected


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ("harbour", None),
        ("HARBOUR,absent", None),
        ("ferry terminal", None),
        ("terminal ferry", "keyword"),
        ("harb", "keyword"),
        ("absent", "keyword"),
        ("議会", None),
        ("会議", "keyword"),
        (["council's vote"], None),
    ],
)
def test_keywords(keywords: Any, expected: str | None):
    """Whole words of the title or the body, also in scripts without spaces."""
    article = Article(
        title="Ferry terminal: council’s vote", body="The Harbour stays.\n\n議会は再建を決めた。"
    )
    if keywords == ["council's vote"]:
        article.title = "The council's vote"
    assert reason(article, keywords=keywords) == expected


def test_earliest_listing():
    """A day may be local, so entries listed the day before are read."""
    assert ArticleFilters.read(Settings({"NEWSCRAWL_SINCE": "2026-05-10"})).earliest == datetime(
        2026, 5, 9, tzinfo=UTC
    )
    assert ArticleFilters().earliest is None
