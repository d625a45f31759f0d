"""Converts items and feed rows to stories, the input of near-duplicate detection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from itemadapter import ItemAdapter

from newscrawl.crawling.urls import absolute_url, registered_domain, site_key, site_key_or
from newscrawl.fields.kind.link_classifier import MIN_ARTICLE_POINTS, url_points
from newscrawl.items import Article, instant
from newscrawl.neardup import Story

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


def read_story(item: Any, names: Mapping[str, str | None], now: datetime) -> Story | None:
    """Return the story of *item*, of any class that ItemAdapter supports; None without text or URL.

    *names* maps article fields to item fields (``NEWSCRAWL_FIELDS``), except those of an
    :class:`~newscrawl.items.Article`. The time of the story is the date of publication, else the
    time it was fetched, else *now*.
    """
    adapter = None if isinstance(item, Article) else ItemAdapter(item)

    def value(field: str) -> Any:
        return adapter.get(names.get(field, field) or "") if adapter else getattr(item, field)

    text, url = value("body"), value("url")
    if not (isinstance(text, str) and text.strip() and isinstance(url, str)):
        return None
    url = absolute_url(url)
    if url is None:
        return None
    when = instant(value("date")) or instant(value("fetched_at")) or now
    identified = identity(url, value("canonical_url"))
    return Story(identified, text, when, registered_domain(site_key(url)))


def identity(url: str, canonical: Any) -> str:
    """Return the *canonical* URL, shared by all versions of a page, if it is plausible, else *url*.

    It is ignored on another domain (syndicated copies), and if it looks less like that of an
    article than *url*: some sites declare their home page or a section page everywhere.
    """
    if canonical == url or not isinstance(canonical, str):
        return url
    stated = absolute_url(canonical, url)
    if not stated or urlsplit(stated).path in ("", "/"):
        return url
    domain, other = (registered_domain(site_key_or(it, "")) for it in (url, stated))
    is_article = url_points(stated) >= min(url_points(url), MIN_ARTICLE_POINTS)
    return stated if other == domain and is_article else url
