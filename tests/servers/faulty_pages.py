"""Faulty pages (:data:`PAGES`) and faulty transfers (:data:`TRANSPORTS`), and sites with them.

Each site has one faulty page, listed between two healthy ones.
"""

import asyncio
import gzip
import random
import socket
import struct
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tests.servers import Request, chunked, response
from tests.servers.pages import (
    PUBLISHED,
    article_page,
    japanese_page,
    japanese_paragraphs,
    paragraphs,
    title,
)
from tests.servers.site import ALLOWED, HTML, Answer, SiteServer

#: ``article``: must be extracted; ``failure``: cannot be extracted; ``either``: both are right
Outcome = Literal["article", "failure", "either"]

MIB = 1 << 20
#: number of the article on the faulty page
FAULTY_NUMBER = 1
FAULTY_PATH = f"/2026/03/14/lokales/wie-es-mit-der-bruecke-weitergeht-{FAULTY_NUMBER}.html"


@dataclass(frozen=True, slots=True)
class PageFault:
    """Page whose bytes are faulty."""

    make: Callable[[], bytes]
    outcome: Outcome = "either"
    #: charset in the Content-Type
    charset: str | None = None
    #: paragraphs that an extracted body must contain, without mojibake
    text: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TransportFault:
    """Faulty transfer of a good page; *send* takes the page and the connection."""

    send: Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
    outcome: Outcome = "failure"
    text: tuple[str, ...] = ()


_FAULTY_HTML = article_page(FAULTY_NUMBER)
_FAULTY_TEXT = tuple(paragraphs(FAULTY_NUMBER))


def _insert(extra: str, before: str = "</body>") -> bytes:
    """Return the article's page with *extra* inserted before the tag *before*."""
    return _FAULTY_HTML.replace(before, extra + before, 1).encode()


def _attributes() -> bytes:
    names = "".join(f" data-a{number}=1" for number in range(300_000))
    return _insert(f"<div{names}>x</div>", "<main>")


def _binary() -> bytes:
    return random.Random(2).randbytes(2 * MIB)


def _mixed_charset() -> bytes:
    """Return a UTF-8 page with a reader comment in cp1252."""
    comment = "<div class=comments><p>Müßte längst gelöst sein – „schön“ wär’s!</p></div>"
    return _FAULTY_HTML.encode().replace(b"</main>", b"</main>" + comment.encode("cp1252"))


def _nested_json_ld() -> bytes:
    script = '<script type="application/ld+json">{}</script>'
    nested = '{"@graph":' * 100_000 + "1" + "}" * 100_000
    long = '{"@type": "NewsArticle", "keywords": [' + '"Wort",' * 400_000 + '"Ende"]}'
    return _insert(script.format(nested) + script.format(long), "</head>")


#: faulty pages by the name of their case
PAGES: dict[str, PageFault] = {
    "empty": PageFault(lambda: b"", "failure"),
    "spaces": PageFault(lambda: b" \n" * 5000, "failure"),
    "comment-only": PageFault(lambda: b"<!-- " + b"nothing to see " * 1000 + b"-->", "failure"),
    "binary": PageFault(_binary, "failure"),
    "pdf": PageFault(lambda: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + _binary(), "failure"),
    "nuls": PageFault(
        lambda: _FAULTY_HTML.replace("<p>", "<p>\0").replace("Rat", "R\0at").encode(),
        "article",
        text=_FAULTY_TEXT[2:3],
    ),
    "nested-around": PageFault(
        lambda: _insert("<div>" * 100_000, "<article>").replace(
            b"</article>", b"</article>" + b"</div>" * 100_000
        )
    ),
    "nested-after": PageFault(lambda: _insert("<div>" * 100_000 + "x"), text=_FAULTY_TEXT),
    "unclosed-tags": PageFault(lambda: _insert("<section><b>x" * (5 * MIB // 13))),
    "attributes": PageFault(_attributes),
    "long-href": PageFault(lambda: _insert(f'<a href="/{"x" * 20 * MIB}">x</a>')),
    "many-links": PageFault(
        lambda: _insert("".join(f'<a href="/{n}/story-{n}.html">x {n}</a>' for n in range(100_000)))
    ),
    "long-text": PageFault(lambda: _insert("<p>" + "wort " * 2_000_000 + "</p>", "<aside>")),
    "big-page": PageFault(lambda: _insert("<p>Noch ein Absatz, der keiner ist.</p>\n" * 750_000)),
    "json-ld": PageFault(_nested_json_ld, "article", text=_FAULTY_TEXT),
    "malformed": PageFault(
        lambda: (
            _FAULTY_HTML.replace("</p>", "")
            .replace("</div></article>", "</span></table></p></div></i>")
            .replace("<body>", '</html><body <p class="a" class=b"><table><tr><div>')
            .encode()
        ),
        "article",
        text=_FAULTY_TEXT,
    ),
    "truncated": PageFault(
        lambda: _FAULTY_HTML.split("Danach können")[0].encode()[:-40] + b'<a href="/x',
        "article",
        text=_FAULTY_TEXT[:4],
    ),
    "cp1252-as-utf-8": PageFault(
        lambda: _FAULTY_HTML.encode("cp1252"), "article", "utf-8", _FAULTY_TEXT
    ),
    "utf-8-as-latin-1": PageFault(_FAULTY_HTML.encode, "article", "iso-8859-1", _FAULTY_TEXT),
    "bogus-charset": PageFault(_FAULTY_HTML.encode, "article", "x-no-such-charset", _FAULTY_TEXT),
    "utf-16-no-bom": PageFault(
        lambda: article_page(FAULTY_NUMBER, meta_charset=None).encode("utf-16-le"),
        "article",
        "utf-16",
        _FAULTY_TEXT,
    ),
    "iso-2022-jp": PageFault(
        lambda: japanese_page(meta_charset="iso-2022-jp").encode("iso2022_jp"),
        "article",
        text=tuple(japanese_paragraphs()),
    ),
    "mixed-charset": PageFault(_mixed_charset, "article", "utf-8", _FAULTY_TEXT),
}


async def _gzip_bomb(page: bytes, writer: asyncio.StreamWriter) -> None:
    """Send 2 MB that decompress to 2 GiB: one deflated block of zeros, repeated.

    A full flush makes the block independent of those before it. The final checksum is wrong: a
    client that gets there has decompressed everything.
    """
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = deflate.compress(bytes(16 * MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    head = b"\x1f\x8b\x08" + bytes(7)
    bomb = head + block * 128 + deflate.flush() + bytes(8)
    writer.write(response(bomb, headers={"Content-Encoding": "gzip"}))


async def _gzip_twice(page: bytes, writer: asyncio.StreamWriter) -> None:
    body = gzip.compress(gzip.compress(page))
    writer.write(response(body, headers={"Content-Encoding": "gzip, gzip"}))


async def _gzip_corrupt(page: bytes, writer: asyncio.StreamWriter) -> None:
    body = bytearray(gzip.compress(page))
    body[-200:-100] = bytes(100)
    writer.write(response(bytes(body), headers={"Content-Encoding": "gzip"}))


async def _gzip_lie(page: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(response(page, headers={"Content-Encoding": "gzip"}))


async def _infinite(page: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(
        response(chunked(page), headers={"Transfer-Encoding": "chunked"}, content_length=False)
    )
    endless = chunked(b"<p>und so weiter</p>" * 4000)
    while not writer.is_closing():
        writer.write(endless)
        await writer.drain()


async def _short_body(page: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(
        response(page, headers={"Content-Length": str(len(page) + 5000)}, content_length=False)
    )


async def _long_body(page: bytes, writer: asyncio.StreamWriter) -> None:
    """Send more bytes than ``Content-Length``: the client gets the first half of the article."""
    cut = page.index(b"Kritik kam")
    writer.write(response(page, headers={"Content-Length": str(cut)}, content_length=False))


async def _cut_chunk(page: bytes, writer: asyncio.StreamWriter) -> None:
    body = chunked(page)[:-300]
    writer.write(response(body, headers={"Transfer-Encoding": "chunked"}, content_length=False))


async def _close_delimited(page: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(response(page, headers={"Connection": "close"}, content_length=False))


async def _reset(page: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(response(page)[: len(page) // 2])
    await writer.drain()
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _slow_loris(page: bytes, writer: asyncio.StreamWriter) -> None:
    for byte in response(page):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.2)


async def _hang(page: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


#: faulty transfers by the name of their case
TRANSPORTS: dict[str, TransportFault] = {
    "gzip-bomb": TransportFault(_gzip_bomb),
    "gzip-twice": TransportFault(_gzip_twice, "article", _FAULTY_TEXT),
    "gzip-corrupt": TransportFault(_gzip_corrupt, "either"),
    "gzip-lie": TransportFault(_gzip_lie, "article", _FAULTY_TEXT),
    "infinite": TransportFault(_infinite),
    "short-body": TransportFault(_short_body, "article", _FAULTY_TEXT),
    "long-body": TransportFault(_long_body, "article", _FAULTY_TEXT[:3]),
    "cut-chunk": TransportFault(_cut_chunk),
    "close-delimited": TransportFault(_close_delimited, "article", _FAULTY_TEXT),
    "reset": TransportFault(_reset),
    "slow-loris": TransportFault(_slow_loris),
    "hang": TransportFault(_hang),
}


@dataclass(frozen=True, slots=True)
class FaultSite:
    """Host with one faulty page, listed between two healthy ones."""

    name: str
    #: number of the first healthy article, unique among all sites
    number: int
    port: int

    @property
    def host(self) -> str:
        """Host name and port in the URLs of the site."""
        return f"{self.name}.example:{self.port}"

    @property
    def fault(self) -> PageFault | TransportFault:
        """Fault of the site."""
        return PAGES.get(self.name) or TRANSPORTS[self.name]

    @property
    def faulty_url(self) -> str:
        """URL of the faulty page."""
        return f"http://{self.host}{FAULTY_PATH}"

    @property
    def healthy(self) -> dict[str, int]:
        """URL -> article number of the healthy pages."""
        numbers = (self.number, self.number + 1)
        return {
            f"http://{self.host}/2026/03/14/lokales/was-aus-dem-umbau-wird-{n}.html": n
            for n in numbers
        }

    def news_sitemap(self) -> str:
        """Return a news sitemap that lists the faulty page between the healthy ones."""
        first, second = self.healthy
        urls = {first: self.number, self.faulty_url: FAULTY_NUMBER, second: self.number + 1}
        entries = "".join(
            f"<url><loc>{url}</loc><news:news><news:publication><news:name>Der Tagesbote</news:name>"
            "<news:language>de</news:language></news:publication>"
            f"<news:publication_date>{PUBLISHED.isoformat()}</news:publication_date>"
            f"<news:title>{title(number)}</news:title></news:news></url>"
            for url, number in urls.items()
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
            f' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">{entries}</urlset>'
        )

    def documents(self, head: str = "", robots: str = "") -> dict[str, tuple[str, bytes]]:
        """Return path -> content type and body of all documents except the faulty page.

        *head* is added to the front page, *robots* to robots.txt.
        """
        front = (
            f"<html><head><title>Der Tagesbote</title></head>{head}"
            f"<body><a href='/'>{self.name}</a></body></html>"
        )
        robots = f"User-agent: *\nDisallow:\n{robots}\n"
        robots += f"Sitemap: http://{self.host}/news-sitemap.xml\n"
        return {
            "/": ("text/html", front.encode()),
            "/robots.txt": ("text/plain", robots.encode()),
            "/news-sitemap.xml": ("application/xml", self.news_sitemap().encode()),
            **{
                url.split(self.host, 1)[1]: ("text/html; charset=utf-8", article_page(n).encode())
                for url, n in self.healthy.items()
            },
        }


async def send_fault(fault: PageFault | TransportFault, writer: asyncio.StreamWriter) -> None:
    """Send a faulty page, or a good page by a faulty transfer."""
    if isinstance(fault, TransportFault):
        await fault.send(_FAULTY_HTML.encode(), writer)
        return
    kind = "text/html" + (f"; charset={fault.charset}" if fault.charset else "")
    writer.write(response(fault.make(), headers={"Content-Type": kind, "Connection": "close"}))


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
