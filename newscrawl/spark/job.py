"""The two passes over a collection, as a plan of Spark."""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyarrow.parquet import read_schema
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # as everywhere
from pyspark.sql.pandas.types import from_arrow_schema

from newscrawl.crawl.output.segments import MANIFEST, list_segments
from newscrawl.feeds.cluster_tables import FeedArticleReader
from newscrawl.feeds.feed_rows import is_parquet
from newscrawl.spark import steps
from newscrawl.spark.components import components

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa
    from pyspark.sql import Column, SparkSession

    from newscrawl.neardup.near_duplicate_options import Options

    Step = Callable[[steps.Batches], steps.Batches]


class Tables(NamedTuple):
    """What comes out."""

    #: of :data:`steps.ARTICLES`
    articles: DataFrame
    #: of :data:`steps.CLUSTERS`
    clusters: DataFrame
    #: rows of each feed that were no articles, by its place among the feeds
    lost: dict[int, int]


def cluster(
    spark: SparkSession,
    feeds: Sequence[str],
    names: Mapping[str, str | None],
    now: datetime,
    options: Options,
) -> Tables:
    """Return the clusters of *feeds*, as :func:`newscrawl.neardup.batch.two_pass` finds them.

    Spark needs a checkpoint folder, on which all its machines can write. Raises
    :exc:`~newscrawl.crawl.output.segments.SegmentError` beside Spark's errors.
    """
    kept = _last_versions(_arrivals(spark, feeds, names, now, options)).checkpoint()
    stories = kept.where("lost IS NULL").drop("lost", "copies")
    pages = _learned(stories, options).checkpoint()
    pairs = _near_pairs(pages, options).checkpoint()
    articles = _clustered(stories, pairs, options).checkpoint()
    lost = kept.where("lost IS NOT NULL").select("lost", "copies").collect()
    return Tables(articles, _gathered(articles), {row.lost: row.copies for row in lost})


def _step(table: DataFrame, step: Step, schema: pa.Schema) -> DataFrame:
    """Return what *step* makes of a table, partition by partition."""
    return table.mapInArrow(step, from_arrow_schema(schema))


def _arrivals(
    spark: SparkSession,
    feeds: Sequence[str],
    names: Mapping[str, str | None],
    now: datetime,
    options: Options,
) -> DataFrame:
    """Return :data:`steps.ARRIVALS` of all feeds."""

    def arrivals(number: int, files: list[str]) -> DataFrame:
        parquet = all(map(is_parquet, files))
        rows = _parquet_rows(spark, files, columns) if parquet else _line_rows(spark, files)
        return _step(
            rows,
            lambda batches: steps.read(batches, number, names, now, options),
            steps.ARRIVALS,
        )

    columns = FeedArticleReader(names, now).columns
    tables = [
        arrivals(number, files) for number, feed in enumerate(feeds) for files in _files(feed)
    ]
    none = spark.createDataFrame([], from_arrow_schema(steps.ARRIVALS))
    return reduce(DataFrame.unionAll, tables, none)


def _files(feed: str) -> list[list[str]]:
    """Return the files of a feed, together those that are one table.

    A folder with manifests is one of segments, whose columns may differ from one to the other;
    anything else is for Spark to find.
    """
    if not any(Path(feed).rglob(f"*{MANIFEST}")):
        return [[feed]]
    alike = defaultdict(list)
    for path, segment in list_segments(Path(feed)):
        columns = str(read_schema(path)) if is_parquet(segment.name) else ""
        alike[columns].append(str(path))
    return list(alike.values())


def _position() -> tuple[Column, Column]:
    """Return where in a feed a row stands, its number aside."""
    return (
        F.col("_metadata.file_path").alias(steps.FILE),
        F.col("_metadata.file_block_start").alias(steps.BLOCK),
    )


def _line_rows(spark: SparkSession, files: list[str]) -> DataFrame:
    # As bytes: what is no UTF-8 is no row, and fails no job.
    lines = spark.read.option("lineSep", "\n").text(files)
    return lines.select(F.col("value").cast("binary").alias(steps.LINE), *_position())


def _parquet_rows(spark: SparkSession, files: list[str], columns: Sequence[str]) -> DataFrame:
    rows = spark.read.parquet(*files)
    return rows.select(*(name for name in columns if name in rows.columns), *_position())


def _last_versions(arrivals: DataFrame) -> DataFrame:
    """Return the last version of each URL, with a ``place`` that tells the order in time.

    Rows that are no articles become one row a feed, which counts its ``copies``.
    """
    columns = [name for name in arrivals.columns if name not in {"order", "lost", "url"}]
    last = F.max_by(F.struct(*columns), "order").alias("page")
    kept = arrivals.groupBy("url", "lost").agg(last, F.count("*").alias("copies"))
    ordered = kept.select("url", "lost", "copies", "page.*").orderBy("at", "url")
    return ordered.withColumn("place", F.monotonically_increasing_id())


def _learned(stories: DataFrame, options: Options) -> DataFrame:
    """Return :data:`steps.LEARNED`: each site is read by one worker."""
    columns = [name for name in steps.LEARNED.names if name in stories.columns]
    sites = stories.select(columns).repartition("site").sortWithinPartitions("site", "place")
    return _step(sites, lambda batches: steps.learned(batches, options), steps.LEARNED)


def _near_pairs(pages: DataFrame, options: Options) -> DataFrame:
    """Return :data:`steps.PAIRS`: versions, and what else is near."""
    versions = pages.select(F.explode("versions").alias("near"), F.col("place").alias("other"))
    versions = versions.select(
        "near.one", "other", "near.shared", "near.containment", "near.jaccard"
    )
    sides = F.struct(*(name for name in pages.columns if name not in {"place", "versions"}))
    left = pages.select(F.col("place").alias("one"), sides.alias("left"))
    right = pages.select(F.col("place").alias("other"), sides.alias("right"))
    candidates = _candidates(pages, options).join(versions, ["one", "other"], "leftanti")
    rows = candidates.join(left, "one").join(right, "other")
    near = _step(rows, lambda batches: steps.verified(batches, options), steps.PAIRS)
    return near.unionAll(versions.where("shared IS NOT NULL"))


def _candidates(pages: DataFrame, options: Options) -> DataFrame:
    """Return places ``one`` and ``other`` of pages that share enough hashes."""
    held = _step(pages, lambda batches: steps.postings(batches, options), steps.POSTINGS)
    buckets = F.array("bucket") if options.window is None else F.expr("array(bucket, bucket - 1)")
    late = held.select("hash", F.explode(buckets).alias("bucket"), F.col("place").alias("other"))
    early = held.withColumnRenamed("place", "one")
    shared = early.join(late, ["hash", "bucket"]).where("one < other")
    counted = shared.groupBy("one", "other").count()
    return counted.where(F.col("count") >= options.least_shared).drop("count")


def _clustered(stories: DataFrame, pairs: DataFrame, options: Options) -> DataFrame:
    """Return :data:`steps.ARTICLES`: each component is clustered by one worker."""
    found = F.struct("one", "shared", "containment", "jaccard")
    near = pairs.groupBy(F.col("other").alias("place")).agg(F.collect_list(found).alias("near"))
    pages = stories.select("place", "url", "site", "title", "when")
    pages = pages.join(near, "place", "left").join(components(pairs), "place", "left")
    component = F.coalesce("component", "place")
    return _step(
        _by_component(pages.withColumn("component", component)),
        lambda batches: steps.clustered(batches, options),
        steps.ARTICLES,
    )


def _gathered(articles: DataFrame) -> DataFrame:
    """Return :data:`steps.CLUSTERS`."""
    return _step(_by_component(articles), steps.gathered, steps.CLUSTERS)


def _by_component(table: DataFrame) -> DataFrame:
    return table.repartition("component").sortWithinPartitions("component", "place")
