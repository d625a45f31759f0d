"""Server of fixed pages on loopback."""

import asyncio
from collections.abc import Mapping

from tests.servers import LoopbackServer, Request, response


class PageServer(LoopbackServer):
    """Serves *pages* by path as HTML, some with a status; other paths are 404.

    ``{{base}}`` becomes the server's URL.
    """

    def __init__(self, pages: Mapping[str, bytes | tuple[int, bytes]], port: int = 0) -> None:
        super().__init__(port)
        self._pages = pages
        #: headers of the requests, without those of robots.txt
        self.headers: list[dict[str, str]] = []

    @property
    def requests(self) -> list[str]:
        """Targets of the requests, without those of robots.txt."""
        return [request.target for request in self.log if request.target != "/robots.txt"]

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the page."""
        page = self._pages.get(request.target, (404, b""))
        status, body = page if isinstance(page, tuple) else (200, page)
        self.record(request, status)
        if request.target != "/robots.txt":
            self.headers.append(request.headers)
        body = body.replace(b"{{base}}", self.url.encode())
        headers = {"Content-Type": "text/html; charset=utf-8"}
        writer.write(response(body, status, headers))
        return True
