"""The site server of the tests: a table of answers, and a resolver for its hosts."""

import asyncio
import gzip
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import DNSLookupError

from tests.helpers.crawls import Crawl, crawl_sites
from tests.servers import LoopbackServer, Request, response
from tests.servers.pages import article_page

#: loopback address that crawls may connect to, and one that they must not
ALLOWED, INTERNAL = "127.0.0.1", "127.0.0.2"

CSS = {"Content-Type": "text/css"}
HTML = {"Content-Type": "text/html; charset=utf-8"}
TEXT = {"Content-Type": "text/plain"}
XML = {"Content-Type": "application/xml"}


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to the requests for a URL."""

    body: bytes = b"h1 { font-size: 40px }"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: CSS)
    #: seconds before the answer is sent
    delay: float = 0
    #: close the connection without an answer
    drops: bool = False
    #: seconds in which no other request to the domain may follow, for :attr:`SiteServer.early`
    pause: float = 0


HANG = Answer(delay=3600)
NOT_FOUND = Answer(b"<html><title>Not found</title><p>Not found.</html>", 404, HTML)


def html(body: str, status: int = 200, **headers: str) -> Answer:
    """Return an HTML answer."""
    extra = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(f"<html><title>x</title>{body}</html>".encode(), status, HTML | extra)


def text(body: str, status: int = 200) -> Answer:
    """Return a plain text answer."""
    return Answer(body.encode(), status, TEXT)


def xml(body: str) -> Answer:
    """Return a feed or a sitemap."""
    return Answer(body.encode(), headers=XML)


def redirect(url: str, status: int = 302) -> Answer:
    """Return a redirect to *url*."""
    return Answer(b"", status, {"Location": url})


def bomb(megabytes: int) -> Answer:
    """Return a compressed style sheet that decompresses to *megabytes*."""
    body = gzip.compress(b" " * (megabytes << 20))
    return Answer(body, headers=CSS | {"Content-Encoding": "gzip"})


def page(number: int, *head: str) -> Answer:
    """Return an article page with the elements *head* added to its ``head``."""
    text = article_page(number).replace("</head>", "".join(head) + "</head>", 1)
    return Answer(text.encode(), headers=HTML)


def link(href: str, attributes: str = "") -> str:
    """Return a ``link`` element for a style sheet."""
    return f'<link rel="stylesheet" href="{href}" {attributes}>'


class SiteServer(LoopbackServer):
    """Server and proxy with *answers* to URLs without scheme and port, or to paths of any host.

    The bytes of an HTML page are an answer, too; in a body, ``{{base}}`` is the server's URL.
    """

    def __init__(
        self,
        answers: Mapping[str, Answer | bytes] | None = None,
        address: str = ALLOWED,
        port: int = 0,
    ) -> None:
        super().__init__(port)
        self.address = address
        self.connections = 0
        self.received: list[Request] = []
        #: URLs that came in the pause after an answer of the same domain
        self.early: list[str] = []
        self.answers: dict[str, list[Answer]] = {}
        #: domain -> end of the pause, in seconds of the event loop
        self._pauses: dict[str, float] = {}
        for url, answer in (answers or {}).items():
            self.put(url, answer)

    @property
    def port(self) -> int:
        """Port of the server."""
        return self._port

    @property
    def site(self) -> str:
        """The server's address and port, which name its site in the stats."""
        return f"{self.address}:{self._port}"

    def put(self, url: str, *answers: Answer | bytes) -> None:
        """Answer *url* with *answers* in turn; the last one is repeated."""
        self.answers[url] = [
            Answer(answer, headers=HTML) if isinstance(answer, bytes) else answer
            for answer in answers
        ]

    def urls(self, *urls: str) -> list[str]:
        """Return *urls* with scheme and port."""
        hosts = [url.partition("/") for url in urls]
        return [f"http://{host}:{self._port}/{path}" for host, _, path in hosts]

    def crawl(self, folder: Path, **settings: Any) -> Crawl:
        """Crawl the site of the server's address by ``scrapy crawl sitelist``."""
        return crawl_sites(folder, [f"{self.url}/"], **settings)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        super()._connected(reader, writer)

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the next answer for the URL."""
        self.record_order(request)
        url = f"{request.host}{request.target}"
        known = self.answers.get(url) or self.answers.get(request.target) or [NOT_FOUND]
        answer = known.pop(0) if len(known) > 1 else known[0]
        self.start_pause(request, answer)
        self.record(request, answer.status)
        await asyncio.sleep(answer.delay)
        if answer.drops:
            return False
        body = answer.body.replace(b"{{base}}", self.url.encode())
        writer.write(response(body, answer.status, answer.headers))
        return True

    def record_order(self, request: Request) -> None:
        """Record a request, and whether it is early."""
        self.received.append(request)
        if self._loop.time() < self._pauses.get(_domain(request), 0):
            self.early.append(f"{request.host}{request.target}")

    def start_pause(self, request: Request, answer: Answer) -> None:
        """Begin the pause of *answer*, which is sent to *request*."""
        if answer.pause:
            self._pauses[_domain(request)] = self._loop.time() + answer.pause

    @property
    def requested(self) -> list[str]:
        """URLs without scheme, in the order of the requests."""
        return [f"{request.host}{request.target}" for request in self.received]

    @property
    def paths(self) -> list[str]:
        """Paths of the requests, without those of robots.txt."""
        return [it.target for it in self.received if it.target != "/robots.txt"]

    def headers(self, url: str) -> dict[str, str]:
        """Return the headers of the last request for *url*."""
        return next(it.headers for it in reversed(self.received) if f"{it.host}{it.target}" == url)

    def request_counts(self) -> Counter[str]:
        """Return the number of requests for each URL."""
        return Counter(f"{request.host}{request.target}" for request in self.log)


def _domain(request: Request) -> str:
    return ".".join(request.host.rsplit(".", 2)[-2:])


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
"""Setting of crawls without a proxy."""
