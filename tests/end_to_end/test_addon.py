"""The add-on with the settings of a project."""

import json
from io import BytesIO
from typing import Any

import pytest
from scrapy import Spider
from scrapy.core.scheduler import Scheduler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

import newscrawl
from newscrawl.crawling.frontier import LeaseMiddleware, LeaseScheduler
from newscrawl.crawling.logs import LogText
from newscrawl.crawling.network.download_handler import HttpHandler
from newscrawl.crawling.network.downloader import Downloader
from newscrawl.crawling.output.segment_writer import SegmentWriter
from newscrawl.crawling.reporting.progress import Progress
from newscrawl.exporters import ParquetItemExporter
from newscrawl.exporters.text_feeds import SafeCsvItemExporter
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
from newscrawl.spiders.sitelist import SitelistSpider
from newscrawl.spiders.url_list import UrlListSpider

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


REMOTE_CONTROL = "scrapy.extensions.remote_control.RemoteControl"


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
    assert isinstance(load_object(exporter)(BytesIO()), ParquetItemExporter)


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
    exporters = settings["FEED_EXPORTERS"]
    assert (exporters["parquet"], exporters["csv"]) == ("mine.Exporter", "mine.Csv")


def test_feeds_without_items_write_no_file() -> None:
    """Unless they replace a file, or the project decides."""
    options: dict[str, dict[str, bool]] = {
        "a.csv": {}, "b.csv": {"overwrite": True}, "c.csv": {"store_empty": True}
    }  # fmt: skip
    feeds = {uri: {"format": "csv", **feed} for uri, feed in options.items()}
    settings = settings_with_addon(FEEDS=json.dumps(feeds))
    stored = {uri: feed["store_empty"] for uri, feed in settings.getdict("FEEDS").items()}
    assert stored == {"a.csv": False, "b.csv": True, "c.csv": True}
    settings = settings_with_addon(FEEDS=json.dumps(feeds), FEED_STORE_EMPTY=True)
    assert settings.getdict("FEEDS") == feeds


def test_warns_about_feeds_that_each_crawl_replaces(caplog: pytest.LogCaptureFixture) -> None:
    """A store cannot append: the second crawl would leave its new articles only."""
    feeds = {
        "s3://user:secret@bucket/a.jsonl": {},
        "s3://bucket/%(time)s.jsonl": {},
        "gs://bucket/b.jsonl": {"overwrite": True},
        "c.jsonl": {},
    }
    settings_with_addon(FEEDS=feeds)
    (line,) = [
        record.getMessage() for record in caplog.records if "replaces" in record.getMessage()
    ]
    assert "s3://***@bucket/a.jsonl" in line


def test_project_can_disable_the_pipeline() -> None:
    """None disables the pipeline, as always in Scrapy."""
    assert pipelines(settings_with_addon(ITEM_PIPELINES={PATH: None})) == []


def test_addon_enables_safety() -> None:
    """Safety, robots.txt, politeness, log and feed components replace those of Scrapy."""
    settings = settings_with_addon()
    middlewares = components(settings, "DOWNLOADER_MIDDLEWARES")
    assert middlewares[0] is SafetyMiddleware
    ours = [RobotsMiddleware, StylesheetMiddleware, PolitenessMiddleware, CompressionMiddleware]
    assert [found for found in middlewares if found in ours] == ours
    assert RobotsTxtMiddleware not in middlewares
    assert HttpCompressionMiddleware not in middlewares
    assert LogText in components(settings, "EXTENSIONS")
    assert load_object(settings["DOWNLOADER"]) is Downloader
    assert load_object(settings["FEED_EXPORTERS"]["csv"]) is SafeCsvItemExporter
    assert settings.getbool("ROBOTSTXT_OBEY")
    for port in ("TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED"):
        assert not settings.getbool(port)
    assert REMOTE_CONTROL not in settings.getdict("EXTENSIONS_BASE")


def test_keeps_the_projects_own_safety_settings() -> None:
    """Settings and components of the project are not changed."""
    project = {
        "DOWNLOADER_MIDDLEWARES": {RobotsTxtMiddleware: 120},
        "DOWNLOAD_HANDLERS": {"https": "mine.Handler"},
        "REMOTE_CONTROL_ENABLED": True,
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
    assert settings["EXTENSIONS_BASE"] == Settings()["EXTENSIONS_BASE"]


def own_spider_settings(spider: type[Spider], **project: Any) -> Settings:
    project = {"ADDONS": {"newscrawl.Addon": 500}} | project
    return get_crawler(spider, settings_dict=project).settings


@pytest.mark.parametrize("spider", [SitelistSpider, UrlListSpider])
def test_state_of_own_spiders(spider: type[Spider]) -> None:
    """The spiders of newscrawl have the scheduler and a state file; others are not changed."""
    settings = own_spider_settings(spider)
    assert load_object(settings["SCHEDULER"]) is LeaseScheduler
    assert LeaseMiddleware in components(settings, "SPIDER_MIDDLEWARES")
    assert settings["NEWSCRAWL_STATE"] == "newscrawl/%(name)s.sqlite"
    assert not settings.getbool("WARN_ON_GENERATOR_RETURN_VALUE")
    other = settings_with_addon()
    assert other.getbool("WARN_ON_GENERATOR_RETURN_VALUE")
    assert load_object(other["SCHEDULER"]) is not LeaseScheduler
    assert LeaseMiddleware not in components(other, "SPIDER_MIDDLEWARES")
    assert not other["NEWSCRAWL_STATE"]


def test_state_can_be_switched_off() -> None:
    """The project's values of scheduler and state file win."""
    settings = own_spider_settings(SitelistSpider, NEWSCRAWL_FRONTIER_ENABLED=False)
    assert load_object(settings["SCHEDULER"]) is Scheduler
    assert not settings["NEWSCRAWL_STATE"]
    assert own_spider_settings(SitelistSpider, NEWSCRAWL_STATE="")["NEWSCRAWL_STATE"] == ""
    settings = own_spider_settings(SitelistSpider, SCHEDULER=Scheduler)
    assert load_object(settings["SCHEDULER"]) is Scheduler
    assert LeaseMiddleware not in components(settings, "SPIDER_MIDDLEWARES")


def test_progress_can_be_switched_off() -> None:
    assert Progress in components(settings_with_addon(), "EXTENSIONS")
    settings = settings_with_addon(NEWSCRAWL_PROGRESS_ENABLED=False)
    assert Progress not in components(settings, "EXTENSIONS")


def test_adds_the_spiders() -> None:
    """To those of the project."""
    settings = Settings({"SPIDER_MODULES": ["mine.spiders"]})
    newscrawl.Addon.update_pre_crawler_settings(settings)
    assert settings["SPIDER_MODULES"] == ["mine.spiders", "newscrawl.spiders"]


def test_warns_of_unknown_settings(caplog: pytest.LogCaptureFixture) -> None:
    """With the nearest name, if there is one."""
    settings_with_addon(NEWSCRAWL_METOD="nce", NEWSCRAWL_XYZZY=1)
    assert "unknown setting NEWSCRAWL_METOD; did you mean NEWSCRAWL_METHOD?" in caplog.text
    assert "unknown setting NEWSCRAWL_XYZZY\n" in caplog.text


@pytest.mark.parametrize(
    ("name", "value"), [("NEWSCRAWL_DEADLINE", "soon"), ("NEWSCRAWL_METHOD", "magic")]
)
def test_invalid_setting(name: str, value: str) -> None:
    """The process ends with one line that names the setting; scripts get a ValueError."""
    with pytest.raises(SystemExit, match=f"^newscrawl: {name}: "):
        newscrawl.Addon.update_pre_crawler_settings(Settings({name: value}))
    with pytest.raises(ValueError, match=name):
        newscrawl.Addon.update_pre_crawler_settings(Settings({name: value}))


def test_base_settings_use_the_addon() -> None:
    """The settings module lists no component itself."""
    assert base.ADDONS == {"newscrawl.Addon": 500}
    listed = ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
    assert not [name for name in listed if hasattr(base, name)]
