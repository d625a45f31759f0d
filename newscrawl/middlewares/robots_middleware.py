"""Downloader middleware that obeys robots.txt according to RFC 9309."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler

from newscrawl import clock
from newscrawl.crawling.crawl_store import SiteMemory
from newscrawl.crawling.network import RefusedError, copy_response
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.crawling.network.rule_files import MAX_ROBOTS_SIZE, product_token
from newscrawl.crawling.network.rules_cache import HostRules, ParserCache, RulesCache
from newscrawl.crawling.urls import site_key
from newscrawl.middlewares.compression import CUT
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

MAX_REDIRECTS: Final = 5
"""Redirects of robots.txt that are followed (section 2.3.1.2)."""
CACHE_TIME: Final = timedelta(hours=24)
"""Time after which rules are fetched again (section 2.4)."""
RETRY_TIME: Final = timedelta(hours=1)
"""Time after which an unreachable robots.txt is fetched again."""

#: meta key of requests for robots.txt
META: Final = "newscrawl_robots"
_SITE: Final = "newscrawl_site"
_READ: Final = "newscrawl.crawling.network.rule_files:read_rules"


class RobotsMiddleware(RobotsTxtMiddleware):
    """Replaces Scrapy's ``RobotsTxtMiddleware`` (100); enabled by ``ROBOTSTXT_OBEY``.

    Differences: an unreachable robots.txt (5xx, 407, 429, timeout, no connection) disallows the site
    for an hour; ``http`` and ``https`` have separate rules; only the first 512 KB are downloaded. A
    worker reduces them to the rules for this crawler, up to a limit
    (``newscrawl.crawling.network.rule_files``), and the rules of all hosts are kept up to another one.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not is_asyncio_available():
            raise ValueError(f"{type(self).__name__} requires Scrapy's default asyncio reactor")
        self._rules = RulesCache("robots", SiteMemory.of(crawler))
        self._parser_cache: ParserCache[RobotParser] = ParserCache(
            lambda text: build_from_crawler(self._parserimpl, crawler, text.encode())
        )
        self._fetching = 0
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()

    async def process_request(self, request: Request) -> Response | None:  # type: ignore[override]
        """Raise ``IgnoreRequest`` if the rules disallow *request*.

        A spider's own request for robots.txt gets the response of this middleware.
        """
        if request.meta.get("dont_obey_robotstxt") and _is_for_rules(request):
            rules = await self._rules_for(request)
            response, rules.response = rules.response, None
            if response is None:
                return None
            # The flag of Scrapy's cache; WarcMiddleware has archived this response before.
            return copy_response(response, request=request, flags=[*response.flags, "cached"])
        await super().process_request(request)
        return None

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of the site of *request*; raise :class:`RefusedError` if unreachable."""
        text = (await self._rules_for(request)).text
        return None if text is None else self._parser_cache.get(text)

    async def _rules_for(self, request: Request) -> HostRules:
        parts = urlparse_cached(request)
        site = f"{parts.scheme}://{site_key(request.url)}"
        token = product_token(self.user_agent(request))
        rules = await self._rules.get(
            f"{site} {token}",
            lambda: self._fetch(site, token, request),
            anew=_is_for_rules(request),
            on_found=lambda rules: self._announce(rules, request),
        )
        if rules.refusal:
            raise RefusedError(rules.refusal)
        return rules

    async def _announce(self, rules: HostRules, request: Request) -> None:
        """Send the signal with the Crawl-delay of *rules*."""
        if rules.text is not None:
            await self.crawler.signals.send_catch_log_async(
                signal=signals.robots_parsed,
                robotparser=self._parser_cache.get(rules.text),
                request=request,
            )

    async def _fetch(self, site: str, token: str, request: Request) -> HostRules:
        self._stats.inc_value("robotstxt/request_count")
        try:
            with self._stop_at_max_size():
                response = await self.crawler.engine.download_async(self._request(site, request))
            return await self._read(response, site, token, request)
        except RefusedError as error:
            return HostRules(clock.steady() + RETRY_TIME, refusal=error.reason)
        except Exception as error:  # noqa: BLE001  # any middleware's
            reason = failure_reason(error)
            if reason == "redirects":
                return HostRules(clock.steady() + CACHE_TIME)
            if not isinstance(error, IgnoreRequest):
                self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            return self._unreachable(site, reason)

    def _request(self, site: str, request: Request) -> Request:
        meta = {
            META: True,
            # Any Content-Length: the download is stopped at 512 KB, and decompression as well.
            "download_maxsize": 0,
            CUT: MAX_ROBOTS_SIZE,
            "redirect_ttl": MAX_REDIRECTS,
        }
        return rules_request(f"{site}/robots.txt", request, meta)

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

    async def _read(self, response: Response, site: str, token: str, request: Request) -> HostRules:
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        # 407 is the answer of a proxy.
        if response.status in (407, 429) or response.status >= 500:
            return self._unreachable(site, f"http_{response.status}")
        rules = HostRules(clock.steady() + CACHE_TIME)
        sitemaps = ""
        if response.status < 300:
            body = response.body[:MAX_ROBOTS_SIZE]
            rules.text, sitemaps = await call_reader(
                self.crawler, body, f"{site}/robots.txt", request, file="robots", token=token
            )
            await self._announce(rules, request)
        if _SITE in request.meta:
            rules.response = copy_response(response, body=sitemaps.encode())
        return rules

    def user_agent(self, request: Request) -> str:
        """Return the user agent whose rules apply to *request*, as Scrapy determines it."""
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent")
        agent = agent or self._default_useragent
        return agent.decode("latin-1") if isinstance(agent, bytes) else agent

    def _unreachable(self, site: str, reason: str) -> HostRules:
        self._stats.inc_value("newscrawl/robots/unreachable_count")
        logger.info("Could not fetch robots.txt for %s (%s); skipping the host", site, reason)
        # An unknown or dead host or proxy is reported as such.
        refusal = reason if reason in ("connection", "dns", "proxy") else "robots_unreachable"
        return HostRules(clock.steady() + RETRY_TIME, refusal=refusal)


async def call_reader(
    crawler: Crawler, data: bytes, url: str, request: Request, *, file: str, token: str
) -> tuple[str, str]:
    """Return the rules and the sitemaps of the *file* at *url*, which *request* depends on.

    They are read in a worker, by :func:`newscrawl.crawling.network.rule_files.read_rules`.
    """
    owner = request.meta.get(_SITE) or site_key(url)
    pool = WorkerPool.for_crawler(crawler)
    read = await pool.call(_READ, data, site=owner, file=file, token=token)
    if read["left_out"]:
        area = "robots" if file == "robots" else "opt_out"
        crawler.stats.inc_value(f"newscrawl/{area}/over_size_count")
        logger.warning("Ignored %d rules beyond the limits: %s", read["left_out"], url)
    return read["rules"], read["sitemaps"]


def rules_request(url: str, request: Request, meta: dict[str, Any]) -> Request:
    """Return the request, with *meta*, for the rules at *url* that *request* depends on."""
    meta |= {"allow_offsite": True, "dont_obey_robotstxt": True}
    if _SITE in request.meta:  # counts towards its request budget
        meta |= {_SITE: request.meta[_SITE], "newscrawl_role": "robots"}
    priority = RobotsMiddleware.DOWNLOAD_PRIORITY
    return Request(url, priority=priority, callback=NO_CALLBACK, meta=meta)


def _is_for_rules(request: Request) -> bool:
    """Return whether the sitelist spider requests robots.txt to find sitemaps."""
    path = urlparse_cached(request).path
    return path == "/robots.txt" and _SITE in request.meta and META not in request.meta
