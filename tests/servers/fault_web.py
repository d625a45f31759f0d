"""Fault cases and the server for their sites.

Each case of :data:`tests.servers.fault_cases.CASES` is a site with a fault. The healthy articles of
the site must be extracted all the same.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.servers import Request, response
from tests.servers.faulty_pages import FAULTY_PATH, PAGES, TRANSPORTS, FaultSite, send_fault
from tests.servers.pages import article_page
from tests.servers.site import ALLOWED, HTML, Answer, SiteServer

Send = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes bytes that are not a regular answer; the connection is closed afterwards."""

ARTICLE, FAILED, LOST = ("article",), ("failed/",), ("failed/", "dropped/")
ANY = (*ARTICLE, *LOST)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request to a faulty site."""

    site: "FaultSite"
    #: path and query
    target: str
    #: requests for the target so far, this one included
    count: int
    #: URL of a server that crawls must not reach
    internal_url: str

    @property
    def base(self) -> str:
        """URL of the site, without a final slash."""
        return f"http://{self.site.host}"

    @property
    def is_faulty_page(self) -> bool:
        """Whether the target is the faulty page."""
        return self.target == FAULTY_PATH


@dataclass(frozen=True, slots=True)
class Case:
    """Site with a fault, and the expected outcome of the faulty URL."""

    description: str
    #: None for the regular answer of the site
    reply: Callable[[Visit], Answer | Send | None]
    #: prefixes of the outcomes allowed for the faulty URL
    outcomes: tuple[str, ...] = ARTICLE
    #: path of the faulty URL
    path: str = FAULTY_PATH
    #: False if the fault makes the healthy articles unreachable
    healthy: bool = True
    #: text added to the front page and to robots.txt
    front: str = ""
    robots: str = ""


_DESCRIPTIONS = {
    "empty": "no bytes",
    "spaces": "white space only",
    "comment-only": "a comment only",
    "binary": "2 MB of random bytes as HTML",
    "pdf": "a PDF as HTML",
    "nuls": "NULs in tags and text",
    "nested-around": "100,000 nested divs around the article",
    "nested-after": "100,000 nested divs after the article",
    "unclosed-tags": "5 MB of tags that are not closed",
    "attributes": "a tag with 300,000 attributes",
    "long-href": "a link of 20 MB",
    "many-links": "100,000 links",
    "long-text": "a paragraph of 10 MB",
    "big-page": "30 MB of paragraphs",
    "json-ld": "JSON-LD nested 100,000 deep, and 400,000 keywords",
    "malformed": "tags closed in the wrong order, twice, or not at all",
    "truncated": "ends within an attribute",
    "cp1252-as-utf-8": "cp1252, declared as utf-8",
    "utf-8-as-latin-1": "utf-8, declared as iso-8859-1",
    "bogus-charset": "a charset that does not exist",
    "utf-16-no-bom": "utf-16 without byte order mark",
    "iso-2022-jp": "iso-2022-jp, declared by a meta element only",
    "mixed-charset": "utf-8 with a comment in cp1252",
    "gzip-bomb": "2 MB that decompress to 2 GB",
    "gzip-twice": "compressed twice",
    "gzip-corrupt": "compressed, with zeros near the end",
    "gzip-lie": "Content-Encoding gzip, but not compressed",
    "infinite": "an endless body",
    "short-body": "less than Content-Length says",
    "long-body": "more than Content-Length says",
    "cut-chunk": "the last chunk is cut",
    "close-delimited": "no Content-Length, ended by closing",
    "reset": "connection reset within the body",
    "slow-loris": "a byte of the head each 0.2 s",
    "hang": "no answer",
}


def page_case(name: str, *, front: bool = False) -> Case:
    """Return the case of a fault of the faulty page, and of the front page with *front*."""
    fault = PAGES.get(name) or TRANSPORTS[name]
    outcomes = {"article": ARTICLE, "failure": LOST, "either": ANY}[fault.outcome]
    if name in ("big-page", "long-href"):  # above DOWNLOAD_MAXSIZE
        outcomes = FAILED

    async def send(writer: asyncio.StreamWriter) -> None:
        await send_fault(fault, writer)

    def reply(visit: Visit) -> Send | None:
        return send if visit.is_faulty_page or (front and visit.target == "/") else None

    return Case(_DESCRIPTIONS[name], reply, outcomes)


def good_article(head: str = "") -> Answer:
    """Return the article of the faulty URL without a fault; *head* is added to its ``head``."""
    html = article_page(1).replace("</head>", f"{head}</head>", 1)
    return Answer(html.encode(), headers=HTML)


class FaultWeb(SiteServer):
    """Serves the sites of *cases* and the *healthy* ones at one port of *address*.

    *internal_url*: URL of a server that crawls must not reach.
    """

    def __init__(
        self,
        cases: Mapping[str, Case],
        internal_url: str = "",
        healthy: Sequence[str] = (),
        address: str = ALLOWED,
    ) -> None:
        super().__init__(address=address)
        self._cases = cases
        self._internal_url = internal_url
        self._names = [*cases, *healthy]
        self._counts: Counter[str] = Counter()
        self.sites: dict[str, FaultSite] = {}

    async def _start(self) -> None:
        await super()._start()
        for position, name in enumerate(self._names):
            self.sites[name] = FaultSite(name, 100 + 2 * position, self.port)

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the faulty answer of a case, or the regular one."""
        url = f"{request.host}{request.target}"
        self._counts[url] += 1
        self.record_order(request)
        # With its subdomains.
        name = request.host.removesuffix(".example").rpartition(".")[2]
        site, case = self.sites.get(name), self._cases.get(name)
        if site is None:
            return await self._send(request, writer, Answer(b"", 404, HTML))
        if case is None:
            return await self._send(request, writer, self._document(site, "", "", request.target))
        visit = Visit(site, request.target, self._counts[url], self._internal_url)
        reply = await asyncio.to_thread(case.reply, visit)  # may compress megabytes
        if reply is None:
            front, robots = (
                text.replace("INTERNAL", visit.internal_url).replace("BASE", visit.base)
                for text in (case.front, case.robots)
            )
            reply = self._document(site, front, robots, request.target)
        if isinstance(reply, Answer):
            self.start_pause(request, reply)
            return await self._send(request, writer, reply)
        self.record(request, 0)
        await reply(writer)
        return False

    async def _send(self, request: Request, writer: asyncio.StreamWriter, answer: Answer) -> bool:
        self.record(request, answer.status)
        writer.write(response(answer.body, answer.status, answer.headers))
        return True

    def _document(self, site: FaultSite, front: str, robots: str, target: str) -> Answer:
        if target == FAULTY_PATH:
            return good_article()
        kind, body = site.documents(front, robots).get(target, ("text/html", b""))
        return Answer(body, 200 if body else 404, {"Content-Type": kind})

    def requests_to(self, name: str) -> list[str]:
        """Return the URLs of the requests to the site *name*."""
        return [url for url in self.requested if url.startswith(f"{name}.example/")]

    def early_requests(self, name: str) -> list[str]:
        """Return those that came before a Retry-After had passed."""
        return [url for url in self.early if url.startswith(f"{name}.example/")]
