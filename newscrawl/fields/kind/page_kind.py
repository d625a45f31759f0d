"""The kind of a page: an article, a live blog, a gallery, an index of others, or something else.

Boosted trees give the probability that a page is an article, from the features in
:mod:`~newscrawl.fields.kind.kind_features`. An article that is dropped is lost, while an index that is
kept has a low confidence, so the threshold lies below one half.
"""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING, Literal

from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.kind.kind_features import (
    KIND_FEATURES,
    PAGE_FEATURES,
    data_types,
    names_article,
)
from newscrawl.fields.kind.series import series_kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model
    from newscrawl.items import ArticleKind

KIND_MODEL_FILE = "kind.npz"
PAGE_KIND_MODEL_FILE = "kind-page.npz"

KIND_THRESHOLD = 0.2
"""Probability from which a page is an article."""

PAGE_KIND_THRESHOLD = 0.1
"""The same, of a page before extraction."""

SERIES_CONFIDENCE = 0.9
"""Confidence in a live blog or a gallery that the page's structure shows."""

UNDATED_CONFIDENCE = 0.8
"""Confidence that a short undated text without pictures is no article. Set by hand: no article of
the corpora that are learned from is one, and a sixth of the made imprints."""

_MAX_UNDATED = log1p(2500.0)
_LINK_DENSITY = KIND_FEATURES.index("link_density")
_GALLERY_TYPES = frozenset({"ImageGallery", "MediaGallery"})
_MAX_LINK_DENSITY = 0.4
"""Link density up to which a page that is no article is prose, and no index."""


def load_kind_model(folder: Path | None = None) -> Model:
    """Return the ensemble that classifies extracted pages, see :func:`~newscrawl.ensemble.ensemble.load_model`."""
    return load_model(KIND_MODEL_FILE, KIND_FEATURES, folder)


def load_page_model(folder: Path | None = None) -> Model:
    """Return the ensemble that classifies pages before extraction."""
    return load_model(PAGE_KIND_MODEL_FILE, PAGE_FEATURES, folder)


def article_probability(features: Sequence[float]) -> float:
    """Return the calibrated probability that a page of these *features* is an article.

    They are all :data:`~newscrawl.fields.kind.kind_features.KIND_FEATURES`, or those of the page alone.
    """
    is_whole = len(features) == len(KIND_FEATURES)
    forest = (load_kind_model() if is_whole else load_page_model()).ensemble
    return forest.calibrated(float(forest.predict([features])[0]))


def page_kind(
    document: Document, features: Sequence[float], *, threshold: float = KIND_THRESHOLD
) -> tuple[ArticleKind, float]:
    """Return the kind of *document*, which has these *features*, and the confidence in it, 0..1.

    A page whose probability is *threshold* or more is an ``article``, or ``live`` or ``gallery``
    where JSON-LD says so; it is one of these two in any case where its structure shows it
    (:mod:`~newscrawl.fields.kind.series`). All others are ``index``, or ``other`` where most of their
    text is outside of links. ``other`` is also a short text that is not dated, shows no picture and
    does not call itself an article: an imprint, a cookie wall.
    """
    probability = article_probability(features)
    special = stated_series(document)
    is_article = probability >= threshold
    if not (is_article and special) and (series := series_kind(document)):
        return series, max(probability, SERIES_CONFIDENCE)
    if is_article and not special and is_undated(features):
        return "other", UNDATED_CONFIDENCE
    if is_article:
        return special or "article", probability
    is_index = features[_LINK_DENSITY] > _MAX_LINK_DENSITY
    return "index" if is_index else "other", 1 - probability


def is_undated(features: Sequence[float]) -> bool:
    """Return whether *features* are those of a short undated text that nothing calls an article."""
    named = dict(zip(KIND_FEATURES, features, strict=False))
    stated = named["declared"] > 0 or named["article_data"] or named["page_data"]
    if stated or named["dates"] or "body_chars" not in named:
        return False
    dated = named["date_confidence"] > 0 or named["authors"]
    return not dated and not named["span_images"] and 0 < named["body_chars"] <= _MAX_UNDATED


def stated_series(document: Document) -> Literal["live", "gallery"] | None:
    """Return the series that JSON-LD calls the page; None for any other page."""
    types = data_types(document)
    if "LiveBlogPosting" in types:
        return "live"
    is_gallery = not (names_article(types) or types.isdisjoint(_GALLERY_TYPES))
    return "gallery" if is_gallery else None


def has_article_data(document: Document) -> bool:
    """Return True where JSON-LD holds an article."""
    return names_article(data_types(document))
