"""IP addresses and host names that a crawl of the open web may connect to."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv4Network, IPv6Network

_HOST_NAME = re.compile(r"[\w-]+(\.[\w-]+)*")
# Names of private networks: RFC 6761, 6762, 8375 and ICANN's "internal". A proxy would resolve them
# in its own network, where the address cannot be checked.
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".home.arpa")
# RFC 6052: a gateway connects to the IPv4 address in the last 32 bits.
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")


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
