"""Names of the features of :mod:`newscrawl.body.block_features`; the compiled table reads them."""

from __future__ import annotations

FEATURES = (
    "chars", "link_density", "ends", "odd", "described", "again", "tag", "parent_tag", "strong",
    "emphasis", "within_article", "votes", "nce_before", "coreex_before", "home_long", "up_long",
    "depth", "up_share", "up_blocks", "own_count", "own_mean", "own_long", "above_count",
    "above_mean", "above_long", "after_heading", "place", "left", "image", "before_chars",
    "after_chars", "before_tag", "window",
)  # fmt: skip
"""In the order of the rows of a model."""
