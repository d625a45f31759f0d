"""Servers for crawls that have no proxy: each at an address of loopback, names made up."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import DNSLookupError

from tests.servers.styled import Answer, StyledWeb

if TYPE_CHECKING:
    from collections.abc import Mapping

#: what every crawl here may ask, and what none may
ALLOWED, INTERNAL = "127.0.0.1", "127.0.0.2"

HTML = {"Content-Type": "text/html; charset=utf-8"}
TEXT = {"Content-Type": "text/plain"}


def html(body: str, status: int = 200, **headers: str) -> Answer:
    """Return a page."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(f"<html><title>x</title>{body}</html>".encode(), status, HTML | named)


def text(body: str, status: int = 200) -> Answer:
    """Return a text file."""
    return Answer(body.encode(), status, TEXT)


class DirectWeb(StyledWeb):
    """A server at *address* that counts connections."""

    def __init__(self, answers: Mapping[str, Answer] | None = None, address: str = ALLOWED) -> None:
        super().__init__(answers or {})
        self.address = address
        self.connections = 0
        #: monotonic time of each request
        self.at: list[tuple[str, float]] = []
        self._turns: dict[str, list[Answer]] = {}

    @property
    def port(self) -> int:
        """The port, the same for all names."""
        return self._port

    @property
    def url(self) -> str:
        """The server's own address."""
        return f"http://{self.address}:{self._port}"

    def put(self, url: str, *answers: Answer) -> None:
        """Have *url* (without scheme) answer by *answers* in turn, the last from then on."""
        self._answers[url] = answers[0]  # type: ignore[index]
        if len(answers) > 1:
            self._turns[url] = list(answers)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, self.address, 0)
        self._port = self._server.sockets[0].getsockname()[1]

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        super()._connected(reader, writer)

    async def answer(self, request: Any, writer: asyncio.StreamWriter) -> bool:
        """Send what there is for the URL at this turn."""
        url = f"{request.host}{request.target}"
        self.at.append((url, asyncio.get_running_loop().time()))
        if turns := self._turns.get(url):
            self._answers[url] = turns.pop(0)  # type: ignore[index]
        return await super().answer(request, writer)

    def times_of(self, url: str) -> list[float]:
        """Return the times of requests for *url*, in seconds."""
        return [at for asked, at in self.at if asked == url]


def direct_environment() -> dict[str, str]:
    """Return this process's environment without proxies."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


class MadeUpNames(CachingThreadedResolver):
    """``TWISTED_DNS_RESOLVER``: ``inner.*`` is at the internal address, any other name is not.

    ``rebinding.*`` is allowed at first and internal when it is looked up again.
    """

    _asked: ClassVar[dict[str, int]] = {}

    def getHostByName(self, name: str, timeout: Any = ()) -> Deferred[str]:  # noqa: N802
        first = name.split(".", maxsplit=1)[0]
        if not name.endswith(".example"):
            return super().getHostByName(name, timeout)
        if first == "nowhere":
            return fail(DNSLookupError(name))
        self._asked[name] = self._asked.get(name, 0) + 1
        moved = first == "rebinding" and self._asked[name] > 1
        return succeed(INTERNAL if first == "inner" or moved else ALLOWED)


RESOLVER = f"{__name__}.{MadeUpNames.__name__}"
