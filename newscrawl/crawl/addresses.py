"""Which addresses on the network a page of the open web may lead the crawler to."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def written_address(host: str) -> str | None:
    """Return the address that *host* writes out, in any form that resolvers take; None for a name.

    ``127.1``, ``2130706433`` and ``0x7f000001`` are all 127.0.0.1.
    """
    host = host.strip("[]").partition("%")[0]
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
    return all(_is_global(address) for address in addresses)


def _is_global(address: str) -> bool:
    found = ip_address(address.partition("%")[0])
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None) or found
    return bool(inner.is_global and not inner.is_multicast)
