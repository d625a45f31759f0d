"""HTTP servers on loopback for the tests."""

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from ssl import SSLError
from typing import Self
from urllib.parse import urlsplit

from tests.servers.tls import server_context


@dataclass(frozen=True, slots=True)
class Request:
    """Head of a request, the same for absolute form (sent to a proxy) and origin form."""

    method: str
    #: lower case, without the port
    host: str
    #: path and query
    target: str
    #: names in lower case
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """Entry of a server's log."""

    host: str
    target: str
    status: int


def response(
    body: bytes,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    *,
    content_length: bool = True,
) -> bytes:
    """Return a complete HTTP/1.1 response, with ``Content-Length`` by default."""
    fields = {"Content-Type": "text/html", **(headers or {})}
    if content_length:
        fields["Content-Length"] = str(len(body))
    head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    head += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def chunked(body: bytes, size: int = 16_384) -> bytes:
    """Return *body* in the chunked transfer coding, without the final empty chunk."""
    chunks = (body[start : start + size] for start in range(0, len(body), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)


class LoopbackServer(ABC):
    """Origin server and forward proxy, in a thread, on *port*, or a free one.

    As a proxy it answers for every host name and makes no outgoing connection, so that a crawl
    behind it cannot leave the machine. Requests in a TLS tunnel get the same answers.
    """

    #: address to listen on
    address = "127.0.0.1"

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self.log: list[LoggedRequest] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Log and send the answer; return whether the connection stays open."""

    def record(self, request: Request, status: int) -> None:
        """Log an answer. Call it before sending, so that its client finds the request there."""
        self.log.append(LoggedRequest(request.host, request.target, status))

    @property
    def url(self) -> str:
        """URL of the server, such as ``http://127.0.0.1:8000``."""
        return f"http://{self.address}:{self._port}"

    def proxy_environment(self) -> dict[str, str]:
        """Return the environment of this process with the server as HTTP and HTTPS proxy."""
        clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        return {**clean, "http_proxy": self.url, "https_proxy": self.url}

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(self, *exc_info: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, self.address, self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._loop.shutdown_default_executor()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) and await self._respond(request, writer):
                pass
        except (ConnectionError, TimeoutError, SSLError):
            pass  # clients of a faulty server may disconnect
        finally:
            writer.close()

    async def _respond(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        if request.method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await writer.start_tls(server_context())
            return True
        stays_open = await self.answer(request, writer)
        await writer.drain()
        return stays_open


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request of a connection; None if it was closed."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    url = urlsplit(target if "://" in target else f"http://{headers.get('host', '')}{target}")
    query = f"?{url.query}" if url.query else ""
    return Request(method, (url.hostname or "").lower(), (url.path or "/") + query, headers)
