"""Page kind: article, live blog, gallery, index or other.

A tree ensemble gives the probability of an article from the features in
:mod:`~newscrawl.fields.kind.kind_features`. The threshold lies below one half in favour of recall:
a dropped article is lost, while an index page that is kept has a low confidence.

Most prose of a live blog is in sibling elements that begin with a time of day; most prose of a
gallery is in captions or in numbered elements ("3 / 12").
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Literal

from newscrawl.document.repeats import outermost, prose, sibling_lists
from newscrawl.ensemble.ensemble import load_model
from newscrawl.fields.kind.kind_features import (
    KIND_FEATURES,
    PAGE_FEATURES,
    data_types,
    names_article,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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

STORY_CONFIDENCE = 0.997
"""Confidence in a page with a declared story: the mean probability of 219 such pages, at least
0.91."""

FORUM_CONFIDENCE = 0.9
"""Confidence that a page that declares a thread of a forum is not an article; set by hand."""

_FORUM_TYPES = frozenset({"DiscussionForumPosting", "QAPage"})
_GALLERY_TYPES = frozenset({"ImageGallery", "MediaGallery"})
_SERIES_TYPES = _GALLERY_TYPES | {"LiveBlogPosting"}
# Of kind "other"; pages with a higher link density are an "index".
_MAX_LINK_DENSITY = 0.4
_ENTRY_TAGS = frozenset({"article", "dd", "div", "li", "section", "tr"})
_SLIDE_TAGS = _ENTRY_TAGS | {"figure"}
_AROUND = ("aside", "footer", "header", "nav")
# Times such as "18:53", "18.53 Uhr", "6h05" and "午後6時05分", or counters such as "3 / 12".
_MARK = re.compile(
    r"(?P<time>\D{0,12}+(?:[01]?\d|2[0-3])\s?[:.h時시点][\s]?[0-5]\d(?!\d|\.\d)\D{0,12}$)"
    r"|\D{0,8}+\d{1,3}\s?(?:/|\||of|von|van|de|sur|di|из|z|av)\s?\d{1,3}\D{0,4}$"
)

_MAX_MARK_LENGTH = 28
MIN_ENTRIES = 5
MIN_SLIDES = 5
# Share of the page's prose in the series.
_MIN_SHARE = 0.6
# Share of the entries that begin with a time.
_MIN_TIMED_SHARE = 0.7
# Mean weighted characters of an entry outside of links; teasers have fewer.
_MIN_ENTRY_LENGTH = 50


def load_kind_model(folder: Path | None = None) -> Model:
    """Return the ensemble for extracted pages (:func:`~newscrawl.ensemble.ensemble.load_model`)."""
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
    *,
    threshold: float | None = None,
) -> tuple[ArticleKind, float]:
    """Return the kind of *document*, which has these *features*, and the confidence, 0..1.

    A page with a declared story needs no *features*.

    A page with a probability of at least *threshold* (:data:`KIND_THRESHOLD`) is an ``article``,
    unless JSON-LD declares it ``live`` or ``gallery``. Other pages are ``index``, or ``other`` if
    most of their text is outside of links. Structure makes any page ``live`` or ``gallery``.
    Threads of forums are ``other``.
    """
    probability = article_probability(features) if features else STORY_CONFIDENCE
    declared = declared_series(document)
    is_article = probability >= (KIND_THRESHOLD if threshold is None else threshold)
    if not (is_article and declared) and (series := series_kind(document)):
        return series, max(probability, SERIES_CONFIDENCE)
    if is_article and is_forum(document):
        return "other", FORUM_CONFIDENCE
    if is_article:
        return declared or "article", probability
    is_index = document.link_density(0) > _MAX_LINK_DENSITY
    return "index" if is_index else "other", 1 - probability


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


def series_kind(document: Document) -> Literal["live", "gallery"] | None:
    """Return the kind of series, or None for other pages."""
    page = _prose_of_page(document)
    if not page:
        return None
    times, counters = _marks(document)
    if _slides(document, counters, page):
        return "gallery"
    return "live" if _is_live(document, times, page) else None


def gallery_slides(document: Document) -> Sequence[int]:
    """Return the captions or numbered elements with most prose of a page, if there are such."""
    return _slides(document, _marks(document)[1], _prose_of_page(document))


def _prose_of_page(document: Document) -> float:
    """Return the prose outside of what sections a page."""
    around = outermost(document, (row for tag in _AROUND for row in document.rows_of(tag)))
    whole = prose(document, 0, len(document))
    return whole - sum(prose(document, row, document.end[row]) for row in around)


def _marks(document: Document) -> tuple[list[int], list[int]]:
    """Return the rows of short visible texts that are times of day, and that are counters."""
    text, hidden = document.text, document.hidden
    times: list[int] = []
    counters: list[int] = []
    for row in document.number_rows:
        if hidden[row] or len(text[row]) > _MAX_MARK_LENGTH:
            continue
        if mark := _MARK.match(text[row]):
            (counters if mark["time"] is None else times).append(row)
    return times, counters


def _is_live(document: Document, times: Sequence[int], page: float) -> bool:
    if len(times) < MIN_ENTRIES:
        return False
    for rows in sibling_lists(document, times, _ENTRY_TAGS):
        own = sum(prose(document, row, document.end[row]) for row in rows)
        if (
            len(rows) >= MIN_ENTRIES
            and own >= max(_MIN_SHARE * page, _MIN_ENTRY_LENGTH * len(rows))
            and sum(_begins_with_time(document, row) for row in rows)
            >= _MIN_TIMED_SHARE * len(rows)
        ):
            return True
    return False


def _begins_with_time(document: Document, row: int) -> bool:
    """Return whether *row* begins with a time before no link, unlike in teasers."""
    texts = list(islice(document.text_nodes(row), 2))
    mark = _MARK.match(document.text[texts[0]]) if len(texts) > 1 else None
    if mark is None or mark["time"] is None:
        return False
    return document.link_chars(texts[0]) == document.link_chars(texts[1]) == 0


def _slides(document: Document, counters: Sequence[int], page: float) -> Sequence[int]:
    captions = list(outermost(document, document.rows_of("figcaption")))
    if _is_most_prose(document, captions, page):
        return captions
    if len({document.text[row] for row in counters}) < MIN_SLIDES:
        return ()
    lists = sibling_lists(document, counters, _SLIDE_TAGS)
    return next((rows for rows in lists if _is_most_prose(document, rows, page)), ())


def _is_most_prose(document: Document, rows: Sequence[int], page: float) -> bool:
    own = sum(prose(document, row, document.end[row]) for row in rows)
    return len(rows) >= MIN_SLIDES and own >= _MIN_SHARE * page
