"""Server of the pages, in its own process: gzipped as in the corpora, without work per request."""

from __future__ import annotations

import gzip
import multiprocessing
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.servers import LoopbackServer, Request, response

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

    from benchmarks.speed.pages import SitePage

_TEXT = {"Content-Type": "text/plain"}
_GZIPPED = {"Content-Encoding": "gzip"}


class Web:
    """The server, seen from the benchmark."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.port: int = connection.recv()

    def reset(self) -> None:
        """Wait for the first request of the next run."""
        self._connection.send("reset")
        self._connection.recv()
        while self._connection.poll():  # of an earlier run
            self._connection.recv()

    def first_request(self) -> float | None:
        """Return the monotonic time of the first request since :meth:`reset`; None before it."""
        return self._connection.recv() if self._connection.poll() else None


class _PageServer(LoopbackServer):
    def __init__(self, answers: Mapping[str, bytes], connection: Connection) -> None:
        super().__init__()
        self._answers = answers
        self._connection = connection
        self.waiting = False

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        if self.waiting:
            self.waiting = False
            self._connection.send(time.monotonic())
        found = self._answers.get(request.target)
        if found is None and request.target == "/sitemap.xml":
            found = self._answers.get(f"{request.host}/sitemap.xml")
        if found is None and request.target == "/robots.txt":
            found = _robots(request.headers.get("host", request.host))
        writer.write(found or response(b"<title>Not found</title>", 404))
        return True


def _robots(host: str) -> bytes:
    rules = f"User-agent: *\nAllow: /\nSitemap: http://{host}/sitemap.xml\n"
    return response(rules.encode(), 200, _TEXT)


def _front_page(host: str) -> bytes:
    return response(f"<title>{host}</title><h1>{host}</h1>".encode(), 200)


def page_response(page: SitePage) -> bytes:
    """Return the response with *page*, as the corpus has it: gzipped."""
    data = page.labels.path.read_bytes()
    try:
        gzip.decompress(data).decode()
        kind = "text/html; charset=utf-8"
    except UnicodeDecodeError:
        kind = "text/html"
    return response(data, 200, {"Content-Type": kind, **_GZIPPED})


def _sitemap(pages: Sequence[SitePage], port: int) -> bytes:
    entries = "".join(
        f"<url><loc>{page.url(port)}</loc><lastmod>2026-11-20</lastmod></url>" for page in pages
    )
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{space}">{entries}</urlset>'
    return response(body.encode(), 200, {"Content-Type": "application/xml"})


@contextmanager
def served(pages: Sequence[SitePage]) -> Iterator[Web]:
    """Serve *pages* in another process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(pages, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Web(ours)
    finally:
        process.terminate()
        process.join()


def _serve(pages: Sequence[SitePage], connection: Connection) -> None:
    answers: dict[str, bytes] = {"/": _front_page("paper")}
    answers.update((page.path, page_response(page)) for page in pages)
    with _PageServer(answers, connection) as server:
        port = int(server.url.rsplit(":", 1)[1])
        by_host: dict[str, list[SitePage]] = {}
        for page in pages:
            by_host.setdefault(page.host, []).append(page)
        answers.update(
            (f"{host}/sitemap.xml", _sitemap(found, port)) for host, found in by_host.items()
        )
        connection.send(port)
        while _command(connection) == "reset":
            server.waiting = True
            connection.send("ready")


def _command(connection: Connection) -> Any:
    try:
        return connection.recv()
    except EOFError:
        return None
