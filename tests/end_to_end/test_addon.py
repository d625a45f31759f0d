"""The add-on with the settings of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

import newscrawl
from newscrawl.crawl.network.download_handler import HttpHandler
from newscrawl.crawl.network.downloader import Downloader
from newscrawl.crawl.network.secrets import HideSecrets
from newscrawl.crawl.output.segment_writer import SegmentWriter
from newscrawl.exporters import ParquetItemExporter
from newscrawl.exporters.safe_csv import SafeCsvItemExporter
from newscrawl.middlewares import (
    CompressionMiddleware,
    PolitenessMiddleware,
    RobotsMiddleware,
    SafetyMiddleware,
    StylesheetMiddleware,
    WarcMiddleware,
)
from newscrawl.pipelines import NearDuplicatePipeline, NewsExtractPipeline
from newscrawl.settings import base

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PATH = "newscrawl.pipelines.NewsExtractPipeline"


def settings_with_addon(**project: Any) -> Settings:
    """Return the settings of a crawler with the add-on and the settings of a *project*."""
    return get_crawler(settings_dict={"ADDONS": {"newscrawl.Addon": 500}} | project).settings


def components(settings: BaseSettings, name: str) -> list[Any]:
    """Return the enabled components of the setting *name*, in order."""
    priorities = settings.get_component_priority_dict_with_base(name)
    return [load_object(component) for component in build_component_list(priorities)]


def pipelines(settings: BaseSettings) -> list[Any]:
    return components(settings, "ITEM_PIPELINES")


class Storage:
    """Pipeline of the project."""


def test_addon_enables_every_component() -> None:
    """The pipeline, the middlewares, the extension and the feed format are enabled."""
    settings = settings_with_addon()
    assert pipelines(settings) == [NewsExtractPipeline]
    assert settings["ITEM_PIPELINES"][NewsExtractPipeline] == 300
    assert settings["DOWNLOADER_MIDDLEWARES"][StylesheetMiddleware] == 545
    assert settings["DOWNLOADER_MIDDLEWARES"][WarcMiddleware] == 990
    assert settings["EXTENSIONS"][SegmentWriter] == 500
    exporter = settings.getwithbase("FEED_EXPORTERS")["parquet"]
    assert load_object(exporter) is ParquetItemExporter


@pytest.mark.parametrize("value", [True, "True", 1])
def test_near_duplicates_are_opt_in(value: Any) -> None:
    """Near-duplicate clustering runs after extraction if the project enables it."""
    settings = settings_with_addon(NEWSCRAWL_NEARDUP_ENABLED=value)
    assert pipelines(settings) == [NewsExtractPipeline, NearDuplicatePipeline]


def test_project_settings_take_precedence() -> None:
    """Priorities, other pipelines and exporters of the project stay."""
    settings = settings_with_addon(
        ITEM_PIPELINES={PATH: 10, Storage: 5},
        FEED_EXPORTERS={"parquet": "mine.Exporter", "csv": "mine.Csv"},
    )
    assert pipelines(settings) == [Storage, NewsExtractPipeline]
    assert settings["ITEM_PIPELINES"][PATH] == 10
    exporters = dict(settings["FEED_EXPORTERS"])
    assert exporters == {"parquet": "mine.Exporter", "csv": "mine.Csv"}


def test_project_can_disable_the_pipeline() -> None:
    """None disables the pipeline, as always in Scrapy."""
    assert pipelines(settings_with_addon(ITEM_PIPELINES={PATH: None})) == []


def test_addon_has_a_public_import_path() -> None:
    assert load_object("newscrawl.Addon") is newscrawl.Addon


def test_addon_enables_safety() -> None:
    """Safety, robots.txt, politeness, log and feed components replace those of Scrapy."""
    settings = settings_with_addon()
    middlewares = components(settings, "DOWNLOADER_MIDDLEWARES")
    assert middlewares[0] is SafetyMiddleware
    ours = [RobotsMiddleware, StylesheetMiddleware, PolitenessMiddleware, CompressionMiddleware]
    assert [found for found in middlewares if found in ours] == ours
    assert RobotsTxtMiddleware not in middlewares
    assert HttpCompressionMiddleware not in middlewares
    assert HideSecrets in components(settings, "EXTENSIONS")
    assert load_object(settings["DOWNLOADER"]) is Downloader
    assert load_object(settings["FEED_EXPORTERS"]["csv"]) is SafeCsvItemExporter
    assert settings.getbool("ROBOTSTXT_OBEY")
    for port in ("TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED"):
        assert not settings.getbool(port)


def test_keeps_the_projects_own_safety_settings() -> None:
    """Settings and components of the project are not changed."""
    project = {
        "DOWNLOADER_MIDDLEWARES": {RobotsTxtMiddleware: 120},
        "DOWNLOAD_HANDLERS": {"https": "mine.Handler"},
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": True,
    }
    settings = Settings(project)
    newscrawl.Addon().update_settings(settings)
    middlewares = components(settings, "DOWNLOADER_MIDDLEWARES")
    assert RobotsTxtMiddleware in middlewares
    assert RobotsMiddleware not in middlewares
    assert settings["DOWNLOAD_HANDLERS"]["https"] == "mine.Handler"
    assert load_object(settings["DOWNLOAD_HANDLERS"]["http"]) is HttpHandler
    assert not settings.getbool("ROBOTSTXT_OBEY")
    assert settings.getbool("TELNETCONSOLE_ENABLED")


def test_addon_agrees_with_the_base_settings() -> None:
    """Both enable the same downloader middlewares with the same priorities."""
    base_priorities = {load_object(k): v for k, v in base.DOWNLOADER_MIDDLEWARES.items()}
    settings = settings_with_addon()
    addon_priorities = {load_object(k): v for k, v in settings["DOWNLOADER_MIDDLEWARES"].items()}
    assert {k: v for k, v in addon_priorities.items() if v is not None} == {
        k: v for k, v in base_priorities.items() if v is not None and k in addon_priorities
    }
