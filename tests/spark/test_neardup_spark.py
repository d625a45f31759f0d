"""The Spark job: clusters like the single-machine implementation, robustness, errors."""

import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyarrow import Table, parquet

from newscrawl import clock
from newscrawl.crawling.output.segments import SegmentSpan, write_span
from newscrawl.feeds.cluster_tables import FeedArticleReader, cluster_rows, cluster_two_pass
from newscrawl.feeds.feed_rows import read_rows
from newscrawl.lab.corpora.map_pages import PageOutcome
from newscrawl.lab.evaluation.near_duplicate_corpus import Texts, load_members
from newscrawl.lab.evaluation.near_duplicate_corpus import stories as stories_of_members
from newscrawl.neardup import Options, Story
from newscrawl.neardup.pairs import lineages
from tests.helpers.neardup_writer import stories
from tests.helpers.spark_cluster import LEAN, options, require_spark, run, start

Rows = list[dict[str, Any]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def spark() -> None:
    """Skip if PySpark or Java is missing."""
    require_spark()


def rows_of(made: Iterable[Story]) -> Rows:
    """Convert stories to rows of a feed."""
    return [
        {"url": one.url, "title": f"“{one.url[-3:]}”", "body": one.text, "date": one.when}
        for one in made
    ]


def lines_of(rows: Rows) -> str:
    """Convert rows to JSON Lines."""
    plain = (row | {"date": row["date"].isoformat()} for row in rows)
    return "".join(json.dumps(row) + "\n" for row in plain)


def expected(feeds: Iterable[Path], options: Options) -> tuple[Rows, Rows]:
    """Return the articles and clusters of the single-machine implementation."""
    reader = FeedArticleReader({}, clock.now())
    read = (reader.read(row) for feed in feeds for row in read_rows(str(feed), reader.columns))
    articles = cluster_two_pass([one for one in read if one is not None], options, lambda _: None)
    return articles, list(cluster_rows(articles))


def read(folder: Path) -> Rows:
    """Return the rows of an output folder."""
    if folder.suffix == ".parquet":
        return parquet.read_table(folder).to_pylist()
    parts = sorted(folder.glob("part-*"))
    return [json.loads(line) for part in parts for line in part.read_text("utf-8").splitlines()]


def write_segments(folder: Path, rows: Rows) -> None:
    """Write rows as a crawl does, every other one with an extra field."""
    plain = [json.loads(line) for line in lines_of(rows).splitlines()]
    items = [
        (number, json.dumps(row if number % 2 else row | {"number": number}))
        for number, row in enumerate(plain)
    ]
    write_span(folder, SegmentSpan("state", "2026-01-02", 0, len(items) - 1), items)
    write_span(folder, SegmentSpan("state", "2026-01-01", 0, 5), items[:5])


def test_clusters_like_a_single_machine(tmp_path: Path) -> None:
    """Reads feeds of all formats, with updates and invalid rows."""
    rows = rows_of(stories(240))
    broken = '\n[1]\n{"url": "https://a.example/1", "body": ""}\n{"url": "https://a.ex\n'
    (tmp_path / "one.jsonl").write_text(lines_of(rows[:60]) + broken, encoding="utf-8")
    (tmp_path / "two.jsonl.gz").write_bytes(gzip.compress(lines_of(rows[60:120]).encode()))
    parquet.write_table(Table.from_pylist(rows[120:180]), tmp_path / "three.parquet")
    write_segments(tmp_path / "four", rows[180:])
    feeds = ("one.jsonl", "two.jsonl.gz", "three.parquet", "four")
    status, printed = run(
        tmp_path, "cluster", *feeds, "out.parquet", "--clusters", "clusters", "--master", "local[1]",
        TZ="Asia/Tokyo",
    )  # fmt: skip
    assert status == 0, printed
    articles, several = expected(map(tmp_path.joinpath, feeds), Options())
    assert len(articles) == len({row["url"] for row in rows})
    assert read(tmp_path / "out.parquet") == articles
    assert read(tmp_path / "clusters") == several
    assert "one.jsonl: skipped 3 rows without text or URL" in printed
    assert f"{len(articles)} articles, {len(several)} clusters" in printed
    assert not (tmp_path / "out.parquet.work").exists()


def workers_of(job: subprocess.Popen[str]) -> Iterator[psutil.Process]:
    """Yield the Python workers of a job: the children of its daemons."""
    for process in psutil.Process(job.pid).children(recursive=True):
        try:
            command = process.cmdline()
            if "pyspark.daemon" in command and "pyspark.daemon" in process.parent().cmdline():
                yield process
        except psutil.NoSuchProcess:
            continue


@pytest.mark.corpus
def test_clusters_a_corpus_despite_killed_workers(corpus_dir: Path, tmp_path: Path) -> None:
    members = load_members(corpus_dir / "near-duplicates")
    outcomes = [PageOutcome(member.page, Texts("", "")) for member in members]
    feed = tmp_path / "feed.jsonl"
    feed.write_text(lines_of(rows_of(stories_of_members(members, outcomes, "gold"))), "utf-8")
    args = [
        "cluster",
        "feed.jsonl",
        "out",
        "--clusters",
        "clusters",
        "-s",
        "NEWSCRAWL_NEARDUP_WINDOW=0",
    ]
    args += ["--master", "local-cluster[2,1,1024]", *options(), "--conf", "spark.log.level=WARN"]
    killed: set[int] = set()
    with start(tmp_path, *args) as job:
        while job.poll() is None and len(killed) < 2:
            for worker in workers_of(job):
                # A worker that has used so much time is busy with a task.
                if worker.pid not in killed and worker.cpu_times().user > 0.4:
                    worker.kill()
                    killed.add(worker.pid)
            time.sleep(0.05)
        _, printed = job.communicate(timeout=240)
    assert job.returncode == 0, printed
    assert len(killed) == 2
    assert "Lost task" in printed
    found = read(tmp_path / "out"), read(tmp_path / "clusters")
    assert found == expected([feed], Options(window=None))
    assert len(found[1]) < len(members)


COMPONENTS = """
import json, sys
from pyspark.sql import SparkSession
from newscrawl.spark.job import components

lean = {"spark.sql.codegen.wholeStage": "false", "spark.sql.shuffle.partitions": "2"}
spark = SparkSession.builder.master("local[1]").config(map=lean).getOrCreate()
spark.sparkContext.setCheckpointDir("checkpoints")
pairs = spark.createDataFrame(json.loads(sys.argv[1]), "first bigint, second bigint")
print(json.dumps(components(pairs).collect()))
"""


def test_finds_connected_components(tmp_path: Path) -> None:
    """Finds chains, rings, stars and random graphs, named by their lowest position."""
    draw = random.Random(5)
    names = draw.sample(range(200), 200)
    chain = [(n, n + 1) for n in range(20)]
    ring = [(n, n + 1) for n in range(50, 58)] + [(50, 58)]
    star = [(79, n) for n in range(70, 90) if n != 79]
    random_graph = [draw.sample(range(100, 160), 2) for _ in range(70)]
    pairs = [sorted((names[a], names[b])) for a, b in chain + ring + star + random_graph]
    done = subprocess.run(
        [sys.executable, "-c", COMPONENTS, json.dumps(pairs)],
        cwd=tmp_path,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": LEAN},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    connected = {n for pair in pairs for n in pair}
    first = lineages(200, pairs)
    assert sorted(json.loads(done.stdout)) == [[n, first[n]] for n in sorted(connected)]


@pytest.mark.parametrize(
    ("args", "message"),
    [(["missing.jsonl", "out"], "missing.jsonl"), (["feed.jsonl", "here"], "here: already exists")],
)
def test_rejects_missing_feeds_and_existing_outputs(
    tmp_path: Path, args: list[str], message: str
) -> None:
    """Prints a one-line error and removes the checkpoints."""
    (tmp_path / "feed.jsonl").write_text(lines_of(rows_of(stories(3))), encoding="utf-8")
    (tmp_path / "here").mkdir()
    status, printed = run(tmp_path, "cluster", *args, "--master", "local[1]")
    assert status == 2
    assert message in printed.splitlines()[-1]
    assert "Traceback" not in printed
    assert not list(tmp_path.glob("*.work"))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-s", "NEWSCRAWL_NEARDUP_CONTAINMENT=2"], "NEWSCRAWL_NEARDUP_"),
        (["-s", "NEWSCRAWL_NEARDUP_WINDOW"], "NAME=VALUE"),
        ([], "Java 17"),
    ],
)
def test_rejects_wrong_settings_and_missing_java(
    tmp_path: Path, args: list[str], message: str
) -> None:
    """Prints a one-line error before Spark starts."""
    status, printed = run(tmp_path, "cluster", "feed.jsonl", "out", *args, JAVA_HOME=str(tmp_path))
    assert status == 2
    (line,) = printed.splitlines()
    assert message in line or "newscrawl[spark]" in line
