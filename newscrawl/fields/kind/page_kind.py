"""Page kind: article, live blog, gallery, index or other.

A tree ensemble gives the probability of an article from the features in
:mod:`~newscrawl.fields.kind.kind_features`. The threshold lies below one half in favour of recall: a
dropped article is lost, while an index page that is kept has a low confidence.
"""

from __future__ import annotations

from math import expm1, log1p
from typing import TYPE_CHECKING, Literal

from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.kind.kind_features import (
    KIND_FEATURES,
    PAGE_FEATURES,
    data_types,
    names_article,
)
from newscrawl.fields.kind.link_classifier import may_be_article
from newscrawl.fields.kind.series import series_kind
from newscrawl.text import letter_overlap, weighted_length

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from newscrawl.document.document import Document
    from newscrawl.ensemble.ensemble import Model
    from newscrawl.items import ArticleKind

KIND_MODEL_FILE = "kind.npz"
PAGE_KIND_MODEL_FILE = "kind-page.npz"

KIND_THRESHOLD = 0.2
"""Minimum probability of an article."""

PAGE_KIND_THRESHOLD = 0.1
"""Minimum probability of an article before extraction."""

SERIES_CONFIDENCE = 0.9
"""Confidence in a live blog or gallery recognized by the structure of the page."""

NOTICE_CONFIDENCE = 0.8
"""Confidence that a short undated text without images, or a listing, is not an article; set by hand."""

STORY_CONFIDENCE = 0.997
"""Confidence in a page with a declared story: the mean probability of 219 such pages, at least 0.91."""

FORUM_CONFIDENCE = 0.9
"""Confidence that a page that declares a thread of a forum is not an article; set by hand."""

_FORUM_TYPES = frozenset({"DiscussionForumPosting", "QAPage"})
_MAX_UNDATED, _MAX_UNDATED_NOTICE = log1p(1600.0), log1p(400.0)
_MIN_UNDATED_PROBABILITY = 0.4
_MIN_HEADLINE, _START, _MIN_OVERLAP = 32, 600, 0.3
_MIN_TEASERS, _MIN_TEASER_SHARE, _MAX_TEASERS = 3, 0.3, 0.65
_MAX_LISTING = 0.5
_GALLERY_TYPES = frozenset({"ImageGallery", "MediaGallery"})
_SERIES_TYPES = _GALLERY_TYPES | {"LiveBlogPosting"}
# Of kind "other"; pages with a higher link density are an "index".
_MAX_LINK_DENSITY = 0.4


def load_kind_model(folder: Path | None = None) -> Model:
    """Return the ensemble for extracted pages, see :func:`~newscrawl.ensemble.ensemble.load_model`."""
    return load_model(KIND_MODEL_FILE, KIND_FEATURES, folder)


def load_page_model(folder: Path | None = None) -> Model:
    """Return the ensemble for pages before extraction."""
    return load_model(PAGE_KIND_MODEL_FILE, PAGE_FEATURES, folder)


def article_probability(features: Mapping[str, float]) -> float:
    """Return the calibrated probability of an article.

    *features* are all :data:`~newscrawl.fields.kind.kind_features.KIND_FEATURES` or only the
    :data:`~newscrawl.fields.kind.kind_features.PAGE_FEATURES`.
    """
    model = load_kind_model() if "body_chars" in features else load_page_model()
    (probability,) = model.ensemble.predict({name: [value] for name, value in features.items()})
    return model.ensemble.calibrated(probability)


def page_kind(
    document: Document,
    features: Mapping[str, float],
    texts: tuple[str, str] = ("", ""),
    *,
    url: str | None = None,
    threshold: float | None = None,
) -> tuple[ArticleKind, float]:
    """Return the kind of *document* from *url*, which has these *features*, and the confidence, 0..1.

    *texts* are the extracted title and body. A page with a declared story needs no *features*.

    A page with a probability of at least *threshold* (:data:`KIND_THRESHOLD`) is an ``article``, unless JSON-LD declares it
    ``live`` or ``gallery``. Other pages are ``index``, or ``other`` if most of their text is outside
    of links. Structure (:mod:`~newscrawl.fields.kind.series`) makes any page ``live`` or ``gallery``.
    Short undated texts without images that do not repeat their headline, such as cookie walls, and threads of
    forums are ``other``; doubtful pages with the URL of a front page or section, or on which most texts have a linked
    heading or a link such as "Read more", are an ``index``.
    """
    probability = article_probability(features) if features else STORY_CONFIDENCE
    declared = declared_series(document)
    is_article = probability >= (KIND_THRESHOLD if threshold is None else threshold)
    if not (is_article and declared) and (series := series_kind(document)):
        return series, max(probability, SERIES_CONFIDENCE)
    if is_article and is_forum(document):
        return "other", FORUM_CONFIDENCE
    if is_article and not declared:
        if threshold is None and is_listing(features, probability, url):
            return "index", NOTICE_CONFIDENCE
        if is_undated(features, probability, texts):
            return "other", NOTICE_CONFIDENCE
    if is_article:
        return declared or "article", probability
    is_index = document.link_density(0) > _MAX_LINK_DENSITY
    return "index" if is_index else "other", 1 - probability


def is_undated(
    features: Mapping[str, float], probability: float, texts: tuple[str, str] = ("", "")
) -> bool:
    """Return whether *features* describe a short undated text, neither declared nor probable.

    A probable one is a story if it begins with what its headline says, as notices do not.
    """
    if "body_chars" not in features:  # before extraction
        return False
    dated = ("article_data", "page_data", "authors", "span_images")
    if features["declared"] > 0 or features["date_confidence"] > 0:
        return False
    is_likely = probability >= _MIN_UNDATED_PROBABILITY
    longest = _MAX_UNDATED_NOTICE if is_likely else _MAX_UNDATED
    if any(map(features.__getitem__, dated)) or not 0 < features["body_chars"] <= longest:
        return False
    title, body = texts
    is_headline = weighted_length(title) >= _MIN_HEADLINE
    return not (is_likely and is_headline and letter_overlap(title, body[:_START]) >= _MIN_OVERLAP)


def is_listing(features: Mapping[str, float], probability: float, url: str | None) -> bool:
    """Return whether a doubtful page is a list by its *url* or by the body.

    Articles have another address, unless JSON-LD declares one; or the texts of the body have linked
    headings or links with the same text each.
    """
    if "body_chars" not in features:  # before extraction
        return False
    is_declared = features["article_data"] > 0
    if url and not is_declared and probability < _MAX_LISTING and not may_be_article(url):
        return True
    linked = features["span_linked_headings"]
    if linked != features["span_headings"]:
        linked = 0.0
    texts = expm1(features["body_texts"])  # with some of the headings
    least = log1p(max(_MIN_TEASERS, _MIN_TEASER_SHARE * texts))
    return probability < _MAX_TEASERS and max(linked, features["same_links"]) >= least


def declared_series(document: Document) -> Literal["live", "gallery"] | None:
    """Return the kind of series that JSON-LD declares, if any."""
    if not any(name in script for script in document.json_ld for name in _SERIES_TYPES):
        return None  # the common case
    types = data_types(document)
    if "LiveBlogPosting" in types:
        return "live"
    is_gallery = not (names_article(types) or types.isdisjoint(_GALLERY_TYPES))
    return "gallery" if is_gallery else None


def is_forum(document: Document) -> bool:
    """Return whether JSON-LD or microdata declare a thread of a forum, and no article."""
    if any(name in script for script in document.json_ld for name in _FORUM_TYPES):
        types = data_types(document)
        return not (_FORUM_TYPES.isdisjoint(types) or names_article(types))
    types_of_items = document.attributes["itemtype"].values()
    return any(value.rpartition("/")[2] in _FORUM_TYPES for value in types_of_items)


def has_article_data(document: Document) -> bool:
    """Return whether JSON-LD contains an article."""
    return names_article(data_types(document))
