"""The example ``examples/dead-selectors``: an old project before and after three settings."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import SampleSites, expected_pages
from tests.conftest import REPOSITORY
from tests.helpers.crawls import Crawl
from tests.helpers.foreign_projects import run_project

SITE = "harbour-gazette"
EXAMPLE = REPOSITORY / "examples" / "dead-selectors"
PAGES = [page for page in expected_pages(SITE) if page.path.startswith("/2026/")]
STORIES = {page.path: page for page in PAGES if page.is_article}


@pytest.fixture
def address() -> Iterator[str]:
    """Serve the paper; return its address."""
    with SampleSites() as sites:
        yield sites.urls[SITE].rstrip("/")


def crawl(folder: Path, address: str, monkeypatch: pytest.MonkeyPatch, project: str) -> Crawl:
    """Crawl the paper with the settings *project* of the example."""
    monkeypatch.setenv("SCRAPY_PROJECT", project)
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    command = ["crawl", "gazette", "-a", f"base={address}"]
    done = run_project(folder, command, AUTOTHROTTLE_ENABLED=False)
    assert done.returncode == 0, done.output
    assert done.errors() == [], done.output
    return done


@pytest.mark.slow
def test_revives_the_project(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch):
    """Nothing but settings changes: its own pipelines drop all items before, store all after."""
    before = crawl(tmp_path, address, monkeypatch, "default")
    assert before.items == []
    assert before.stats["item_dropped_count"] == len(PAGES)
    assert not (tmp_path / "archive").exists()

    after = crawl(tmp_path, address, monkeypatch, "revived")
    items = {item["url"].removeprefix(address): item for item in after.items}
    assert items.keys() == STORIES.keys()
    for path, page in STORIES.items():
        item = items[path]
        assert item["publication"] == "The Harbour Gazette"
        assert item["headline"] == page.title
        assert (item["byline"] or "") == ", ".join(page.authors)
        assert item["published_at"] == page.date.isoformat()
        assert item["text"] == page.body
        assert not item.keys() - {
            "url",
            "publication",
            "headline",
            "byline",
            "published_at",
            "text",
        }
    stored = [json.loads(file.read_text()) for file in (tmp_path / "archive").rglob("*.json")]
    assert sorted(item["url"] for item in stored) == sorted(item["url"] for item in after.items)
