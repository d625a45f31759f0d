"""Near-duplicate pipeline."""

import asyncio
import random
import threading
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import scrapy
import zyte_common_items
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from newscrawl import Article
from newscrawl.feeds.story_reader import read_story
from newscrawl.items import instant
from newscrawl.neardup import Index, Options, Verdict
from newscrawl.neardup import Story as NearDupStory
from newscrawl.neardup import index as index_module
from newscrawl.neardup.sketch import Sketch
from newscrawl.pipelines import NearDuplicatePipeline
from samples import expected_pages

WIRE = [page for page in expected_pages() if "shore-power" in page.path or "20261118" in page.path]
OTHERS = [page for page in expected_pages() if page.is_article and page not in WIRE]
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def article(page: Any) -> Article:
    """Return the article of a sample page."""
    return Article(
        url=f"http://{page.site}.example{page.path}",
        title=page.title,
        date=page.date,
        body=page.body,
        fetched_at=NOW,
    )


def process(
    *items: Any, in_turn: bool = False, **settings: Any
) -> tuple[list[Any], dict[str, Any]]:
    """Return the results of the pipeline for *items*, exceptions included, and the stats."""

    async def run() -> tuple[list[Any], dict[str, Any]]:
        crawler = get_crawler(settings_dict={"NEWSCRAWL_NEARDUP_INDEX": ""} | settings)
        pipeline = NearDuplicatePipeline.from_crawler(crawler)
        await pipeline.open_spider()
        try:
            calls = [pipeline.process_item(item) for item in items]
            results = (
                [await call for call in calls]
                if in_turn
                else await asyncio.gather(*calls, return_exceptions=True)
            )
        finally:
            await pipeline.close_spider()
        prefix = "newscrawl/neardup/"
        stats = crawler.stats.get_stats().items()
        return list(results), {k.removeprefix(prefix): v for k, v in stats if k.startswith(prefix)}

    return asyncio.run(run())


def test_agency_story_is_one_cluster() -> None:
    """Three sites have edited versions of it; all other articles are single."""
    assert len(WIRE) == 3
    results, stats = process(*map(article, [*OTHERS, *WIRE]))
    alone, together = results[: len(OTHERS)], results[len(OTHERS) :]
    assert {item.cluster["size"] for item in alone} == {1}
    assert len({item.cluster["id"] for item in together}) == 1
    assert [item.cluster["size"] for item in together] == [1, 2, 3]
    assert [item.cluster["is_first"] for item in together] == [True, False, False]
    assert together[0].cluster["similarity"] is None
    assert together[2].cluster["similarity"] > 0.3
    assert set(together[2].cluster["near_duplicates"]) == {item.url for item in together[:2]}
    count = len(results)
    assert stats == {"article_count": count, "cluster_count": count - 2, "duplicate_count": 2}


def test_cluster_is_json() -> None:
    results, _ = process(*map(article, WIRE))
    assert Article.from_dict(results[2].to_dict()) == results[2]


def test_continues_index_of_former_crawl(tmp_path: Path) -> None:
    index = str(tmp_path / "index.sqlite")
    (first,), _ = process(article(WIRE[0]), NEWSCRAWL_NEARDUP_INDEX=index)
    results, _ = process(*map(article, WIRE), NEWSCRAWL_NEARDUP_INDEX=index)
    assert results[0].cluster == first.cluster
    assert [item.cluster["size"] for item in results] == [1, 2, 3]


@dataclass
class Story:
    link: str
    text: str | None = None
    posted: Any = None
    story: Any = None


class ScrapyStory(scrapy.Item):
    link = scrapy.Field()
    text = scrapy.Field()
    posted = scrapy.Field()
    story = scrapy.Field()


NAMES = {"url": "link", "body": "text", "date": "posted", "cluster": "story"}


@pytest.mark.parametrize("item_class", [dict, Story, ScrapyStory])
def test_reads_fields_of_any_item_class(item_class: Any) -> None:
    items = [
        item_class(link=f"https://{page.site}.example/1", text=page.body, posted="2026-11-18")
        for page in WIRE
    ]
    results, _ = process(*items, NEWSCRAWL_FIELDS=NAMES)
    assert all(result is item for result, item in zip(results, items, strict=True))
    clusters = [item["story"] if item_class is not Story else item.story for item in items]
    assert [cluster["size"] for cluster in clusters] == [1, 2, 3]


def test_items_without_cluster_field_are_compared() -> None:
    items = [
        zyte_common_items.Article(url=f"https://{page.site}.example/1", articleBody=page.body)
        for page in WIRE
    ]
    names = {"body": "articleBody", "date": "datePublished"}
    results, stats = process(*items, NEWSCRAWL_FIELDS=names, NEWSCRAWL_NEARDUP_DROP=True)
    assert results[0] is items[0]
    assert stats["dropped_count"] == 2


@pytest.mark.parametrize(
    "item",
    [
        {"url": "https://a.example/1"},
        {"url": "https://a.example/1", "body": " \n"},
        {"url": "https://a.example/1", "body": b"bytes"},
        {"body": "no URL"},
        {"url": "mailto:a@b.example", "body": "no page"},
        {"url": 1, "body": "no URL"},
    ],
)
def test_passes_items_without_text_or_url(item: dict[str, Any]) -> None:
    results, stats = process(item)
    assert results == [item]
    assert "cluster" not in item
    assert stats == {"passed_count": 1}


def test_concurrent_items_keep_their_order() -> None:
    items = [article(page) for page in (*WIRE, *OTHERS)] * 2
    burst, _ = process(*items)
    clusters = [item.cluster for item in burst]
    assert [item.cluster for item in process(*items, in_turn=True)[0]] == clusters


def test_setting_disables_pipeline() -> None:
    with pytest.raises(NotConfigured):
        process(NEWSCRAWL_NEARDUP_ENABLED="False")


@pytest.mark.parametrize(("name", "value"), [("WINDOW", -1), ("WINDOW", 1e300), ("CONTAINMENT", 2)])
def test_rejects_invalid_settings(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="NEWSCRAWL_NEARDUP_"):
        process(**{f"NEWSCRAWL_NEARDUP_{name}": value})


def test_applies_window_and_threshold() -> None:
    dated = [article(page) for page in WIRE]
    dated[1].date = dated[0].date + timedelta(days=30)
    far, _ = process(*dated[:2])
    assert [item.cluster["size"] for item in far] == [1, 1]
    near, _ = process(*dated[:2], NEWSCRAWL_NEARDUP_WINDOW=0)
    assert [item.cluster["size"] for item in near] == [1, 2]
    strict, _ = process(*map(article, WIRE), NEWSCRAWL_NEARDUP_CONTAINMENT=1)
    assert [item.cluster["size"] for item in strict] == [1, 1, 1]


def test_identifies_story_by_canonical_url() -> None:
    """Unless it is on another site or the front page."""

    def url(canonical: Any) -> str:
        item = {"url": "https://www.a.example/1?utm_source=x#top", "body": "text"}
        story = read_story(item | {"canonical_url": canonical}, {}, NOW)
        assert story is not None
        return story.url

    plain = "https://www.a.example/1"
    assert url("https://a.example/story") == "https://a.example/story"
    assert url("/story") == "https://www.a.example/story"
    assert url("https://wire.test/story") == plain
    assert url("https://www.a.example/") == plain
    assert url("http://[") == plain
    assert url(None) == url(1) == plain


def test_prefers_publication_to_fetching_time() -> None:
    item: dict[str, Any] = {"url": "https://a.example/1", "body": "text"}
    fetched = {"fetched_at": "2026-11-19T10:00:00+00:00"}
    days = [
        read_story(given, {}, NOW)
        for given in (item, item | fetched, item | fetched | {"date": date(2026, 11, 18)})
    ]
    assert [day.when.day for day in days if day] == [20, 19, 18]


# Times in the first or last year may not exist in other time zones.
YEAR_2, YEAR_9998 = datetime(2, 1, 1), datetime(9998, 1, 1)  # noqa: DTZ001


@given(
    st.one_of(
        st.datetimes(YEAR_2, YEAR_9998),
        st.datetimes(YEAR_2, YEAR_9998, timezones=st.timezones()),
        st.dates(),
    )
)
def test_converts_dates_and_iso_text(moment: Any) -> None:
    found = instant(moment)
    assert found is not None
    assert found.tzinfo is not None
    # As UTC, since times in a repeated hour differ from those of other zones (PEP 495).
    assert instant(moment.isoformat()).astimezone(UTC) == found.astimezone(UTC)
    if isinstance(moment, datetime) and moment.tzinfo:
        assert found is moment


@pytest.mark.parametrize("moment", [None, 1, "", "yesterday", "2026-13-01", [], {}])
def test_rejects_other_times(moment: Any) -> None:
    assert instant(moment) is None


def test_indexes_in_thread_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"word{number}" for number in range(3000)]
    draw = random.Random(1)
    items = [
        {
            "url": f"https://{number % 7}.example/{number}",
            "body": " ".join(draw.choices(words, k=3000)),
        }
        for number in range(150)
    ]
    threads: Counter[int] = Counter()
    batches: list[int] = []

    def add_many(index: Index, stories: list[NearDupStory]) -> list[Verdict]:
        batches.append(len(stories))
        return add(index, stories)

    def sketch(text: str, options: Options) -> Sketch:
        threads[threading.get_ident()] += 1
        return make_sketch(text, options)

    add, make_sketch = Index.add_many, index_module.sketch
    monkeypatch.setattr(Index, "add_many", add_many)
    monkeypatch.setattr(index_module, "sketch", sketch)

    index = str(tmp_path / "index.sqlite")
    assert process(*items, NEWSCRAWL_NEARDUP_INDEX=index)[0] == items
    assert all(item["cluster"]["is_first"] for item in items)
    assert list(threads.values()) == [150]
    assert threading.get_ident() not in threads
    assert sum(batches) == 150
    assert max(batches) <= 50
