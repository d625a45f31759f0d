"""``extract()``: the one place where the steps are put in order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from newscrawl import clock
from newscrawl.body.boilerplate import boilerplate
from newscrawl.body.parts import rows_left_out, with_parts_between, with_story_tables
from newscrawl.body.render import render
from newscrawl.document.document import parse_document
from newscrawl.extraction.methods import (
    DEFAULT_METHOD,
    METHODS,
    SCRIPTED,
    ExtractOptions,
    PageContext,
    UnknownMethodError,
    method_of,
    prepare,
)
from newscrawl.fields.dates.decide import decide
from newscrawl.fields.dates.evidence import gather, metadata_evidence
from newscrawl.fields.kind.kind_features import ExtractedFields, kind_features
from newscrawl.fields.kind.page_kind import page_kind
from newscrawl.fields.kind.paywall import PAYWALL_CONFIDENCE, shows_paywall
from newscrawl.fields.metadata.metadata import read_metadata
from newscrawl.fields.titles.title import title_rows
from newscrawl.items import Article, Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from newscrawl.css.sheets.sheet import Sheet
    from newscrawl.document.document import Document
    from newscrawl.extraction.methods import Body

__all__ = ["DEFAULT_METHOD", "METHODS", "ExtractOptions", "UnknownMethodError", "extract"]

DOUBTFUL_CONFIDENCE = 0.1
"""Confidence in a body all of which looks like boilerplate. Set by hand."""

_DEFAULT_OPTIONS = ExtractOptions()


def extract(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    fetched_at: datetime | None = None,
    stylesheets: Mapping[str, str | Sheet] | None = None,
    method: str = DEFAULT_METHOD,
    options: ExtractOptions | None = None,
) -> Article:
    """Return the article of a page.

    *html* is the page as fetched from *url*, *encoding* the charset of the HTTP header.
    *fetched_at* bounds the dates that are believed: now, if not given; naive is taken as UTC.
    *stylesheets* maps URLs to style sheets, as text or parsed: those that the page links for a
    screen, and what they import (:func:`~newscrawl.css.sheet_links.sheet_urls`). None: styles are not
    asked for. *method* is a name in :data:`METHODS`.

    Raises :class:`~newscrawl.document.document.DocumentError` for what is no page, and
    :class:`UnknownMethodError`.
    """
    options = options or _DEFAULT_OPTIONS
    article, document, features = _extract(
        html, url, encoding, fetched_at, stylesheets=stylesheets, method=method, options=options
    )
    article.kind, confidence = page_kind(document, features, threshold=options.article_threshold)
    article.evidence["kind"] = Evidence("page", confidence)
    return article


def extract_features(
    html: bytes,
    url: str | None = None,
    *,
    fetched_at: datetime | None = None,
    options: ExtractOptions = _DEFAULT_OPTIONS,
) -> list[float]:
    """Return the features that the kind of a page is classified by, as :func:`extract` finds them."""
    return _extract(html, url, None, fetched_at, options=options).features


class _Extracted(NamedTuple):
    #: without its kind
    article: Article
    document: Document
    #: of the page and what was found in it
    features: list[float]


def _extract(
    html: bytes | str,
    url: str | None,
    encoding: str | None,
    fetched_at: datetime | None,
    *,
    stylesheets: Mapping[str, str | Sheet] | None = None,
    method: str = DEFAULT_METHOD,
    options: ExtractOptions,
) -> _Extracted:
    find_body = method_of(method)
    fetched_at = fetched_at or clock.now()
    if fetched_at.tzinfo is None:
        fetched_at = fetched_at.replace(tzinfo=UTC)
    document = parse_document(html, encoding, scripts=method in SCRIPTED)
    document = prepare(document, method, comments=not options.remove_comments)
    metadata = read_metadata(document, url, fetched_at)
    page = PageContext(document, metadata, url, fetched_at, stylesheets, options.sheet_store)
    article = Article(
        url=url,
        canonical_url=metadata.canonical_url,
        language=metadata.language,
        authors=metadata.authors,
        paywalled=metadata.paywalled,
        fetched_at=fetched_at,
        evidence=dict(metadata.evidence),
        flags=list(document.flags),
    )
    body = find_body(page, options)
    if body.alone:
        _fill_as_found(article, document, body)
    else:
        _fill_dates(article, page, body)
        _fill_texts(article, document, body, options)
    if len(article.body) < options.min_body_chars:
        article.body = ""
        article.evidence.pop("body", None)
    if article.paywalled is None and shows_paywall(document, body.forest):
        article.paywalled, article.evidence["paywalled"] = (
            True,
            Evidence("shown", PAYWALL_CONFIDENCE),
        )
    # The classifier knows the findings of the default method only.
    found = _findings(article, body) if method == DEFAULT_METHOD else None
    article.style_complete = None if stylesheets is None else page.styles.complete
    return _Extracted(article, document, kind_features(document, found))


def _findings(article: Article, body: Body) -> ExtractedFields:
    return ExtractedFields(
        body.forest,
        article.evidence.get("body"),
        body.title,
        article.evidence.get("date"),
        len(article.authors),
        body.text,
    )


def _fill_as_found(article: Article, document: Document, body: Body) -> None:
    if body.title is not None:
        article.title, article.evidence["title"] = body.title.text, body.title.evidence
    if body.date is not None:
        article.date, article.date_raw, article.evidence["date"] = body.date
    if body.modified is not None:
        article.date_modified, _, article.evidence["date_modified"] = body.modified
    _fill_body(article, document, body, body.skipped)


def _fill_body(article: Article, document: Document, body: Body, skipped: AbstractSet[int]) -> None:
    article.body = render(document, body.forest, skipped) if body.text is None else body.text
    if article.body:
        article.evidence["body"] = body.evidence


def _fill_dates(article: Article, page: PageContext, body: Body) -> None:
    published = gather(
        page.document,
        page.metadata,
        body.forest if body.region is None else body.region,
        body.title.row if body.title else None,
        url=page.url,
        fetched_at=page.fetched_at,
    )
    modified = metadata_evidence(page.metadata.modified)
    if dating := decide(published, modified):
        article.date, article.date_raw, article.evidence["date"] = dating
    if modification := decide(modified):
        article.date_modified, _, article.evidence["date_modified"] = modification


def _fill_texts(article: Article, document: Document, body: Body, options: ExtractOptions) -> None:
    title = body.title
    skipped: frozenset[int] = frozenset()
    if title is not None:
        article.title, article.evidence["title"] = title.text, title.evidence
        skipped = title_rows(document, body.forest, title)
    captions = "captions" in options.parts
    if options.remove_boilerplate and not body.whole:
        first = min(skipped, default=None if body.region is None or title is None else title.row)
        chosen = body.region is not None
        skipped |= boilerplate(document, body.forest, first, captions=captions, chosen=chosen)
    parts = with_story_tables(document, body.forest, options.parts)
    if not body.whole:
        skipped |= rows_left_out(document, body.forest, parts)
    start = title.row if title is not None else None
    forest = with_parts_between(document, body.forest, start, parts)
    _fill_body(article, document, body._replace(forest=forest), skipped)
    if not article.body:  # all of it looks like boilerplate
        doubtful = Evidence(body.evidence.source, DOUBTFUL_CONFIDENCE)
        _fill_body(article, document, body._replace(evidence=doubtful), frozenset())
