"""Static web servers for the sample sites, one port each, on loopback."""

from __future__ import annotations

import mimetypes
import re
import sys
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import socket

SITE_NAMES = ("harbour-gazette", "tageblick", "minato")
DEFAULT_PORT = 8700
"""Default port of the first site; the others use the next ports."""

_HOST = "127.0.0.1"
_FOLDER = Path(__file__).parent
# Placeholder in feeds and sitemaps, whose URLs are absolute.
_BASE = b"{{base}}"
_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.IGNORECASE)
# The tables of some systems lack these or have other values.
_TYPES = {".atom": "application/atom+xml", ".xml": "application/xml", ".svg": "image/svg+xml"}
_IDLE_SECONDS = 10.0
_MAX_LOGGED_REQUESTS = 10_000


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a sample site."""

    site: str
    #: path and query, as sent
    target: str
    status: int


@dataclass(frozen=True, slots=True)
class _Resource:
    content_type: str
    content: bytes


def _content_type(path: Path, content: bytes) -> str:
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    if kind is None:
        return "application/octet-stream"
    declared = _CHARSET.search(content[:1024]) if kind == "text/html" else None
    if declared:
        return f"{kind}; charset={declared[1].decode()}"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _load(folder: Path, base: str) -> dict[str, _Resource]:
    """Return the resources of a site by URL path; all other paths are 404."""
    resources = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        path = "/" + file.relative_to(folder).as_posix()
        content = file.read_bytes().replace(_BASE, base.encode())
        resources[path.removesuffix("index.html")] = _Resource(
            _content_type(file, content), content
        )
    return resources


class _SiteServer(ThreadingHTTPServer):
    """Web server of a site."""

    def __init__(self, site: str, port: int, requests: deque[Request]) -> None:
        super().__init__((_HOST, port), _Handler)
        self.site = site
        self.url = f"http://{_HOST}:{self.server_port}"
        self.resources = _load(_FOLDER / site / "www", self.url)
        self.requests = requests

    def handle_error(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        # Clients may close connections.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server_version = "newscrawl-samples"
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        self._answer(with_content=True)

    def do_HEAD(self) -> None:
        self._answer(with_content=False)

    def _answer(self, *, with_content: bool) -> None:
        server = cast("_SiteServer", self.server)
        found = server.resources.get(urlsplit(self.path).path)
        status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
        server.requests.append(Request(server.site, self.path, status))
        resource = found or _Resource("text/html; charset=utf-8", b"<h1>404 Not Found</h1>")
        self.send_response(status)
        self.send_header("Content-Type", resource.content_type)
        self.send_header("Content-Length", str(len(resource.content)))
        self.end_headers()
        if with_content:
            self.wfile.write(resource.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # inherited name
        """Log nothing; see :attr:`SampleSites.requests`."""


class SampleSites:
    """Context manager that serves the sample sites on loopback.

    *port* is the port of the first site, and the others use the next ports; 0 uses free ports.
    Raises ``OSError`` if a port is in use.
    """

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._servers: list[_SiteServer] = []
        #: latest requests, oldest first
        self.requests: deque[Request] = deque(maxlen=_MAX_LOGGED_REQUESTS)

    @property
    def urls(self) -> dict[str, str]:
        """Front pages by name of the site."""
        return {server.site: f"{server.url}/" for server in self._servers}

    def __enter__(self) -> Self:
        try:
            for offset, site in enumerate(SITE_NAMES):
                port = self._port + offset if self._port else 0
                self._servers.append(_SiteServer(site, port, self.requests))
        except BaseException:
            self._close()
            raise
        for server in self._servers:
            Thread(target=server.serve_forever, args=(0.05,), name=server.site, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
        self._close()

    def _close(self) -> None:
        while self._servers:
            self._servers.pop().server_close()


def write_sites_file(path: Path, sites: SampleSites) -> None:
    """Write the URLs of the sites to *path*, for ``scrapy crawl sitelist -a sites=``."""
    path.write_text("".join(f"{url}\n" for url in sites.urls.values()), encoding="utf-8")
