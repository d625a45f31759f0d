"""Spark against one machine: 10,000 pages from archives to clusters (``make bench-spark``).

Writes archives of the corpora's pages on made hosts, with hostile pages among them, extracts and
clusters them with ``newscrawl extract`` and ``newscrawl cluster --two-pass``, with Spark in local
mode, and on a standalone cluster of two workers of which one is killed. Compares articles, clusters
and failures, and the CPU time of a page with that of a loop in one process.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pyarrow.dataset
from pyarrow import parquet

from newscrawl.archives.archive_reader import ArchiveRecord, read_records
from newscrawl.archives.captures import NoPageError, page_of
from newscrawl.exporters.parquet import ARTICLE_COLUMNS, ParquetItemExporter
from newscrawl.extraction.extract import extract
from newscrawl.items import Article
from tests.helpers.hostile_tasks import HOSTILE_PAGES
from tests.helpers.spark_cluster import (
    HOSTILE,
    LOOPBACK,
    START_SECONDS,
    cpu_seconds,
    standalone_cluster,
    write_archive,
)
from tests.servers.faulty_pages import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.helpers.spark_cluster import StandaloneCluster

CORPORA = ("news212", "fundus", "l3sgn1", "daniel", "dragnet", "postlight")
ARCHIVES = 4
CORES = 2
DEADLINE = 15
SETTINGS = ["-s", f"NEWSCRAWL_DEADLINE={DEADLINE}", "-s", "NEWSCRAWL_MEMORY_LIMIT=600"]
SPARK = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
COMMAND = "from newscrawl.cli.main import main; main()"
WARM_PAGES = 100
#: bytes of a record above the limit of 64 MB
GIANT = 80 * 2**20


@dataclass(frozen=True)
class Measured:
    """Outcome of a command."""

    cpu: float
    wall: float
    printed: str


def corpus_pages(corpora: Path) -> list[bytes]:
    """Return the pages of the corpora."""
    paths = (path for name in CORPORA for path in sorted((corpora / name / "pages").glob("*.gz")))
    return [gzip.decompress(path.read_bytes()) for path in paths]


def made_pages(corpora: Path, number: int) -> Iterator[tuple[str, bytes, str]]:
    """Yield *number* pages on made hosts, a fifth of them on one host, and the hostile ones."""
    draw = random.Random(19)
    pages = corpus_pages(corpora)
    hostile = [page.make() for page in PAGES.values()]
    hostile += [b"<html><!-- %b --><p>Page" % name.encode() for name in [*HOSTILE_PAGES] * 3]
    bodies = [pages[n % len(pages)] for n in range(number - len(hostile) - 1)]
    bodies += [*hostile, b"<p>" + b" " * GIANT]
    draw.shuffle(bodies)
    for count, body in enumerate(bodies):
        host = "large" if draw.random() < 0.2 else f"site{draw.randrange(400)}"
        day, hour = divmod(count * 72 // number, 24)
        date = f"2026-11-{day + 1:02}T{hour:02}:00:00Z"
        yield f"https://www.{host}.example/2026/11/0{day + 1}/article-{count:06}.html", body, date


def measured(
    command: Sequence[str], cluster: StandaloneCluster | None = None, *, kill: bool = False
) -> Measured:
    """Run *command*; kill a worker of *cluster* when it extracts, and some files are written."""
    environment = {**os.environ, **LOOPBACK, **HOSTILE}
    start, cpu, others = time.monotonic(), 0.0, cluster.pids() if cluster else []
    before = cpu_seconds(others)
    with tempfile.TemporaryFile("w+") as printed:
        job = subprocess.Popen(command, env=environment, stdout=printed, stderr=printed)
        while job.poll() is None:
            cpu = max(cpu, cpu_seconds([job.pid, *others]) - before)
            if kill and cluster and time.monotonic() > start + START_SECONDS / 2:
                kill = not cluster.kill_busy_worker()
            time.sleep(0.5)
        printed.seek(0)
        text = printed.read()
    if job.returncode:
        sys.stderr.write(text)
        raise SystemExit(f"{' '.join(command)}: exit code {job.returncode}")
    return Measured(cpu, time.monotonic() - start, text)


def loop_seconds(archive: Path) -> float:
    """Return the CPU seconds of a page in a loop in one process: read, extract, write JSON."""
    faulty = {page.make() for page in PAGES.values()}
    pages, start = 0, 0.0
    for record in read_records(archive):
        # The first pages load the models.
        if pages == WARM_PAGES and not start:
            start = time.process_time()
        try:
            page = page_of(record) if isinstance(record, ArchiveRecord) else None
        except NoPageError:
            continue
        if page is None or page.html in faulty or b"<html><!--" in page.html[:10]:
            continue
        found = extract(page.html, page.url, encoding=page.encoding, fetched_at=page.fetched_at)
        json.dumps(found.to_dict(), ensure_ascii=False)
        pages += 1
    return (time.process_time() - start) / (pages - WARM_PAGES)


def loops_seconds(archives: Sequence[str]) -> float:
    """Return the mean of :func:`loop_seconds` of one loop per core, all at the same time.

    The other ways use all cores, and a core is slower while another one uses the memory.
    """
    paths = [Path(archive) for archive in archives[:CORES]]
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        return fmean(pool.map(loop_seconds, paths))


def plain_articles(feed: Path) -> Any:
    """Return the articles of JSON Lines as a table of the Parquet columns."""
    file = BytesIO()
    exporter = ParquetItemExporter(file)
    for line in feed.open(encoding="utf-8"):
        exporter.export_item(Article.from_dict(json.loads(line)))
    exporter.finish_exporting()
    return parquet.read_table(file).sort_by("url")


def spark_articles(output: Path) -> Any:
    """Return the articles that Spark wrote."""
    return pyarrow.dataset.dataset(output / "articles.parquet").to_table().sort_by("url")


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table in Parquet."""
    found: list[dict[str, Any]] = pyarrow.dataset.dataset(path).to_table().to_pylist()
    return found


def failed_urls(printed: str) -> dict[str, str]:
    """Return the failures that ``newscrawl extract`` printed: reason by URL."""
    return dict(re.findall(r"(https?://\S+): failed \((\w+)\)", printed))


def spark_failures(output: Path) -> dict[str, str]:
    """Return the failures that Spark wrote."""
    table = pyarrow.dataset.dataset(output / "failures.parquet").to_table()
    return {row["url"]: row["reason"] for row in table.to_pylist()}


def main() -> int:
    """Run the comparison; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="keep the files there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        return compare(folder, args.corpora, args.pages)


def compare(folder: Path, corpora: Path, number: int) -> int:
    """Run the three ways on *number* pages and print the table."""
    archives = write_archives(folder, corpora, number)
    python, command = [sys.executable, "-m"], [sys.executable, "-c", COMMAND]
    feed, clustered, clusters = folder / "plain.jsonl", folder / "a.parquet", folder / "c.parquet"
    loop = loops_seconds(archives)
    print(f"loop: {1000 * loop:.1f} ms of CPU a page", flush=True)
    plain = measured([*command, "extract", *archives, "-o", str(feed), *SETTINGS])
    print(line("newscrawl extract", plain, loop, number), flush=True)
    cluster = ["cluster", str(feed), "--two-pass", "--articles", str(clustered)]
    two_pass = measured([*command, *cluster, "--clusters", str(clusters)])
    print(line("newscrawl cluster --two-pass", two_pass, loop, number), flush=True)
    expected = plain_articles(feed), failed_urls(plain.printed), rows(clustered), rows(clusters)
    problems = []
    job = [*python, "newscrawl.spark", "extract", *archives]
    conf = [word for name, value in SPARK.items() for word in ("--conf", f"{name}={value}")]
    common = [*SETTINGS, *conf]
    local = folder / "local"
    alone = measured([*job, str(local), "--master", f"local[{CORES},4]", *common])
    print(line("Spark, local: extract", alone, loop, number), flush=True)
    job[3] = "run"
    print(f"loop again: {1000 * loops_seconds(archives):.1f} ms", flush=True)
    again = measured([*job, str(local), "--master", f"local[{CORES},4]", *common])
    print(line("Spark, local: cluster", again, loop, number), flush=True)
    problems += differences("local", local, expected)
    with standalone_cluster(folder / "spark", **HOSTILE) as machines:
        output = folder / "cluster"
        both = measured([*job, str(output), "--master", machines.url, *common], machines, kill=True)
    print(line("Spark, two workers, one killed: both", both, loop, number), flush=True)
    problems += differences("cluster", output, expected)
    print(f"{expected[0].num_rows} articles, {len(expected[3])} clusters, failures:")
    print(json.dumps(sorted(expected[1].values())))
    print("\n".join(problems) or "articles, clusters and failures are equal")
    return bool(problems)


def write_archives(folder: Path, corpora: Path, number: int) -> list[str]:
    """Write the archives; return their paths."""
    paths = [folder / f"made-{n}.warc.gz" for n in range(ARCHIVES)]
    if not all(path.exists() for path in paths):
        pages = list(made_pages(corpora, number))
        size = -(-len(pages) // ARCHIVES)
        for n, path in enumerate(paths):
            write_archive(path, pages[n * size : (n + 1) * size])
    return [str(path) for path in paths]


def line(name: str, found: Measured, loop: float, number: int) -> str:
    """Return a row of the table."""
    each = found.cpu / number
    return f"| {name} | {1000 * each:.1f} | {each / loop:.2f} | {found.wall:.0f} |"


def differences(name: str, output: Path, expected: tuple[Any, ...]) -> list[str]:
    """Return what differs from one machine."""
    articles, failures, clustered, clusters = expected
    found = spark_articles(output).select(list(ARTICLE_COLUMNS)).cast(articles.schema)
    problems = []
    if not found.combine_chunks().equals(articles.combine_chunks()):
        urls = set(found["url"].to_pylist()) ^ set(articles["url"].to_pylist())
        problems.append(f"{name}: articles differ, only in one: {sorted(urls)[:10]}")
    if (others := spark_failures(output)) != failures:
        problems.append(f"{name}: failures differ: {set(others.items()) ^ set(failures.items())}")
    if rows(output / "clustered.parquet") != clustered:
        problems.append(f"{name}: clusters of articles differ")
    if rows(output / "clusters.parquet") != clusters:
        problems.append(f"{name}: clusters differ")
    return problems


if __name__ == "__main__":
    sys.exit(main())
