"""Downloader middleware that obeys robots.txt according to RFC 9309."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import is_asyncio_available, run_in_thread
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler

from newscrawl import clock
from newscrawl.crawl.discovery.sitemaps import MAX_ROBOTS_SIZE
from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.response_copy import copy_response
from newscrawl.crawl.network.robots_rules import own_groups, sitemap_lines
from newscrawl.crawl.reporting.outcomes import failure_reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

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
# Bytes above which robots.txt is parsed in a thread: 10 KB take a millisecond.
_MAX_INLINE_SIZE: Final = 16 * 1024
# Bytes up to which the response is kept for the spider.
_MAX_KEPT_SIZE: Final = 64 * 1024
# Bytes that the first 512 KB may decompress to.
_DECOMPRESSED_MAXSIZE: Final = 32 * 2**20


@dataclass(frozen=True, slots=True)
class _Rules:
    """Rules of a site, or the reason why all its requests are refused."""

    until: datetime
    #: None allows all requests
    parser: RobotParser | None = None
    refusal: str | None = None
    #: response for a spider that requests robots.txt itself
    response: Response | None = None


class RobotsMiddleware(RobotsTxtMiddleware):
    """Replaces Scrapy's ``RobotsTxtMiddleware`` (100); enabled by ``ROBOTSTXT_OBEY``.

    Differences: an unreachable robots.txt (5xx, 429, timeout, no connection) disallows the site for
    an hour; ``http`` and ``https`` have separate rules; only the first 512 KB are downloaded; long
    files are parsed in a thread.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not is_asyncio_available():
            raise ValueError(f"{type(self).__name__} requires Scrapy's default asyncio reactor")
        self._rules: dict[tuple[str, str], asyncio.Task[_Rules]] = {}
        self._fetching = 0
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()

    async def process_request(self, request: Request) -> Response | None:  # type: ignore[override]
        """Raise ``IgnoreRequest`` if the rules disallow *request*.

        A spider's own request for robots.txt gets the response of this middleware.
        """
        if request.meta.get("dont_obey_robotstxt") and _is_for_rules(request):
            if (response := (await self._rules_for(request)).response) is None:
                return None
            # The flag of Scrapy's cache; WarcMiddleware has archived this response before.
            return copy_response(response, request=request, flags=[*response.flags, "cached"])
        await super().process_request(request)
        return None

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of the site of *request*; raise :class:`RefusedError` if unreachable."""
        return (await self._rules_for(request)).parser

    async def _rules_for(self, request: Request) -> _Rules:
        parts = urlparse_cached(request)
        key = (parts.scheme, parts.netloc)
        task = self._rules.get(key)
        if task is None or (task.done() and task.result().until <= clock.now()):
            site = f"{parts.scheme}://{site_key(request.url)}"
            task = self._rules[key] = asyncio.ensure_future(self._fetch(site, request))
        # Requests share the task, so that cancelling one must not cancel it.
        rules = task.result() if task.done() else await asyncio.shield(task)
        if rules.refusal:
            raise RefusedError(rules.refusal)
        return rules

    async def _fetch(self, site: str, request: Request) -> _Rules:
        self._stats.inc_value("robotstxt/request_count")
        try:
            with self._stop_at_max_size():
                response = await self.crawler.engine.download_async(self._request(site, request))
            return await self._read(response, site, request)
        except RefusedError as error:
            return _Rules(clock.now() + RETRY_TIME, refusal=error.reason)
        except Exception as error:  # noqa: BLE001  # any middleware's
            reason = failure_reason(error)
            if reason == "redirects":
                return _Rules(clock.now() + CACHE_TIME)
            if not isinstance(error, IgnoreRequest):
                self._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            return self._unreachable(site, reason)

    def _request(self, site: str, request: Request) -> Request:
        meta: dict[str, Any] = {
            META: True,
            "dont_obey_robotstxt": True,
            "allow_offsite": True,
            # Any Content-Length: the download is stopped at 512 KB.
            "download_maxsize": 0,
            "redirect_ttl": MAX_REDIRECTS,
        }
        if _SITE in request.meta:  # counts towards its request budget
            meta |= {_SITE: request.meta[_SITE], "newscrawl_role": "robots"}
        return Request(
            f"{site}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            callback=NO_CALLBACK,
            meta=meta,
        )

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
            request.meta["download_maxsize"] = _DECOMPRESSED_MAXSIZE
            self._received[request] = self._received.get(request, 0) + len(data)
            if self._received[request] > MAX_ROBOTS_SIZE:
                raise StopDownload(fail=False)

    async def _read(self, response: Response, site: str, request: Request) -> _Rules:
        self._stats.inc_value("robotstxt/response_count")
        self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        if response.status == 429 or response.status >= 500:
            return self._unreachable(site, f"http_{response.status}")
        kept = _for_spider(response) if _SITE in request.meta else None
        if response.status >= 300:
            return _Rules(clock.now() + CACHE_TIME, response=kept)
        parser = await self._parse(response.body[:MAX_ROBOTS_SIZE], request)
        await self.crawler.signals.send_catch_log_async(
            signal=signals.robots_parsed, robotparser=parser, request=request
        )
        return _Rules(clock.now() + CACHE_TIME, parser, response=kept)

    async def _parse(self, body: bytes, request: Request) -> RobotParser:
        def parse(content: bytes) -> RobotParser:
            parser: RobotParser = build_from_crawler(self._parserimpl, self.crawler, content)
            return parser

        def parse_own_groups() -> RobotParser:
            return parse(own_groups(body.decode("utf-8-sig", "ignore"), agent).encode())

        if len(body) <= _MAX_INLINE_SIZE:
            return parse(body)
        agent = self.user_agent(request)
        return await run_in_thread(parse_own_groups)

    def user_agent(self, request: Request) -> str:
        """Return the user agent whose rules apply to *request*, as Scrapy determines it."""
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent")
        agent = agent or self._default_useragent
        return agent.decode("latin-1") if isinstance(agent, bytes) else agent

    def _unreachable(self, site: str, reason: str) -> _Rules:
        self._stats.inc_value("newscrawl/robots/unreachable_count")
        logger.info("Could not fetch robots.txt for %s (%s); skipping the host", site, reason)
        # An unknown host is reported as such.
        refusal = reason if reason == "dns" else "robots_unreachable"
        return _Rules(clock.now() + RETRY_TIME, refusal=refusal)


def _for_spider(response: Response) -> Response:
    """Return *response*, reduced to its sitemaps if it is long, for the sitelist spider."""
    if len(response.body) <= _MAX_KEPT_SIZE:
        return response
    lines = sitemap_lines(response.body[:MAX_ROBOTS_SIZE])
    return copy_response(response, body=lines[:_MAX_KEPT_SIZE])


def _is_for_rules(request: Request) -> bool:
    """Return whether the sitelist spider requests robots.txt to find sitemaps."""
    path = urlparse_cached(request).path
    return path == "/robots.txt" and _SITE in request.meta and META not in request.meta
