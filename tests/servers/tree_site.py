"""Site of numbered pages that can be discovered only by following links."""

import asyncio
import random
from collections import Counter

from tests.servers import LoopbackServer, Request, response

LINKS_PER_PAGE = 5
"""Links of a page to its children; further links lead back to earlier pages."""


class TreeSite(LoopbackServer):
    """Serves ``/0`` to ``/<pages - 1>``, each after a random delay of *delay* seconds on average.

    Page n links to the pages 5n+1 to 5n+5, and back to n/2 and n/3. Some pages are faulty:
    ``moved`` redirect once, ``loops`` redirect to themselves, ``gone`` are 404, ``shaky`` answer
    the first request with 503.
    """

    def __init__(self, pages: int, delay: float = 0.01) -> None:
        super().__init__()
        self.pages = pages
        self.delay = delay
        self.moved = {n for n in range(1, pages) if n % 50 == 7}
        self.loops = {n for n in range(pages // 2, pages) if n % 100 == 9}
        self.gone = {n for n in range(pages // 2, pages) if n % 100 == 19}
        self.shaky = {n for n in range(1, pages) if n % 100 == 29}
        #: numbers of the pages served with content, in order
        self.served: list[int] = []
        self._random = random.Random(1)
        self._requests: Counter[int] = Counter()

    @property
    def healthy(self) -> set[int]:
        """Numbers of the pages with content."""
        return set(range(self.pages)) - self.loops - self.gone

    def links(self, n: int) -> list[int]:
        """Return the numbers of the pages that page *n* links to."""
        links = [LINKS_PER_PAGE * n + k for k in range(1, LINKS_PER_PAGE + 1)] + [n // 2, n // 3]
        return [link for link in links if link < self.pages]

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        path = request.target.strip("/")
        name = path.removesuffix(".html")
        if not name.isdecimal():
            return self._send(request, writer, 404, b"")
        n = int(name)
        await asyncio.sleep(self._random.uniform(0, 2 * self.delay))
        self._requests[n] += 1
        if n in self.loops:
            return self._send(request, writer, 302, b"", {"Location": f"/{path}"})
        if n in self.moved and path == name:
            return self._send(request, writer, 301, b"", {"Location": f"/{n}.html"})
        if n in self.gone or n >= self.pages:
            return self._send(request, writer, 404, b"")
        if n in self.shaky and self._requests[n] == 1:
            return self._send(request, writer, 503, b"")
        self.served.append(n)
        return self._send(request, writer, 200, self._page(n))

    def _page(self, n: int) -> bytes:
        anchors = "".join(f'<a href="/{link}">{link}</a>' for link in self.links(n))
        return f"<title>Page {n}</title><p>{'Text. ' * 50}</p>{anchors}".encode()

    def _send(
        self,
        request: Request,
        writer: asyncio.StreamWriter,
        status: int,
        body: bytes,
        headers: dict[str, str] | None = None,
    ) -> bool:
        self.record(request, status)
        writer.write(response(body, status, headers))
        return True
