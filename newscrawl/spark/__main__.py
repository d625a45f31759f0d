"""Command ``python -m newscrawl.spark FEED... OUTPUT``, also for ``spark-submit``."""

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
from newscrawl.optional import MissingPackageError, require
from newscrawl.pipelines.pipeline_options import neardup_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

_DEFAULT_PROPERTIES = {
    # The command reports errors in one line; WARN would log each lost task.
    "spark.log.level": "FATAL",
    "spark.sql.caseSensitive": "true",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    args = _parser().parse_args(arguments)
    try:
        _run(args)
    except (SegmentError, UsageError, MissingPackageError) as error:
        sys.stderr.write(f"newscrawl.spark: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m newscrawl.spark",
        description="Find near-duplicates among the articles of feeds with Spark, like scrapy "
        "cluster --two-pass. Paths may be on any file system that Spark supports. Output is "
        "Parquet if the name ends in .parquet, otherwise JSON Lines.",
    )
    parser.add_argument("feeds", metavar="FEED", nargs="+", help="JSON Lines, Parquet or segments")
    parser.add_argument("output", metavar="OUTPUT", help="output folder of the articles")
    parser.add_argument("--clusters", metavar="FOLDER", help="output folder of the clusters")
    parser.add_argument(
        "--work",
        metavar="FOLDER",
        help="folder for checkpoints, removed at the end (default: OUTPUT.work)",
    )
    parser.add_argument(
        "--master", metavar="URL", help="URL of the Spark cluster (default: Spark's default)"
    )
    parser.add_argument(
        "--conf", metavar="NAME=VALUE", action="append", default=[], help="Spark property"
    )
    parser.add_argument(
        "-s",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="newscrawl setting; overrides the project in the current folder",
    )
    return parser


def _run(args: argparse.Namespace) -> None:
    settings = get_project_settings()
    settings.setdict(_parse_pairs(args.settings, "-s"), priority="cmdline")
    try:
        options, names = neardup_options(settings), setting(settings, "NEWSCRAWL_FIELDS")
    except ValueError as error:
        raise UsageError(str(error)) from error
    with _session(args) as spark, _checkpoints(spark, args):
        from newscrawl.spark.job import cluster  # noqa: PLC0415  # needs pyspark

        tables = cluster(spark, args.feeds, names, clock.now(), options)
        for feed, rows in sorted(tables.skipped.items()):
            sys.stderr.write(f"{args.feeds[feed]}: skipped {rows} rows without text or URL\n")
        _write(tables.articles.orderBy("position").drop("position", "component"), args.output)
        if args.clusters:
            clusters = tables.clusters.orderBy(tables.clusters["size"].desc(), "position")
            _write(clusters.drop("position"), args.clusters)
        sys.stderr.write(_summary(tables.articles))


def _parse_pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Parse ``NAME=VALUE`` arguments. Raises :exc:`UsageError`."""
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise UsageError(f"{option} {wrong[0]}: expected NAME=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


@contextmanager
def _session(args: argparse.Namespace) -> Iterator[SparkSession]:
    """Provide a Spark session; errors in it are raised as a one-line :exc:`UsageError`."""
    for module in ("pyspark", "pandas", "pyarrow"):
        require(module, module, "spark")
    from py4j.protocol import Py4JError  # noqa: PLC0415  # optional
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        spark = _start(args.master, _parse_pairs(args.conf, "--conf"))
        try:
            yield spark
        finally:
            spark.stop()
    except (Py4JError, PySparkException) as error:
        raise UsageError(_reason(str(error))) from error


def _start(master: str | None, properties: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415  # optional

    # spark-submit starts Java before Python.
    if "PYSPARK_GATEWAY_PORT" not in os.environ and not _java():
        raise UsageError("Java 17 or later is required, but not found on PATH or in JAVA_HOME")
    # The pandas support of PySpark is not used.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    # The workers' Python must have this package; the Spark property does not reach them.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("newscrawl near-duplicates")
    if master:
        builder = builder.master(master)
    for name, value in {**_DEFAULT_PROPERTIES, **properties}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _java() -> str | None:
    """Return the path of Java, by the same rules as Spark's scripts."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(Path(home, "bin", "java") if home else "java")


def _reason(message: str) -> str:
    """Return the line with the reason from an error message of Spark."""
    lines = filter(None, (line.strip(" :\t") for line in message.splitlines()))
    return next(
        (line for line in lines if not line.startswith("An error occurred")), "Spark failed"
    )


@contextmanager
def _checkpoints(spark: SparkSession, args: argparse.Namespace) -> Iterator[None]:
    """Set the checkpoint folder. Raises :exc:`UsageError` if an output exists."""
    outputs = [path for path in (args.output, args.clusters) if path]
    work = args.work or f"{args.output.rstrip('/')}.work"
    for path in (*outputs, work):
        file_system, hadoop_path = _file_system(spark, path)
        if file_system.exists(hadoop_path):
            raise UsageError(f"{path}: already exists")
    file_system, hadoop_path = _file_system(spark, work)
    try:
        spark.sparkContext.setCheckpointDir(work)
        yield
    finally:
        file_system.delete(hadoop_path, True)  # noqa: FBT003  # Java


def _file_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return the Hadoop file system of *path*, and the path as a Hadoop object."""
    context: Any = spark.sparkContext
    hadoop_path = context._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001  # no public API
    return hadoop_path.getFileSystem(context._jsc.hadoopConfiguration()), hadoop_path  # noqa: SLF001


def _write(table: DataFrame, path: str) -> None:
    if is_parquet(path):
        table.write.option("compression", "zstd").parquet(path)
    else:
        table.write.option("ignoreNullFields", "false").json(path)


def _summary(articles: DataFrame) -> str:
    """Return the summary line of ``scrapy cluster``."""
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
