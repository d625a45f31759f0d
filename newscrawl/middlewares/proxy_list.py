"""Downloader middleware that distributes sites over a list of proxies."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy.exceptions import NotConfigured

from newscrawl import clock
from newscrawl.component import Component
from newscrawl.crawling.logs import mask_secrets
from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.urls import registered_domain, site_key_or
from newscrawl.defaults import SettingError, setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

NAME: Final = "NEWSCRAWL_PROXIES"
_ASSIGNED: Final = "newscrawl_proxy"
"""Request meta key with the number of the proxy that this middleware has assigned."""
_FAILED: Final = "newscrawl_failed_proxy"
"""Request meta key with the number of the proxy that the retry of a request avoids."""
MAX_FAILURES: Final = 3
"""Consecutive failures after which a proxy is paused."""
PAUSE: Final = 300.0
"""Seconds of a pause."""
_AUTHENTICATION_REQUIRED: Final = 407


class ProxyListMiddleware(Component):
    """Sends the requests of each registered domain through one of ``NEWSCRAWL_PROXIES``.

    The choice depends on the domain only, so a site sees one address, and on every machine the
    same one. Domains of a proxy that fails repeatedly are distributed over the others. Requests
    with a ``proxy`` of their own are not changed.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._proxies = setting(crawler.settings, NAME)
        if not self._proxies:
            raise NotConfigured  # without a message, because disabled is the default
        for url in self._proxies:
            check_proxy(url)
        self._stats = crawler.stats
        self._failures = [0] * len(self._proxies)
        self._paused_until = [0.0] * len(self._proxies)

    def process_request(self, request: Request) -> None:
        """Assign a proxy, for a retry or redirect anew."""
        if "proxy" in request.meta and _ASSIGNED not in request.meta:
            return
        domain = registered_domain(site_key_or(request.url, ""))
        number = self._choose(domain, request.meta.pop(_FAILED, None))
        request.meta[_ASSIGNED] = number
        request.meta["proxy"] = self._proxies[number]

    def process_response(self, request: Request, response: Response) -> Response:
        """Count the outcome for the proxy."""
        self._count(request, failed=response.status == _AUTHENTICATION_REQUIRED)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Count the outcome for the proxy; the request's retry uses another one.

        A failed retry is not counted: it is rather the site that fails, with any proxy.
        """
        if isinstance(exception, RefusedError):  # not sent
            return
        if _ASSIGNED in request.meta:
            request.meta[_FAILED] = request.meta[_ASSIGNED]
        if not request.meta.get("retry_times"):
            self._count(request, failed=True)

    def _choose(self, domain: str, failed: int | None) -> int:
        """Return the proxy of *domain*: the highest hash among those that may work."""
        now = clock.steady().timestamp()
        usable = [
            number
            for number, until in enumerate(self._paused_until)
            if until <= now and number != failed
        ]
        return max(
            usable or range(len(self._proxies)),
            key=lambda number: hashlib.blake2b(f"{number} {domain}".encode()).digest(),
        )

    def _count(self, request: Request, *, failed: bool) -> None:
        number = request.meta.get(_ASSIGNED)
        if number is None or number >= len(self._proxies):
            return
        self._failures[number] = self._failures[number] + 1 if failed else 0
        if self._failures[number] < MAX_FAILURES:
            return
        self._failures[number] = 0
        self._paused_until[number] = clock.steady().timestamp() + PAUSE
        self._stats.inc_value("newscrawl/proxies/paused_count")
        name = mask_secrets(self._proxies[number])
        logger.warning("Proxy %s failed %d times; pausing it", name, MAX_FAILURES)


def check_proxy(url: str) -> None:
    """Raise ``ValueError`` unless *url* is that of an HTTP proxy."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise SettingError(f"{NAME}: {mask_secrets(url)!r} is not the URL of an HTTP proxy")
