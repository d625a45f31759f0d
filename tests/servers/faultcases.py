"""Sites that go wrong in what is around their pages: heads, redirects, robots.txt, lists, traps.

Together with the pages and transports of :mod:`tests.servers.faults` these are the cases of a
survey of what breaks crawlers. Each is a site at a port of loopback whose healthy articles must
come through all the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tests.servers import Request, response
from tests.servers.direct import ALLOWED, DirectWeb
from tests.servers.faults import FAULTY_PATH, PAGES, TRANSPORTS, FaultSite, commit
from tests.servers.pages import article_page
from tests.servers.styled import Answer

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, Sequence

Send: TypeAlias = "Callable[[asyncio.StreamWriter], Awaitable[None]]"
"""Writes what is no answer, and ends the connection."""

ARTICLE, FAILED, LOST = ("article",), ("failed/",), ("failed/", "dropped/")
ANY = (*ARTICLE, *LOST)
HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Visit:
    """One request to a faulty site."""

    site: FaultSite
    #: path and query
    target: str
    #: requests for the target, this one included
    turn: int
    #: URL of a forbidden server
    inside: str

    @property
    def base(self) -> str:
        """URL of the site, without the last slash."""
        return f"http://{self.site.host}"

    @property
    def at_article(self) -> bool:
        """True for the URL of the faulty page."""
        return self.target == FAULTY_PATH


@dataclass(frozen=True, slots=True)
class Case:
    """A way to go wrong, and how the URL at which it does may end."""

    group: str
    #: what is wrong, in words
    what: str
    #: None for what the site would have sent otherwise
    reply: Callable[[Visit], Answer | Send | None]
    #: prefixes of the outcomes allowed for the URL
    ends: tuple[str, ...] = ARTICLE
    #: path of the URL
    path: str = FAULTY_PATH
    #: False where the site itself forbids its healthy articles
    neighbours: bool = True
    #: what is put into the front page, and into robots.txt
    front: str = ""
    robots: str = ""


_WORDS = {
    "empty": "no bytes",
    "spaces": "white space alone",
    "comment-only": "a comment alone",
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
    "malformed": "tags closed wrongly, twice, or not at all",
    "truncated": "ends within an attribute",
    "cp1252-as-utf-8": "cp1252, declared as utf-8",
    "utf-8-as-latin-1": "utf-8, declared as iso-8859-1",
    "bogus-charset": "a charset that does not exist",
    "utf-16-no-bom": "utf-16 without byte order mark",
    "iso-2022-jp": "iso-2022-jp by meta element alone",
    "mixed-charset": "utf-8 with a comment in cp1252",
    "gzip-bomb": "2 MB that unpack to 2 GB",
    "gzip-twice": "packed twice",
    "gzip-corrupt": "packed, with a hole near the end",
    "gzip-lie": "said to be packed, and is not",
    "infinite": "a body without end",
    "short-body": "less than Content-Length says",
    "long-body": "more than Content-Length says",
    "cut-chunk": "the last chunk is cut",
    "close-delimited": "no Content-Length, ended by closing",
    "reset": "connection reset within the body",
    "slow-loris": "a byte of the head each 0.2 s",
    "hang": "no answer",
}


def page_case(name: str) -> Case:
    """Return the case of a page or a transport that is faulty."""
    fault = PAGES.get(name) or TRANSPORTS[name]
    ends = {"article": ARTICLE, "failure": LOST, "either": ANY}[fault.outcome]
    if name in ("big-page", "long-href"):  # more than DOWNLOAD_MAXSIZE
        ends = FAILED

    async def send(writer: asyncio.StreamWriter) -> None:
        await commit(fault, writer)

    group = "page" if name in PAGES else "transfer"
    return Case(group, _WORDS[name], lambda visit: send if visit.at_article else None, ends)


def good_article(head: str = "") -> Answer:
    """Return the article of the faulty page, sent well."""
    html = article_page(1).replace("</head>", f"{head}</head>", 1)
    return Answer(html.encode(), headers=HTML)


@dataclass(slots=True)
class RetryAfter:
    """A Retry-After that was sent."""

    host: str
    at: float
    seconds: float


class FaultWeb(DirectWeb):
    """Serves faulty sites, and healthy ones next to them, all at one port of *address*."""

    def __init__(
        self,
        cases: Mapping[str, Case],
        inside: str = "",
        healthy: Sequence[str] = (),
        address: str = ALLOWED,
    ) -> None:
        super().__init__(address=address)
        self._cases = cases
        self._inside = inside
        self._names = [*cases, *healthy]
        self._turns_of: Counter[str] = Counter()
        self.retry_after: list[RetryAfter] = []
        self.sites: dict[str, FaultSite] = {}

    async def _start(self) -> None:
        await super()._start()
        for position, name in enumerate(self._names):
            self.sites[name] = FaultSite(name, 100 + 2 * position, self.port)

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the faulty answer of a site, or what it has otherwise."""
        url = f"{request.host}{request.target}"
        self._turns_of[url] += 1
        now = self._loop.time()
        self.at.append((url, now))
        name = request.host.removesuffix(".example")
        site, case = self.sites.get(name), self._cases.get(name)
        if site is None:
            return await self._send(request, writer, Answer(b"", 404, HTML))
        if case is None:
            return await self._send(request, writer, self._document(site, "", "", request.target))
        visit = Visit(site, request.target, self._turns_of[url], self._inside)
        reply = case.reply(visit)
        if reply is None:
            front, robots = (
                text.replace("INSIDE", visit.inside).replace("BASE", visit.base)
                for text in (case.front, case.robots)
            )
            reply = self._document(site, front, robots, request.target)
        if isinstance(reply, Answer):
            if after := reply.headers.get("Retry-After"):
                self.retry_after.append(RetryAfter(request.host, now, float(after)))
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


@dataclass(slots=True)
class Ledger:
    """What a :class:`FaultWeb` saw of a site."""

    requests: int = 0
    #: requests that came before their time
    early: list[str] = field(default_factory=list)


def ledger(web: FaultWeb, name: str) -> Ledger:
    """Return the requests to the site *name*, and which of them a Retry-After forbade."""
    host = f"{name}.example"
    asked = [(url, at) for url, at in web.at if url.startswith(f"{host}/")]
    delays = [one for one in web.retry_after if one.host == host]
    early = [
        f"{url} after {at - one.at:.1f} of {one.seconds:g} s"
        for one in delays
        for url, at in asked
        if one.at < at < one.at + one.seconds - 0.05
    ]
    return Ledger(len(asked), early)
