"""Downloader middleware that obeys robots.txt according to RFC 9309."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler

from newscrawl import clock
from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.rule_files import MAX_ROBOTS_SIZE, product_token
from newscrawl.crawling.network.rules_cache import (
    REMEMBERED,
    SITEMAPS,
    HostRules,
    ParserCache,
    RulesCache,
)
from newscrawl.crawling.urls import site_key
from newscrawl.middlewares.compression import CUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

MAX_REDIRECTS: Final = 5
"""Redirects of robots.txt that are followed (section 2.3.1.2)."""
RETRY_TIME: Final = timedelta(hours=1)
"""Time after which an unreachable robots.txt is fetched again."""

#: meta key of requests for robots.txt
META: Final = "newscrawl_robots"


class RobotsMiddleware(RobotsTxtMiddleware):
    """Replaces Scrapy's ``RobotsTxtMiddleware`` (100); enabled by ``ROBOTSTXT_OBEY``.

    Differences: an unreachable robots.txt (5xx, 407, 429, timeout, no connection) disallows the
    site for an hour; ``http`` and ``https`` have separate rules; only the first 512 KB are
    downloaded. A worker reduces them to the rules for this crawler, up to a limit
    (``newscrawl.crawling.network.rule_files``), and those of all hosts are kept up to another one.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not is_asyncio_available():
            raise ValueError(f"{type(self).__name__} requires Scrapy's default asyncio reactor")
        self._rules = RulesCache(crawler, "robots")
        self._parser_cache: ParserCache[RobotParser] = ParserCache(
            lambda text: build_from_crawler(self._parserimpl, crawler, text.encode())
        )
        self._fetching = 0
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()

    async def process_request(self, request: Request) -> Response | None:  # type: ignore[override]
        """Raise ``IgnoreRequest`` if the rules disallow *request*.

        A spider's own request for robots.txt gets its sitemaps in place of a download.
        """
        if SITEMAPS not in request.meta:
            await super().process_request(request)
            return None
        rules = await self._rules_for(request)
        request.meta[REMEMBERED] = rules.remembered
        if rules.failure:
            raise RefusedError(rules.failure)
        request.meta[SITEMAPS] = rules.sitemaps
        return Response(rules.url, flags=["cached"], request=request)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of the site of *request*; raise :class:`RefusedError` if unreachable."""
        text = (await self._rules_for(request)).text
        return None if text is None else self._parser_cache.of(text)

    async def _rules_for(self, request: Request) -> HostRules:
        site = f"{urlparse_cached(request).scheme}://{site_key(request.url)}"
        # As Scrapy determines it.
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent")
        agent = agent or self._default_useragent
        token = product_token(agent.decode("latin-1") if isinstance(agent, bytes) else agent)
        rules = await self._rules.get(
            f"{site} {token}",
            lambda: self._fetch(site, token, request),
            lambda rules: self._announce(rules, request),
        )
        if rules.refusal:
            raise RefusedError(rules.refusal)
        return rules

    async def _announce(self, rules: HostRules, request: Request) -> None:
        """Send the signal with the Crawl-delay of *rules*."""
        if rules.text is not None:
            await self.crawler.signals.send_catch_log_async(
                signal=signals.robots_parsed,
                robotparser=self._parser_cache.of(rules.text),
                request=request,
            )

    async def _fetch(self, site: str, token: str, request: Request) -> HostRules:
        self._stats.inc_value("robotstxt/request_count")
        meta = {
            META: True,
            # Any Content-Length: the download is stopped at 512 KB, and decompression as well.
            "download_maxsize": 0,
            CUT: MAX_ROBOTS_SIZE,
            "redirect_ttl": MAX_REDIRECTS,
        }
        try:
            with self._stop_at_max_size():
                response = await self._rules.download(f"{site}/robots.txt", request, meta)
            self._stats.inc_value("robotstxt/response_count")
            self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
            if response.status < 300:
                return await self._rules.read(response, request, file="robots", token=token)
            # 407 is the answer of a proxy.
            if response.status in (407, 429) or response.status >= 500:
                return self._unreachable(site, f"http_{response.status}")
            return HostRules(failure=failure_reason(HttpError(response)))
        except RefusedError as error:
            return HostRules(clock.steady() + RETRY_TIME, refusal=error.reason)
        except Exception as error:  # noqa: BLE001  # any middleware's
            reason = failure_reason(error)
            if reason == "redirects":
                return HostRules(failure=reason)
            if not isinstance(error, IgnoreRequest):
                self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            return self._unreachable(site, reason)

    @contextmanager
    def _stop_at_max_size(self) -> Iterator[None]:
        """Stop downloads of robots.txt at the size limit.

        The signal is sent for all downloads, so it is only connected while needed.
        """
        self._fetching += 1
        if self._fetching == 1:
            self.crawler.signals.connect(self._received_bytes, signals.bytes_received)
        try:
            yield
        finally:
            self._fetching -= 1
            if not self._fetching:
                self.crawler.signals.disconnect(self._received_bytes, signals.bytes_received)

    def _received_bytes(self, data: bytes, request: Request) -> None:
        if META in request.meta:
            self._received[request] = self._received.get(request, 0) + len(data)
            if self._received[request] > MAX_ROBOTS_SIZE:
                raise StopDownload(fail=False)

    def _unreachable(self, site: str, reason: str) -> HostRules:
        self._stats.inc_value("newscrawl/robots/unreachable_count")
        logger.info("Could not fetch robots.txt for %s (%s); skipping the host", site, reason)
        # An unknown or dead host or proxy is reported as such.
        refusal = reason if reason in ("connection", "dns", "proxy") else "robots_unreachable"
        return HostRules(clock.steady() + RETRY_TIME, refusal=refusal)
