"""Links of a page: articles, section pages and feeds that it leads to.

A pure function of bytes, made for a worker process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newscrawl.crawl.discovery.feed_entries import MAX_URL, Entries
from newscrawl.crawl.discovery.link_classifier import link_kind
from newscrawl.crawl.discovery.urls import absolute_url
from newscrawl.document.document import parse_document
from newscrawl.fields.kind.kind_features import kind_features
from newscrawl.fields.kind.page_kind import PAGE_KIND_THRESHOLD, has_article_data, page_kind
from newscrawl.items import NON_ARTICLE_KINDS
from newscrawl.text import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from newscrawl.document.document import Document

_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")
_NO_LINK = ("#", "javascript:", "mailto:", "tel:", "data:")


def read_page(
    data: bytes,
    *,
    url: str,
    owners: Sequence[str],
    encoding: str | None = None,
    limit: int = 500,
    traps: bool = True,
) -> dict[str, Any]:
    """Return what the page *data* is and where it leads.

    ``kind`` and ``confidence`` as :func:`newscrawl.fields.kind.page_kind.page_kind` has them before
    extraction, which drops fewer pages; ``is_story``:
    it looks like an article, and its JSON-LD calls it one, too; ``articles`` and ``sections``: entries (:meth:`newscrawl.crawl.discovery.feed_entries.Entries.result`) in the page's
    order, of the first *limit* links; ``feeds``: URLs; ``left_out``: counts by reason.
    Raises ``DocumentError``.
    """
    document = parse_document(data, encoding)
    base = _base(document, url)
    kind, confidence = page_kind(document, kind_features(document), threshold=PAGE_KIND_THRESHOLD)
    return {
        "kind": kind,
        "confidence": confidence,
        "is_story": kind not in NON_ARTICLE_KINDS and has_article_data(document),
        "feeds": _feeds(document, base),
        **_links(document, base, owners, limit, traps=traps),
    }


def _base(document: Document, url: str) -> str:
    base = next(document.root.iter("base"), None)
    return absolute_url(base.get("href", ""), url) or url if base is not None else url


def _feeds(document: Document, base: str) -> list[str]:
    urls = [
        absolute_url(link.get("href", ""), base)
        for link in document.root.iter("link")
        if "alternate" in link.get("rel", "").lower()
        and link.get("type", "").split(";")[0].strip().lower() in _FEED_TYPES
    ]
    return list(dict.fromkeys(filter(None, urls)))


def _links(
    document: Document, base: str, owners: Sequence[str], limit: int, *, traps: bool
) -> dict[str, Any]:
    kinds = ("article", "section", "other")
    found = {kind: Entries(base, owners, limit=limit, traps=traps) for kind in kinds}
    for target, text in links_of(document, base, limit):
        found[link_kind(target, text)].add(target)
    articles, sections = (found[kind].result(kind) for kind in ("article", "section"))
    return {
        "articles": articles["entries"],
        "sections": sections["entries"],
        "left_out": articles["left_out"],
    }


def links_of(document: Document, base: str, limit: int | None = None) -> Iterable[tuple[str, str]]:
    """Return URL and text of the first *limit* links of *document*, each URL once.

    A card links the same page by picture, headline and teaser: of several texts the longest
    is returned.
    """
    texts: dict[str, str] = {}
    for href, text in _anchors(document):
        target = absolute_url(href, base)
        if target is not None and (target in texts or limit is None or len(texts) < limit):
            texts[target] = max(texts.get(target, ""), text, key=len)
    return texts.items()


def _anchors(document: Document) -> Iterator[tuple[str, str]]:
    for row, tag in enumerate(document.tag):
        if tag in ("a", "area"):
            href = document.element(row).get("href", "").strip()
            if 0 < len(href) <= MAX_URL and not href.lower().startswith(_NO_LINK):
                yield href, squeeze(document.subtree_text(row))
