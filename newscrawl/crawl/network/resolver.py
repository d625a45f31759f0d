"""DNS resolver of the reactor that applies an address policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy.utils.datatypes import LocalCache
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.interfaces import IAddress, IHostResolution

    from newscrawl.crawl.network.addresses import AddressPolicy

_MAX_REFUSED = 10_000


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
        self.refused: LocalCache[str, None] = LocalCache(_MAX_REFUSED)

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
