"""Functions that workers call by name: bytes and plain values in, plain values out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from newscrawl.extraction import extract
from newscrawl.fields.metadata import language_tag, plain_text
from newscrawl.fields.structured_date import parse_date
from newscrawl.items import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from newscrawl.items import Article

HINT_CONFIDENCE = 0.6
"""Of what discovery knows: a feed's entry says it of the story, not of this page."""


def extract_page(
    data: bytes,
    *,
    url: str | None = None,
    encoding: str | None = None,
    fetched_at: str | None = None,
    method: str = "nce",
    hints: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the article of a page as :meth:`~newscrawl.items.Article.to_dict` gives it.

    *fetched_at* is ISO 8601. *hints* (``title``, ``date``, ``language``) fill what the page leaves
    open. Raises as :func:`~newscrawl.extraction.extract` does.
    """
    instant = datetime.fromisoformat(fetched_at) if fetched_at else None
    article = extract(data, url, encoding=encoding, fetched_at=instant, method=method)
    _fill_from_hints(article, hints or {})
    return article.to_dict()


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
            if article.kind == "other":  # which it was for want of a date only
                article.kind = "article"
