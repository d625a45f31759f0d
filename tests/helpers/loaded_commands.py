"""Loads what commands, crawls and workers use on import, for processes that are forked."""

import gc
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import walk_packages

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

from newscrawl.workers.tasks import load_models

for kind in ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "SPIDER_MIDDLEWARES"):
    for name in getattr(default_settings, f"{kind}_BASE"):
        load_object(name)
for package in (
    "cli",
    "crawl",
    "exporters",
    "middlewares",
    "pipelines",
    "settings",
    "sinks",
    "spiders",
):
    parent = import_module(f"newscrawl.{package}")
    for module in walk_packages(parent.__path__, f"{parent.__name__}."):
        import_module(module.name)
for entry in entry_points(group="scrapy.commands"):
    entry.load()
load_models()
gc.collect()
gc.freeze()  # a collection would copy the shared memory
