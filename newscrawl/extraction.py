"""``extract()``: the one place where the steps are put in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from newscrawl import clock
from newscrawl.body.boilerplate import boilerplate
from newscrawl.body.nce import Fallback, NceParameters, nce
from newscrawl.body.render import render
from newscrawl.css.style import Stylesheets
from newscrawl.document import Document, parse_document
from newscrawl.fields.date import decide
from newscrawl.fields.evidence import DateEvidence, gather
from newscrawl.fields.kind import page_kind
from newscrawl.fields.metadata import Metadata, read_metadata
from newscrawl.fields.title import CONFIDENCE as TITLE_CONFIDENCE
from newscrawl.fields.title import Headline, choose_title, title_rows
from newscrawl.items import Article, Evidence
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.css.sheet import Sheet
    from newscrawl.css.store import SheetStore


class UnknownMethodError(ValueError):
    """There is no method of that name in :data:`METHODS`."""


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """What :func:`extract` may be told beside the page."""

    #: thresholds of NCE
    nce: NceParameters = field(default_factory=NceParameters)
    #: leave regions that look like readers' comments out of the body
    remove_comments: bool = True
    #: leave captions, boxes, bylines, dates and blocks of links out of the body
    remove_boilerplate: bool = True
    #: bodies with fewer characters are taken for no body
    min_body_chars: int = 0
    #: where parsed style sheets are kept, the blocks in pages included
    sheet_store: SheetStore | None = None


class Body(NamedTuple):
    """What a method finds in a page."""

    #: rows of the roots of the subtrees that hold the body, in document order
    forest: list[int]
    evidence: Evidence
    #: the method's own title, where it has one
    title: Headline | None = None


Method = Callable[[Document, ExtractOptions], Body]

NCE_CONFIDENCE: dict[Fallback | None, float] = {None: 0.88, "relaxed": 0.67, "whole_tree": 0.1}
"""Mean F1 of NCE's body, by its fall-back: 671, 6 and 2 pages of news212 and fundus."""


def _nce(document: Document, options: ExtractOptions) -> Body:
    found = nce(document, options.nce, comments=options.remove_comments)
    title = None
    if found.title is not None:
        row = found.title
        in_head = document.tag[row] == "title"
        text = document.title if in_head else squeeze(document.subtree_text(row))
        title = Headline(
            text, Evidence("nce", TITLE_CONFIDENCE["method"]), None if in_head else row
        )
    return Body(found.forest, Evidence("nce", NCE_CONFIDENCE[found.fallback]), title)


METHODS: dict[str, Method] = {"nce": _nce}
"""Body methods by name; the same names serve ``scrapy evaluate`` and ``NEWSCRAWL_METHOD``."""


def extract(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    fetched_at: datetime | None = None,
    stylesheets: Mapping[str, str | Sheet] | None = None,
    method: str = "nce",
    options: ExtractOptions | None = None,
) -> Article:
    """Return the article of a page.

    *html* is the page as fetched from *url*, *encoding* the charset of the HTTP header.
    *fetched_at* bounds the dates that are believed: now, if not given; naive is taken as UTC.
    *stylesheets* maps URLs to style sheets, as text or parsed: those that the page links for a
    screen, and what they import (:func:`~newscrawl.css.links.sheet_urls`). None: styles are not
    asked for. *method* is a name in :data:`METHODS`.

    Raises :class:`~newscrawl.document.DocumentError` for what is no page, and
    :class:`UnknownMethodError`.
    """
    find_body = _method(method)
    options = options or ExtractOptions()
    fetched_at = fetched_at or clock.now()
    if fetched_at.tzinfo is None:
        fetched_at = fetched_at.replace(tzinfo=UTC)
    document = parse_document(html, encoding)
    styles = _styles(document, url, stylesheets, options)
    metadata = read_metadata(document.root, url, fetched_at)
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
    body = find_body(document, options)
    title = choose_title(document, metadata, url, body.title)
    _fill_dates(article, document, metadata, body, title)
    _fill_texts(article, document, title, body, options)
    article.kind, confidence = page_kind(document, dated=article.date is not None)
    article.evidence["kind"] = Evidence("page-shape", confidence)
    article.style_complete = styles.complete if styles else None
    return article


def _styles(
    document: Document,
    url: str | None,
    sheets: Mapping[str, str | Sheet] | None,
    options: ExtractOptions,
) -> Stylesheets | None:
    if sheets is None:
        return None
    return Stylesheets(document, sheets, base_url=url or "", store=options.sheet_store)


def _method(name: str) -> Method:
    try:
        return METHODS[name]
    except KeyError:
        known = ", ".join(sorted(METHODS))
        raise UnknownMethodError(f"no method {name!r}; there are: {known}") from None


def _fill_dates(
    article: Article, document: Document, metadata: Metadata, body: Body, title: Headline | None
) -> None:
    published = gather(
        document,
        metadata,
        body.forest,
        title.row if title else None,
        url=article.url,
        fetched_at=article.fetched_at or clock.now(),
    )
    modified = [DateEvidence(one.value, one.raw, one.source) for one in metadata.modified]
    if dating := decide(published, modified):
        article.date, article.date_raw, article.evidence["date"] = dating
    if modification := decide(modified):
        article.date_modified, _, article.evidence["date_modified"] = modification


def _fill_texts(
    article: Article,
    document: Document,
    title: Headline | None,
    body: Body,
    options: ExtractOptions,
) -> None:
    skipped: frozenset[int] = frozenset()
    if title is not None:
        article.title, article.evidence["title"] = title.text, title.evidence
        skipped = title_rows(document, body.forest, title)
    if options.remove_boilerplate:
        skipped |= boilerplate(document, body.forest, min(skipped, default=None))
    text = render(document, body.forest, skipped)
    if text and len(text) >= options.min_body_chars:
        article.body, article.evidence["body"] = text, body.evidence
