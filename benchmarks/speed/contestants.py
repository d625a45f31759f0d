"""Crawlers of the comparison, each run in its own environment and process.

    python -m benchmarks.speed.contestants NAME URLS ITEMS STALL

``URLS`` has a URL per line, ``ITEMS`` is the feed to write (JSON Lines with ``url`` and ``body``),
``STALL`` the file for the longest stall of the event loop. The same politeness for all: robots.txt
obeyed, no delay, :data:`CONCURRENT` requests at once, :data:`CONCURRENT_PER_HOST` of them to a
host.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CONCURRENT = 32
CONCURRENT_PER_HOST = 8
_TIMEOUT = 30
LOOPBACK = "127.0.0.1"
_getaddrinfo, _gethostbyname = socket.getaddrinfo, socket.gethostbyname


def _address(host: Any) -> Any:
    name = host.decode("ascii") if isinstance(host, bytes) else host
    if name is None or name in {"localhost", LOOPBACK}:
        return host
    if name.endswith(".example"):
        return LOOPBACK
    raise socket.gaierror(socket.EAI_NONAME, "only names under .example are known")


def _resolve_locally() -> None:
    """Let names under ``.example`` resolve to loopback in this process, no others."""
    socket.getaddrinfo = lambda host, *args, **options: _getaddrinfo(
        _address(host), *args, **options
    )
    socket.gethostbyname = lambda host: _gethostbyname(_address(host))


def _scrapy_settings(items: Path, stall: Path) -> dict[str, Any]:
    return {
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS": CONCURRENT,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENT_PER_HOST,
        "COOKIES_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "EXTENSIONS": {"benchmarks.speed.scrapy_crawls.StallMeter": 0},
        "FEEDS": {str(items): {"format": "jsonlines", "encoding": "utf-8"}},
        "LOG_LEVEL": "INFO",
        "ROBOTSTXT_OBEY": True,
        "STALL_FILE": str(stall),
        "TELNETCONSOLE_ENABLED": False,
    }


def _scrapy(pipeline: str, urls: list[str], items: Path, stall: Path) -> None:
    from benchmarks.speed import scrapy_crawls

    scrapy_crawls.crawl(urls, getattr(scrapy_crawls, pipeline), _scrapy_settings(items, stall))


def _newscrawl(spider: str, urls: list[str], items: Path, stall: Path) -> None:
    """Run the spider ``urllist``, or ``sitelist`` with discovery, as ``scrapy crawl`` does."""
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.utils.project import get_project_settings

    os.environ["SCRAPY_SETTINGS_MODULE"] = "newscrawl.settings.base"
    with TemporaryDirectory() as folder:
        settings = get_project_settings()
        settings.setdict(_scrapy_settings(items, stall), "cmdline")
        settings.setdict(
            {
                "NEWSCRAWL_ALLOWED_ADDRESSES": [LOOPBACK],
                # The archived pages are without their sheets.
                "NEWSCRAWL_CSS_ENABLED": False,
                "NEWSCRAWL_MAX_AGE": 0,
                "NEWSCRAWL_STATE": f"{folder}/state.sqlite",
            },
            "cmdline",
        )
        process = AsyncCrawlerProcess(settings)
        listed = dict.fromkeys(map(_site, urls)) if spider == "sitelist" else urls
        path = Path(folder, "list.txt")
        path.write_text("\n".join(listed), encoding="utf-8")
        process.crawl(spider, **{"sites" if spider == "sitelist" else "file": str(path)})
        process.start()


def _site(url: str) -> str:
    return "/".join(url.split("/")[:3]) + "/"


def _news_please(urls: list[str], items: Path, _stall: Path) -> None:
    """Fetch all URLs, then extract in a process per core, as the library does; no event loop."""
    from newsplease import NewsPlease

    # newsplease reads the timeout of a page from here.
    found = NewsPlease.from_urls(urls, request_args={"timeout": _TIMEOUT}, fetch_images=False)
    _write(items, ({"url": url, "body": _news_please_body(found[url])} for url in found))


def _news_please_body(article: Any) -> str | None:
    return getattr(article, "maintext", None)


def _fundus(urls: list[str], items: Path, _stall: Path) -> None:
    """Crawl with the parsers of publishers, a thread each; no event loop.

    Lines of *urls* are ``URL PUBLISHER TIME``: the parser of a publisher depends on the time of the
    fetch. libcurl has a resolver of its own, so the server is used as a proxy.
    """
    from fundus import PublisherCollection
    from fundus.scraping.html import WebSource
    from fundus.scraping.scraper import BaseScraper

    by_name: dict[str, dict[str, datetime]] = {}
    for line in urls:
        url, name, time = line.split(" ")
        by_name.setdefault(name, {})[url] = datetime.fromisoformat(time)
    os.environ["http_proxy"] = f"http://{LOOPBACK}:{urlsplit(urls[0]).port}"

    class ArchivedSource:
        def __init__(self, publisher: Any) -> None:
            self._times = by_name[publisher.__name__]
            self._source = WebSource(self._times, publisher, ignore_robots=True)

        def fetch(self, url_filter: Any = None) -> Iterator[Any]:
            for page in self._source.fetch(url_filter):
                yield replace(page, crawl_date=self._times[page.requested_url])

    def scrape(publisher: Any) -> list[dict[str, Any]]:
        parsers = {publisher.name: publisher.parser}
        scraper = BaseScraper(ArchivedSource(publisher), parser_mapping=parsers)
        return [
            {"url": article.html.requested_url, "body": str(article.body or "")}
            for article in scraper.scrape(error_handling="suppress")
        ]

    with ThreadPoolExecutor(CONCURRENT) as threads:
        known = [publisher for publisher in PublisherCollection if publisher.__name__ in by_name]
        _write(items, (article for found in threads.map(scrape, known) for article in found))


def _write(path: Path, articles: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(article)}\n" for article in articles)


CONTESTANTS: dict[str, Callable[[list[str], Path, Path], None]] = {
    "scrapy": partial(_scrapy, "DropPages"),
    "newscrawl": partial(_newscrawl, "urllist"),
    "newscrawl-sites": partial(_newscrawl, "sitelist"),
    "trafilatura-inline": partial(_scrapy, "ExtractInline"),
    "trafilatura-pool": partial(_scrapy, "ExtractInPool"),
    "news-please": _news_please,
    "fundus": _fundus,
}


def main() -> None:
    """Run the contestant."""
    name, urls, items, stall = sys.argv[1:]
    _resolve_locally()
    lines = Path(urls).read_text(encoding="utf-8").splitlines()
    CONTESTANTS[name](lines, Path(items), Path(stall))


if __name__ == "__main__":
    main()
