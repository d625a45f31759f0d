"""Fields of articles in feeds."""

import json
from io import BytesIO

import pytest
from itemadapter import ItemAdapter
from scrapy.exporters import BaseItemExporter, CsvItemExporter, JsonLinesItemExporter

from newscrawl.items import EXTRA_FIELDS, Article, BodyLink, Media
from newscrawl.pipelines.item_filler import use_article_adapter

FORMATS = {*EXTRA_FIELDS}


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ItemAdapter, "ADAPTER_CLASSES", ItemAdapter.ADAPTER_CLASSES)
    use_article_adapter()
    use_article_adapter()


def feed(exporter_class: type[BaseItemExporter], article: Article) -> str:
    file = BytesIO()
    exporter = exporter_class(file)
    exporter.start_exporting()
    exporter.export_item(article)
    exporter.finish_exporting()
    return file.getvalue().decode()


def test_formats_that_were_not_requested_are_absent():
    article = Article(url="https://a.example/", body="x", body_html="")
    row = json.loads(feed(JsonLinesItemExporter, article))
    assert row.keys() == article.to_dict().keys()
    assert row.keys() & FORMATS == {"body_html"}
    assert row["title"] is None
    columns = feed(CsvItemExporter, article).splitlines()[0].split(",")
    assert columns == list(row)


def test_links_and_images_are_objects():
    article = Article(
        links=[BodyLink("https://a.example/", "a")], images=[Media("b", "d", alt="c")]
    )
    row = json.loads(feed(JsonLinesItemExporter, article))
    assert row["links"] == [{"url": "https://a.example/", "text": "a"}]
    assert row["images"] == [
        {"url": "b", "caption": "d", "credit": None, "alt": "c", "width": None}
    ]


def test_other_access_is_that_of_a_dataclass():
    article = Article(url="https://a.example/")
    adapter = ItemAdapter(article)
    adapter["links"] = []
    assert article.links == adapter["links"] == []
    assert adapter["body_html"] is None
    assert len(adapter) == len(article.to_dict())
