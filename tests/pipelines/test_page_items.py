"""The news extraction pipeline with items of any class: fields, conversion, mapping."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import attrs
import pydantic
import pytest
import scrapy
import zyte_common_items
from itemadapter import ItemAdapter

from newscrawl.items import Article, Breadcrumb, Evidence, Media
from newscrawl.pipelines.item_filler import ItemFiller, to_zyte
from tests.pipelines.test_news_extract_pipeline import (
    HTML,
    MIN_BODY,
    STUB,
    URL,
    assert_is_the_article,
    process,
)
from tests.servers import pages


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    title = scrapy.Field()
    date = scrapy.Field()
    body = scrapy.Field()
    authors = scrapy.Field()
    newscrawl_status = scrapy.Field()


@dataclass
class DataclassItem:
    url: str
    html: bytes | str
    title: str | None = None
    date: datetime | None = None
    body: str | None = None
    authors: list[str] = field(default_factory=list)
    newscrawl_status: str | None = None


@attrs.define
class AttrsItem:
    url: str
    html: bytes | str
    title: str | None = None
    date: datetime | None = None
    body: str | None = None
    authors: list[str] = attrs.Factory(list)
    newscrawl_status: str | None = None


class PydanticItem(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(validate_assignment=True)
    url: str
    html: bytes | str
    title: str | None = None
    date: datetime | None = None
    body: str | None = None
    authors: list[str] = []
    newscrawl_status: str | None = None


ITEM_CLASSES = [dict, ScrapyItem, DataclassItem, AttrsItem, PydanticItem]


@pytest.mark.parametrize("item_class", ITEM_CLASSES)
def test_extracts_from_any_item_class(item_class: Any) -> None:
    results = process(item_class(url=URL, html=HTML))
    assert isinstance(results.items[0], Article)
    assert_is_the_article(results.items[0])
    assert results.counts("newscrawl/site/") == {"tagesbote.test:8080/article_count": 1}


@pytest.mark.parametrize("item_class", ITEM_CLASSES)
def test_fills_any_item_class(item_class: Any) -> None:
    item = item_class(url=URL, html=HTML)
    results = process(item, NEWSCRAWL_OUTPUT="fill")
    assert results.items == [item]
    assert results.items[0] is item
    assert_is_the_article(item)
    adapter = ItemAdapter(item)
    assert (adapter["url"], adapter["newscrawl_status"]) == (URL, "article")
    assert not adapter.get("html")
    json.dumps(adapter.asdict(), default=datetime.isoformat)  # no bytes
    is_typed = item_class not in {dict, ScrapyItem}
    assert type(adapter["date"]) is (datetime if is_typed else str)


@pytest.mark.parametrize("item_class", ITEM_CLASSES)
@pytest.mark.parametrize(
    ("html", "status"), [(STUB, "too_short"), (b"", "failed/document"), ("", "failed/document")]
)
def test_fill_keeps_item_without_article(item_class: Any, html: Any, status: str) -> None:
    item = item_class(url=URL, html=html)
    results = process(item, NEWSCRAWL_OUTPUT="fill", NEWSCRAWL_MIN_BODY=MIN_BODY)
    assert results.items == [item]
    adapter = ItemAdapter(item)
    assert (adapter["url"], adapter.get("html", "")) == (URL, "")
    assert adapter["newscrawl_status"] == status
    assert not adapter.get("title")
    json.dumps(adapter.asdict(), default=datetime.isoformat)  # no bytes
    reason = status.partition("/")[0]
    assert results.counts("newscrawl/extract/dropped_count/") == {reason: 1}


def test_fill_keeps_values_of_spider() -> None:
    item = {"url": URL, "html": HTML, "title": "Mine", "language": ""}
    process(item, NEWSCRAWL_OUTPUT="fill")
    assert (item["title"], item["language"]) == ("Mine", "de")


def test_maps_field_names() -> None:
    item = {"link": URL, "response": HTML, "title": ""}
    process(
        item,
        NEWSCRAWL_OUTPUT="fill",
        NEWSCRAWL_STATUS_FIELD="outcome",
        NEWSCRAWL_REMOVE_HTML=False,
        NEWSCRAWL_FIELDS={"url": "link", "html": "response", "title": "headline", "evidence": None},
    )
    assert item["headline"] == pages.title(1)
    assert (item["title"], item["outcome"], item["response"]) == ("", "article", HTML.decode())
    assert not {"evidence", "url"} & set(item)


def test_dict_has_every_column() -> None:
    """A CSV feed takes its columns from the first item."""
    good, bad = {"url": URL, "html": HTML}, {"url": URL, "html": b""}
    process(good, bad, NEWSCRAWL_OUTPUT="fill", NEWSCRAWL_EXTRA_FIELDS=["links", "body_markdown"])
    assert good.keys() == bad.keys()
    assert good.keys() > {"body_markdown", "canonical_url", "links", "newscrawl_status"}
    assert not {"body_html", "images"} & good.keys()
    assert {name for name, value in bad.items() if value} == {"url", "newscrawl_status"}


def test_fill_leaves_no_bytes_without_url() -> None:
    item = {"url": None, "html": HTML}
    assert process(item, NEWSCRAWL_OUTPUT="fill", NEWSCRAWL_WORKERS=0).items == [{"url": None}]


def last_name(names: list[str]) -> str:
    return names[-1].rpartition(" ")[2]


def test_converts_fields() -> None:
    authored = HTML.replace(
        b"<head>",
        b'<head><meta name="author" content="Ada Byron"><meta name="author" content="Bo Li">',
    )
    converters = {
        "authors": f"{__name__}.last_name",
        "date": lambda date: date.year,
        "title": "builtins.int",  # fails
    }
    item = ScrapyItem(url=URL, html=authored)
    (result,) = process(item, NEWSCRAWL_OUTPUT="fill", NEWSCRAWL_FIELD_CONVERTERS=converters).items
    assert result is item
    assert (item["authors"], item["date"], item["newscrawl_status"]) == ("Li", 2026, "article")
    assert "title" not in item


@dataclass
class DayItem:
    url: str
    html: bytes
    date: "dt.date | None" = None  # noqa: F821  # cannot be resolved


class BytesItem(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(validate_assignment=True)
    url: str
    html: bytes
    fetched_at: pydantic.AwareDatetime | None = None


@attrs.define
class StrictItem:
    url: str
    html: bytes = attrs.field(validator=attrs.validators.instance_of(bytes))


def test_follows_annotations() -> None:
    """Times become days where the class has days; the page is removed even if only bytes fit."""
    items = [kind(url=URL, html=HTML) for kind in (DayItem, BytesItem, StrictItem)]
    day, model, strict = process(*items, NEWSCRAWL_OUTPUT="fill").items
    assert (day.date, day.html) == (pages.PUBLISHED.date(), "")
    assert isinstance(model.fetched_at, datetime)
    for item in (model, strict):
        json.dumps(ItemAdapter(item).asdict(), default=datetime.isoformat)
        assert ItemAdapter(item)["url"] == URL


def test_midnight_of_a_day() -> None:
    item = DataclassItem(URL, "")
    ItemFiller({}).fill(item, Article(date=pages.PUBLISHED.date()))
    assert item.date == datetime(2026, 3, 14)  # noqa: DTZ001


@dataclass(frozen=True)
class FrozenItem:
    url: str
    html: bytes | str
    title: str | None = None


def test_frozen_item_only_loses_its_page(caplog: pytest.LogCaptureFixture) -> None:
    """The warning is logged once per field."""
    items = [FrozenItem(URL, HTML), FrozenItem(URL, HTML)]
    results = process(*items, NEWSCRAWL_OUTPUT="fill")
    assert results.items == items == [FrozenItem(URL, "")] * 2
    assert [record.getMessage() for record in caplog.records if "title" in record.getMessage()] == [
        "Could not set FrozenItem.title: cannot assign to field 'title'"
    ]


def test_returns_zyte_article() -> None:
    results = process({"url": URL, "html": HTML}, NEWSCRAWL_OUTPUT="zyte")
    (item,) = results.items
    assert isinstance(item, zyte_common_items.Article)
    assert (item.url, item.headline) == (URL, pages.title(1))
    assert item.datePublished == "2026-03-14T09:30:00+01:00"  # 8:30 UTC; the page shows 9:30
    assert pages.paragraphs(1)[0] in item.articleBody.split("\n\n")
    assert item.metadata.get_date_downloaded_parsed().tzinfo == UTC


def test_maps_zyte_fields() -> None:
    """A date of modification does not become the date of publication."""
    item = to_zyte(
        Article(
            url=URL,
            canonical_url=f"{URL}#",
            title="T",
            date_modified=datetime(2026, 3, 14, tzinfo=UTC),
            body="B",
            language="de",
            authors=["Ada"],
            description="D",
            image=Media("https://a.test/i.jpg", "C"),
            breadcrumbs=(Breadcrumb("Home", "https://a.test/"), Breadcrumb("City")),
            evidence={"body": Evidence("nce", 0.5)},
        )
    )
    assert (item.datePublished, item.dateModified) == (None, "2026-03-14T00:00:00Z")
    assert (item.canonicalUrl, item.inLanguage) == (f"{URL}#", "de")
    assert [author.name for author in item.authors] == ["Ada"]
    assert (item.description, item.mainImage.url) == ("D", "https://a.test/i.jpg")
    assert [(part.name, part.url) for part in item.breadcrumbs] == [
        ("Home", "https://a.test/"),
        ("City", None),
    ]
    assert to_zyte(Article(url=URL)).breadcrumbs is None
    assert item.metadata.probability == 0.5
