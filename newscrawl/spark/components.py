"""Connected components of a graph that no machine holds: large-star and small-star in turns.

Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii: Connected Components in MapReduce and Beyond
(SoCC 2014). Each step keeps what is connected connected, and ends in stars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as everywhere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def components(pairs: DataFrame) -> DataFrame:
    """Return ``place`` and ``component``, the least place of it, of all that *pairs* connect.

    *pairs* are places ``one`` and ``other``, the lower one first. The lineage is cut after each
    round: Spark needs a checkpoint folder.
    """
    edges = pairs.select(F.col("other").alias("node"), F.col("one").alias("lower"))
    while not _stars(edges):
        edges = _small_star(_large_star(edges)).checkpoint()
    centres = edges.select("lower").distinct()
    return edges.union(centres.select("lower", "lower")).toDF("place", "component")


def _stars(edges: DataFrame) -> bool:
    """Return True where each node has one lower neighbour, which has none itself."""
    tangled = edges.groupBy("node").count().where("count > 1").select("node")
    lower = edges.select(F.col("lower").alias("node"))
    found: bool = tangled.union(lower.join(edges, "node", "leftsemi")).isEmpty()
    return found


def _large_star(edges: DataFrame) -> DataFrame:
    """Connect the higher neighbours of each node to its lowest neighbour, or itself."""
    both = edges.union(edges.select("lower", "node")).toDF("node", "near")
    lowest = F.least("node", F.min("near").over(Window.partitionBy("node")))
    linked = both.select("node", "near", lowest.alias("lower")).where("near > node")
    return linked.select(F.col("near").alias("node"), "lower").distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Connect each node and its lower neighbours to the lowest of these."""
    lowest = F.min("lower").over(Window.partitionBy("node"))
    linked = edges.select("node", "lower", lowest.alias("lowest"))
    moved = linked.select("lower", "lowest").where("lower > lowest")
    return linked.select("node", "lowest").union(moved).toDF("node", "lower").distinct()
