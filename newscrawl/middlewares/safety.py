"""Downloader middleware that refuses requests outside of the public web."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.reactor import is_reactor_installed
from scrapy.utils.url import add_http_if_no_scheme
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

from newscrawl.component import Component
from newscrawl.crawl.network import RefusedError
from newscrawl.crawl.network.addresses import AddressPolicy
from newscrawl.defaults import SettingError, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from twisted.internet.interfaces import IAddress, IHostResolution

logger = logging.getLogger(__name__)

ALLOWED: Final = "NEWSCRAWL_ALLOWED_ADDRESSES"
_MAX_CACHED: Final = 10_000


@implementer(IHostnameResolver)
class CheckedResolver:
    """Wraps the reactor's resolver and drops the addresses that *policy* does not permit.

    Twisted connects to the addresses that its resolver returns, so the checked address is the one
    connected to: DNS rebinding has no effect.

    It is not set as ``TWISTED_DNS_RESOLVER``, because Scrapy reads that before add-ons and spiders
    change the settings, ignores it in ``AsyncCrawlerRunner``, and the project may have set it.
    """

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._resolver: Any = None
        #: host names of which all addresses were dropped
        self.refused: LocalCache[str, None] = LocalCache(_MAX_CACHED)

    def install(self) -> None:
        """Replace the reactor's resolver by this one, which delegates to it."""
        from twisted.internet import reactor  # noqa: PLC0415  # importing it installs one

        self._resolver = reactor.nameResolver
        reactor.installNameResolver(self)

    def uninstall(self) -> None:
        """Restore the former resolver, unless another one was installed since."""
        from twisted.internet import reactor  # noqa: PLC0415

        if reactor.nameResolver is self:
            reactor.installNameResolver(self._resolver)

    def resolveHostName(  # noqa: N802  # Twisted's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> IHostResolution:
        """Resolve *hostName* and pass the permitted addresses to *resolutionReceiver*."""
        receiver = _Receiver(resolutionReceiver, hostName, self._policy, self.refused)
        resolution: IHostResolution = self._resolver.resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )
        return resolution


@implementer(IResolutionReceiver)
@dataclass(eq=False)
class _Receiver:
    receiver: Any
    host: str
    policy: AddressPolicy
    refused: dict[str, None]
    permitted: list[bool] = field(default_factory=list)

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802
        self.receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        permitted = self.policy.permits(self.host, address.host)
        self.permitted.append(permitted)
        if permitted:
            self.receiver.addressResolved(address)

    def resolutionComplete(self) -> None:  # noqa: N802
        if self.permitted and not any(self.permitted):
            self.refused[self.host.lower()] = None
        self.receiver.resolutionComplete()


class SafetyMiddleware(Component):
    """Refuses requests that are not HTTP(S) or whose address is not public.

    Its priority (20) places it before all others, so that redirects, robots.txt, sitemaps and style
    sheets are checked, too. Addresses in URLs are checked here, resolved addresses on connection
    (:class:`CheckedResolver`). Names that a proxy resolves are not
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
        host = parts.hostname or ""
        if host in self._resolver.refused or self._policy.refuses(host):
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

    def _refuse(self, request: Request, reason: str, cause: Exception | None = None) -> None:
        self._stats.inc_value(f"newscrawl/safety/refused_count/{reason}")
        hint = f" ({ALLOWED} lists exceptions)" if reason == "address" else ""
        logger.warning("Refused (%s): %s%s", reason, request.url, hint)
        raise RefusedError(reason) from cause
