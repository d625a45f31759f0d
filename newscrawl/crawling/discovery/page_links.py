"""Links of a page to articles, section pages and feeds.

A pure function of bytes, run in a worker process.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from newscrawl.crawling.discovery.entries import ClassifiedPage
from newscrawl.crawling.discovery.listing_entries import EntryCollector, is_usable
from newscrawl.crawling.discovery.paging import ListingPages, is_cursor
from newscrawl.crawling.discovery.period import archive_span, span_of
from newscrawl.crawling.urls import absolute_url
from newscrawl.document.document import parse_document, rows_between
from newscrawl.fields import (
    PAGE_KIND_THRESHOLD,
    find_barrier,
    find_further_pages,
    has_article_data,
    kind_features,
    page_kind,
)
from newscrawl.fields.kind.link_classifier import is_headline, link_kind, may_list_articles
from newscrawl.items import NON_ARTICLE_KINDS
from newscrawl.text import squeeze, unescape
from newscrawl.workers.tasks import extract_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from newscrawl.document.document import Document

MAX_LINKS: Final = 1000
"""Links read from a page; home pages have up to a thousand."""
_FEED_TYPES = (
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json",
    "application/xml", "text/x-opml", "text/xml",
)  # fmt: skip
_FEED_NAME = re.compile(r"(?<![a-z])(?:rss\d?|atom|feeds?)(?![a-z])", re.IGNORECASE)
_FEED_PATH = re.compile(
    r"(?:^|[/._-])(?:rss\d?|atom|feeds?)(?:/[\w-]{1,30})?(?:\.(?:xml|rdf|json)|/?)(?:\?|$)"
    r"|\.(?:rss|atom|rdf|opml)(?:\?|$)",
    re.IGNORECASE,
)
_FEED_SCHEME = re.compile(r"^feed:(?=https?:|//)", re.IGNORECASE)
_MAX_FEED_LINKS = 3
_MAX_FEEDS = 200
_MAX_NEXT = 50
# Links as long as headlines that make a list of a page without addresses of articles.
_MIN_HEADLINES = 3
_MAX_TEASER_DEPTH = 6
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# Address of a further page that a script loads: data-next="/news?page=2".
_LOADED_PAGE = re.compile(
    rb"""\sdata-[a-z-]{0,20}(?:next|more|page|load|url|href|endpoint)[a-z-]{0,20}=["']([^"'<>\s]{1,200}[=/]\d{1,4}/?)["']"""
)
# Second page of a listing, whatever the text of its link.
_SECOND_PAGE = re.compile(r"/page/2/?|/?\?(?:paged?|pg)=2")
# Attributes with addresses of lists, where links lead to no articles: all but the first.
_SOURCES = (("frame", "src"), ("iframe", "src"), ("option", "value"))
_QUOTED_ADDRESS = re.compile(r"""["']((?:https?:/)?/[^\s"'<>\\]{8,500})["']""")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_IGNORED_PREFIXES = ("#", "javascript:", "mailto:", "tel:", "data:")


def read_page(
    data: bytes,
    *,
    url: str,
    domains: Sequence[str],
    encoding: str | None = None,
    limit: int = MAX_LINKS,
    index_only: bool = False,
    patterns: tuple[Sequence[str], Sequence[str]] = ((), ()),
    extraction: Mapping[str, Any] | None = None,
    **options: Any,
) -> ClassifiedPage:
    """Classify the page *data* and return its links; with *index_only*, only of an index.

    Articles and sections are those of the first *limit* links. *patterns* and *options* are those
    of :class:`~newscrawl.crawling.discovery.listing_entries.EntryCollector`, but sections need
    not match a pattern to include. *extraction*: arguments of
    :func:`newscrawl.workers.tasks.extract_page`, for a page that is no index.

    Raises ``DocumentError``.
    """
    document = parse_document(_markup(data), encoding)
    base = _base_url(document, url)
    features = kind_features(document)
    kind, confidence = page_kind(document, features, threshold=PAGE_KIND_THRESHOLD)
    barrier, article = find_barrier(document, features, url), None
    if extraction and (barrier or kind != "index"):
        article = extract_page(data, document=document, **extraction)
    of_sections: tuple[Sequence[str], Sequence[str]] = (), patterns[1]
    links = {
        name: EntryCollector(base, domains, limit=limit, patterns=expressions, **options)
        for name, expressions in (("article", patterns), ("section", of_sections))
    }
    written = dict[str, list[str]]()
    wanted, number = kind == "index" or not index_only, 0
    has_period = options.get("since") or options.get("until")
    days_of = _teaser_days(document) if wanted else {}
    second: list[str] = []
    headlines: dict[str, str] = {}
    if wanted:
        for target, text in extract_links(document, base, limit, written):
            name = link_kind(target, text)
            span = archive_span(target) if has_period and name != "article" else None
            name = "section" if span else name
            number += name == "article"
            day = next((days_of[href] for href in written[target] if href in days_of), None)
            if name != "other":
                span = span or (span_of(day) if has_period else None)
                links[name].add(target, link_text=text, shown_day=day, span=span)
            second += [target] if text == "2" else ()
            if is_headline(target, text):
                headlines[_destination(target, base)] = text
        headlines = headlines if len(headlines) >= _MIN_HEADLINES else {}
        rest = (u for u in written if u not in headlines and not (has_period and archive_span(u)))
        for target in islice(_lists(document, base, rest, number), limit):
            links["section"].add(target)
    others: dict[str, str] = {}
    if wanted and not number:
        others = headlines or _scripted_links(document.source, base, limit)
    for target, text in others.items():
        links["article"].add(target, link_text=text)
    declared = list(_declared_next(document, base))
    linked = chain(_next_listings(document, url, base, written), second) if wanted else ()
    following = list(islice(filter(is_usable, chain(declared, linked)), _MAX_NEXT))
    articles = links["article"].result("article")
    return ClassifiedPage(
        kind,
        confidence,
        barrier,
        is_article=kind not in NON_ARTICLE_KINDS and has_article_data(document),
        article=article,
        articles=articles.entries,
        sections=links["section"].result("section").entries,
        scripted=bool(others) and others is not headlines,
        feeds=_feed_urls(document, url, base) if wanted else [],
        next=next(
            chain(filter(ListingPages.of, following), filter(is_cursor, following), declared), None
        ),
        left_out=articles.left_out,
    )


def _markup(data: bytes) -> bytes:
    """Return *data*; of JSON, with the markup in its strings as scripts insert it in a page."""
    if data.startswith((b"{", b"[")):
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(data), ensure_ascii=False)
            return text.replace('\\"', '"').encode(errors="replace")
    return data


def _lists(document: Document, base: str, links: Iterable[str], articles: int) -> Iterator[str]:
    """Yield the addresses of frames, and of *links* that may list articles.

    *articles*: links of the page to articles; archive pages are yielded if these are few, all
    others, also those in attributes, only without any.
    """
    for tag, name in _SOURCES[:1] if articles else _SOURCES:
        for row in document.rows_of(tag):
            address = document.attributes_of(row).get(name, "")
            if (tag != "option" or "/" in address) and (target := absolute_url(address, base)):
                yield target
    for link in links if articles < _MIN_HEADLINES else ():
        if archive_span(link) or (not articles and may_list_articles(link, base)):
            yield link


def _base_url(document: Document, url: str) -> str:
    bases = document.rows_of("base")
    if not bases:
        return url
    return absolute_url(document.attributes["href"].get(bases[0], ""), url) or url


def _teaser_days(document: Document) -> dict[str, str]:
    """Return the days of ``time`` elements by the only address linked in the same element."""
    found, hrefs = {}, document.attributes["href"]
    anchors = [row for row in document.rows_of("a") if row in hrefs]
    for time in document.statements:
        row, linked = time.row, set[str]()
        day = _DAY.match(time.get("datetime")) if time.tag == "time" else None
        for _ in range(_MAX_TEASER_DEPTH if day else 0):
            row = document.parent[row]
            inside = rows_between(anchors, row, document.end[row]) if row > 0 else ()
            linked = linked or {hrefs[anchor].strip() for anchor in inside}
        if day and len(linked) == 1:
            found[linked.pop()] = day[0]
    return found


def _declared_next(document: Document, base: str) -> Iterator[str]:
    urls = (
        absolute_url(link.get("href"), base)
        for link in document.statements
        if "next" in link.get("rel").lower().split()
    )
    return islice(filter(is_usable, filter(None, urls)), _MAX_NEXT)


def _next_listings(document: Document, url: str, base: str, links: Iterable[str]) -> Iterator[str]:
    """Yield the addresses of the next page of a list: as linked, and as loaded by scripts."""
    start = url.partition("?")[0].rstrip("/")
    for link in links:
        is_second = link.startswith(start) and _SECOND_PAGE.fullmatch(link, len(start))
        if is_second or is_cursor(link):
            yield link
    for found in _LOADED_PAGE.findall(document.source):
        if target := absolute_url(unescape(found.decode(errors="replace")), base):
            yield target
    if len(document):
        yield from find_further_pages(document, [0], url)[-1:]


def _scripted_links(source: bytes, base: str, limit: int) -> dict[str, str]:
    """Return the addresses of articles in scripts and attributes, with empty texts."""
    text = unescape(source.decode(errors="replace")).replace("\\/", "/")
    text = text.replace("\\u002F", "/").replace('\\"', '"')
    quoted = (absolute_url(address, base) for address in _QUOTED_ADDRESS.findall(text))
    found = (url for url in quoted if url and link_kind(url) == "article")
    return dict.fromkeys(islice(found, limit), "")


def _destination(url: str, base: str) -> str:
    """Return the address of an article in the query of *url*, a redirect, else *url* itself."""
    values = (value for _, value in parse_qsl(urlsplit(url).query))
    targets = (absolute_url(value, base) for value in values if value.startswith(("/", "http")))
    return next((found for found in targets if found and link_kind(found) == "article"), url)


def _feed_urls(document: Document, url: str, base: str) -> list[str]:
    """Return the URLs of declared feeds, else of links to files that are named like feeds.

    Of a page that is itself named so, which lists the feeds of a site, all of them.
    """
    declared = (
        link.get("href")
        for link in document.statements
        if link.tag == "link"
        and not {"alternate", "outline"}.isdisjoint(link.get("rel").lower().split())
        and _is_feed(link.get("type"), f"{link.get('href')} {link.get('title')}")
    )
    hrefs = list(islice(filter(is_usable, declared), _MAX_FEEDS))
    if not hrefs:
        anchors = dict.fromkeys(document.attributes["href"].values())
        limit = _MAX_FEEDS if _FEED_PATH.search(url) else _MAX_FEED_LINKS
        hrefs = list(islice(filter(_FEED_PATH.search, filter(is_usable, anchors)), limit))
    urls = (absolute_url(_FEED_SCHEME.sub("", href), base) for href in hrefs)
    return list(dict.fromkeys(filter(None, urls)))


def _is_feed(media_type: str, name: str) -> bool:
    kind = media_type.partition(";")[0].strip().lower()
    return kind in _FEED_TYPES or (
        kind in ("", "application/json") and _FEED_NAME.search(name) is not None
    )


def extract_links(
    document: Document,
    base: str,
    limit: int | None = None,
    written: dict[str, list[str]] | None = None,
) -> Iterable[tuple[str, str]]:
    """Return URL and text of the first *limit* links of *document*, each URL once.

    A teaser links the same page by image, headline and text: the longest text is returned.
    *written* gets the addresses of each URL as the page has them.
    """
    texts: dict[str, str] = {}
    for href, text in _anchors(document):
        target = absolute_url(href, base)
        if target is not None and (target in texts or limit is None or len(texts) < limit):
            texts[target] = max(texts.get(target, ""), text, key=len)
            if written is not None:
                written.setdefault(target, []).append(href)
    return texts.items()


def _anchors(document: Document) -> Iterator[tuple[str, str]]:
    for row, address in document.attributes["href"].items():
        href = address.strip()
        if (
            document.tag[row] in ("a", "area")
            and is_usable(href)
            and not href.lower().startswith(_IGNORED_PREFIXES)
        ):
            yield _encode_query(href, document.encoding), squeeze(document.subtree_text(row))


def _encode_query(href: str, encoding: str) -> str:
    """Return *href* with its query in the charset of the page, as browsers send it."""
    path, mark, query = href.partition("?")
    if query.isascii() or encoding in ("str", "utf-8", "utf-16-le", "utf-16-be"):
        return href
    query, hash_mark, fragment = query.partition("#")
    data = query.encode(encoding, "xmlcharrefreplace")
    return f"{path}{mark}{quote(data, safe=_ASCII)}{hash_mark}{fragment}"
