"""Feeds of a project whose items are filled."""

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import REPOSITORY
from tests.helpers.foreign_projects import ADDON, run_spider
from tests.servers import pages
from tests.servers.site import SiteServer

FORMATS = ("jsonlines", "csv")
KINDS = {
    "dict": "builtins.dict",
    "item": "fill_spider.PageItem",
    "dataclass": "fill_spider.PageData",
    "attrs": "fill_spider.PageAttrs",
    "pydantic": "fill_spider.PageModel",
}
INDEX = b"<html><body>" + b"<p><a href=/a>A headline that leads elsewhere</a></p>" * 80
#: with the failures first, since CSV feeds take their columns from the first item
SITE = {"/empty.html": b"", "/index.html": INDEX} | {
    f"/{number}.html": pages.article_page(number).encode() for number in range(3)
}
STATUS = {"/empty.html": "failed/document", "/index.html": "not_article"}


def read_feed(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a feed."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines(keepends=True)))
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the rows of all feeds of a crawl, by kind of item and format."""
    folder = tmp_path_factory.mktemp("fill")
    settings = {
        str(folder / f"{kind}.{name}"): {"format": name, "item_classes": [path]}
        for kind, path in KINDS.items()
        for name in FORMATS
    }
    spider = REPOSITORY / "tests" / "spiders" / "fill_spider.py"
    with SiteServer(SITE) as server:
        urls = ",".join(f"{server.url}{path}" for path in SITE)
        crawl = run_spider(
            folder,
            spider,
            {"urls": urls},
            ADDONS=ADDON,
            CONCURRENT_REQUESTS=1,
            FEEDS=settings,
            NEWSCRAWL_OUTPUT="fill",
        )
    assert crawl.returncode == 0, crawl.output
    assert not [line for line in crawl.errors() if "Extraction failed" not in line], crawl.output
    assert len(crawl.items) == len(KINDS) * len(SITE)
    return {
        (kind, name): read_feed(folder / f"{kind}.{name}") for kind in KINDS for name in FORMATS
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORMATS)
def test_feed_has_a_row_for_each_item(feeds: Any, kind: str, name: str):
    """Failed pages and pages without an article included; no row has a page."""
    rows = {urlsplit(row["url"]).path: row for row in feeds[kind, name]}
    assert len(feeds[kind, name]) == len(SITE)
    assert rows.keys() == SITE.keys()
    for path, row in rows.items():
        assert row["newscrawl_status"] == STATUS.get(path, "article")
        assert not row.get("html")
    for number in range(3):
        row = rows[f"/{number}.html"]
        assert row["title"] == pages.title(number)
        assert datetime.fromisoformat(row["date"]) == pages.PUBLISHED
