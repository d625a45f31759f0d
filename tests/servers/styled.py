"""Article pages with style sheets, on hosts that send these well or badly."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.servers import LoopbackServer, Request, response
from tests.servers.pages import article_page

if TYPE_CHECKING:
    from collections.abc import Mapping

CSS = {"Content-Type": "text/css"}
NOT_FOUND = b"<html><title>Not found</title><p>Not found.</html>"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a URL gives."""

    body: bytes = b"h1 { font-size: 40px }"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: CSS)
    #: seconds before the answer
    after: float = 0
    #: close the connection instead
    drops: bool = False


HANG = Answer(after=3600)


def redirect(url: str) -> Answer:
    """Return the answer that leads to *url*."""
    return Answer(b"", 302, {"Location": url})


def bomb(megabytes: int) -> Answer:
    """Return a style sheet that unpacks to that size."""
    return Answer(
        gzip.compress(b" " * (megabytes << 20)), headers=CSS | {"Content-Encoding": "gzip"}
    )


def page(number: int, *head: str) -> Answer:
    """Return an article page with *head* in its head."""
    html = article_page(number).replace("</head>", "".join(head) + "</head>", 1)
    return Answer(html.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def link(href: str, attributes: str = "") -> str:
    """Return a ``link`` to a style sheet."""
    return f'<link rel="stylesheet" href="{href}" {attributes}>'


class StyledWeb(LoopbackServer):
    """Answers by URL without scheme (``cdn.example/theme.css``) to a client that uses it as its proxy."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        super().__init__()
        self._answers = answers
        #: the last request for each URL
        self.requests: dict[str, Request] = {}

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send what there is for the URL."""
        url = f"{request.host}{request.target}"
        answer = self._answers.get(url, Answer(NOT_FOUND, 404, {"Content-Type": "text/html"}))
        self.record(request, answer.status)
        self.requests[url] = request
        await asyncio.sleep(answer.after)
        if answer.drops:
            return False
        writer.write(response(answer.body, answer.status, answer.headers))
        return True

    def times(self) -> Counter[str]:
        """Return the number of requests for each URL."""
        return Counter(f"{line.host}{line.target}" for line in self.log)
