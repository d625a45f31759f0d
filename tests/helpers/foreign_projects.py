"""Crawls of spiders that are not part of newscrawl, with settings of their own."""

import json
import os
from importlib.util import find_spec
from pathlib import Path

from tests.conftest import skip_missing
from tests.helpers.crawls import Crawl, FileStatsCollector, ReactorMeter
from tests.helpers.forked_scrapy import ForkedScrapy

ADDON = {"newscrawl.Addon": 500}
_SETTINGS: dict[str, object] = {
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "INFO",
    "NEWSCRAWL_ALLOWED_ADDRESSES": "127.0.0.1",
    "NEWSCRAWL_WORKERS": 1,
    "STATS_CLASS": f"{FileStatsCollector.__module__}.{FileStatsCollector.__qualname__}",
    "TELNETCONSOLE_ENABLED": False,
}


class DocumentMeter(ReactorMeter):
    """Records only the documents that newscrawl parses on the event loop's thread."""

    def _wrap_parser(self, module: str, name: str) -> None:
        if name == "parse_document":
            super()._wrap_parser(module, name)


def run_spider(
    folder: Path, spider: Path | str, arguments: dict[str, str], **settings: object
) -> Crawl:
    """Run the *spider*, a file or its code, in *folder* with *settings*."""
    if isinstance(spider, str):
        (folder / "spider.py").write_text(spider, encoding="utf-8")
        spider = folder / "spider.py"
    options = [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    return run_project(folder, ["runspider", str(spider), *options], **settings)


def run_project(folder: Path, command: list[str], **settings: object) -> Crawl:
    """Run a ``scrapy`` command in *folder* with *settings*; its items go to a JSON Lines feed."""
    feed, stats = folder / "articles.jsonl", folder / "stats.json"
    feed.unlink(missing_ok=True)
    settings = {**_SETTINGS, "STATS_FILE": str(stats), **settings}
    words = [word for name, value in settings.items() for word in ("-s", f"{name}={_text(value)}")]
    log = folder / "crawl.log"
    status = ForkedScrapy([*command, "-o", str(feed), *words], folder, os.environ, log).wait(240)
    items = [json.loads(line) for line in feed.read_text().splitlines()] if feed.exists() else []
    recorded = json.loads(stats.read_text()) if stats.exists() else {}
    return Crawl(status, log.read_text(encoding="utf-8"), items, recorded)


def require_package(name: str, extra: str = "dev") -> None:
    """Skip the test if the package *name* is not installed."""
    if find_spec(name) is None:
        skip_missing(f"{name} is not installed: pip install 'newscrawl[{extra}]'")


def _text(value: object) -> str:
    """Return a setting as on the command line: JSON only for dicts."""
    if isinstance(value, list):
        return ",".join(value)
    return json.dumps(value) if isinstance(value, dict) else str(value)
