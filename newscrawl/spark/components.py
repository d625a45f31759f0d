"""Connected components of a distributed graph: alternating large-star and small-star operations.

Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii: Connected Components in MapReduce and Beyond
(SoCC 2014). Each operation preserves the connectivity; the result is one star per component.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as everywhere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def components(pairs: DataFrame) -> DataFrame:
    """Return the ``position`` and ``component``, its lowest position, of all stories in *pairs*.

    *pairs* have the columns ``first`` and ``second``, of which ``first`` is lower. Spark needs a
    checkpoint folder, as each round is checkpointed.
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
