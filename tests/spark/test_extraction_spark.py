"""Extraction with Spark: articles, failures and clusters like those of one machine."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

from newscrawl.exporters.parquet import article_row
from newscrawl.items import Article
from tests.extraction.test_extraction import PAGE
from tests.helpers.hostile_tasks import HOSTILE_PAGES
from tests.helpers.spark_cluster import (
    HOSTILE,
    options,
    require_spark,
    run,
    standalone_cluster,
    start,
    write_archive,
)

Rows = list[dict[str, Any]]

pytestmark = pytest.mark.slow

HOSTS = 12
LIMITS = ["-s", "NEWSCRAWL_DEADLINE=8", "-s", "NEWSCRAWL_MEMORY_LIMIT=300"]
COMMAND = "from newscrawl.cli.main import main; main()"


@pytest.fixture(scope="module", autouse=True)
def spark() -> None:
    """Skip if PySpark or Java is missing."""
    require_spark()


def story(number: int) -> bytes:
    """Return a page; every third one has the text of the first."""
    draw = random.Random(0 if number % 3 == 0 else number)
    words = ["".join(draw.choices("abcdefghij", k=6)) for _ in range(300)]
    text = "".join(f"<p>{' '.join(words[start : start + 50])}." for start in range(0, 300, 50))
    head, _, rest = PAGE.partition("</h1>")
    return f"{head}</h1>{text}{rest[rest.index('</article>') :]}".encode()


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two archives of articles and hostile pages."""
    folder = tmp_path_factory.mktemp("archives")
    pages = [
        (f"https://site{n}.example/story-{n}", story(n), f"2026-11-0{1 + n // 6}T08:00:00Z")
        for n in range(HOSTS)
    ]
    hostile = [
        (f"https://hostile.example/{name}", f"<!-- {name} --><p>".encode(), pages[0][2])
        for name in HOSTILE_PAGES
    ]
    write_archive(folder / "a.warc.gz", [*pages[:3], *hostile, *pages[3:6]])
    write_archive(folder / "b.warc.gz", pages[6:])
    return folder


@pytest.fixture(scope="module")
def expected(archives: Path) -> tuple[Rows, Rows, str]:
    """Return articles, clusters and messages of one machine."""
    found = []
    paths = [str(archives / f"{name}.warc.gz") for name in "ab"]
    for args in (
        ["extract", *paths, "-o", "feed.jsonl", *LIMITS],
        ["cluster", "feed.jsonl", "--two-pass", "-o", "a.jsonl", "--clusters", "c.jsonl"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *args],
            cwd=archives.parent,
            env={**os.environ, **HOSTILE},
            capture_output=True,
            text=True,
            check=True,
            timeout=200,
        )
        found.append(done.stderr)
    lines = (archives.parent / "feed.jsonl").read_text().splitlines()
    articles = [article_row(Article.from_dict(json.loads(line))) for line in lines]
    clusters = (archives.parent / "c.jsonl").read_text().splitlines()
    return articles, list(map(json.loads, clusters)), found[0]


def table(folder: Path, name: str, order: str) -> Rows:
    rows: Rows = pyarrow.dataset.dataset(folder / name).to_table().sort_by(order).to_pylist()
    return rows


def check(folder: Path, expected: tuple[Rows, Rows, str]) -> None:
    """Compare the output in *folder* with one machine."""
    articles, _, printed = expected
    assert len(articles) == HOSTS
    assert table(folder, "articles.parquet", "url") == sorted(articles, key=lambda row: row["url"])
    failures = table(folder, "failures.parquet", "url")
    assert {row["url"].rpartition("/")[2]: row["reason"] for row in failures} == {
        name: name for name in HOSTILE_PAGES
    }
    assert all(f"{row['url']}: failed ({row['reason']})" in printed for row in failures)
    counts = json.loads((folder / "summary.json").read_text())["counts"]
    assert counts == {"record": HOSTS + 4, "article": HOSTS, "failed": 4}


def test_extracts_and_clusters_like_one_machine(
    archives: Path, expected: tuple[Rows, Rows, str], tmp_path: Path
) -> None:
    """In local mode."""
    args = ["run", str(archives), "out", "--master", "local[2]", *LIMITS]
    status, printed = run(tmp_path, *args, **HOSTILE)
    assert status == 0, printed
    check(tmp_path / "out", expected)
    found = pyarrow.dataset.dataset(tmp_path / "out" / "clusters.parquet").to_table().to_pylist()
    assert found == expected[1]
    assert found[0]["size"] == HOSTS / 3
    assert not (tmp_path / "out" / "work").exists()
    assert f"{HOSTS} articles in {HOSTS + 4} records; left out: 4 failed" in printed


@pytest.mark.timeout(400)
def test_survives_a_killed_worker_of_a_cluster(
    archives: Path, expected: tuple[Rows, Rows, str], tmp_path: Path
) -> None:
    """One of the two workers is killed with its executor while it extracts."""
    args = ["extract", str(archives), "out", *LIMITS, *options()]
    with (
        standalone_cluster(tmp_path / "spark", **HOSTILE) as machines,
        start(tmp_path, *args, "--master", machines.url, **HOSTILE) as job,
    ):
        while job.poll() is None and not machines.kill_busy_worker():
            time.sleep(0.1)
        assert job.poll() is None
        _, printed = job.communicate(timeout=280)
    assert job.returncode == 0, printed
    check(tmp_path / "out", expected)
