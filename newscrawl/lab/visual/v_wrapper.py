"""V-Wrapper: title and body among the leaves of a rendered page (Zheng, Song and Wen, AAAI 2007).

The paper represents a page as a tree of visual blocks and classifies them by visual features with
machine learning, so that one wrapper serves all sites. We had its abstract and introduction, and
the description in the NCE paper: V-Wrapper classifies "each text passage (leaf of a DOM tree) as a
title, body or other content". We did not have its lists of features and its learning algorithm.
Decided by measuring:

- Two steps. The first rates the inner blocks; the most probable one is the main block, which holds
  the news. The second classifies the leaf blocks by their own features, those of the paragraph and
  of the father, and their place relative to father and main block.
- Gradient boosted trees, as in the default method, for both steps.
- The title is the most probable leaf block, with the others of its paragraph in the same font size:
  headings contain links. All other leaf blocks from a probability of 0.5 are the body.
- A third step, which classifies the title again by its distance to the first leaf of the body,
  changed the F1 of the leaf nodes by .001 and was left out.

``docs/results/v-wrapper.md`` has the figures.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from newscrawl.ensemble.ensemble import ModelError, load_model
from newscrawl.lab.visual.visual_features import EXTENDED_FEATURES, INNER_FEATURES

if TYPE_CHECKING:
    from pathlib import Path

    from newscrawl.ensemble.ensemble import Model
    from newscrawl.lab.visual.visual_features import VisualBlocks

MAIN_FILE, TITLE_FILE, BODY_FILE = "v-wrapper-main.npz", "v-wrapper-title.npz", "v-wrapper-body.npz"

PROBABILITY_THRESHOLD = 0.5
"""Minimum probability of a leaf block of the body."""


class VisualModels(NamedTuple):
    """Models of the two steps."""

    main: Model
    title: Model
    body: Model

    @property
    def sites(self) -> frozenset[str]:
        """Sites whose pages the models were trained on."""
        return self.main.sites | self.title.sites | self.body.sites


@cache
def load_visual_models(folder: Path | None = None) -> VisualModels:
    """Return the models in *folder*, cached; the package has none.

    Raises :class:`~newscrawl.ensemble.ensemble.ModelError` or ``OSError``.
    """
    if folder is None:
        raise ModelError("method v-wrapper has no packaged models: newscrawl evaluate trains them")
    return VisualModels(
        load_model(MAIN_FILE, INNER_FEATURES, folder),
        load_model(TITLE_FILE, EXTENDED_FEATURES, folder),
        load_model(BODY_FILE, EXTENDED_FEATURES, folder),
    )


class VisualLabels(NamedTuple):
    """Rows of the leaf blocks that are classified as title and as body."""

    title: list[int]
    body: list[int]
    #: probability of the title
    probability: float


def classify_leaves(blocks: VisualBlocks, models: VisualModels) -> VisualLabels:
    """Return the leaf blocks of title and body."""
    if not blocks.rows:
        return VisualLabels([], [], 0.0)
    main = models.main.ensemble.predict(blocks.inner_features)
    features = blocks.extended_features(main)
    titles = models.title.ensemble.predict(features)
    bodies = models.body.ensemble.predict(features)
    best = max(range(len(titles)), key=titles.__getitem__)
    title = {
        index
        for index, paragraph in enumerate(blocks.paragraphs)
        if index == best
        or (paragraph == blocks.paragraphs[best] >= 0 and blocks.fonts[index] == blocks.fonts[best])
    }
    body = [
        blocks.rows[index]
        for index, probability in enumerate(bodies)
        if probability >= PROBABILITY_THRESHOLD and index not in title
    ]
    return VisualLabels([blocks.rows[index] for index in sorted(title)], body, titles[best])
