"""The cases of :mod:`tests.servers.faultcases`: :data:`CASES`, by name."""

from __future__ import annotations

import asyncio
import random
from functools import cache
from typing import TYPE_CHECKING

from tests.servers import response
from tests.servers.faultcases import (
    ARTICLE,
    FAILED,
    HTML,
    LOST,
    Case,
    Send,
    Visit,
    good_article,
    page_case,
)
from tests.servers.faultlists import (
    FEEDS,
    LINKS,
    SITEMAPS,
    STYLES,
    TRAPS,
    XML,
    feed,
    refresh,
)
from tests.servers.faults import FAULTY_PATH, MIB, PAGES, TRANSPORTS
from tests.servers.pages import article_page, dress, paragraphs
from tests.servers.styled import Answer, redirect

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = {"Content-Type": "text/plain"}
_ARTICLE = article_page(1).encode()


def raw(data: bytes) -> Send:
    """Return what sends *data* as it is."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return send


async def _slow_body(writer: asyncio.StreamWriter) -> None:
    head, body = response(_ARTICLE, headers=HTML).split(b"\r\n\r\n", 1)
    writer.write(head + b"\r\n\r\n")
    for byte in body:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.2)


async def _hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


def _headers(lines: list[str], reply: Callable[[], bytes] = lambda: _ARTICLE) -> Send:
    head = "".join(f"{line}\r\n" for line in lines)
    body = reply()
    start = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
    return raw(f"{start}{head}\r\n".encode() + body)


def article_case(
    group: str, what: str, reply: Callable[[Visit], Answer | Send], *ends: str, well: bool = True
) -> Case:
    """Return the case of an article URL that is answered by *reply*; *well*: the site goes on."""

    def at_article(visit: Visit) -> Answer | Send | None:
        return reply(visit) if visit.at_article else None

    return Case(group, what, at_article, ends or ARTICLE, neighbours=well)


def _hops(make: Callable[[Visit, str], Answer]) -> Callable[[Visit], Answer | None]:
    """Return a reply that leads from hop to hop without end."""

    def reply(visit: Visit) -> Answer | None:
        if visit.at_article:
            return make(visit, "/hop/1")
        if visit.target.startswith("/hop/"):
            return make(visit, f"/hop/{int(visit.target.removeprefix('/hop/')) + 1}")
        return None

    return reply


def _ping_pong(visit: Visit) -> Answer | None:
    return {FAULTY_PATH: redirect("/pong"), "/pong": redirect(FAULTY_PATH)}.get(visit.target)


def _busy(status: int, seconds: int, turns: int) -> Callable[[Visit], Answer]:
    headers = HTML | {"Retry-After": str(seconds)}
    busy = Answer(b"<p>Gleich wieder da", status, headers)
    return lambda visit: busy if visit.turn <= turns else good_article()


_HEADS: dict[str, Case] = {
    "slow-body": article_case(
        "transfer",
        "head at once, then a byte of the body each 0.2 s",
        lambda _: _slow_body,
        *FAILED,
    ),
    "huge-header": article_case(
        "head", "one header of 5 MB", lambda _: _headers([f"X-Long: {'x' * 5 * MIB}"]), *FAILED
    ),
    "many-headers": article_case(
        "head",
        "200,000 headers",
        lambda _: _headers([f"X-Header-{n}: {n}" for n in range(200_000)]),
        *FAILED,
    ),
    "cookies": article_case(
        "head",
        "500 cookies of 3.9 KB",
        lambda _: _headers([f"Set-Cookie: c{n}={'x' * 3900}; path=/" for n in range(500)]),
    ),
    "status-204": article_case("head", "204", lambda _: Answer(b"", 204, {}), *LOST),
    "status-999": article_case(
        "head", "999", lambda _: raw(b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"), *FAILED
    ),
    "no-content-type": article_case(
        "head",
        "no Content-Type",
        lambda _: raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_ARTICLE) + _ARTICLE),
    ),
    "http-09": article_case("head", "HTTP/0.9: a body alone", lambda _: raw(_ARTICLE), *FAILED),
    "garbage": article_case(
        "head", "bytes that are no HTTP", lambda _: raw(random.Random(3).randbytes(20_000)), *FAILED
    ),
    "empty-close": article_case("head", "closed without a byte", lambda _: raw(b""), *FAILED),
}

_REDIRECTS: dict[str, Case] = {
    "redirect-self": article_case(
        "redirect", "to itself", lambda _: redirect(FAULTY_PATH), *FAILED
    ),
    "redirect-ping-pong": Case("redirect", "to one that leads back", _ping_pong, FAILED),
    "redirect-endless": Case(
        "redirect", "from page to page", _hops(lambda _, path: redirect(path)), FAILED
    ),
    "refresh-self": article_case(
        "redirect", "meta refresh to itself", lambda _: refresh(FAULTY_PATH), *LOST
    ),
    "refresh-endless": Case(
        "redirect", "meta refresh from page to page", _hops(lambda _, path: refresh(path)), LOST
    ),
    "redirect-file": article_case(
        "redirect", "to file:", lambda _: redirect("file:///etc/hostname"), *FAILED
    ),
    "redirect-data": article_case(
        "redirect", "to data:", lambda _: redirect("data:text/html,<h1>x</h1>"), *FAILED
    ),
    "refresh-file": article_case(
        "redirect", "meta refresh to file:", lambda _: refresh("file:///etc/hostname"), *LOST
    ),
}

_LOAD: dict[str, Case] = {
    **{
        f"retry-{status}-3": article_case(
            "load", f"{status}, Retry-After: 3, then well", _busy(status, 3, 1)
        )
        for status in (429, 503)
    },
    **{
        f"retry-{status}-86400": article_case(
            "load", f"{status}, Retry-After: 86400", _busy(status, 86400, 99), *FAILED, well=False
        )
        for status in (429, 503)
    },
    "flap-500": article_case(
        "load",
        "500, then well",
        lambda visit: Answer(b"x", 500, HTML) if visit.turn == 1 else good_article(),
    ),
    "soft-404": article_case(
        "page",
        "200 and «not found»",
        lambda _: Answer(
            dress("Seite nicht gefunden", ["Leider."], meta_charset="utf-8").encode(), headers=HTML
        ),
        *LOST,
    ),
}


def _robots_case(
    what: str, reply: Callable[[Visit], Answer | Send | None], *ends: str, well: bool = True
) -> Case:
    def at_robots(visit: Visit) -> Answer | Send | None:
        return reply(visit) if visit.target.startswith("/robots") else None

    # Without robots.txt only URLs requested by name are served.
    front = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'

    def with_feed(visit: Visit) -> Answer | Send | None:
        if visit.target == "/feed.xml":
            return Answer(feed(visit, ""), headers=XML)
        return at_robots(visit)

    return Case("robots.txt", what, with_feed, ends or ("read",), "/robots.txt", well, front=front)


@cache
def _long_robots() -> bytes:
    rules = "".join(f"Disallow: /nicht/{n}\n" for n in range(500_000))
    return f"User-agent: *\n{rules}".encode()


def _wildcards() -> Answer:
    rules = "".join(f"Disallow: /{'*a' * 200}{n}$\n" for n in range(200))
    return Answer(f"User-agent: *\n{rules}".encode(), headers=TEXT)


_ROBOTS: dict[str, Case] = {
    "robots-500": _robots_case("500", lambda _: Answer(b"", 500, TEXT), *FAILED, well=False),
    "robots-hang": _robots_case("no answer", lambda _: _hang, *FAILED, well=False),
    "robots-loop": _robots_case(
        "redirects without end", lambda visit: redirect(f"{visit.target}x"), *FAILED
    ),
    "robots-10-mb": _robots_case(
        "500,000 rules", lambda _: Answer(_long_robots(), headers=TEXT), "read", *FAILED
    ),
    "robots-html": _robots_case("a page", lambda _: good_article()),
    "robots-binary": _robots_case(
        "random bytes", lambda _: Answer(random.Random(4).randbytes(200_000), headers=TEXT)
    ),
    "robots-wildcards": _robots_case("200 rules of 200 wildcards", lambda _: _wildcards()),
    "robots-inside": _robots_case(
        "redirect to loopback",
        lambda visit: redirect(f"{visit.inside}/robots.txt"),
        *FAILED,
        well=False,
    ),
}


_FORMULAS = [
    '=cmd|"/C calc"!A0',
    "+1+1 und so weiter, wie es die Stadt am Fluss noch nie gesehen hat",
    "@SUM(1+1)*cmd",
    "-2+3+cmd",
    *paragraphs(1)[1:],
]
_OUTPUT: dict[str, Case] = {
    "csv-formulas": article_case(
        "page",
        "headline and paragraphs that a spreadsheet computes",
        lambda _: Answer(
            dress(
                '=HYPERLINK("http://a.example/","Mehr")', _FORMULAS, meta_charset="utf-8"
            ).encode(),
            headers=HTML,
        ),
    ),
}

#: every case, by the name of its site
CASES: dict[str, Case] = {
    **{name: page_case(name) for name in (*PAGES, *TRANSPORTS)},
    **_HEADS,
    **_REDIRECTS,
    **_LOAD,
    **_ROBOTS,
    **SITEMAPS,
    **FEEDS,
    **TRAPS,
    **STYLES,
    **LINKS,
    **_OUTPUT,
}
#: those that :mod:`tests.extraction.test_bad_input` does not crawl
SITE_CASES = {name: case for name, case in CASES.items() if name not in {*PAGES, *TRANSPORTS}}
