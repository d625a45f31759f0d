"""The add-on, in settings as projects write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

import newscrawl
from newscrawl.crawl.delivery import SegmentWriter
from newscrawl.exporters import ParquetItemExporter
from newscrawl.middlewares import StylesheetMiddleware, WarcMiddleware
from newscrawl.pipelines import NearDuplicatePipeline, NewsExtractPipeline

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings, Settings

PATH = "newscrawl.pipelines.NewsExtractPipeline"


def settings_with_addon(**project: Any) -> Settings:
    """Return the settings of a crawler of a project with these settings and the add-on."""
    return get_crawler(settings_dict={"ADDONS": {"newscrawl.Addon": 500}} | project).settings


def pipelines(settings: BaseSettings) -> list[Any]:
    return [
        load_object(pipeline)
        for pipeline in build_component_list(
            settings.get_component_priority_dict_with_base("ITEM_PIPELINES")
        )
    ]


class Storage:
    """A pipeline of the project's own."""


def test_switches_everything_on() -> None:
    """The pipeline, the middleware and the feed format are there."""
    settings = settings_with_addon()
    assert pipelines(settings) == [NewsExtractPipeline]
    assert settings["ITEM_PIPELINES"][NewsExtractPipeline] == 300
    assert settings["DOWNLOADER_MIDDLEWARES"][StylesheetMiddleware] == 545
    assert settings["DOWNLOADER_MIDDLEWARES"][WarcMiddleware] == 990
    assert settings["EXTENSIONS"][SegmentWriter] == 500
    exporter = settings.getwithbase("FEED_EXPORTERS")["parquet"]
    assert load_object(exporter) is ParquetItemExporter


@pytest.mark.parametrize("value", [True, "True", 1])
def test_near_duplicates_where_asked_for(value: Any) -> None:
    """They are told behind the extraction, where the project says so."""
    settings = settings_with_addon(NEWSCRAWL_NEARDUP_ENABLED=value)
    assert pipelines(settings) == [NewsExtractPipeline, NearDuplicatePipeline]


def test_project_goes_before() -> None:
    """Priorities, other pipelines and exporters of the project stay."""
    settings = settings_with_addon(
        ITEM_PIPELINES={PATH: 10, Storage: 5},
        FEED_EXPORTERS={"parquet": "mine.Exporter", "csv": "mine.Csv"},
    )
    assert pipelines(settings) == [Storage, NewsExtractPipeline]
    assert settings["ITEM_PIPELINES"][PATH] == 10
    exporters = dict(settings["FEED_EXPORTERS"])
    assert exporters == {"parquet": "mine.Exporter", "csv": "mine.Csv"}


def test_pipeline_switched_off_by_the_project() -> None:
    """None switches the pipeline off, as anywhere in Scrapy."""
    assert pipelines(settings_with_addon(ITEM_PIPELINES={PATH: None})) == []


def test_public_name() -> None:
    """The name in the documentation is the class."""
    assert load_object("newscrawl.Addon") is newscrawl.Addon
