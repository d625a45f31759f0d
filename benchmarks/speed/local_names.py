"""Names under ``.example`` resolve to loopback in this process; all others are unknown.

The resolver of the machine is not changed. Only the standard library is imported, as the tools have
environments of their own.
"""

from __future__ import annotations

import socket
from typing import Any

LOOPBACK = "127.0.0.1"
_SUFFIX = ".example"
_getaddrinfo, _gethostbyname = socket.getaddrinfo, socket.gethostbyname


def _address(host: Any) -> Any:
    name = host.decode("ascii") if isinstance(host, bytes) else host
    if name is None or name in {"localhost", LOOPBACK}:
        return host
    if name.endswith(_SUFFIX):
        return LOOPBACK
    raise socket.gaierror(socket.EAI_NONAME, "only names under .example are known")


def install() -> None:
    """Replace the resolver functions of :mod:`socket`."""

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        return _getaddrinfo(_address(host), *args, **kwargs)

    def gethostbyname(host: Any) -> str:
        return _gethostbyname(_address(host))

    socket.getaddrinfo = getaddrinfo
    socket.gethostbyname = gethostbyname
