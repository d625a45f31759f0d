"""What a page is: an article, or an index of others.

Structured data names the kind on most pages, and errs on some: sites declare ``og:type``
``article`` on every page they have. The page's own shape, running text against links that read
like headlines, is weighed with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, log1p
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newscrawl.document import Document
    from newscrawl.items import ArticleKind

_PARAGRAPH = 80
_HEADLINE = 25
_ARTICLE_TYPE = re.compile(
    r'"@type"\s*:\s*\[?\s*"(?:\w*NewsArticle|Article|BlogPosting|ReportageNewsArticle'
    r'|LiveBlogPosting|OpinionNewsArticle|Report)"'
)
_LIST_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:CollectionPage|ItemList|SearchResultsPage)"')


@dataclass(frozen=True, slots=True)
class PageShape:
    """The evidence for :func:`page_kind`, measured on a page."""

    #: weighted characters of paragraphs: text nodes' blocks outside links, of some length
    paragraph_chars: float
    #: weighted characters of links whose text is as long as a headline
    headline_link_chars: float
    #: number of those links
    headline_links: int
    #: share of the shown text that is inside links
    link_density: float
    #: 1 article, -1 other, 0 not said: Open Graph's ``og:type``
    declared: int
    #: JSON-LD holds an article
    article_data: bool
    #: JSON-LD holds a collection or list of pages
    list_data: bool


def measure_shape(document: Document) -> PageShape:
    """Return the :class:`PageShape` of *document*."""
    headlines = _headline_links(document)
    data = " ".join(
        script.text or ""
        for script in document.root.iter("script")
        if script.get("type") == "application/ld+json"
    )
    return PageShape(
        paragraph_chars=_paragraph_chars(document),
        headline_link_chars=sum(headlines),
        headline_links=len(headlines),
        link_density=document.link_density(0),
        declared=_declared(document),
        article_data=_ARTICLE_TYPE.search(data) is not None,
        list_data=_LIST_TYPE.search(data) is not None,
    )


def page_kind(document: Document) -> tuple[ArticleKind, float]:
    """Return ``article`` or ``index``, and the confidence in it, 0.5..1."""
    share = article_probability(measure_shape(document))
    return ("article", share) if share >= 0.5 else ("index", 1 - share)


def article_probability(shape: PageShape) -> float:
    """Return the probability that a page of this shape is an article."""
    score = (
        log1p(shape.paragraph_chars)
        - 0.8 * log1p(shape.headline_link_chars)
        - 2 * shape.link_density
        + shape.declared
        + 2 * shape.article_data
        - 1
    )
    return 1 / (1 + exp(-score))


def _paragraph_chars(document: Document) -> float:
    total = 0.0
    for row, tag in enumerate(document.tag):
        if tag == "p" and not document.hidden[row]:
            chars = document.chars(row)
            if chars >= _PARAGRAPH and document.link_chars(row) < chars / 2:
                total += chars
    return total


def _headline_links(document: Document) -> list[float]:
    lengths = []
    for row, tag in enumerate(document.tag):
        if tag == "a" and (chars := document.chars(row)) >= _HEADLINE:
            lengths.append(chars)
    return lengths


def _declared(document: Document) -> int:
    for meta in document.root.iter("meta"):
        if meta.get("property") == "og:type":
            return 1 if "article" in meta.get("content", "").lower() else -1
    return 0
