"""``UrlListSpider``: fetches a list of article URLs."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator, Iterator  # noqa: TC003  # scrapy-poet reads them
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, Spider, signals
from scrapy.http import HtmlResponse, Response

from newscrawl.crawling.discovery.site_list import SitesError, http_url
from newscrawl.crawling.frontier.scheduler import RESUMED_COUNT
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.page_download import header_hints, page_of
from newscrawl.crawling.site_stats import SiteStats
from newscrawl.crawling.urls import site_key
from newscrawl.document.encoding import is_binary
from newscrawl.items import PageItem  # noqa: TC001  # scrapy-poet reads it

if TYPE_CHECKING:
    import io

    from twisted.python.failure import Failure

MAX_LINE: Final = 16_384
"""Characters of a line; a longer line is invalid."""
MAX_LOGGED: Final = 10
"""Invalid lines that are logged, the first ones."""
INVALID_COUNT: Final = "newscrawl/url_list/invalid_count"
_BLOCK: Final = 16_384
_PIPE_INTERVAL: Final = 0.1
"""Seconds between two looks at an empty pipe."""


class UrlListSpider(Spider):
    """Fetches each URL of a list once and yields a :class:`~newscrawl.items.PageItem` for it.

    Argument: ``file``, with a URL per line; ``-`` is standard input. Unlike ``sitelist``, it keeps
    no history: each crawl fetches all URLs. The list is read while the crawl runs. With a state
    file, an interrupted crawl is resumed; lines that it has not read follow.
    """

    name = "urllist"

    def __init__(self, file: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not file:
            raise SitesError("no URLs: give -a file=FILE")
        self.file = file
        try:
            # Without a buffer, which would wait until a pipe has filled it.
            self._stream = open(0 if file == "-" else file, "rb", buffering=0)  # noqa: PTH123, SIM115
        except OSError as error:
            raise SitesError(f"{file}: {error.strerror}") from None

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request for each URL."""
        self.site_stats = SiteStats(self.crawler.stats)
        self.crawler.signals.connect(self._request_dropped, signals.request_dropped)
        number = invalid = 0
        async for line in _read_lines(self._stream):
            number += 1
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                request = self._create_request(text)
            except ValueError as error:
                invalid += 1
                self.crawler.stats.inc_value(INVALID_COUNT)
                if invalid <= MAX_LOGGED:
                    self.logger.warning("Skipping %s:%d: %.200s", self.file, number, error)
            else:
                self.site_stats.count(site_key(request.url), "discovered_count")
                yield request
        if invalid > MAX_LOGGED:
            self.logger.warning("Skipped %d invalid lines of %s", invalid, self.file)

    def _create_request(self, text: str) -> Request:
        """Return a request for the URL *text*; raises ``ValueError`` if it is invalid."""
        if len(text) > MAX_LINE:
            raise ValueError(f"longer than {MAX_LINE} characters")
        try:
            return Request(http_url(text), callback=self.parse, errback=self.errback)
        except UnicodeError:
            raise ValueError("not UTF-8 text") from None

    def _request_dropped(self, request: Request) -> None:
        """Do not count a repeated line. A resumed crawl also drops what it knows."""
        if RESUMED_COUNT not in self.crawler.stats.get_stats():
            self.site_stats.count(site_key(request.url), "discovered_count", -1)

    def parse(self, response: Response, **_: Any) -> Iterator[PageItem]:
        """Yield the page."""
        site = site_key(response.request.url if response.request else response.url)
        if not isinstance(response, HtmlResponse) or is_binary(response.body):
            self._record_failure(site, "not_html", response.url)
            return
        self.site_stats.count(site, "fetched_count")
        yield replace(page_of(response), site=site, hints=header_hints(response))

    def errback(self, failure: Failure) -> None:
        """Record the failure."""
        url = failure.request.url  # type: ignore[attr-defined]
        self._record_failure(site_key(url), failure_reason(failure.value), url)

    def _record_failure(self, site: str, reason: str, url: str) -> None:
        self.site_stats.count(site, f"failed_count/{reason}")
        self.logger.info("Failed (%s): %s", reason, url)


async def _read_lines(stream: io.FileIO) -> AsyncIterator[str]:
    """Yield the lines of *stream*, and close it; a line above :data:`MAX_LINE` is truncated."""
    last = b""
    with stream:
        while True:
            while not _is_readable(stream):  # noqa: ASYNC110  # files have no events
                await asyncio.sleep(_PIPE_INTERVAL)
            block = stream.read(_BLOCK)
            *lines, last = (last + block).split(b"\n")
            for line in lines if block else [last]:
                yield line.decode("utf-8-sig", "surrogateescape")
            if not block:
                return
            last = last[: MAX_LINE + 1]


def _is_readable(stream: io.FileIO) -> bool:
    """Return False for a pipe whose writer is not ready."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except OSError:  # Windows, which selects sockets only
        return True
