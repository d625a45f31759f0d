"""Downloader middleware that refuses requests outside of the public web."""

from __future__ import annotations

import logging
import re
import socket
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
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
from newscrawl.crawling.network import RefusedError
from newscrawl.defaults import SettingError, setting

if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv4Network, IPv6Network

    from scrapy import Request
    from scrapy.crawler import Crawler
    from twisted.internet.interfaces import IHostResolution

logger = logging.getLogger(__name__)

ALLOWED: Final = "NEWSCRAWL_ALLOWED_ADDRESSES"
_MAX_CACHED: Final = 10_000
_HOST_NAME = re.compile(r"[\w-]+(\.[\w-]+)*")
# Names of private networks: RFC 6761, 6762, 8375 and ICANN's "internal". A proxy would resolve them
# in its own network, where the address cannot be checked.
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".home.arpa")
# RFC 6052: a gateway connects to the IPv4 address in the last 32 bits.
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")


@lru_cache(_MAX_CACHED)
def written_address(host: str) -> str | None:
    """Return the IP address that *host* spells out, None for a host name.

    Accepts all forms that resolvers do: ``127.1``, ``2130706433`` and ``0x7f000001`` are 127.0.0.1.
    """
    host = host.strip("[]").partition("%")[0].rstrip(".")
    try:
        return str(ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not address.is_multicast and not site_local


def _innermost(text: str) -> IPv4Address | IPv6Address:
    """Parse *text* as an IP address; return the embedded IPv4 address of an IPv6 one, if any."""
    address = ip_address(text.partition("%")[0])
    if not isinstance(address, IPv6Address):
        return address
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return ip_address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


class AddressPolicy:
    """Allows the public internet and the host names, addresses and networks in *allowed*.

    Raises ``ValueError`` for any other entry in *allowed*. Networks have the form ``10.0.0.0/8``.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._hosts: set[str] = set()
        self._networks: list[IPv4Network | IPv6Network] = []
        #: hosts of the proxies in use
        self.proxies: set[str] = set()
        for entry in allowed:
            self._allow(entry)

    def _allow(self, entry: str) -> None:
        try:
            self._networks.append(ip_network(entry.strip("[]"), strict=False))
        except ValueError:
            if not _HOST_NAME.fullmatch(entry):
                raise ValueError(
                    f"{entry!r} is not a host name, an IP address or a network"
                ) from None
            self._hosts.add(entry.lower())

    def refuses(self, host: str) -> bool:
        """Return whether *host*, as written in a URL, is refused without resolving it."""
        host = host.lower().rstrip(".")
        if host in self._hosts:
            return False
        if address := written_address(host):
            return not self._permits_address(address)
        return host in self.proxies or "." not in host or host.endswith(_PRIVATE_NAMES)

    def permits(self, host: str, address: str) -> bool:
        """Return whether a connection to *host* at its resolved *address* is allowed."""
        host = host.lower().rstrip(".")
        return host in self._hosts or host in self.proxies or self._permits_address(address)

    def _permits_address(self, text: str) -> bool:
        address = _innermost(text)
        return _is_global(address) or any(address in network for network in self._networks)


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
        self, receiver: Any, host: str, *args: Any, **options: Any
    ) -> IHostResolution:
        """Resolve *host* and pass the permitted addresses to *receiver*."""
        checked = _Receiver(receiver, host, self._policy, self.refused)
        found: IHostResolution = self._resolver.resolveHostName(checked, host, *args, **options)
        return found


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
        for proxy in getproxies().values():
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
