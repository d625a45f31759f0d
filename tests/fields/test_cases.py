"""Titles, dates and authors of pages that users of other tools reported trouble with."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from newscrawl.extraction.extract import extract
from newscrawl.items import Article

CASES = Path(__file__).parents[1] / "cases"
FETCHED = "2026-05-20T12:00:00+00:00"


def cases() -> list[Any]:
    lines = (
        line
        for name in ("titles", "dates", "authors")
        if (path := CASES / f"{name}.jsonl").exists()
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


def day(value: object) -> str | None:
    return value.isoformat()[:10] if value else None  # type: ignore[attr-defined]


def instant(article: Article) -> datetime | None:
    return article.date.astimezone(UTC) if isinstance(article.date, datetime) else None


@pytest.mark.parametrize("case", cases())
def test_fields_of_reported_pages(case: dict[str, Any]):
    fetched_at = datetime.fromisoformat(case.get("fetched_at", FETCHED))
    article = extract(case["html"], case["url"], fetched_at=fetched_at)
    found = {
        "title": article.title,
        "day": day(article.date),
        "modified": day(article.date_modified),
        "authors": sorted(article.authors),
        "tags": list(article.tags),
        "instant": instant(article),
    }
    expect = dict(case["expect"])
    if "authors" in expect:
        expect["authors"] = sorted(expect["authors"])
    if "instant" in expect:
        expect["instant"] = datetime.fromisoformat(expect["instant"]).astimezone(UTC)
    assert {name: found[name] for name in expect if name in found} == {
        name: value for name, value in expect.items() if name in found
    }
    assert found["title"] != expect.get("title_not", ())
    assert found["day"] not in expect.get("not_day", ())
