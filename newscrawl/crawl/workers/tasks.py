"""Functions that workers call by name: bytes and plain values in, plain values out."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from newscrawl.body.parts import DEFAULT_PARTS, parse_parts
from newscrawl.crawl.history.revisit_policy import body_hash
from newscrawl.css.sheets.sheet import parse_sheet
from newscrawl.css.sheets.sheet_store import SheetStore, sheet_hash
from newscrawl.css.syntax.charset import decode_sheet
from newscrawl.extraction.extract import DEFAULT_METHOD, ExtractOptions, extract
from newscrawl.fields.kind.page_kind import KIND_THRESHOLD
from newscrawl.fields.metadata.metadata import language_tag, plain_text
from newscrawl.fields.metadata.structured_date import parse_date
from newscrawl.items import LISTED, NON_ARTICLE_KINDS, Evidence
from newscrawl.text import weighted_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from newscrawl.css.sheets.sheet import Sheet
    from newscrawl.items import Article

HINT_CONFIDENCE = 0.6
"""Of what discovery knows: a feed's entry says it of the story, not of this page."""

MIN_LISTED_BODY = 140
"""Weighted characters of the body of a page that a feed or news sitemap names, to be an article."""


def extract_page(
    data: bytes,
    *,
    url: str | None = None,
    encoding: str | None = None,
    fetched_at: str | None = None,
    method: str = DEFAULT_METHOD,
    parts: Iterable[str] = DEFAULT_PARTS,
    hints: Mapping[str, str] | None = None,
    article_threshold: float = KIND_THRESHOLD,
    stylesheets: Mapping[str, str] | None = None,
    store: str | None = None,
    store_size: int = 0,
    hashed: bool = False,
) -> dict[str, Any]:
    """Return the article of a page as :meth:`~newscrawl.items.Article.to_dict` gives it.

    *fetched_at* is ISO 8601. *parts* belong to the body (:mod:`newscrawl.body.parts`). *hints* (``title``, ``date``, ``language``) fill what the page leaves
    open, and a page that has the hint :data:`~newscrawl.items.LISTED` is an article unless its body
    is nearly empty. *article_threshold* is the probability from which any other page is one. *stylesheets* maps URLs to hashes of sheets in the *store* (a file, of *store_size* MB);
    None where styles are not asked for. *hashed* adds ``body_hash``, in hexadecimal
    (:func:`newscrawl.crawl.history.revisit_policy.body_hash`). Raises as :func:`~newscrawl.extraction.extract.extract` does.
    """
    known = _sheet_store(store, store_size) if store else None
    article = extract(
        data,
        url,
        encoding=encoding,
        fetched_at=datetime.fromisoformat(fetched_at) if fetched_at else None,
        stylesheets=_parsed(stylesheets, known),
        method=method,
        options=ExtractOptions(
            parts=parse_parts(parts), sheet_store=known, article_threshold=article_threshold
        ),
    )
    _fill_from_hints(article, hints or {})
    plain = article.to_dict()
    return {**plain, "body_hash": body_hash(article.body).hex()} if hashed else plain


def _parsed(hashes: Mapping[str, str] | None, store: SheetStore | None) -> dict[str, Sheet] | None:
    if hashes is None or store is None:
        return None
    sheets = {url: store.get(key) for url, key in hashes.items()}
    return {url: sheet for url, sheet in sheets.items() if sheet is not None}


def parse_stylesheet(
    data: bytes, *, encoding: str | None = None, store: str, store_size: int
) -> dict[str, Any]:
    """Parse a style sheet into the *store*.

    Returns its ``hash`` there, the URLs that it ``imports``, as written, and whether it was
    ``cached`` there, from a former crawl for example. *encoding* is the charset of the HTTP header.
    """
    known = _sheet_store(store, store_size)
    text = decode_sheet(data, encoding)
    key = sheet_hash(text)
    sheet = known.get(key)
    cached = sheet is not None
    if sheet is None:
        sheet = parse_sheet(text)
        known.put(key, sheet)
    return {"hash": key, "imports": [item.url for item in sheet.imports], "cached": cached}


@cache
def _sheet_store(path: str, megabytes: int) -> SheetStore:
    """Return this process's store of parsed style sheets."""
    return SheetStore(path, size=megabytes * 2**20)


def _fill_from_hints(article: Article, hints: Mapping[str, str]) -> None:
    known = {
        "title": plain_text(hints.get("title", "")),
        "language": language_tag(hints.get("language", "")),
    }
    for name, value in known.items():
        if value and not getattr(article, name):
            setattr(article, name, value)
            article.evidence[name] = Evidence("hint", HINT_CONFIDENCE)
    raw = hints.get("date")
    if raw and article.date is None and article.fetched_at is not None:
        article.date = parse_date(raw, article.fetched_at)
        if article.date is not None:
            article.date_raw = raw
            article.evidence["date"] = Evidence("hint", HINT_CONFIDENCE)
    # Only feeds and news sitemaps tell dates.
    is_listed = LISTED in hints or "date" in hints
    is_refused = is_listed and article.kind in NON_ARTICLE_KINDS
    if is_refused and weighted_length(article.body) >= MIN_LISTED_BODY:
        article.kind, article.evidence["kind"] = "article", Evidence("hint", HINT_CONFIDENCE)
