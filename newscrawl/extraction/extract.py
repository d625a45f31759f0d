"""``extract()``: the steps from the bytes of a page to an article."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from newscrawl import clock
from newscrawl.body.boilerplate import boilerplate
from newscrawl.body.parts import (
    rows_of_excluded_parts,
    with_captions_and_tables,
)
from newscrawl.document.document import parse_document
from newscrawl.document.encoding import header_charset
from newscrawl.extraction.body_formats import BLOCK_FIELDS, set_formats
from newscrawl.extraction.body_structure import body_blocks, text_blocks
from newscrawl.extraction.method import ExtractOptions, PageContext
from newscrawl.extraction.methods import DEFAULT_METHOD, METHODS, UnknownMethodError, get_method
from newscrawl.extraction.reader_comments import reader_comments
from newscrawl.extraction.render import render
from newscrawl.extraction.rule_fields import BY_RULE, find_by_rule, find_rule
from newscrawl.extraction.story_media import set_story_media
from newscrawl.fields import (
    BARRIER_CONFIDENCE,
    SERIES_CONFIDENCE,
    ExtractedFields,
    declared_type,
    detect_language,
    find_authors,
    find_barrier,
    find_description,
    find_further_pages,
    find_paywall,
    gallery_slides,
    kind_features,
    page_dates,
    page_kind,
    read_metadata,
    set_page_fields,
    title_rows,
)
from newscrawl.items import Article, Evidence
from newscrawl.site_rules import with_replacements
from newscrawl.text import without_controls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.css import Sheet
    from newscrawl.document.document import Document
    from newscrawl.extraction.body_structure import BodyBlock, BodyTable
    from newscrawl.extraction.method import Method, MethodResult, Trace
    from newscrawl.fields import Metadata
    from newscrawl.items import ArticleKind

__all__ = ["DEFAULT_METHOD", "METHODS", "ExtractOptions", "UnknownMethodError", "extract"]

DOUBTFUL_CONFIDENCE = 0.1
"""Confidence in a body that consists of boilerplate; an estimate."""

# Of a declared story; the length is in characters.
_MIN_STORY, _MIN_STORY_CONFIDENCE = 1500, 0.9

_DEFAULT_OPTIONS = ExtractOptions()

_OTHER_FIELDS = """
    body body_html body_markdown cluster data date date_modified evidence fetched_at flags kind pages paywalled
    rendered style_complete
"""
_FIELDS = tuple(f.name for f in fields(Article) if f.name not in _OTHER_FIELDS.split())
"""Fields with text of the page, except the body, whose text is cleaned when it is read."""


def extract(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    fetched_at: datetime | None = None,
    stylesheets: Mapping[str, str | Sheet] | None = None,
    method: str | Method = DEFAULT_METHOD,
    options: ExtractOptions | None = None,
    trace: Trace | None = None,
) -> Article:
    """Return the article of a page.

    *html* is the page fetched from *url* as bytes (recommended) or text, *encoding* the charset of
    the HTTP header. An invalid URL is kept, but not read. Dates after *fetched_at* are
    ignored; the default is now, naive values are UTC.
    *stylesheets* maps URLs to style sheets, as text or parsed: those that
    :func:`~newscrawl.css.sheet_urls` returns and their imports. None: styles are not used.
    *method* is a method or its name (:func:`~newscrawl.extraction.methods.get_method`). *trace*
    receives intermediate results.

    Raises :class:`~newscrawl.document.document.DocumentError` if the input is not an HTML page
    and :class:`UnknownMethodError`.
    """
    chosen = get_method(method) if isinstance(method, str) else method
    options = options or _DEFAULT_OPTIONS
    parsed = parse_document(html, encoding, scripts=chosen.needs_scripts)
    return extract_parsed(
        parsed, url, chosen, options, fetched_at=fetched_at, stylesheets=stylesheets, trace=trace
    )


def extract_parsed(
    parsed: Document,
    url: str | None,
    chosen: Method,
    options: ExtractOptions,
    *,
    fetched_at: datetime | None = None,
    stylesheets: Mapping[str, str | Sheet] | None = None,
    trace: Trace | None = None,
) -> Article:
    """Return the article of a page that is already parsed, as :func:`extract` does."""
    fetched_at = fetched_at or clock.now()
    if fetched_at.tzinfo is None:
        fetched_at = fetched_at.replace(tzinfo=UTC)

    # 1. The page as a table of rows, without what the method does not read.
    article_url, url = url, _readable(url)
    rule = find_rule(options.site_rules, url)
    parsed = with_replacements(parsed, rule, scripts=chosen.needs_scripts)
    document = chosen.prepare(parsed, comments=not options.remove_comments)

    # 2. What the page states about itself, and what the rule of its site finds.
    metadata = read_metadata(document, url, fetched_at)
    by_rule = find_by_rule(
        rule, parsed, document, url, language=metadata.language, fetched_at=fetched_at
    )
    document = by_rule.matches.document
    article = Article(
        url=article_url,
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
        flags=[*document.flags, *by_rule.flags],
    )

    # 3. Title and blocks of the body, by the method or the rule.
    page = PageContext(document, metadata, url, fetched_at, stylesheets, options.sheet_store, trace)
    result, options = by_rule.apply(chosen.find(page, options), options)
    if result.title is not None:
        article.title, article.evidence["title"] = result.title.text, result.title.evidence
    article.style_complete = None if stylesheets is None else page.styles.complete

    # 4. Dates: those of the method, or from all evidence of the page.
    _set_dates(article, page, result, standalone=chosen.standalone)

    # 5. Body: the blocks as text and in the requested formats.
    if chosen.standalone and result.evidence is not BY_RULE:
        _set_body(article, page, result, options)
    else:
        _select_body(article, page, result, options, whole=chosen.whole_subtrees)
    if len(article.body) < options.min_body_chars:
        article.body = ""
        article.evidence.pop("body", None)
        set_formats(article, (), options.requested)

    # 6. Paywall, where the page does not state it.
    if article.paywalled is None and (paywall := find_paywall(document, result.roots)):
        article.paywalled, article.evidence["paywalled"] = True, paywall

    # 7. Kind of page; the classifier is trained on the findings of the default method.
    found = _findings(article, result) if chosen.name == DEFAULT_METHOD else None
    is_story = found is not None and _has_declared_story(article, document, metadata)
    features = {} if is_story and trace is None else kind_features(document, found, url)
    article.kind, article.evidence["kind"] = _kind(
        article, parsed, document, {} if is_story else features, options
    )

    _set_slides(article, page, result, options)

    # 8. Fields that depend on title and body.
    _set_description(article, page, result)
    if article.language is None and (language := detect_language(article.body)):
        article.language, article.evidence["language"] = language
    if not article.authors:
        _set_authors(article, page, result, with_byline=not chosen.standalone)

    if url and article.kind == "article" and article.body and result.roots:
        article.next_pages = find_further_pages(document, result.roots, url)
    by_rule.set_fields(article)

    # 9. Fields on request that the page states.
    _set_extra_fields(article, parsed, metadata, options)

    # 10. Texts without control characters.
    _remove_controls(article)
    if trace is not None:
        trace.parsed, trace.document, trace.kind_features = parsed, document, features
        trace.title_row = result.title.row if result.title is not None else None
    return article


def from_response(response: Any, **options: Any) -> Article:
    """Return the article of a response of Scrapy, web-poet, requests or httpx.

    The response has ``url``, ``headers`` and ``body`` or ``content``, as bytes without content
    encoding. *options* are those of :func:`extract`, for example ``method``.

    Extraction runs in the calling thread, without a deadline. In a crawl, prefer a component that
    uses worker processes: ``NewsExtractPipeline`` or ``FillMiddleware``.

    Raises :class:`~newscrawl.document.document.DocumentError` if the response is not an HTML page.
    """
    body = response.body if hasattr(response, "body") else response.content
    content_type = response.headers.get("Content-Type")
    if isinstance(content_type, str):
        content_type = content_type.encode("latin-1", "replace")
    declared = header_charset(content_type)
    return extract(body, str(response.url), **{"encoding": declared, **options})


def _readable(url: str | None) -> str | None:
    """Return *url*, or None if its brackets do not enclose an IP address."""
    try:
        urlsplit(url or "")
    except ValueError:
        return None
    return url


def _set_dates(
    article: Article, page: PageContext, result: MethodResult, *, standalone: bool
) -> None:
    published, modified = result.date, result.modified
    if not standalone:
        found = page_dates(
            page.document,
            page.metadata,
            result.roots if result.region is None else result.region,
            result.title.row if result.title else None,
            url=page.url,
            fetched_at=page.fetched_at,
        )
        published, modified = published or found.published, found.modified
        if page.trace is not None:
            page.trace.dates = found.evidence
    if published is not None:
        article.date, article.date_raw, article.evidence["date"] = published
    if modified is not None:
        article.date_modified, _, article.evidence["date_modified"] = modified


def _select_body(
    article: Article,
    page: PageContext,
    result: MethodResult,
    options: ExtractOptions,
    *,
    whole: bool,
) -> None:
    """Set the body, without the title; unless *whole*, without boilerplate and excluded parts."""
    document, title, roots = page.document, result.title, result.roots
    own_rows = frozenset() if title is None else title_rows(document, roots, title)
    skipped = own_rows | result.skipped
    if options.remove_boilerplate and not whole:
        selected = result.region is not None
        fallback_row = title.row if selected and title is not None else None
        skipped |= boilerplate(
            document,
            roots,
            min(own_rows, default=fallback_row),
            captions="captions" in options.parts,
            selected=selected,
        )
    if not whole:
        skipped |= rows_of_excluded_parts(document, roots, options.parts)
    start = title.row if title is not None else None
    roots = with_captions_and_tables(document, roots, start, options.parts)
    _set_body(article, page, result._replace(roots=roots, skipped=skipped), options)
    if not article.body:  # everything looks like boilerplate
        doubtful = Evidence(result.evidence.source, DOUBTFUL_CONFIDENCE)
        whole_blocks = result._replace(evidence=doubtful, skipped=frozenset())
        _set_body(article, page, whole_blocks, options)


def _set_body(
    article: Article, page: PageContext, result: MethodResult, options: ExtractOptions
) -> None:
    document = page.document
    if page.trace is not None:
        page.trace.roots, page.trace.skipped = result.roots, result.skipped
    blocks: list[BodyBlock | BodyTable] = []
    needs_blocks = not BLOCK_FIELDS.isdisjoint(options.requested)
    if result.text is not None:
        article.body = without_controls(result.text)
        blocks = text_blocks(article.body) if needs_blocks else []
    elif needs_blocks:
        article.body, blocks = body_blocks(document, result.roots, result.skipped, article.url)
    else:
        article.body = render(document, result.roots, result.skipped)
    if article.body:
        article.evidence["body"] = result.evidence
    set_formats(article, blocks if article.body else (), options.requested)
    set_story_media(article, document, result, options.requested)


def _set_slides(
    article: Article, page: PageContext, result: MethodResult, options: ExtractOptions
) -> None:
    """Set the slides of a gallery as its body if they have most of its text."""
    document = page.document
    slides = list(gallery_slides(document)) if article.kind == "gallery" else []
    size = sum(map(document.chars, slides))
    if size > 2 * len(article.body) and size >= options.min_body_chars:
        found = Evidence("slides", SERIES_CONFIDENCE)
        result = result._replace(roots=slides, skipped=frozenset(), evidence=found)
        _set_body(article, page, result, options)


def _kind(
    article: Article,
    parsed: Document,
    document: Document,
    features: dict[str, float],
    options: ExtractOptions,
) -> tuple[ArticleKind, Evidence]:
    if features and (barrier := find_barrier(parsed, features, article.url, body=article.body)):
        return "other", Evidence(barrier, BARRIER_CONFIDENCE)
    kind, confidence = page_kind(document, features, threshold=options.article_threshold)
    return kind, Evidence("page", confidence)


def _has_declared_story(article: Article, document: Document, metadata: Metadata) -> bool:
    """Return whether the page declares an article and has a long story of certain body and date.

    It has a headline in JSON-LD, or the type and a date of publication in ``meta`` elements, which
    imprints seldom have. A page whose data contain the body may show nothing else.
    """
    body, date = map(article.evidence.get, ("body", "date"))
    if body is not None and body.source == "page-data" and declared_type(document) > 0:
        return True
    if body is None or date is None or len(article.body) < _MIN_STORY:
        return False
    is_certain = min(body.confidence, date.confidence) >= _MIN_STORY_CONFIDENCE
    return is_certain and (
        any(title.source == "json-ld" for title in metadata.titles)
        or (date.source.startswith("meta:") and declared_type(document) > 0)
    )


def _findings(article: Article, result: MethodResult) -> ExtractedFields:
    return ExtractedFields(
        result.roots,
        article.evidence.get("body"),
        result.title,
        article.evidence.get("date"),
        len(article.authors),
        article.body,
    )


def _set_description(article: Article, page: PageContext, result: MethodResult) -> None:
    found = find_description(
        page.metadata.descriptions,
        page.document,
        title=article.title,
        title_row=_title_row(page.document, result),
        body=article.body,
        body_row=min(result.roots, default=0),
    )
    if found is not None:
        article.description, article.evidence["description"] = found


def _set_authors(
    article: Article, page: PageContext, result: MethodResult, *, with_byline: bool
) -> None:
    start = _title_row(page.document, result) if with_byline else None
    end = page.document.end[result.roots[-1]] if with_byline and result.roots else None
    metadata = page.metadata
    found = find_authors(
        page.document,
        metadata.stated_authors,
        start,
        end,
        sites=metadata.site_names,
        language=metadata.language,
    )
    if found is not None:
        article.authors, article.evidence["authors"] = found


def _set_extra_fields(
    article: Article, parsed: Document, metadata: Metadata, options: ExtractOptions
) -> None:
    set_page_fields(article, metadata.data, options.requested)
    if "comments" in options.requested and not article.comments:
        article.comments = reader_comments(parsed)
    if options.metadata_only:
        article.remove_body()


def _title_row(document: Document, result: MethodResult) -> int:
    """Return the row of the title, of the first ``h1`` or of the body."""
    if result.title is not None and result.title.row is not None:
        return result.title.row
    return next(iter((*document.rows_of("h1"), *result.roots)), 0)


def _remove_controls(article: Article) -> None:
    """Remove control characters from the text fields of *article*."""
    for name in _FIELDS:
        if value := getattr(article, name):
            setattr(article, name, _cleaned(value))


def _cleaned(value: Any) -> Any:
    """Return *value* with clean texts."""
    if isinstance(value, str):
        return value if value.isprintable() else without_controls(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_cleaned, value))
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(inner) for key, inner in value.items()}
    if isinstance(value, int):
        return value
    own = {name: getattr(value, name) for name in value.__slots__}  # an item
    texts = {name: _cleaned(text) for name, text in own.items() if text}
    return value if texts.items() <= own.items() else replace(value, **texts)
