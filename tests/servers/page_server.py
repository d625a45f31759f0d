"""Server of fixed pages on loopback."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass
class PageServer:
    """A running server."""

    url: str
    #: paths of the requests, without those of robots.txt
    requests: list[str] = field(default_factory=list)


@contextmanager
def serve_pages(pages: Mapping[str, bytes]) -> Iterator[PageServer]:
    """Serve *pages* by path as HTML; other paths are 404. ``{{base}}`` becomes the server's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/robots.txt":
                served.requests.append(self.path)
            body = pages.get(self.path)
            if body is None:
                self.send_error(404)
                return
            body = body.replace(b"{{base}}", served.url.encode())
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = PageServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
