"""``python -m newscrawl.spark FEED... OUTPUT``, also what ``spark-submit`` takes."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError
from scrapy.utils.project import get_project_settings

from newscrawl import clock
from newscrawl.crawl.output.segments import SegmentError
from newscrawl.defaults import setting
from newscrawl.feeds.feed_rows import is_parquet
from newscrawl.optional import require
from newscrawl.pipelines.pipeline_options import neardup_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

_CONFIGURED = {
    # What fails is told in a line, as by scrapy cluster; WARN tells of each lost task.
    "spark.log.level": "FATAL",
    "spark.sql.caseSensitive": "true",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    args = _parser().parse_args(arguments)
    try:
        _run(args)
    except (SegmentError, UsageError) as error:
        sys.stderr.write(f"newscrawl.spark: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m newscrawl.spark",
        description="Find the near-duplicates among the articles of feeds, as scrapy cluster "
        "--two-pass does, by Spark. Paths may be of any file system that Spark knows. Output is "
        "Parquet where the name ends with .parquet and JSON Lines otherwise.",
    )
    parser.add_argument("feeds", metavar="FEED", nargs="+", help="JSON Lines, Parquet or segments")
    parser.add_argument("output", metavar="OUTPUT", help="folder where the articles go")
    parser.add_argument("--clusters", metavar="FOLDER", help="where the clusters go")
    parser.add_argument(
        "--work",
        metavar="FOLDER",
        help="for checkpoints, removed at the end (default: OUTPUT.work)",
    )
    parser.add_argument("--master", metavar="URL", help="of the Spark cluster (default: Spark's)")
    parser.add_argument(
        "--conf", metavar="NAME=VALUE", action="append", default=[], help="property of Spark"
    )
    parser.add_argument(
        "-s",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="setting of newscrawl, over those of the project in this folder",
    )
    return parser


def _run(args: argparse.Namespace) -> None:
    settings = get_project_settings()
    settings.setdict(_named(args.settings, "-s"), priority="cmdline")
    try:
        options, names = neardup_options(settings), setting(settings, "NEWSCRAWL_FIELDS")
    except ValueError as error:
        raise UsageError(str(error)) from error
    with _session(args) as spark, _checkpoints(spark, args):
        from newscrawl.spark.job import cluster  # noqa: PLC0415  # needs pyspark

        found = cluster(spark, args.feeds, names, clock.now(), options)
        for feed, rows in sorted(found.lost.items()):
            sys.stderr.write(f"{args.feeds[feed]}: {rows} rows without text or URL were left out\n")
        _write(found.articles.orderBy("place").drop("place", "component"), args.output)
        if args.clusters:
            clusters = found.clusters.orderBy(found.clusters["size"].desc(), "place")
            _write(clusters.drop("place"), args.clusters)
        sys.stderr.write(_summary(found.articles))


def _named(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Return what ``NAME=VALUE`` arguments say."""
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise UsageError(f"{option} {wrong[0]}: not NAME=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


@contextmanager
def _session(args: argparse.Namespace) -> Iterator[SparkSession]:
    """Give a session; raise what fails in it as :exc:`UsageError`, in a line."""
    for module in ("pyspark", "pandas", "pyarrow"):
        require(module, module, "spark")
    from py4j.protocol import Py4JError  # noqa: PLC0415  # optional
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        spark = _start(args.master, _named(args.conf, "--conf"))
        try:
            yield spark
        finally:
            spark.stop()
    except (Py4JError, PySparkException) as error:
        raise UsageError(_reason(str(error))) from error


def _start(master: str | None, properties: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415  # optional

    # spark-submit has started Java already.
    if "PYSPARK_GATEWAY_PORT" not in os.environ and not _java():
        raise UsageError("this needs Java 17 or later: none on the path or in JAVA_HOME")
    # Of what it does with pandas we use nothing.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    # The workers' Python must have this package, and the property of Spark does not reach them.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("newscrawl near-duplicates")
    if master:
        builder = builder.master(master)
    for name, value in {**_CONFIGURED, **properties}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _java() -> str | None:
    """Return the path of Java as Spark's scripts look for it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(Path(home, "bin", "java") if home else "java")


def _reason(message: str) -> str:
    """Return the line of an error of Spark that tells what is wrong."""
    lines = filter(None, (line.strip(" :\t") for line in message.splitlines()))
    return next((line for line in lines if not line.startswith("An error occurred")), "it failed")


@contextmanager
def _checkpoints(spark: SparkSession, args: argparse.Namespace) -> Iterator[None]:
    """Give Spark a folder for checkpoints; refuse, before any work, output that is there."""
    outputs = [path for path in (args.output, args.clusters) if path]
    work = args.work or f"{args.output.rstrip('/')}.work"
    for path in (*outputs, work):
        files, found = _file_system(spark, path)
        if files.exists(found):
            raise UsageError(f"{path}: is there already")
    files, found = _file_system(spark, work)
    try:
        spark.sparkContext.setCheckpointDir(work)
        yield
    finally:
        files.delete(found, True)  # noqa: FBT003  # Java


def _file_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return the file system of Hadoop that holds *path*, and the path in it."""
    context: Any = spark.sparkContext
    found = context._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001  # no other way to it
    return found.getFileSystem(context._jsc.hadoopConfiguration()), found  # noqa: SLF001


def _write(table: DataFrame, path: str) -> None:
    if is_parquet(path):
        table.write.option("compression", "zstd").parquet(path)
    else:
        table.write.option("ignoreNullFields", "false").json(path)


def _summary(articles: DataFrame) -> str:
    """Return the line that ``scrapy cluster`` closes with."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415  # optional

    several = F.col("size") > 1
    row = (
        articles.where("is_first")
        .agg(F.sum("size"), F.count("*"), F.sum(several.cast("int")), F.max("size"))
        .first()
    )
    total, clusters, larger, largest = (value or 0 for value in row or (0, 0, 0, 0))
    return (
        f"{total} articles, {clusters} clusters, {larger} of them with more than one article, "
        f"{max(largest, 1)} at most\n"
    )


if __name__ == "__main__":
    sys.exit(main())
