"""Conversion of articles to ``zyte_common_items.Article`` (extra ``newscrawl[zyte]``)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newscrawl.items import Article


def to_zyte(article: Article) -> Any:
    """Return *article* as ``zyte_common_items.Article``.

    ``datePublished`` is None if only the date of modification is known, which differs from Zyte's
    schema. A day without time becomes its midnight, without a time zone.
    """
    import zyte_common_items as zyte  # noqa: PLC0415  # optional

    body, image = article.evidence.get("body"), article.image
    breadcrumbs = [zyte.Breadcrumb(name=part.name, url=part.url) for part in article.breadcrumbs]
    return zyte.Article(
        url=article.url,
        headline=article.title,
        datePublished=_iso(article.date),
        datePublishedRaw=article.date_raw,
        dateModified=_iso(article.date_modified),
        authors=[zyte.Author(name=name, nameRaw=name) for name in article.authors] or None,
        breadcrumbs=breadcrumbs or None,
        inLanguage=article.language,
        mainImage=zyte.Image(url=image.url) if image else None,
        description=article.description,
        articleBody=article.body or None,
        articleBodyHtml=article.to_html() if article.body_html else None,
        canonicalUrl=article.canonical_url,
        metadata=zyte.ArticleMetadata(
            dateDownloaded=_iso(article.fetched_at),
            probability=body.confidence if body else None,
        ),
    )


def _iso(moment: date | datetime | None) -> str | None:
    """Return *moment* as in Zyte's schema: without microseconds, ``Z`` for UTC, else an offset."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    text = moment.replace(microsecond=0).isoformat()
    return text.removesuffix("+00:00") + "Z" if moment.tzinfo == UTC else text
