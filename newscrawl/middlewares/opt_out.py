"""Downloader middleware that leaves out sites and pages that opt out of text and data mining."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from protego import Protego
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from newscrawl import clock
from newscrawl.crawl.discovery.urls import site_key
from newscrawl.crawl.history.site_memory import SiteMemory
from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.opt_out_rules import (
    FILES,
    MAX_FILE_SIZE,
    is_opted_out_by_header,
    is_opted_out_by_meta,
)
from newscrawl.crawl.network.rules_cache import HostRules, ParserCache, RulesCache
from newscrawl.crawl.reporting.outcomes import failure_reason
from newscrawl.crawl.rule_files import product_token
from newscrawl.defaults import setting
from newscrawl.middlewares.robots_middleware import CACHE_TIME
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: meta key of requests for the files with the opt-outs
META: Final = "newscrawl_opt_out"
_SITE: Final = "newscrawl_site"
_PRIORITY: Final = 1000
_READ: Final = "newscrawl.crawl.rule_files:read_rules"


class OptOutMiddleware:
    """Refuses requests and drops responses that are opted out (``NEWSCRAWL_TDM_OPT_OUT_OBEY``).

    Sites opt out by ``/.well-known/tdmrep.json`` or ``/ai.txt``, fetched once per host; pages by
    the headers ``TDM-Reservation: 1`` and ``X-Robots-Tag: noai``, or the same in ``meta``.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_TDM_OPT_OUT_OBEY"):
            raise NotConfigured  # without a message, because disabled is the default
        self._crawler = crawler
        settings = crawler.settings
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._token = product_token(self._agent)
        self._pool = WorkerPool.for_crawler(crawler)
        self._rules = RulesCache("opt_out", SiteMemory.for_crawler(crawler))
        self._parsers = ParserCache(Protego.parse)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware; raise ``NotConfigured`` unless it is enabled."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` if the site opts out for the URL of *request*."""
        parts = urlparse_cached(request)
        if META in request.meta or parts.path == "/robots.txt":
            return
        site = f"{parts.scheme}://{site_key(request.url)}"
        for name, path in FILES.items():
            url = site + path
            rules = await self._rules.get(url, partial(self._fetch, name, url, request))
            if rules.text is None:
                continue
            if not self._parsers.get(rules.text).can_fetch(request.url, self._agent):
                self._refuse(name, request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return *response*; raise :class:`RefusedError` if the page opts out."""
        if META in request.meta:
            return response
        headers = response.headers
        if is_opted_out_by_header(
            headers.getlist("TDM-Reservation"), headers.getlist("X-Robots-Tag")
        ):
            self._refuse("header", request)
        if isinstance(response, HtmlResponse) and is_opted_out_by_meta(response.body):
            self._refuse("meta", request)
        return response

    async def _fetch(self, name: str, url: str, request: Request) -> HostRules:
        """Return the rules of the file at *url*."""
        rules = HostRules(clock.now() + CACHE_TIME)
        try:
            response = await self._crawler.engine.download_async(self._request(url, request))
            if response.status == 200:
                owner = request.meta.get(_SITE) or site_key(url)
                read = await self._pool.call(
                    _READ, response.body, site=owner, file=name, token=self._token
                )
                rules.text = read["rules"]
                if read["left_out"]:
                    self._warn_left_out(url, read["left_out"])
        except Exception as error:  # noqa: BLE001  # any middleware's
            reason = failure_reason(error)
            self._crawler.stats.inc_value(f"newscrawl/opt_out/failed_count/{reason}")
            logger.info("Could not read %s (%s)", url, reason)
        return rules

    def _request(self, url: str, request: Request) -> Request:
        meta: dict[str, Any] = {
            META: True,
            "allow_offsite": True,
            "dont_obey_robotstxt": True,
            "dont_retry": True,
            "download_maxsize": MAX_FILE_SIZE,
        }
        if _SITE in request.meta:  # counts towards its request budget
            meta |= {_SITE: request.meta[_SITE], "newscrawl_role": "robots"}
        return Request(url, priority=_PRIORITY, callback=NO_CALLBACK, meta=meta)

    def _warn_left_out(self, url: str, number: int) -> None:
        self._crawler.stats.inc_value("newscrawl/opt_out/over_size_count")
        logger.warning("Ignored %d rules beyond the limits: %s", number, url)

    def _refuse(self, source: str, request: Request) -> None:
        self._crawler.stats.inc_value(f"newscrawl/opt_out/refused_count/{source}")
        logger.info("Opted out of text and data mining (%s): %s", source, request.url)
        raise RefusedError("opted_out")
