"""Spark plan of the two-pass clustering."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # as everywhere
from pyspark.sql.pandas.types import from_arrow_schema

from newscrawl.crawling.output.segments import MANIFEST, list_segments
from newscrawl.feeds.cluster_tables import FeedArticleReader
from newscrawl.feeds.feed_rows import is_parquet
from newscrawl.neardup.sketch import SKETCH_COLUMNS
from newscrawl.spark import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa
    from pyspark.sql import Column, SparkSession

    from newscrawl.near_duplicate_options import Options

    Step = Callable[[steps.Batches], steps.Batches]


class Tables(NamedTuple):
    """Result of the job."""

    #: schema :data:`steps.ARTICLES`
    articles: DataFrame
    #: schema :data:`steps.CLUSTERS`
    clusters: DataFrame
    #: number of the feed -> rows that are not articles
    skipped: dict[int, int]


def cluster(
    spark: SparkSession,
    feeds: Sequence[str],
    names: Mapping[str, str | None],
    now: datetime,
    options: Options,
) -> Tables:
    """Return the clusters of *feeds*, the same as :func:`newscrawl.neardup.batch.two_pass`.

    Spark needs a checkpoint folder that all its machines can write to. Raises Spark's errors and
    :exc:`~newscrawl.crawling.output.segments.SegmentError`.
    """
    last = _last_versions(_arrivals(spark, feeds, names, now, options)).checkpoint()
    stories = last.where("skipped IS NULL").drop("skipped", "copies")
    pages = _without_boilerplate(stories, options).checkpoint()
    pairs = _near_pairs(pages, options).checkpoint()
    articles = _articles(stories, pairs, options).checkpoint()
    skipped = last.where("skipped IS NOT NULL").select("skipped", "copies").collect()
    clusters = _step(_by_component(articles), steps.cluster_rows, steps.CLUSTERS)
    return Tables(articles, clusters, {row.skipped: row.copies for row in skipped})


def _step(table: DataFrame, step: Step, schema: pa.Schema) -> DataFrame:
    return table.mapInArrow(step, from_arrow_schema(schema))


def _arrivals(
    spark: SparkSession,
    feeds: Sequence[str],
    names: Mapping[str, str | None],
    now: datetime,
    options: Options,
) -> DataFrame:
    def arrivals(number: int, files: list[str]) -> DataFrame:
        parquet = all(map(is_parquet, files))
        rows = _parquet_rows(spark, files, columns) if parquet else _line_rows(spark, files)
        return _step(
            rows,
            lambda batches: steps.read_arrivals(batches, number, names, now, options),
            steps.ARRIVALS,
        )

    columns = FeedArticleReader(names, now).columns
    tables = [arrivals(number, _files(feed)) for number, feed in enumerate(feeds)]
    none = spark.createDataFrame([], from_arrow_schema(steps.ARRIVALS))
    return reduce(DataFrame.unionAll, tables, none)


def _files(feed: str) -> list[str]:
    """Return the segments of a folder with manifests; Spark lists other folders."""
    if any(Path(feed).rglob(f"*{MANIFEST}")):
        return [str(path) for path, _ in list_segments(Path(feed))]
    return [feed]


def _file_position() -> tuple[Column, Column]:
    """Return the columns with the file of a row and its block in the file."""
    return (
        F.col("_metadata.file_path").alias(steps.FILE),
        F.col("_metadata.file_block_start").alias(steps.BLOCK),
    )


def _line_rows(spark: SparkSession, files: list[str]) -> DataFrame:
    # As bytes, so that invalid UTF-8 is skipped and does not fail the job.
    lines = spark.read.option("lineSep", "\n").text(files)
    return lines.select(F.col("value").cast("binary").alias(steps.LINE), *_file_position())


def _parquet_rows(spark: SparkSession, files: list[str], columns: Sequence[str]) -> DataFrame:
    rows = spark.read.parquet(*files)
    return rows.select(*(name for name in columns if name in rows.columns), *_file_position())


def _last_versions(arrivals: DataFrame) -> DataFrame:
    """Return the last version of each URL, with its ``position`` in order of time.

    The skipped rows of a feed become one row with their number in ``copies``.
    """
    columns = [name for name in arrivals.columns if name not in {"order", "skipped", "url"}]
    last = F.max_by(F.struct(*columns), "order").alias("page")
    versions = arrivals.groupBy("url", "skipped").agg(last, F.count("*").alias("copies"))
    ordered = versions.select("url", "skipped", "copies", "page.*").orderBy("at", "url")
    return ordered.withColumn("position", F.monotonically_increasing_id())


def _without_boilerplate(stories: DataFrame, options: Options) -> DataFrame:
    """Return :data:`steps.PAGES`; one worker processes all pages of a site."""
    columns = [name for name in steps.PAGES.names if name in stories.columns]
    sites = stories.select(columns).repartition("site").sortWithinPartitions("site", "position")
    return _step(sites, lambda batches: steps.remove_boilerplate(batches, options), steps.PAGES)


def _near_pairs(pages: DataFrame, options: Options) -> DataFrame:
    """Return :data:`steps.PAIRS`: versions and other near-duplicates."""
    versions = pages.select(F.explode("versions").alias("near"), F.col("position").alias("second"))
    columns = ("near.first", "second", "near.shared", "near.containment", "near.jaccard")
    versions = versions.select(*columns, F.lit(True).alias("is_version"))  # noqa: FBT003
    sides = F.struct(*(name for name in pages.columns if name not in {"position", "versions"}))
    left = pages.select(F.col("position").alias("first"), sides.alias("left"))
    right = pages.select(F.col("position").alias("second"), sides.alias("right"))
    candidates = _candidates(pages, options).join(versions, ["first", "second"], "leftanti")
    rows = candidates.join(left, "first").join(right, "second")
    near = _step(rows, lambda batches: steps.match_candidates(batches, options), steps.PAIRS)
    return near.unionAll(versions)


def _candidates(pages: DataFrame, options: Options) -> DataFrame:
    """Return the positions ``first`` and ``second`` of pages that share enough hashes."""
    postings = _step(pages, lambda batches: steps.postings(batches, options), steps.POSTINGS)
    buckets = F.array("bucket") if options.window is None else F.expr("array(bucket, bucket - 1)")
    second = F.col("position").alias("second")
    later = postings.select("hash", F.explode(buckets).alias("bucket"), second)
    earlier = postings.withColumnRenamed("position", "first")
    shared = earlier.join(later, ["hash", "bucket"]).where("first < second")
    counted = shared.groupBy("first", "second").count()
    return counted.where(F.col("count") >= options.min_shared).drop("count")


def _articles(stories: DataFrame, pairs: DataFrame, options: Options) -> DataFrame:
    """Return :data:`steps.ARTICLES`; one worker processes a connected component."""
    pair = F.struct("first", "shared", "containment", "jaccard", "is_version")
    position = F.col("second").alias("position")
    near = pairs.groupBy(position).agg(F.collect_list(pair).alias("near"))
    pages = stories.select("position", "url", "site", "title", "when", *SKETCH_COLUMNS)
    pages = pages.join(near, "position", "left").join(components(pairs), "position", "left")
    component = F.coalesce("component", "position")
    return _step(
        _by_component(pages.withColumn("component", component)),
        lambda batches: steps.cluster_articles(batches, options),
        steps.ARTICLES,
    )


def _by_component(table: DataFrame) -> DataFrame:
    return table.repartition("component").sortWithinPartitions("component", "position")


def components(pairs: DataFrame) -> DataFrame:
    """Return the ``position`` and ``component``, its lowest position, of all stories in *pairs*.

    *pairs* have the columns ``first`` and ``second``, of which ``first`` is lower. Alternating
    large-star and small-star operations, each checkpointed, preserve the connectivity until there
    is one star per component (Kiveris et al., Connected Components in MapReduce and Beyond, SoCC
    2014).
    """
    edges = pairs.select(F.col("second").alias("node"), F.col("first").alias("lower"))
    while not _are_stars(edges):
        edges = _small_star(_large_star(edges)).checkpoint()
    centers = edges.select("lower").distinct()
    return edges.union(centers.select("lower", "lower")).toDF("position", "component")


def _are_stars(edges: DataFrame) -> bool:
    """Return whether each node has one lower neighbor, which has no lower neighbor itself."""
    several = edges.groupBy("node").count().where("count > 1").select("node")
    lower = edges.select(F.col("lower").alias("node"))
    result: bool = several.union(lower.join(edges, "node", "leftsemi")).isEmpty()
    return result


def _large_star(edges: DataFrame) -> DataFrame:
    """Connect the higher neighbors of each node to the lowest of the node and its neighbors."""
    both = edges.union(edges.select("lower", "node")).toDF("node", "neighbor")
    lowest = F.least("node", F.min("neighbor").over(Window.partitionBy("node")))
    linked = both.select("node", "neighbor", lowest.alias("lower")).where("neighbor > node")
    return linked.select(F.col("neighbor").alias("node"), "lower").distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Connect each node and its lower neighbors to the lowest of these neighbors."""
    lowest = F.min("lower").over(Window.partitionBy("node"))
    linked = edges.select("node", "lower", lowest.alias("lowest"))
    moved = linked.select("lower", "lowest").where("lower > lowest")
    return linked.select("node", "lowest").union(moved).toDF("node", "lower").distinct()
