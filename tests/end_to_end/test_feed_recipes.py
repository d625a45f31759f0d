"""The recipes of docs/guide/feeds.md in a project."""

from __future__ import annotations

import csv
import gzip
import json
import re
from typing import TYPE_CHECKING

import pytest
from pyarrow import dataset

from tests.end_to_end.test_startproject import PAGES, assert_all_extracted, crawl
from tests.servers import pages

if TYPE_CHECKING:
    from pathlib import Path

SKIPPED = ("s3://", "gs://", "myproject", "import ", "NEWSCRAWL_SEGMENTS")


def recipes(repository: Path) -> list[str]:
    """Return the settings in the page, without those that need a network or project code."""
    page = (repository / "docs" / "guide" / "feeds.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return [block for block in blocks if not any(text in block for text in SKIPPED)]


@pytest.mark.slow
def test_recipes(tmp_path: Path, repository: Path) -> None:
    """All recipes together write all articles, each in its format."""
    lines = ["FEEDS = {}", 'ADDONS = {"newscrawl.Addon": 500}']
    for recipe in recipes(repository):
        settings = recipe.replace("FEED_EXPORT_BATCH_ITEM_COUNT = 5000", "BATCH = 5")
        lines.append(re.sub(r"^FEEDS = ", "FEEDS |= ", settings, flags=re.MULTILINE))
    lines.append(
        "[feed.update(batch_item_count=5) for uri, feed in FEEDS.items() if 'batch_id' in uri]"
    )
    assert_all_extracted(crawl(tmp_path, "\n".join(lines)))
    folder = tmp_path / "daily"
    titles = sorted(pages.title(number) for number in range(PAGES))

    (lines_file,) = folder.glob("*.jsonl.gz")
    unpacked = gzip.decompress(lines_file.read_bytes()).decode()
    rows = [json.loads(line) for line in unpacked.splitlines()]
    assert sorted(row["title"] for row in rows) == titles
    with (folder / "articles.csv").open(encoding="utf-8", newline="") as file:
        assert sorted(row["title"] for row in csv.DictReader(file)) == titles
    batches = sorted(folder.glob("articles-*.parquet"))
    for files, number in (([folder / "articles.parquet"], 1), (batches, 3)):
        assert len(files) == number
        table = dataset.dataset([str(file) for file in files]).to_table()
        assert sorted(table.column("title").to_pylist()) == titles
