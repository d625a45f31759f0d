"""Servers for crawls without a proxy, each at a loopback address, with a fake DNS resolver."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import DNSLookupError

from tests.servers import Request
from tests.servers.styled_web import Answer, StyledWeb

#: loopback address that crawls may connect to, and one that they must not
ALLOWED, INTERNAL = "127.0.0.1", "127.0.0.2"

HTML = {"Content-Type": "text/html; charset=utf-8"}
TEXT = {"Content-Type": "text/plain"}


def html(body: str, status: int = 200, **headers: str) -> Answer:
    """Return an HTML answer."""
    extra = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(f"<html><title>x</title>{body}</html>".encode(), status, HTML | extra)


def text(body: str, status: int = 200) -> Answer:
    """Return a plain text answer."""
    return Answer(body.encode(), status, TEXT)


class DirectWeb(StyledWeb):
    """Server at *address* that counts connections and records the order of the requests."""

    def __init__(self, answers: Mapping[str, Answer] | None = None, address: str = ALLOWED) -> None:
        super().__init__(answers or {})
        self.address = address
        self.connections = 0
        #: URLs without scheme, in the order of the requests
        self.requested: list[str] = []
        #: those that came in the pause after an answer of the same domain
        self.early: list[str] = []
        self._answer_queues: dict[str, list[Answer]] = {}
        #: domain -> end of the pause, in seconds of the event loop
        self._pauses: dict[str, float] = {}

    @property
    def port(self) -> int:
        """Port of the server."""
        return self._port

    def put(self, url: str, *answers: Answer) -> None:
        """Answer *url* (without scheme) with *answers* in turn; the last one is repeated."""
        self._answers[url] = answers[0]  # type: ignore[index]
        if len(answers) > 1:
            self._answer_queues[url] = list(answers)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        super()._connected(reader, writer)

    async def answer(self, request: Any, writer: asyncio.StreamWriter) -> bool:
        """Send the next answer for the URL."""
        url = f"{request.host}{request.target}"
        self.record_order(request)
        if queue := self._answer_queues.get(url):
            self._answers[url] = queue.pop(0)  # type: ignore[index]
        if answer := self._answers.get(url):
            self.start_pause(request, answer)
        return await super().answer(request, writer)

    def record_order(self, request: Request) -> None:
        """Record a request in the order of all, and whether it is early."""
        url = f"{request.host}{request.target}"
        self.requested.append(url)
        if self._loop.time() < self._pauses.get(_domain(request), 0):
            self.early.append(url)

    def start_pause(self, request: Request, answer: Answer) -> None:
        """Begin the pause of *answer*, which is sent to *request*."""
        if answer.pause:
            self._pauses[_domain(request)] = self._loop.time() + answer.pause


def _domain(request: Request) -> str:
    return ".".join(request.host.rsplit(".", 2)[-2:])


def direct_environment() -> dict[str, str]:
    """Return the environment of this process without proxies."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


class FakeResolver(CachingThreadedResolver):
    """``TWISTED_DNS_RESOLVER`` for names under ``.example``.

    ``inner.*`` resolves to the internal address, ``nowhere.*`` fails, ``hanging.*`` gets no answer,
    ``rebinding.*`` is internal from the second lookup on. All other names resolve to the allowed
    address.
    """

    _lookups: ClassVar[dict[str, int]] = {}

    def getHostByName(self, name: str, timeout: Any = ()) -> Deferred[str]:  # noqa: N802
        first = name.split(".", maxsplit=1)[0]
        if not name.endswith(".example"):
            return super().getHostByName(name, timeout)
        if first == "nowhere":
            return fail(DNSLookupError(name))
        if first == "hanging":
            return Deferred()
        self._lookups[name] = self._lookups.get(name, 0) + 1
        rebound = first == "rebinding" and self._lookups[name] > 1
        return succeed(INTERNAL if first == "inner" or rebound else ALLOWED)


RESOLVER = f"{__name__}.{FakeResolver.__name__}"
