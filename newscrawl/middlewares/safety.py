"""``SafetyMiddleware``: keeps a crawl of the open web from leading anywhere else."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.reactor import is_reactor_installed
from scrapy.utils.url import add_http_if_no_scheme

from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.addresses import AddressPolicy
from newscrawl.crawl.network.resolver import CheckedResolver
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

ALLOWED: Final = "NEWSCRAWL_ALLOWED_ADDRESSES"
_REMEMBERED: Final = 10_000


class SafetyMiddleware:
    """Refuses requests that are not HTTP(S), or not to an address of the public internet.

    Its place is before all others (20): robots.txt, redirects, refreshes, sitemaps and style
    sheets are requests like any other, and pass here. Addresses are checked twice: as the URL
    writes them, here, and as names resolve to them, when the connection is made
    (:class:`~newscrawl.crawl.network.resolver.CheckedResolver`). What a proxy resolves is the proxy's to
    check. ``NEWSCRAWL_ALLOWED_ADDRESSES`` lists exceptions.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not setting(crawler.settings, "NEWSCRAWL_SAFETY_ENABLED"):
            raise NotConfigured("NEWSCRAWL_SAFETY_ENABLED is False")
        try:
            self._policy = AddressPolicy(setting(crawler.settings, ALLOWED))
        except ValueError as error:
            raise ValueError(f"{ALLOWED}: {error}") from None
        for proxy in getproxies().values():
            self._trust_proxy(proxy)
        self._stats = crawler.stats
        self._resolver = CheckedResolver(self._policy)
        self._installed = False
        self._verdicts: dict[str, bool] = {}
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware; raise ``NotConfigured`` where it is switched off."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise :class:`RefusedError` for what must not be asked for."""
        if not self._installed:
            self._install()
        if proxy := request.meta.get("proxy"):
            self._trust_proxy(proxy)
        parts = urlparse_cached(request)
        if parts.scheme not in ("http", "https"):
            self._refuse(request, "scheme")
        if self._refuses(parts.hostname or ""):
            self._refuse(request, "address")

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Say why a name seemed to have no address."""
        refused = isinstance(exception, RefusedError)
        if not refused and urlparse_cached(request).hostname in self._resolver.refused:
            self._refuse(request, "address", exception)

    def _install(self) -> None:
        # Not before the first request: Scrapy puts its own resolver in place late.
        self._installed = True
        if is_reactor_installed():
            self._resolver.install()
        else:
            logger.warning("Without Twisted's reactor only addresses in URLs are checked")

    def _close(self) -> None:
        if self._installed and is_reactor_installed():
            self._resolver.uninstall()

    def _trust_proxy(self, proxy: str) -> None:
        """Let the resolver connect to *proxy*: the operator names proxies, pages cannot."""
        if host := urlsplit(add_http_if_no_scheme(proxy)).hostname:
            self._policy.proxies.add(host)

    def _refuses(self, host: str) -> bool:
        if host in self._resolver.refused:
            return True
        verdict = self._verdicts.get(host)
        if verdict is None:
            if len(self._verdicts) > _REMEMBERED:
                self._verdicts.clear()
            verdict = self._verdicts[host] = self._policy.refuses(host)
        return verdict

    def _refuse(self, request: Request, reason: str, cause: Exception | None = None) -> None:
        self._stats.inc_value(f"newscrawl/safety/refused_count/{reason}")
        hint = f" ({ALLOWED} lists what may be)" if reason == "address" else ""
        logger.warning("Refused (%s): %s%s", reason, request.url, hint)
        raise RefusedError(reason) from cause
