"""Load generator of the benchmarks: a server in its own process, and meters in the crawl."""

from __future__ import annotations

import gc
import json
import multiprocessing
import random
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psutil
import scrapy
from scrapy import signals

from tests.helpers.crawls import Crawl, run_scrapy
from tests.servers import LoopbackServer, Request, response
from tests.servers.direct_web import direct_environment
from tests.servers.pages import PUBLISHED, article_page, dress, paragraphs, title

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

MB = 2**20
TIMEOUT = 3600.0
"""Maximum duration of a crawl, in seconds."""
#: maximum entries of the sitemap, below the limit of the protocol
_MAX_ENTRIES = 20_000
_HTML = {"Content-Type": "text/html; charset=utf-8"}
_SHEET = '<link rel="stylesheet" href="/site.css">'
_CSS = b".text p { color: #222; font-size: 18px } nav li { display: inline-block } .meta { color: #777 }"
# random texts, as near-duplicates would put extra load on the index
_WORDS = sorted({word for n in range(49) for text in paragraphs(n) for word in text.split()})
_MENU = "".join(
    f'<li><a href="/thema/{n}/">Thema {n}</a><span>mehr</span></li>' for n in range(200)
)


def article_path(number: int) -> str:
    """Return the path of an article."""
    return f"/2026/03/14/lokales/was-aus-dem-umbau-wird-{number}.html"


class PageServer(LoopbackServer):
    """Serves *pages* different articles of *size* bytes with a common style sheet."""

    def __init__(self, pages: int, size: int) -> None:
        super().__init__()
        self._pages = pages
        # the same boilerplate on all pages
        menus = max(0, size - len(article_page(0))) // len(_MENU)
        self._menu = f"<nav><ul>{_MENU * menus}</ul></nav><main>"

    def page(self, number: int) -> bytes:
        """Return an article of 500 words in random order."""
        chance = random.Random(number)
        texts = [" ".join(chance.choices(_WORDS, k=70)).capitalize() + "." for _ in range(7)]
        html = dress(title(number), texts, meta_charset="utf-8")
        html = html.replace("</head>", f"{_SHEET}</head>", 1)
        return html.replace("<main>", self._menu, 1).encode()

    def _sitemap(self) -> str:
        entries = "".join(
            f"<url><loc>{self.url}{article_path(n)}</loc><news:news><news:publication>"
            "<news:name>x</news:name><news:language>de</news:language></news:publication>"
            f"<news:publication_date>{PUBLISHED.isoformat()}</news:publication_date>"
            f"<news:title>{title(n)}</news:title></news:news></url>"
            for n in range(self._pages)
        )
        space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        news = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
        return f"<urlset {space} {news}>{entries}</urlset>"

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the article, the sitemap or robots.txt."""
        kinds, status = _HTML, 200
        if request.target.startswith("/2026/"):
            body = self.page(int(request.target.rsplit("-", 1)[1].removesuffix(".html")))
        elif request.target == "/robots.txt":
            body, kinds = f"Sitemap: {self.url}/map.xml\n".encode(), {"Content-Type": "text/plain"}
        elif request.target == "/map.xml":
            body, kinds = self._sitemap().encode(), {"Content-Type": "application/xml"}
        elif request.target == "/site.css":
            body, kinds = _CSS, {"Content-Type": "text/css"}
        else:
            body, status = b"<title>Der Tagesbote</title>", 200 if request.target == "/" else 404
        writer.write(response(body, status, kinds))
        return True


@contextmanager
def served(pages: int, size: int) -> Iterator[str]:
    """Serve *pages* articles of *size* bytes in another process; yield the URL of the site."""
    if pages > _MAX_ENTRIES:
        raise ValueError(f"more than {_MAX_ENTRIES} pages")
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(pages, size, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _serve(pages: int, size: int, connection: Connection) -> None:
    with PageServer(pages, size) as server:
        connection.send(server.url)
        connection.poll(None)


class Meter:
    """Extension that records CPU time and memory of the crawling process.

    Objects that exist before the first request are excluded from garbage collection.
    """

    _SAMPLE_INTERVAL = 100

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._process = psutil.Process()
        self._pages = 0
        self._sizes: list[tuple[int, int]] = []
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._page, signals.response_received)
        crawler.signals.connect(self._stop, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        return cls(crawler)

    def _start(self) -> None:
        gc.collect()
        gc.freeze()
        self._before = time.thread_time(), time.process_time()

    def _page(self) -> None:
        self._pages += 1
        if self._pages % self._SAMPLE_INTERVAL == 0:
            self._sizes.append((self._pages, self._process.memory_info().rss))

    def _stop(self) -> None:
        thread, process = self._before
        self._stats.set_value("meter/reactor", time.thread_time() - thread)
        self._stats.set_value("meter/process", time.process_time() - process)
        self._stats.set_value("meter/pages", self._pages)
        self._stats.set_value("meter/sizes", self._sizes)


class TrivialSpider(scrapy.Spider):
    """Fetches ``pages`` articles of ``site`` without extracting them."""

    name = "trivial"

    async def start(self) -> AsyncIterator[Any]:
        """Yield all requests."""
        for number in range(int(self.pages)):  # type: ignore[attr-defined]
            yield scrapy.Request(f"{self.site}{article_path(number)}")  # type: ignore[attr-defined]

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield a trivial item."""
        yield {"url": response.url, "status": response.status}


def crawl_plugin(folder: Path, site: str, pages: int, **settings: object) -> Crawl:
    """Crawl with all features: state, safety, workers, styles, near-duplicates, segments."""
    given = {
        "EXTENSIONS": json.dumps({f"{__name__}.Meter": 0}),
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "NEWSCRAWL_MAX_AGE": 0,
        "NEWSCRAWL_NEARDUP_ENABLED": True,
        "NEWSCRAWL_NEARDUP_INDEX": folder / "neardup.sqlite",
        "NEWSCRAWL_SEGMENTS": folder / "segments",
        "NEWSCRAWL_SITE_LIMIT": pages,
        "NEWSCRAWL_SITE_REQUESTS": 2 * pages,
        **settings,
    }
    command = ["crawl", "sitelist", "-a", f"site={site}/"]
    return run_scrapy(folder, command, direct_environment(), given, TIMEOUT, with_feed=False)


def crawl_trivially(folder: Path, site: str, pages: int, **settings: object) -> Crawl:
    """Crawl the same pages with plain Scrapy and a trivial spider."""
    given = {
        "EXTENSIONS": json.dumps({f"{__name__}.Meter": 0}),
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        **settings,
    }
    environment = {
        **direct_environment(),
        "SCRAPY_SETTINGS_MODULE": "scrapy.settings.default_settings",
    }
    command = ["runspider", __file__, "-a", f"site={site}", "-a", f"pages={pages}"]
    return run_scrapy(folder, command, environment, given, timeout=TIMEOUT)


def articles(crawl: Crawl) -> int:
    """Return the number of scraped items."""
    return int(crawl.stats.get("item_scraped_count", 0))
