"""What a page is: an article, or an index of others.

An article is one long run of text; an index is many short ones, most of them links. Structured
data names the kind on most pages and errs on some (there are sites that declare each page of
theirs an article), so it is weighed with the page's shape and does not decide alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial
from itertools import pairwise
from math import exp, log1p
from typing import TYPE_CHECKING, Literal, NamedTuple

from newscrawl.compiled import compiled_module
from newscrawl.fields.series import series_kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from newscrawl.document import Document
    from newscrawl.items import ArticleKind

# Weighted characters: a shorter block is a caption or a teaser, a longer one stands for itself.
_BLOCK = 80
_LONG_BLOCK = 400
_INLINE = frozenset(
    {"a", "abbr", "b", "cite", "em", "font", "i", "mark", "q", "small", "span", "strong", "sub",
     "sup", "u"}
)  # fmt: skip
# A year or a short date; with another script's digits, four of them.
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]{4}"
    r"|\b\d{1,2}[./-]\d{1,2}[./-]\d\d\b"
)
_COPYRIGHT = re.compile(r"©|copyright|\(c\)", re.IGNORECASE)
_DATE_LINE = 80
UNDATED_CONFIDENCE = 0.9
"""How far an undated page is believed to be no article: 0 of the 679 articles of news212 and fundus
are undated in this sense; 11 have no stated date and do not call themselves articles."""

SERIES_CONFIDENCE = 0.9
"""How far a page is believed to be a live blog or a gallery by its structure."""

_TYPE = re.compile(r'"@type"\s*+:\s*+(?:\[\s*+)?+"(\w+)"')
_ARTICLE_TYPES = frozenset({"Article", "BlogPosting", "LiveBlogPosting", "Report"})
_GALLERY_TYPES = frozenset({"ImageGallery", "MediaGallery"})
_LIST_TYPES = frozenset({"CollectionPage", "ItemList", "SearchResultsPage"})

# Logistic weights. The first three are fitted on half the sites (benchmarks/gate.py), moved by
# +0.5: an article lost is worse than an index let through. Those of structured data are set by
# hand, below what a fit gives: the index pages at hand are older than most structured data.
_BIAS = -10.03
_RUN = 1.68
_LINK_DENSITY = -2.09
_DECLARED = 1.5
_ARTICLE_DATA = 3.0
_LIST_DATA = -1.0

# Probability and how often the kind is right, on half the sites of news212 and fundus: 334 articles
# and the same pages without them.
_CALIBRATION = ((0.5, 0.55), (0.65, 0.77), (0.8, 0.88), (0.92, 0.955), (1.0, 0.991))


class PageShape(NamedTuple):
    """The evidence for :func:`page_kind`, measured on a page."""

    #: weighted characters of the longest run of text: blocks side by side, outside of links
    longest_run: float
    #: share of the shown text that is inside links
    link_density: float
    #: Open Graph's ``og:type``: 1 an article, -1 anything else, 0 not said
    declared: int
    #: JSON-LD holds an article
    article_data: bool
    #: JSON-LD holds a collection or a list of pages
    list_data: bool
    #: the kind of article that JSON-LD names
    special: Literal["live", "gallery"] | None = None


def page_kind(document: Document, *, dated: bool = True) -> tuple[ArticleKind, float]:
    """Return what *document* is, and the confidence in it, 0.5..1.

    ``article``, or ``live`` or ``gallery`` where JSON-LD says so or the page is such a series
    (:mod:`~newscrawl.fields.series`); otherwise ``index``. A page of prose for which nothing states a date (not *dated*), which does not call itself an article
    and shows no date either, is ``other``: an imprint, a privacy statement.
    """
    shape = measure_shape(document)
    probability = article_probability(shape)
    if (probability < 0.5 or not shape.special) and (series := series_kind(document)):
        return series, SERIES_CONFIDENCE
    if probability < 0.5:
        return "index", calibrated(1 - probability)
    if not (dated or shape.declared > 0 or shape.article_data or _shows_date(document)):
        return "other", UNDATED_CONFIDENCE
    return shape.special or "article", calibrated(probability)


def calibrated(probability: float) -> float:
    """Return how often a kind is right that the shape gives that *probability*, 0.5..1."""
    for (low, before), (high, after) in pairwise(_CALIBRATION):
        if probability <= high:
            return before + (after - before) * (probability - low) / (high - low)
    return _CALIBRATION[-1][1]


def _shows_date(document: Document) -> bool:
    return any(
        len(text) <= _DATE_LINE and _DATE.search(text) and not _COPYRIGHT.search(text)
        for text in document.text
    )


def article_probability(shape: PageShape) -> float:
    """Return the probability that a page of this shape is an article."""
    score = (
        _BIAS
        + _RUN * log1p(shape.longest_run)
        + _LINK_DENSITY * shape.link_density
        + _DECLARED * shape.declared
        + _ARTICLE_DATA * shape.article_data
        + _LIST_DATA * shape.list_data
    )
    return 1 / (1 + exp(-score))


def measure_shape(document: Document) -> PageShape:
    """Return the :class:`PageShape` of *document*."""
    types = _types(document)
    article_data = _names_article(types)
    return PageShape(
        longest_run=longest_run(document),
        link_density=document.link_density(0),
        declared=_declared(document),
        article_data=article_data,
        list_data=not types.isdisjoint(_LIST_TYPES),
        special=_special(types, article_data=article_data),
    )


def has_article_data(document: Document) -> bool:
    """Return True where JSON-LD holds an article."""
    return _names_article(_types(document))


def _names_article(types: AbstractSet[str]) -> bool:
    return any(name in _ARTICLE_TYPES or name.endswith("NewsArticle") for name in types)


def _types(document: Document) -> set[str]:
    """Return the types that JSON-LD names; of several of one thing, the first."""
    return {
        name
        for script in document.statements
        if script.tag == "script" and script.get("type") == "application/ld+json"
        for name in _TYPE.findall(script.script)
    }


def _special(types: AbstractSet[str], *, article_data: bool) -> Literal["live", "gallery"] | None:
    if "LiveBlogPosting" in types:
        return "live"
    is_gallery = not (article_data or types.isdisjoint(_GALLERY_TYPES))
    return "gallery" if is_gallery else None


def longest_in_python(document: Document) -> float:
    """Return the weighted characters of the longest run of text outside of links."""
    runs: dict[int, float] = defaultdict(float)
    for block, chars in _blocks(document).items():
        if chars >= _BLOCK:
            alone = chars >= _LONG_BLOCK and document.tag[block] != "p"
            runs[block if alone else document.parent[block]] += chars
    return max(runs.values(), default=0.0)


_compiled = compiled_module("newscrawl._blocks")
longest_run: Callable[[Document], float] = (
    partial(_compiled.longest_run, inline=_INLINE, least=_BLOCK, alone=_LONG_BLOCK)
    if _compiled
    else longest_in_python
)


def _blocks(document: Document) -> dict[int, float]:
    """Return row -> weighted characters of the elements that hold text outside of links."""
    tag, parent = document.tag, document.parent
    chars, link_chars = document.chars_before, document.link_chars_before
    blocks: dict[int, float] = defaultdict(float)
    for row in document.text_nodes():
        if link_chars[row] == link_chars[row + 1]:
            block = parent[row]
            while tag[block] in _INLINE and parent[block] >= 0:
                block = parent[block]
            blocks[block] += chars[row + 1] - chars[row]
    return blocks


def _declared(document: Document) -> int:
    for meta in document.statements:
        if meta.tag == "meta" and meta.get("property") == "og:type":
            return 1 if "article" in meta.get("content").lower() else -1
    return 0
