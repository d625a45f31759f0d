"""Downloader middleware that leaves out sites and pages that opt out of text and data mining."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.opt_out_rules import (
    FILES,
    MAX_FILE_SIZE,
    is_opted_out_by_header,
    is_opted_out_by_meta,
    parse_file,
)
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from protego import Protego
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: meta key of requests for the files with the opt-outs
META: Final = "newscrawl_opt_out"
_SITE: Final = "newscrawl_site"
_PRIORITY: Final = 1000


class OptOutMiddleware:
    """Refuses requests and drops responses that are opted out (``NEWSCRAWL_TDM_OPT_OUT_OBEY``).

    Sites opt out by ``/.well-known/tdmrep.json`` or ``/ai.txt``, fetched once per host; pages by
    the headers ``TDM-Reservation: 1`` and ``X-Robots-Tag: noai``, or the same in ``meta``.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_TDM_OPT_OUT_OBEY"):
            raise NotConfigured("NEWSCRAWL_TDM_OPT_OUT_OBEY is False")
        self._crawler = crawler
        self._agent = crawler.settings["USER_AGENT"]
        self._rules: dict[tuple[str, str, str], asyncio.Task[Protego | None]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware; raise ``NotConfigured`` unless it is enabled."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` if the site opts out for the URL of *request*."""
        parts = urlparse_cached(request)
        if META in request.meta or parts.path == "/robots.txt":
            return
        for name, path in FILES.items():
            key = (parts.scheme, parts.netloc, name)
            if key not in self._rules:
                url = f"{parts.scheme}://{parts.netloc}{path}"
                self._rules[key] = asyncio.ensure_future(self._fetch(name, url, request))
            # Requests share the task, so that cancelling one must not cancel it.
            rules = await asyncio.shield(self._rules[key])
            if rules and not rules.can_fetch(request.url, self._agent):
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

    async def _fetch(self, name: str, url: str, request: Request) -> Protego | None:
        """Return the rules of the file at *url*; None if there is none."""
        meta: dict[str, Any] = {
            META: True,
            "allow_offsite": True,
            "dont_obey_robotstxt": True,
            "dont_retry": True,
            "download_maxsize": MAX_FILE_SIZE,
        }
        if _SITE in request.meta:  # counts towards its request budget
            meta |= {_SITE: request.meta[_SITE], "newscrawl_role": "robots"}
        file = Request(url, priority=_PRIORITY, callback=NO_CALLBACK, meta=meta)
        try:
            response = await self._crawler.engine.download_async(file)
        except Exception as error:  # noqa: BLE001  # any middleware's
            logger.info("Could not fetch %s (%s)", url, error)
            return None
        return parse_file(name, response.body) if response.status == 200 else None

    def _refuse(self, source: str, request: Request) -> None:
        self._crawler.stats.inc_value(f"newscrawl/opt_out/refused_count/{source}")
        logger.info("Opted out of text and data mining (%s): %s", source, request.url)
        raise RefusedError("opted_out")
