"""Which addresses on the network a page of the open web may lead the crawler to."""

from __future__ import annotations

import asyncio
import re
import socket
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv4Network, IPv6Network

_HOST_NAME = re.compile(r"[\w-]+(\.[\w-]+)*")
# Names that mean something on one's own network only: RFC 6761, 6762, 8375 and ICANN's "internal".
# A proxy would look them up in its network, where we cannot check the answer.
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".home.arpa")
# RFC 6052: an IPv4 address in the last 32 bits, which a gateway connects to.
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")


def written_address(host: str) -> str | None:
    """Return the address that *host* writes out, in any form that resolvers take; None for a name.

    ``127.1``, ``2130706433`` and ``0x7f000001`` are all 127.0.0.1.
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


async def addresses_of(host: str) -> list[str]:
    """Return the addresses of *host*, none where it has none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def all_global(addresses: Iterable[str]) -> bool:
    """Return whether all *addresses* are of the public internet."""
    return all(_is_global(_innermost(address)) for address in addresses)


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not address.is_multicast and not site_local


def _innermost(text: str) -> IPv4Address | IPv6Address:
    """Return the address that *text* leads to: the IPv4 address within an IPv6 one, if any."""
    address = ip_address(text.partition("%")[0])
    if not isinstance(address, IPv6Address):
        return address
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return ip_address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


class AddressPolicy:
    """Which hosts a crawl may ask, and which addresses it may connect to.

    That is the public internet, and what *allowed* lists: host names, addresses, networks
    (``10.0.0.0/8``). Raises ``ValueError`` for an entry that is none of these.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._hosts: set[str] = set()
        self._networks: list[IPv4Network | IPv6Network] = []
        #: hosts of the operator's own proxies
        self.proxies: set[str] = set()
        for entry in allowed:
            self._allow(entry)

    def _allow(self, entry: str) -> None:
        try:
            self._networks.append(ip_network(entry.strip("[]"), strict=False))
        except ValueError:
            if not _HOST_NAME.fullmatch(entry):
                raise ValueError(f"{entry!r} is no host name, address or network") from None
            self._hosts.add(entry.lower())

    def refuses(self, host: str) -> bool:
        """Return whether *host*, as a URL has it, is refused without looking it up."""
        host = host.lower().rstrip(".")
        if host in self._hosts:
            return False
        if address := written_address(host):
            return not self._permits_address(address)
        return host in self.proxies or "." not in host or host.endswith(_PRIVATE_NAMES)

    def permits(self, host: str, address: str) -> bool:
        """Return whether *host* may be connected to at *address*, which it was found to have."""
        host = host.lower().rstrip(".")
        return host in self._hosts or host in self.proxies or self._permits_address(address)

    def _permits_address(self, text: str) -> bool:
        address = _innermost(text)
        return _is_global(address) or any(address in network for network in self._networks)
