"""Replay of the labelled corpora: recorded pages under their original host names.

Each host has a ``robots.txt``, a front page and one way of discovery: a sitemap index, a news
sitemap, an RSS or Atom feed, or links on the front page and a section page. Discovery, charset in
the ``Content-Type``, compression and transfer coding are derived from a hash of the host name, so
that runs are reproducible.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime, time
from email.utils import format_datetime
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from w3lib.url import canonicalize_url

from newscrawl.lab.corpora.corpus import load_corpus
from tests.servers import LoopbackServer, Request, chunked, response

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable
    from datetime import date
    from pathlib import Path

    from newscrawl.lab.corpora.corpus import LabelledPage

Discovery = Literal["sitemap", "news", "rss", "atom", "section"]
DISCOVERIES: tuple[Discovery, ...] = ("sitemap", "news", "rss", "atom", "section")

_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
_HTML_LANG = re.compile(rb"""<html[^>]{0,500}?\slang\s*=\s*["']?([a-zA-Z]{2,3})""", re.IGNORECASE)
_NOT_FOUND = b"<html><title>Not found</title><p>Not found.</html>"
#: navigation links of every front page; the server answers them with 404
_NAVIGATION = ("about", "contact", "privacy-policy", "subscribe", "video", "tag/weather")


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """Labelled page as served."""

    #: absolute, over plain HTTP, without a fragment
    url: str
    #: timezone-aware publication date
    date: datetime
    labels: LabelledPage

    @property
    def title(self) -> str:
        """The labelled title."""
        return self.labels.title or ""

    @property
    def host(self) -> str:
        """Host name of the page's URL."""
        return urlsplit(self.url).netloc

    @property
    def target(self) -> str:
        """Path and query of the page's URL."""
        return self.url.split(self.host, 1)[1]

    def html(self) -> bytes:
        """Return the bytes as fetched."""
        return self.labels.html()


def load_pages(corpora: Path, *names: str) -> list[RecordedPage]:
    """Return the pages of the named corpora that have a date, each URL once."""
    pages: dict[str, RecordedPage] = {}
    for name in names:
        for labels in load_corpus(corpora / name).pages:
            if labels.date:
                url = canonicalize_url(labels.url.replace("https://", "http://", 1))
                pages.setdefault(url, RecordedPage(url, _instant(labels.date), labels))
    return list(pages.values())


def _instant(day: date | datetime) -> datetime:
    instant = day if isinstance(day, datetime) else datetime.combine(day, time())
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


class Site:
    """Host of the corpora, with the documents that list its pages."""

    def __init__(self, host: str, pages: Iterable[RecordedPage]) -> None:
        self.host = host
        self.pages = sorted(pages, key=lambda page: page.date, reverse=True)
        # independent pseudo-random numbers, the same in each run
        self._digest = hashlib.sha256(host.encode()).digest()

    @property
    def url(self) -> str:
        """URL of the front page."""
        return f"http://{self.host}/"

    @property
    def discovery(self) -> Discovery:
        """How the pages of this site can be discovered."""
        return DISCOVERIES[self._digest[0] % len(DISCOVERIES)]

    @property
    def gzips(self) -> bool:
        """Whether pages are sent compressed."""
        return self._digest[1] % 3 == 0

    @property
    def chunks(self) -> bool:
        """Whether pages are sent in chunks."""
        return self._digest[2] % 3 == 0

    def content_type(self, html: bytes) -> str:
        """Return the ``Content-Type`` of a page; half of the hosts repeat the charset of the meta tag."""
        declared = _META_CHARSET.search(html, 0, 8192)
        if declared is None or self._digest[3] % 2:
            return "text/html"
        return f"text/html; charset={declared[1].decode()}"

    @cached_property
    def documents(self) -> dict[str, tuple[str, bytes]]:
        """Path -> content type and body of all generated documents."""
        made: dict[str, tuple[str, str | bytes]] = {
            "/robots.txt": ("text/plain", self._robots()),
            "/": ("text/html; charset=utf-8", self._front_page()),
        }
        makers: dict[Discovery, Callable[[], dict[str, tuple[str, str | bytes]]]] = {
            "sitemap": self._sitemaps,
            "news": lambda: {"/news-sitemap.xml": ("application/xml", self._news_sitemap())},
            "rss": lambda: {"/feed.xml": ("application/rss+xml", self._rss())},
            "atom": lambda: {"/feed.xml": ("application/atom+xml", self._atom())},
            "section": lambda: {"/world/": ("text/html; charset=utf-8", self._section_page())},
        }
        made |= makers[self.discovery]()
        return {
            path: (kind, body.encode() if isinstance(body, str) else body)
            for path, (kind, body) in made.items()
        }

    def _robots(self) -> str:
        sitemaps = {"sitemap": "sitemap.xml", "news": "news-sitemap.xml"}
        name = sitemaps.get(self.discovery)
        rules = "User-agent: *\nDisallow: /private/\n"
        return rules + (f"\nSitemap: {self.url}{name}\n" if name else "")

    def _front_page(self) -> str:
        feed = (
            f'<link rel="alternate" type="application/{self.discovery}+xml" href="/feed.xml">'
            if self.discovery in {"rss", "atom"}
            else ""
        )
        links = _headlines(self.pages[::2]) if self.discovery == "section" else ""
        return self._index_page(feed, '<li><a href="/world/">World</a></li>', links)

    def _section_page(self) -> str:
        return self._index_page("", "", _headlines(self.pages[1::2]))

    def _index_page(self, head: str, navigation: str, main: str) -> str:
        navigation += "".join(
            f'<li><a href="/{path}">{path.title()}</a></li>' for path in _NAVIGATION
        )
        return (
            f"<!DOCTYPE html><html><head><title>{self.host}</title>{head}</head><body>"
            f"<nav><ul>{navigation}</ul></nav><main>{main}</main></body></html>"
        )

    def _sitemaps(self) -> dict[str, tuple[str, str | bytes]]:
        """Return an index of sitemaps, one per year; the first is compressed."""
        by_year: dict[int, list[RecordedPage]] = {}
        for page in self.pages:
            by_year.setdefault(page.date.year, []).append(page)
        made: dict[str, tuple[str, str | bytes]] = {}
        entries = []
        for number, (year, pages) in enumerate(by_year.items()):
            path = f"/sitemaps/{year}.xml" + ("" if number else ".gz")
            body = _urlset(_url_entry(page) for page in pages)
            made[path] = (
                ("application/xml", body)
                if number
                else ("application/gzip", gzip.compress(body.encode()))
            )
            newest = max(page.date for page in pages).isoformat()
            entries.append(
                f"<sitemap><loc>http://{self.host}{path}</loc><lastmod>{newest}</lastmod></sitemap>"
            )
        index = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"{''.join(entries)}</sitemapindex>"
        )
        return {"/sitemap.xml": ("application/xml", index), **made}

    def _news_sitemap(self) -> str:
        return _urlset(_news_entry(page, self.host) for page in self.pages)

    def _rss(self) -> str:
        items = "".join(
            f"<item><title>{escape(page.title)}</title><link>{escape(page.url)}</link>"
            f"<pubDate>{format_datetime(page.date)}</pubDate></item>"
            for page in self.pages
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>'
            f"<title>{self.host}</title><link>{self.url}</link>"
            f"<description>News</description>{items}</channel></rss>"
        )

    def _atom(self) -> str:
        entries = "".join(
            f'<entry><title>{escape(page.title)}</title><link href="{escape(page.url)}"/>'
            f"<id>{escape(page.url)}</id><published>{page.date.isoformat()}</published>"
            f"<updated>{page.date.isoformat()}</updated></entry>"
            for page in self.pages
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
            f"<title>{self.host}</title><id>{self.url}</id>"
            f"<updated>{self.pages[0].date.isoformat()}</updated>{entries}</feed>"
        )


def _headlines(pages: Iterable[RecordedPage]) -> str:
    return "".join(
        f'<article><h2><a href="{escape(page.target)}">{escape(page.title)}</a></h2></article>'
        for page in pages
    )


def _urlset(entries: Iterable[str]) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">'
        f"{''.join(entries)}</urlset>"
    )


def _url_entry(page: RecordedPage) -> str:
    return f"<url><loc>{escape(page.url)}</loc><lastmod>{page.date.isoformat()}</lastmod></url>"


def _news_entry(page: RecordedPage, publication: str) -> str:
    language = _HTML_LANG.search(page.html(), 0, 8192)
    return (
        f"<url><loc>{escape(page.url)}</loc><news:news><news:publication>"
        f"<news:name>{publication}</news:name>"
        f"<news:language>{language[1].decode().lower() if language else 'en'}</news:language>"
        f"</news:publication><news:publication_date>{page.date.isoformat()}</news:publication_date>"
        f"<news:title>{escape(page.title)}</news:title></news:news></url>"
    )


def make_sites(pages: Iterable[RecordedPage], count: int | None = None) -> list[Site]:
    """Return the sites of *pages*: all, or about *count*, evenly spread."""
    by_host: dict[str, list[RecordedPage]] = {}
    for page in pages:
        by_host.setdefault(page.host, []).append(page)
    hosts = list(by_host)
    if count is not None:
        hosts = hosts[:: max(1, len(hosts) // count)][:count]
    return [Site(host, by_host[host]) for host in hosts]


class ReplayServer(LoopbackServer):
    """Proxy that serves *sites*."""

    def __init__(self, sites: Iterable[Site]) -> None:
        super().__init__()
        self.sites = {site.host: site for site in sites}
        pages = [page for site in self.sites.values() for page in site.pages]
        self._pages = {page.url.partition("?")[0]: page for page in pages}
        # URLs with a query take precedence, for pages that differ only in the query.
        self._pages |= {page.url: page for page in pages}

    def page_of(self, host: str, target: str) -> RecordedPage | None:
        """Return the recorded page for a request, or None.

        Unknown query parameters such as ``utm_source`` are ignored.
        """
        url = canonicalize_url(f"http://{host}{target}")
        return self._pages.get(url) or self._pages.get(url.partition("?")[0])

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the recorded page, the generated document, or 404."""
        status, headers, body = self._find(request)
        self.record(request, status)
        site = self.sites.get(request.host)
        if site and site.gzips and "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"], body = "gzip", gzip.compress(body, 1)
        if site and site.chunks:
            headers["Transfer-Encoding"] = "chunked"
            writer.write(
                response(chunked(body) + b"0\r\n\r\n", status, headers, content_length=False)
            )
        else:
            writer.write(response(body, status, headers))
        return True

    def _find(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        site = self.sites.get(request.host)
        if site is None:
            return 404, {}, _NOT_FOUND
        if page := self.page_of(request.host, request.target):
            html = page.html()
            return 200, {"Content-Type": site.content_type(html)}, html
        kind, body = site.documents.get(request.target, ("", b""))
        if not kind:
            return 404, {}, _NOT_FOUND
        return 200, {"Content-Type": kind}, body
