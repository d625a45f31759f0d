"""``extract()``: the steps from the bytes of a page to an article."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from newscrawl import clock
from newscrawl.body.boilerplate import boilerplate
from newscrawl.body.parts import (
    rows_of_excluded_parts,
    with_captions_and_tables,
    with_dominant_tables,
)
from newscrawl.body.render import render
from newscrawl.document.document import parse_document
from newscrawl.extraction.body_formats import set_formats
from newscrawl.extraction.body_structure import body_blocks, text_blocks
from newscrawl.extraction.control_characters import remove_controls
from newscrawl.extraction.method import ExtractOptions, PageContext
from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS, UnknownMethodError, get_method
from newscrawl.fields.dates.decide import decide
from newscrawl.fields.dates.evidence import gather, metadata_evidence
from newscrawl.fields.dates.local_zone import site_zones
from newscrawl.fields.kind.kind_features import ExtractedFields, kind_features
from newscrawl.fields.kind.page_kind import page_kind
from newscrawl.fields.kind.paywall import PAYWALL_CONFIDENCE, shows_paywall
from newscrawl.fields.metadata.bylines import find_byline
from newscrawl.fields.metadata.description import choose_description, description_confidence
from newscrawl.fields.metadata.language import DETECTED, detect_language
from newscrawl.fields.metadata.metadata import CONFIDENCE, read_metadata
from newscrawl.fields.titles.title import title_rows
from newscrawl.items import Article, Evidence
from newscrawl.text import without_controls, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.css.sheets.sheet import Sheet
    from newscrawl.document.document import Document
    from newscrawl.extraction.body_structure import BodyBlock, BodyTable
    from newscrawl.extraction.method import MethodResult
    from newscrawl.extraction.trace import Trace
    from newscrawl.fields.dates.decide import PublicationDate

__all__ = ["DEFAULT_METHOD", "METHODS", "ExtractOptions", "UnknownMethodError", "extract"]

DOUBTFUL_CONFIDENCE = 0.1
"""Confidence in a body that consists of boilerplate; an estimate."""

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
    trace: Trace | None = None,
) -> Article:
    """Return the article of a page.

    *html* is the page fetched from *url* as bytes (recommended) or text, *encoding* the charset of
    the HTTP header. Dates after *fetched_at* are ignored; the default is now, naive values are UTC.
    *stylesheets* maps URLs to style sheets, as text or parsed: those that
    :func:`~newscrawl.css.sheet_links.sheet_urls` returns and their imports. None: styles are not used.
    *method* is a name in :data:`METHODS`. *trace* receives intermediate results.

    Raises :class:`~newscrawl.document.document.DocumentError` if the input is not an HTML page,
    :class:`UnknownMethodError`, and with method ``v-wrapper``
    :class:`~newscrawl.visual.geometry.GeometryError`.
    """
    options = options or _DEFAULT_OPTIONS
    article, document, features = _extract(
        html,
        url,
        encoding,
        fetched_at,
        stylesheets=stylesheets,
        method=method,
        options=options,
        trace=trace,
    )
    article.kind, confidence = page_kind(document, features, threshold=options.article_threshold)
    article.evidence["kind"] = Evidence("page", confidence)
    remove_controls(article)
    return article


def extract_features(
    html: bytes,
    url: str | None = None,
    *,
    fetched_at: datetime | None = None,
    options: ExtractOptions = _DEFAULT_OPTIONS,
) -> list[float]:
    """Return the features of the page kind classifier, as :func:`extract` computes them."""
    return _extract(html, url, None, fetched_at, options=options).kind_features


class _Extracted(NamedTuple):
    #: without its kind
    article: Article
    document: Document
    #: features of the page kind classifier
    kind_features: list[float]


def _extract(
    html: bytes | str,
    url: str | None,
    encoding: str | None,
    fetched_at: datetime | None,
    *,
    stylesheets: Mapping[str, str | Sheet] | None = None,
    method: str = DEFAULT_METHOD,
    options: ExtractOptions,
    trace: Trace | None = None,
) -> _Extracted:
    chosen = get_method(method)
    fetched_at = fetched_at or clock.now()
    if fetched_at.tzinfo is None:
        fetched_at = fetched_at.replace(tzinfo=UTC)
    parsed = parse_document(
        html, encoding, scripts=chosen.needs_scripts, media=bool(options.formats)
    )
    document = chosen.prepare(parsed, comments=not options.remove_comments)
    metadata = read_metadata(document, url, fetched_at)
    page = PageContext(document, metadata, url, fetched_at, stylesheets, options.sheet_store, trace)
    article = Article(
        url=url,
        canonical_url=metadata.canonical_url,
        language=metadata.language,
        authors=metadata.authors,
        site_name=metadata.site_name,
        section=metadata.section,
        tags=metadata.tags,
        image=metadata.image,
        breadcrumbs=metadata.breadcrumbs,
        paywalled=metadata.paywalled,
        fetched_at=fetched_at,
        evidence=dict(metadata.evidence),
        flags=list(document.flags),
    )
    result = chosen.find(page, options)
    if trace is not None:
        trace.parsed, trace.document = parsed, document
        trace.title_row = result.title.row if result.title is not None else None
    _set_title(article, result)
    if chosen.standalone:
        _set_dates(article, result.date, result.modified)
        _set_body(article, page, result, options)
    else:
        _decide_dates(article, page, result)
        _select_body(article, page, result, options, whole=chosen.whole_subtrees)
    if len(article.body) < options.min_body_chars:
        article.body = ""
        article.evidence.pop("body", None)
        set_formats(article, (), document, options.formats)
    if article.paywalled is None and shows_paywall(document, result.roots):
        article.paywalled, article.evidence["paywalled"] = (
            True,
            Evidence("shown", PAYWALL_CONFIDENCE),
        )
    article.style_complete = None if stylesheets is None else page.styles.complete
    # The classifier is trained on the findings of the default method.
    found = _findings(article, result) if method == DEFAULT_METHOD else None
    features = kind_features(document, found)
    _set_description(article, page, result)
    if article.language is None:
        _detect_language(article)
    if not article.authors:
        _find_authors(article, page, result, with_byline=not chosen.standalone)
    return _Extracted(article, document, features)


def _find_authors(
    article: Article, page: PageContext, result: MethodResult, *, with_byline: bool
) -> None:
    """Set the authors of a page that states no people: of a byline, or the site."""
    byline = None
    if with_byline:
        byline = find_byline(page.document, _title_row(page.document, result))
    if byline is not None:
        article.authors, source = byline
        confidence = CONFIDENCE["authors"][source]
        article.evidence["authors"] = Evidence(source, confidence)
    elif page.metadata.site_authors is not None:
        article.authors, source = page.metadata.site_authors
        confidence = CONFIDENCE["authors"]["site"]
        article.evidence["authors"] = Evidence(f"site:{source}", confidence)


def _set_description(article: Article, page: PageContext, result: MethodResult) -> None:
    """Set the description from those of the page, except one that repeats the title."""
    title = words(article.title or "")
    stated = [text for text in page.metadata.descriptions if words(text.text) != title]
    title_row, body_row = _title_row(page.document, result), min(result.roots, default=0)
    found = choose_description(stated, page.document, title_row, article.body, body_row)
    if found is not None:
        article.description = found.text
        article.evidence["description"] = Evidence(found.source, description_confidence(found))


def _detect_language(article: Article) -> None:
    found = detect_language(article.body)
    if found is not None:
        article.language, probability = found
        article.evidence["language"] = Evidence(DETECTED, probability)


def _title_row(document: Document, result: MethodResult) -> int:
    """Return the row of the title, of the first ``h1`` or of the body."""
    if result.title is not None and result.title.row is not None:
        return result.title.row
    return next(iter((*document.rows_of("h1"), *result.roots)), 0)


def _findings(article: Article, result: MethodResult) -> ExtractedFields:
    return ExtractedFields(
        result.roots,
        article.evidence.get("body"),
        result.title,
        article.evidence.get("date"),
        len(article.authors),
        result.text,
    )


def _set_title(article: Article, result: MethodResult) -> None:
    if result.title is not None:
        article.title, article.evidence["title"] = result.title.text, result.title.evidence


def _set_dates(
    article: Article, published: PublicationDate | None, modified: PublicationDate | None
) -> None:
    if published is not None:
        article.date, article.date_raw, article.evidence["date"] = published
    if modified is not None:
        article.date_modified, _, article.evidence["date_modified"] = modified


def _set_body(
    article: Article, page: PageContext, result: MethodResult, options: ExtractOptions
) -> None:
    document = page.document
    if page.trace is not None:
        page.trace.roots, page.trace.skipped = result.roots, result.skipped
    blocks: list[BodyBlock | BodyTable] = []
    if result.text is not None:
        article.body = without_controls(result.text)
        blocks = text_blocks(article.body) if options.formats else []
    elif options.formats:
        article.body, blocks = body_blocks(document, result.roots, result.skipped, article.url)
    else:
        article.body = render(document, result.roots, result.skipped)
    if article.body:
        article.evidence["body"] = result.evidence
    set_formats(article, blocks if article.body else (), document, options.formats)


def _decide_dates(article: Article, page: PageContext, result: MethodResult) -> None:
    """Set the dates from all evidence of the page."""
    published = gather(
        page.document,
        page.metadata,
        result.roots if result.region is None else result.region,
        result.title.row if result.title else None,
        url=page.url,
        fetched_at=page.fetched_at,
    )
    modified = metadata_evidence(page.metadata.modified)
    if page.trace is not None:
        page.trace.dates = published
    zones = site_zones(page.url, page.metadata.language)
    _set_dates(article, decide(published, modified, zones), decide(modified, site=zones))


def _select_body(
    article: Article,
    page: PageContext,
    result: MethodResult,
    options: ExtractOptions,
    *,
    whole: bool,
) -> None:
    """Set the body, without the title; unless *whole*, also without boilerplate and excluded parts."""
    document, title, roots = page.document, result.title, result.roots
    skipped = frozenset() if title is None else title_rows(document, roots, title)
    if options.remove_boilerplate and not whole:
        selected = result.region is not None
        fallback_row = title.row if selected and title is not None else None
        skipped |= boilerplate(
            document,
            roots,
            min(skipped, default=fallback_row),
            captions="captions" in options.parts,
            selected=selected,
        )
    parts = with_dominant_tables(document, roots, options.parts)
    if not whole:
        skipped |= rows_of_excluded_parts(document, roots, parts)
    start = title.row if title is not None else None
    roots = with_captions_and_tables(document, roots, start, parts)
    _set_body(article, page, result._replace(roots=roots, skipped=skipped), options)
    if not article.body:  # everything looks like boilerplate
        doubtful = Evidence(result.evidence.source, DOUBTFUL_CONFIDENCE)
        whole_blocks = result._replace(evidence=doubtful, skipped=frozenset())
        _set_body(article, page, whole_blocks, options)
