"""Server with a fixed answer for each URL: article pages, style sheets, faulty answers."""

import asyncio
import gzip
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.servers import LoopbackServer, Request, response
from tests.servers.pages import article_page

CSS = {"Content-Type": "text/css"}
NOT_FOUND = b"<html><title>Not found</title><p>Not found.</html>"


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
    #: seconds in which no other request to the domain may follow, for :attr:`DirectWeb.early`
    pause: float = 0


HANG = Answer(delay=3600)


def redirect(url: str) -> Answer:
    """Return a redirect to *url*."""
    return Answer(b"", 302, {"Location": url})


def bomb(megabytes: int) -> Answer:
    """Return a compressed style sheet that decompresses to *megabytes*."""
    return Answer(
        gzip.compress(b" " * (megabytes << 20)), headers=CSS | {"Content-Encoding": "gzip"}
    )


def page(number: int, *head: str) -> Answer:
    """Return an article page with the elements *head* added to its ``head``."""
    html = article_page(number).replace("</head>", "".join(head) + "</head>", 1)
    return Answer(html.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def link(href: str, attributes: str = "") -> str:
    """Return a ``link`` element for a style sheet."""
    return f'<link rel="stylesheet" href="{href}" {attributes}>'


class StyledWeb(LoopbackServer):
    """Proxy with an answer for each URL without scheme (``cdn.example/theme.css``), else 404."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        super().__init__()
        self._answers = answers
        #: the last request for each URL
        self.requests: dict[str, Request] = {}

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the answer for the URL."""
        url = f"{request.host}{request.target}"
        answer = self._answers.get(url, Answer(NOT_FOUND, 404, {"Content-Type": "text/html"}))
        self.record(request, answer.status)
        self.requests[url] = request
        await asyncio.sleep(answer.delay)
        if answer.drops:
            return False
        writer.write(response(answer.body, answer.status, answer.headers))
        return True

    def request_counts(self) -> Counter[str]:
        """Return the number of requests for each URL."""
        return Counter(f"{request.host}{request.target}" for request in self.log)
