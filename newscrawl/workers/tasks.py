"""Tasks of the workers: functions from bytes and JSON values to a dict of JSON values."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from newscrawl.body.parts import DEFAULT_PARTS, PARTS, parse_names
from newscrawl.css import SheetStore, decode_sheet, parse_sheet, sheet_hash
from newscrawl.document.document import parse_document
from newscrawl.document.encoding import to_utf8
from newscrawl.extraction.extract import DEFAULT_METHOD, ExtractOptions, extract_parsed
from newscrawl.extraction.methods import get_method
from newscrawl.fields import BARRIERS, DETECTED, language_tag, parse_date, plain_text
from newscrawl.items import EXTRA_FIELDS, LISTED, MAX_BODY, NON_ARTICLE_KINDS, Evidence
from newscrawl.site_rules import SiteRules
from newscrawl.text import weighted_length, without_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from newscrawl.css import Sheet
    from newscrawl.document.document import Document
    from newscrawl.items import Article

HINT_CONFIDENCE = 0.6
"""Confidence of values from a feed or sitemap entry, which may describe another version."""

# Source and confidence of a date by the name of its hint, the most trusted first.
_DATE_HINTS = {
    "date": ("hint", HINT_CONFIDENCE),
    "updated": ("hint:updated", HINT_CONFIDENCE),
    "shown_day": ("hint:listing", 0.5),
}

MIN_LISTED_BODY = 140
"""Minimum body length, in weighted characters, at which a page from a feed is an article."""

# Without a language, and not in English, so that the detector is loaded.
_SAMPLE = b"""<!DOCTYPE html>
<html><head><title>Storm damages bridge - Site</title></head>
<body><nav><a href="/">Home</a> <a href="/news/">News</a></nav>
<article><h1>Storm damages bridge</h1><p class="date">23 November 2026</p>
<p>Ein Sturm hat den Steg am Fluss zerbrochen, und die Stadt hat ihn mit Brettern gesperrt.</p>
<p>Die Reparatur soll nach den Worten eines Ingenieurs im Sommer enden, wenn das Wetter es will.</p>
</article><div class="comments"><h2>Comments</h2><p>Anna, 2 hours ago: And the ferry?</p></div>
</body></html>"""


def load_models() -> None:
    """Load the models and tables of extraction, before the deadline of a first page."""
    extract_page(_SAMPLE, url="https://www.site.example/2026/11/23/storm-damage.html")


def extract_page(
    data: bytes,
    *,
    document: Document | None = None,
    url: str | None = None,
    encoding: str | None = None,
    fetched_at: str | None = None,
    method: str = DEFAULT_METHOD,
    parts: Iterable[str] = DEFAULT_PARTS,
    extra_fields: Iterable[str] = (),
    hints: Mapping[str, str] | None = None,
    article_threshold: float | None = None,
    stylesheets: Mapping[str, str] | None = None,
    store: str | None = None,
    truncated: bool = False,
    site_rules: str = "",
) -> dict[str, Any]:
    """Return the article of a page as a dict (:meth:`newscrawl.items.Article.to_dict`).

    - *document* is the parsed page, if a caller has read it before.
    - *fetched_at* is ISO 8601; *parts* are names of :mod:`newscrawl.body.parts`, *extra_fields*
      of :data:`newscrawl.items.EXTRA_FIELDS`.
    - *hints* (``title``, ``date``, ``language``) are values of the feed or sitemap entry,
      ``shown_day`` of a listing on an HTML page, and ``canonical`` of the HTTP header, used if the
      page has none. A page with the hint
      :data:`~newscrawl.items.LISTED` is an article unless its body is nearly empty; other pages
      need a probability of *article_threshold*.
    - *stylesheets* maps URLs to hashes of sheets in the folder *store*; None disables styles.
    - *truncated* adds the flag ``truncated``.
    - *site_rules* is a folder of :mod:`newscrawl.site_rules`; "": none.

    Raises the exceptions of :func:`newscrawl.extraction.extract.extract`.
    """
    sheet_store = _sheet_store(store) if store else None
    options = ExtractOptions(
        parts=parse_names(parts, PARTS, "part"),
        extra_fields=parse_names(extra_fields, EXTRA_FIELDS, "field on request"),
        sheet_store=sheet_store,
        article_threshold=article_threshold,
        site_rules=_site_rules(site_rules) if site_rules else None,
    )
    chosen = get_method(method)
    if document is None or chosen.needs_scripts:
        document = parse_document(data, encoding, scripts=chosen.needs_scripts)
    moment = datetime.fromisoformat(fetched_at) if fetched_at else None
    sheets = _stored_sheets(stylesheets, sheet_store)
    article = extract_parsed(document, url, chosen, options, fetched_at=moment, stylesheets=sheets)
    _fill_from_hints(article, hints or {})
    if truncated:
        article.flags.append("truncated")
    if len(article.body) > MAX_BODY:  # it will be dropped
        article.body = article.body[: MAX_BODY + 1]
        article.body_markdown = article.body_html = None
    return article.to_dict()


def decode_page(data: bytes, *, encoding: str | None = None) -> dict[str, Any]:
    """Return the ``text`` of a page; *encoding* is the charset of the HTTP header."""
    return {"text": to_utf8(data, encoding).utf8.decode()}


def _stored_sheets(
    hashes: Mapping[str, str] | None, store: SheetStore | None
) -> dict[str, Sheet] | None:
    if hashes is None or store is None:
        return None
    sheets = {url: store.get(key) for url, key in hashes.items()}
    return {url: sheet for url, sheet in sheets.items() if sheet is not None}


def parse_stylesheet(data: bytes, *, encoding: str | None = None, store: str) -> dict[str, Any]:
    """Parse a style sheet and put it into the folder *store*.

    Returns its key (``hash``), the URLs of its ``imports`` as written, and whether it was already
    ``cached``. *encoding* is the charset of the HTTP header.
    """
    sheet_store = _sheet_store(store)
    text = decode_sheet(data, encoding)
    key = sheet_hash(text)
    sheet = sheet_store.get(key)
    cached = sheet is not None
    if sheet is None:
        sheet = parse_sheet(text)
        sheet_store.put(key, sheet)
    return {"hash": key, "imports": sheet.imports, "cached": cached}


@cache
def _site_rules(folder: str) -> SiteRules:
    """Return the rules in *folder*, listed once per process."""
    return SiteRules(folder)


@cache
def _sheet_store(path: str) -> SheetStore:
    """Return the store of parsed style sheets at *path*, opened once per process."""
    return SheetStore(path)


def _fill_from_hints(article: Article, hints: Mapping[str, str]) -> None:
    hints = {name: without_controls(text) for name, text in hints.items()}
    values = {
        "title": plain_text(hints.get("title", "")),
        "language": language_tag(hints.get("language", "")),
    }
    for name, value in values.items():
        evidence = article.evidence.get(name)
        is_detected = evidence is not None and evidence.source == DETECTED
        if value and (is_detected or not getattr(article, name)):
            setattr(article, name, value)
            article.evidence[name] = Evidence("hint", HINT_CONFIDENCE)
    if article.canonical_url is None and "canonical" in hints:
        article.canonical_url = hints["canonical"]
        article.evidence["canonical_url"] = Evidence("header", HINT_CONFIDENCE)
    for name, (source, confidence) in _DATE_HINTS.items():
        if name in hints and article.date is None and article.fetched_at is not None:
            article.date = parse_date(hints[name], article.fetched_at)
            if article.date is not None:
                article.date_raw = hints[name]
                article.evidence["date"] = Evidence(source, confidence)
    # Only feeds and news sitemaps have dates.
    is_listed = LISTED in hints or "date" in hints
    is_barrier = article.evidence["kind"].source in BARRIERS
    is_rejected = is_listed and not is_barrier and article.kind in NON_ARTICLE_KINDS
    if is_rejected and weighted_length(article.body) >= MIN_LISTED_BODY:
        article.kind, article.evidence["kind"] = "article", Evidence("hint", HINT_CONFIDENCE)
