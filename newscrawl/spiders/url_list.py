"""``UrlListSpider``: fetches a list of article URLs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import HtmlResponse

from newscrawl import clock
from newscrawl.crawl.discovery.site_list import SitesError, http_url
from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.reporting.outcomes import SiteStats, failure_reason
from newscrawl.document.encoding import header_charset, is_binary
from newscrawl.items import PageItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure


class UrlListSpider(Spider):
    """Fetches each URL of a list once and yields a :class:`~newscrawl.items.PageItem` for it.

    Argument: ``file``, with a URL per line; ``-`` is standard input. Unlike ``sitelist``, it keeps
    no history: each crawl fetches all URLs. With a state file, an interrupted crawl is resumed.
    """

    name = "urllist"

    def __init__(
        self, file: str | None = None, urls: Iterable[str] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if urls is None:
            if not file:
                raise SitesError("no URLs: give -a file=FILE")
            urls = read_urls(file)
        self.urls = list(dict.fromkeys(urls))

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request for each URL."""
        self.site_stats = SiteStats(self.crawler.stats)
        for url in self.urls:
            self.site_stats.count(site_key(url), "discovered_count")
            yield Request(url, callback=self.parse, errback=self.errback)

    def parse(self, response: Response, **_: Any) -> Iterator[PageItem]:
        """Yield the page."""
        site = site_key(response.request.url if response.request else response.url)
        if not isinstance(response, HtmlResponse) or is_binary(response.body):
            self._record_failure(site, "not_html", response.url)
            return
        self.site_stats.count(site, "fetched_count")
        yield PageItem(
            url=response.url,
            html=response.body,
            encoding=header_charset(response.headers.get("Content-Type")),
            fetched_at=clock.now(),
            site=site,
        )

    def errback(self, failure: Failure) -> None:
        """Record the failure of a request."""
        url = failure.request.url  # type: ignore[attr-defined]
        self._record_failure(site_key(url), failure_reason(failure.value), url)

    def _record_failure(self, site: str, reason: str, url: str) -> None:
        self.site_stats.count(site, f"failed_count/{reason}")
        self.logger.info("Failed (%s): %s", reason, url)


def read_urls(file: str) -> Iterator[str]:
    """Yield the URLs in *file*, one per line; ``#`` starts a comment line.

    Raises :class:`SitesError` naming the line if one is invalid.
    """
    for number, line in enumerate(_lines(file), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            try:
                yield http_url(text)
            except ValueError as error:
                raise SitesError(f"{file}:{number}: {error}") from None


def _lines(file: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise SitesError(f"{file}: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise SitesError(f"{file}: not UTF-8 text") from None
