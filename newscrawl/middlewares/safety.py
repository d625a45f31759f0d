"""Downloader middleware that refuses requests outside of the public web."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.reactor import is_reactor_installed
from scrapy.utils.url import add_http_if_no_scheme

from newscrawl.component import Component
from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.addresses import AddressPolicy
from newscrawl.crawl.network.resolver import CheckedResolver
from newscrawl.defaults import SettingError, setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

ALLOWED: Final = "NEWSCRAWL_ALLOWED_ADDRESSES"
_MAX_CACHED: Final = 10_000


class SafetyMiddleware(Component):
    """Refuses requests that are not HTTP(S) or whose address is not public.

    Its priority (20) places it before all others, so that redirects, robots.txt, sitemaps and style
    sheets are checked, too. Addresses in URLs are checked here, resolved addresses on connection
    (:class:`~newscrawl.crawl.network.resolver.CheckedResolver`). Names that a proxy resolves are not
    checked. ``NEWSCRAWL_ALLOWED_ADDRESSES`` lists exceptions.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_SAFETY_ENABLED"):
            raise NotConfigured("NEWSCRAWL_SAFETY_ENABLED is False")
        try:
            self._policy = AddressPolicy(setting(crawler.settings, ALLOWED))
        except ValueError as error:
            raise SettingError(f"{ALLOWED}: {error}") from None
        for proxy in (*getproxies().values(), *setting(crawler.settings, "NEWSCRAWL_PROXIES")):
            self._trust_proxy(proxy)
        self._stats = crawler.stats
        self._resolver = CheckedResolver(self._policy)
        self._installed = False
        self._refused: LocalCache[str, bool] = LocalCache(_MAX_CACHED)
        crawler.signals.connect(self._close, signals.spider_closed)

    def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` if *request* must not be sent."""
        if not self._installed:
            self._install()
        if proxy := request.meta.get("proxy"):
            self._trust_proxy(proxy)
        parts = urlparse_cached(request)
        if parts.scheme not in ("http", "https"):
            self._refuse(request, "scheme")
        if "@" in parts.netloc:  # Scrapy cannot connect to such a host
            self._refuse(request, "userinfo")
        if self._refuses(parts.hostname or ""):
            self._refuse(request, "address")

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Raise :class:`RefusedError` if the resolver dropped all addresses of the host."""
        refused = isinstance(exception, RefusedError)
        if not refused and urlparse_cached(request).hostname in self._resolver.refused:
            self._refuse(request, "address", exception)

    def _install(self) -> None:
        # On the first request, since Scrapy installs its own resolver late.
        self._installed = True
        if is_reactor_installed():
            self._resolver.install()
        else:
            logger.warning("Twisted's reactor is not installed: host names are not checked")

    def _close(self) -> None:
        if self._installed and is_reactor_installed():
            self._resolver.uninstall()

    def _trust_proxy(self, proxy: str) -> None:
        """Allow connections to *proxy*, which only the project can set."""
        if host := urlsplit(add_http_if_no_scheme(proxy)).hostname:
            self._policy.proxies.add(host)

    def _refuses(self, host: str) -> bool:
        if host in self._resolver.refused:
            return True
        if host not in self._refused:
            self._refused[host] = self._policy.refuses(host)
        return self._refused[host]

    def _refuse(self, request: Request, reason: str, cause: Exception | None = None) -> None:
        self._stats.inc_value(f"newscrawl/safety/refused_count/{reason}")
        hint = f" ({ALLOWED} lists exceptions)" if reason == "address" else ""
        logger.warning("Refused (%s): %s%s", reason, request.url, hint)
        raise RefusedError(reason) from cause
