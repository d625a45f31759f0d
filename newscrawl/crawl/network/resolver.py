"""The reactor's resolver of names, under an :class:`~newscrawl.crawl.network.addresses.AddressPolicy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.interfaces import IAddress, IHostResolution

    from newscrawl.crawl.network.addresses import AddressPolicy

_REMEMBERED = 10_000


@implementer(IHostnameResolver)
class CheckedResolver:
    """Keeps from whoever connects the addresses that *policy* does not permit.

    Twisted connects to what its resolver answers, so the address that is checked is the address
    that is connected to: a name has no time to change it in between (DNS rebinding). Whatever
    resolver the reactor has does the looking up.

    Why not ``TWISTED_DNS_RESOLVER``: Scrapy reads it from the settings of the process, before
    add-ons and spiders have had their say, not at all in an ``AsyncCrawlerRunner``, and it would
    take the place of the project's own.
    """

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._resolver: Any = None
        #: names that had no other addresses
        self.refused: dict[str, None] = {}

    def install(self) -> None:
        """Take the place of the reactor's resolver, which is asked from then on."""
        from twisted.internet import reactor  # noqa: PLC0415  # importing it installs one

        self._resolver = reactor.nameResolver
        reactor.installNameResolver(self)

    def uninstall(self) -> None:
        """Give the place back; a resolver that was put over this one goes on with it."""
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
        """Look *hostName* up, and pass on to *resolutionReceiver* what is permitted."""
        receiver = _Receiver(resolutionReceiver, hostName, self._policy, self.refused)
        resolution: IHostResolution = self._resolver.resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )
        return resolution


@implementer(IResolutionReceiver)
class _Receiver:
    def __init__(
        self,
        receiver: Any,
        host: str,
        policy: AddressPolicy,
        refused: dict[str, None],
    ) -> None:
        self._receiver = receiver
        self._host = host
        self._policy = policy
        self._refused = refused
        self._found: list[bool] = []

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        permitted = self._policy.permits(self._host, address.host)
        self._found.append(permitted)
        if permitted:
            self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:  # noqa: N802
        if self._found and not any(self._found):
            self._refused[self._host.lower()] = None
            if len(self._refused) > _REMEMBERED:
                del self._refused[next(iter(self._refused))]
        self._receiver.resolutionComplete()
