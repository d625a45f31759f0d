"""Command ``newscrawl-spark``: extraction, clustering, and both."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError
from scrapy.utils.project import get_project_settings

from newscrawl import clock
from newscrawl.archives.sources import CC_NEWS, SPLIT, cc_news
from newscrawl.crawling.output.segments import SegmentError
from newscrawl.crawling.urls import registered_domain
from newscrawl.defaults import DEFAULTS, setting
from newscrawl.feeds.cluster_tables import summary_line
from newscrawl.feeds.feed_rows import is_parquet
from newscrawl.optional import MissingPackageError
from newscrawl.pipeline_options import neardup_options, validate_settings
from newscrawl.spark.session import delete, exists, require_packages, session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from scrapy.settings import Settings

    from newscrawl.archives.jobs import Job

_DONE, _INCOMPLETE, _USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    args = _parser().parse_args(arguments)
    try:
        require_packages()
        settings = _settings(args)
        if "sources" in args:
            args.sources, args.job = _sources(args), _job(args, settings)
        with session(args.master, _parse_pairs(args.conf, "--conf")) as spark:
            status: int = args.step(spark, args, settings)
    except (SegmentError, UsageError, MissingPackageError) as error:
        sys.stderr.write(f"newscrawl-spark: {error}\n")
        return _USAGE
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="newscrawl-spark",
        description="Extract the articles of archives and find their near-duplicates with Spark.",
    )
    steps = parser.add_subparsers(metavar="STEP", required=True)
    extract = _add_step(
        steps,
        "extract",
        _extract,
        "Extract the articles of WARC archives, or of pages in JSON Lines or Parquet, like "
        "newscrawl extract. OUTPUT gets the folders articles.parquet and failures.parquet and the "
        "counts in summary.json. The same command continues an interrupted job.",
    )
    _add_sources(extract)
    cluster = _add_step(
        steps,
        "cluster",
        _cluster,
        "Find near-duplicates among the articles of feeds, like newscrawl cluster --two-pass. "
        "Output is Parquet if the name ends in .parquet, otherwise JSON Lines.",
    )
    cluster.add_argument("feeds", metavar="FEED", nargs="+", help="JSON Lines, Parquet or segments")
    cluster.add_argument("output", metavar="OUTPUT", help="output folder of the articles")
    cluster.add_argument("--clusters", metavar="FOLDER", help="output folder of the clusters")
    run = _add_step(
        steps,
        "run",
        _run,
        "Both: the tables of the clusters are clustered.parquet and clusters.parquet in OUTPUT.",
    )
    _add_sources(run)
    for step in (cluster, run):
        step.add_argument(
            "--work",
            metavar="FOLDER",
            help="folder for checkpoints, removed at the end (default: OUTPUT.work)",
        )
    return parser


def _add_step(steps: Any, name: str, function: Callable[..., int], text: str) -> Any:
    step = steps.add_parser(name, help=text.partition(".")[0], description=text)
    step.set_defaults(step=function)
    step.add_argument(
        "--master", metavar="URL", help="URL of the Spark cluster (default: this machine)"
    )
    step.add_argument(
        "--conf", metavar="NAME=VALUE", action="append", default=[], help="Spark property"
    )
    step.add_argument(
        "-s",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="newscrawl setting; overrides the project in the current folder",
    )
    return step


def _add_sources(step: argparse.ArgumentParser) -> None:
    step.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="*",
        help="files, folders or patterns, on any file system of fsspec",
    )
    step.add_argument("output", metavar="OUTPUT", help="output folder")
    step.add_argument(
        "--cc-news", metavar="DAY[..DAY]", help="the CC-NEWS archives of these days: 2026-01-31"
    )
    step.add_argument("--cc-news-root", metavar="URL", help="root of the CC-NEWS path lists")
    step.add_argument(
        "--split",
        metavar="MB",
        type=int,
        default=SPLIT,
        help="size of the parts in which files are read (default: %(default)s)",
    )
    step.add_argument(
        "--site",
        metavar="HOST",
        action="append",
        default=[],
        help="only pages of the registered domain of HOST; may be repeated",
    )


def _settings(args: argparse.Namespace) -> Settings:
    settings = get_project_settings()
    settings.setdict(_parse_pairs(args.settings, "-s"), priority="cmdline")
    try:
        validate_settings(settings)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return settings


def _parse_pairs(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Parse ``NAME=VALUE`` arguments. Raises :exc:`UsageError`."""
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise UsageError(f"{option} {wrong[0]}: expected NAME=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


def _extract(spark: SparkSession, args: argparse.Namespace, _: Settings) -> int:
    from newscrawl.archives.captures import summary_line as records_line  # noqa: PLC0415

    def map_units(function: Any, units: list[Any]) -> list[Any]:
        # One task per unit: those of slow pages do not delay the others.
        tasks = spark.sparkContext.parallelize(units, len(units))
        records: list[Any] = tasks.map(function).collect()
        return records

    try:
        summary = args.job.run(args.sources, map_units)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    sys.stderr.write(f"{records_line(Counter(summary['counts']))}\n")
    if not summary["unfinished"]:
        return _DONE
    sys.stderr.write(
        f"{summary['unfinished']} of {summary['units']} parts could not be read, see the failures\n"
    )
    return _INCOMPLETE


def _job(args: argparse.Namespace, settings: Settings) -> Job:
    from newscrawl.archives.jobs import Job  # noqa: PLC0415  # needs the extra
    from newscrawl.archives.remote_files import absolute_path  # noqa: PLC0415

    if args.split < 1:
        raise UsageError("--split: expected at least 1")
    return Job(
        absolute_path(args.output),
        {name: settings[name] for name in DEFAULTS if name in settings},
        split=args.split,
        domains=frozenset(registered_domain(host.lower()) for host in args.site),
    )


def _sources(args: argparse.Namespace) -> list[str]:
    sources = list(args.sources)
    if args.cc_news:
        since, _, until = args.cc_news.partition("..")
        try:
            days = date.fromisoformat(since), date.fromisoformat(until or since)
            sources += cc_news(*days, args.cc_news_root or CC_NEWS)
        except (OSError, ValueError) as error:
            raise UsageError(f"--cc-news: {error}") from error
    if not sources:
        raise UsageError("expected a SOURCE or --cc-news")
    return sources


def _cluster(spark: SparkSession, args: argparse.Namespace, settings: Settings) -> int:
    for path in filter(None, (args.output, args.clusters)):
        if exists(spark, path):
            raise UsageError(f"{path}: already exists")
    work = args.work or f"{args.output.rstrip('/')}.work"
    with _checkpoints(spark, work):
        _write_clusters(spark, settings, args.feeds, args.output, args.clusters)
    return _DONE


def _run(spark: SparkSession, args: argparse.Namespace, settings: Settings) -> int:
    status = _extract(spark, args, settings)
    folder = args.job.output.rstrip("/")
    articles = f"{folder}/articles.parquet"
    if not exists(spark, articles):  # no article
        return status
    # Replaces those of an earlier run, which may have had fewer articles.
    outputs = f"{folder}/clustered.parquet", f"{folder}/clusters.parquet"
    work = args.work or f"{folder}/work"
    for path in (*outputs, work):
        delete(spark, path)
    with _checkpoints(spark, work):
        _write_clusters(spark, settings, [articles], *outputs)
    return status


@contextmanager
def _checkpoints(spark: SparkSession, work: str) -> Iterator[None]:
    """Set the checkpoint folder. Raises :exc:`UsageError` if it exists."""
    if exists(spark, work):
        raise UsageError(f"{work}: already exists")
    try:
        spark.sparkContext.setCheckpointDir(work)
        yield
    finally:
        delete(spark, work)


def _write_clusters(
    spark: SparkSession,
    settings: Settings,
    feeds: Sequence[str],
    output: str,
    clusters: str | None,
) -> None:
    from newscrawl.spark.job import cluster  # noqa: PLC0415  # needs pyspark

    options, names = neardup_options(settings), setting(settings, "NEWSCRAWL_FIELDS")
    tables = cluster(spark, feeds, names, clock.now(), options)
    for feed, rows in sorted(tables.skipped.items()):
        sys.stderr.write(f"{feeds[feed]}: skipped {rows} rows without text or URL\n")
    _write(tables.articles.orderBy("position").drop("position", "component"), output)
    if clusters:
        ordered = tables.clusters.orderBy(tables.clusters["size"].desc(), "position")
        _write(ordered.drop("position"), clusters)
    sys.stderr.write(_summary(tables.articles))


def _write(table: DataFrame, path: str) -> None:
    if is_parquet(path):
        table.write.option("compression", "zstd").parquet(path)
    else:
        table.write.option("ignoreNullFields", "false").json(path)


def _summary(articles: DataFrame) -> str:
    """Return the summary line of ``newscrawl cluster``."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415  # optional

    several = F.col("size") > 1
    row = (
        articles.where("is_first")
        .agg(F.sum("size"), F.count("*"), F.sum(several.cast("int")), F.max("size"))
        .first()
    )
    return summary_line(*(value or 0 for value in row or (0, 0, 0, 0)))
