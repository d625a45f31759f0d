"""All fault cases by name (:data:`CASES`)."""

import asyncio
import random
from collections.abc import Callable
from encodings.aliases import aliases

from tests.servers import response
from tests.servers.coding_cases import CODINGS
from tests.servers.discovery_cases import FEEDS, LINKS, SITEMAPS, TRAPS, refresh
from tests.servers.faulty_pages import (
    ANY,
    ARTICLE,
    FAILED,
    FAULTY_PATH,
    LOST,
    MIB,
    PAGES,
    TRANSPORTS,
    Case,
    Send,
    Visit,
    good_article,
    page_case,
)
from tests.servers.pages import article_page, dress, paragraphs
from tests.servers.rule_file_cases import OPT_OUTS, ROBOTS
from tests.servers.site import CSS, HANG, HTML, Answer, redirect

_ARTICLE = article_page(1).encode()


def raw(data: bytes) -> Send:
    """Return a function that sends *data* unchanged."""

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


_LONG_VALUES = (
    ("Content-Type", 'text/html; charset="utf-8; charset='),
    ("Content-Disposition", 'attachment; filename="a;'),
    ("Retry-After", "Mon, 01 Jan "),
    ("Last-Modified", "Mon, 01 Jan 2026 "),
    ("ETag", '"a, '),
    ("X-Robots-Tag", "noa, noaix-"),
    ("Link", "</a.css>; rel=stylesheet, "),
    ("Refresh", "0; url=/a, "),
)


def _headers(lines: list[str]) -> Send:
    """Return a function that sends the article with additional header *lines*."""
    head = "".join(f"{line}\r\n" for line in lines)
    start = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(_ARTICLE)}\r\n"
    return raw(f"{start}{head}\r\n".encode() + _ARTICLE)


def article_case(
    description: str, reply: Callable[[Visit], Answer | Send], *outcomes: str, healthy: bool = True
) -> Case:
    """Return the case of an article URL that is answered by *reply*."""

    def reply_at_article(visit: Visit) -> Answer | Send | None:
        return reply(visit) if visit.is_faulty_page else None

    return Case(description, reply_at_article, outcomes or ARTICLE, healthy=healthy)


def _hops(make: Callable[[Visit, str], Answer]) -> Callable[[Visit], Answer | None]:
    """Return replies that lead endlessly from one URL to the next."""

    def reply(visit: Visit) -> Answer | None:
        if visit.is_faulty_page:
            return make(visit, "/hop/1")
        if visit.target.startswith("/hop/"):
            return make(visit, f"/hop/{int(visit.target.removeprefix('/hop/')) + 1}")
        return None

    return reply


def _ping_pong(visit: Visit) -> Answer | None:
    return {FAULTY_PATH: redirect("/pong"), "/pong": redirect(FAULTY_PATH)}.get(visit.target)


def _busy(status: int, seconds: int, count: int) -> Callable[[Visit], Answer]:
    """Return replies of which the first *count* ask the client to retry later."""
    headers = HTML | {"Retry-After": str(seconds)}
    busy = Answer(b"<p>Gleich wieder da", status, headers, pause=seconds)
    return lambda visit: busy if visit.count <= count else good_article()


_ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e"
_LOGGED_HEADERS = ("Content-Encoding", "Content-Language", "Set-Cookie", "Refresh", "X-Robots-Tag")
_HEADS: dict[str, Case] = {
    "slow-body": article_case(
        "the head at once, then a byte of the body each 0.2 s", lambda _: _slow_body, *FAILED
    ),
    "huge-header": article_case(
        "one header of 5 MB", lambda _: _headers([f"X-Long: {'x' * 5 * MIB}"]), *FAILED
    ),
    "many-headers": article_case(
        "200,000 headers",
        lambda _: _headers([f"X-Header-{n}: {n}" for n in range(200_000)]),
        *FAILED,
    ),
    "link-headers": article_case(
        "300 Link headers of 16 KB",
        lambda _: _headers(["Link: " + '<?1>;type="application/rss+xml",' * 500] * 300),
    ),
    "folded-header": article_case(
        "a header of 800 lines of 16 KB",
        lambda _: _headers(["X-Long: a", *(" " + "x" * 16_000 for _ in range(800))]),
    ),
    "cookies": article_case(
        "500 cookies of 3.9 KB",
        lambda _: _headers([f"Set-Cookie: c{n}={'x' * 3900}; path=/" for n in range(500)]),
    ),
    "terminal-escapes": article_case(
        "escape sequences in headers",
        lambda _: _headers([f"{name}: gz{_ESCAPES}" for name in _LOGGED_HEADERS]),
        *ANY,
    ),
    "status-204": article_case("204", lambda _: Answer(b"", 204, {}), *LOST),
    "status-999": article_case(
        "999", lambda _: raw(b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"), *FAILED
    ),
    "no-content-type": article_case(
        "no Content-Type",
        lambda _: raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_ARTICLE) + _ARTICLE),
    ),
    "http-09": article_case("HTTP/0.9: only a body", lambda _: raw(_ARTICLE), *FAILED),
    "garbage": article_case(
        "bytes that are not HTTP", lambda _: raw(random.Random(3).randbytes(20_000)), *FAILED
    ),
    "length-digits": article_case(
        "a Content-Length of 9,000 digits",
        lambda _: raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %b\r\n\r\n"
            % (b"9" * 9000)
        ),
        *FAILED,
    ),
    "header-values": article_case(
        "header values of 15 KB",
        lambda _: _headers(
            [f"{name}: {value * (15_000 // len(value))}" for name, value in _LONG_VALUES]
        ),
        *ANY,
    ),
    "redirect-long": article_case(
        "to a URL of 15 KB of escapes and dots",
        lambda _: redirect("/" + "../%2e/;jsessionid=1" * 700 + "?a=%26" * 200),
        *LOST,
    ),
    "meta-elements": article_case(
        "64 KB of meta elements that almost opt out",
        lambda _: good_article(
            "<meta name=robots content=noa name=tdm-reservation content=0>" * 1000
        ),
    ),
    "sheet-links": article_case(
        "2 MB of links to style sheets",
        lambda _: good_article("<link rel=stylesheet href=/a.css media=print>" * 45_000),
        *ANY,
    ),
    "sheet-tags": article_case(
        "2 MB of unfinished link elements and comments",
        lambda _: good_article("<link rel=stylesheet href='/a.css <!--" * 50_000),
        *ANY,
    ),
    "sheet-imports": Case(
        "100,000 imports in a style sheet",
        lambda visit: {
            FAULTY_PATH: good_article("<link rel=stylesheet href=/a.css>"),
            "/a.css": Answer(
                "".join(f"@import '{n}';" for n in range(100_000)).encode(), headers=CSS
            ),
        }.get(visit.target),
    ),
    "long-body": article_case(
        "1.2 MB of sentences",
        lambda _: Answer(
            _ARTICLE.replace(
                b"</p>", b"</p><p>" + b"Ein Satz steht hier noch einmal. " * 36_000, 1
            ),
            headers=HTML,
        ),
        "dropped/too_long",
    ),
    "empty-close": article_case("closed without a byte", lambda _: raw(b""), *FAILED),
}

_HOSTILE_CHARSETS = {
    # quadratic in Python, unknown to browsers
    "punycode": b"a" * 1_600_000 + b"</p><!-- -" + b"ba" * 100_000 + b" --><p>",
    "hex": "Ende der Geschichte für heute".encode("cp1252"),
    "unicode_escape": b"\\ud800 " * 1000 + b"\xff",
    "utf-7": b"+ADw-script+AD4- \xe4" * 1000,
    # each invalid pair calls an error handler
    "gb18030": b"\xff\x80" * (4 * MIB),
}


def _charset_case(charset: str, hostile: bytes) -> Case:
    page = article_page(1).encode("ascii", "xmlcharrefreplace")
    body = page.replace(b"</body>", b"<p>" + hostile + b"</p></body>")
    headers = {"Content-Type": f"text/html; charset={charset}"}
    return article_case(
        f"{len(body):,} bytes declared as {charset}", lambda _: Answer(body, headers=headers)
    )


def _huge_page(description: str, piece: str) -> Case:
    page = article_page(1)
    body = page.replace("</body>", piece * (9 * MIB // len(piece)) + "</body>").encode()
    return article_case(description, lambda _: Answer(body, headers=HTML), *ANY)


_HUGE: dict[str, Case] = {
    "huge-list": _huge_page("9 MB of list items", "<li>an item</li>"),
    "huge-open-list": _huge_page("9 MB of open list items", "<li>an item "),
    "huge-links": _huge_page("9 MB of links", "<a href=/1>l</a>"),
    "huge-headings": _huge_page("9 MB of headings", "<h1>a headline here</h1>"),
}

_CHARSETS: dict[str, Case] = {
    f"charset-{name}": _charset_case(name, hostile) for name, hostile in _HOSTILE_CHARSETS.items()
}
#: a page in windows-1252 that declares another codec of Python; many, so only in ``make faults``
PYTHON_CHARSETS: dict[str, Case] = {
    f"codec-{name.replace('_', '-')}": _charset_case(name, b"Ende der Stra\xdfe")
    for name in sorted({*aliases.values(), "idna", "undefined", "raw_unicode_escape"})
}

_REDIRECTS: dict[str, Case] = {
    "redirect-userinfo": article_case(
        "to a URL with a password",
        lambda visit: redirect(f"http://user:pw@{visit.site.host}/hop"),
        "failed/userinfo",
    ),
    "redirect-self": article_case("to itself", lambda _: redirect(FAULTY_PATH), *FAILED),
    "redirect-ping-pong": Case("to a page that redirects back", _ping_pong, FAILED),
    "redirect-endless": Case(
        "endlessly from page to page", _hops(lambda _, path: redirect(path)), FAILED
    ),
    "refresh-self": article_case("meta refresh to itself", lambda _: refresh(FAULTY_PATH), *LOST),
    "refresh-endless": Case(
        "endless meta refresh from page to page", _hops(lambda _, path: refresh(path)), LOST
    ),
    "redirect-file": article_case("to file:", lambda _: redirect("file:///etc/hostname"), *FAILED),
    "redirect-data": article_case(
        "to data:", lambda _: redirect("data:text/html,<h1>x</h1>"), *FAILED
    ),
    "refresh-file": article_case(
        "meta refresh to file:", lambda _: refresh("file:///etc/hostname"), *LOST
    ),
}

_LOAD: dict[str, Case] = {
    **{
        f"retry-{status}-3": article_case(
            f"{status}, Retry-After: 3, then the article", _busy(status, 3, 1)
        )
        for status in (429, 503)
    },
    **{
        f"retry-{status}-86400": article_case(
            f"{status}, Retry-After: 86400", _busy(status, 86400, 99), *FAILED, healthy=False
        )
        for status in (429, 503)
    },
    "bot-check": article_case(
        "403 with half a megabyte of the beginnings of bot checks",
        lambda _: Answer(b"<form " + b"<input document.cookie location" * 2**14, 403, HTML),
        *FAILED,
    ),
    "retry-after-overflow": article_case(
        "503, Retry-After out of range, then the article",
        lambda visit: (
            Answer(b"x", 503, HTML | {"Retry-After": "Mon, 01 Jan 99999999999 00:00:00 GMT"})
            if visit.count == 1
            else good_article()
        ),
    ),
    "flap-500": article_case(
        "500, then the article",
        lambda visit: Answer(b"x", 500, HTML) if visit.count == 1 else good_article(),
    ),
    "soft-404": article_case(
        "200 and «not found»",
        lambda _: Answer(
            dress("Seite nicht gefunden", ["Leider."], meta_charset="utf-8").encode(), headers=HTML
        ),
        *LOST,
    ),
}


def _style_case(description: str, sheets: dict[str, Answer], *hrefs: str) -> Case:
    def reply(visit: Visit) -> Answer | None:
        if visit.is_faulty_page:
            links = "".join(f'<link rel="stylesheet" href="{href}">' for href in hrefs)
            return good_article(links.replace("INTERNAL", visit.internal_url))
        if visit.target.startswith("/endless/"):
            return Answer(
                f'@import "/endless/{visit.count}{visit.target[9:]}";'.encode(), headers=CSS
            )
        answer = sheets.get(visit.target)
        if answer and visit.internal_url:
            body = answer.body.replace(b"INTERNAL", visit.internal_url.encode())
            return Answer(body, answer.status, answer.headers, answer.delay)
        return answer

    return Case(description, reply)


def _matched_slowly() -> Case:
    """Return the case of a page and a sheet that take minutes together, and little apart."""
    rules = "".join(f'[class*="x{n}"] b {{ color: red }}\n' for n in range(40_000))
    sheets = {"/slow.css": _css(rules)}
    elements = "".join(f'<p class="x{n}y{n}z{n}"><b>x</b></p>' for n in range(20_000))

    def reply(visit: Visit) -> Answer | None:
        if visit.is_faulty_page:
            page = good_article('<link rel="stylesheet" href="/slow.css">')
            return Answer(
                page.body.replace(b"</body>", f"{elements}</body>".encode()), headers=HTML
            )
        return sheets.get(visit.target)

    return Case("40,000 attribute selectors on 20,000 elements", reply)


def _css(text: str, status: int = 200) -> Answer:
    return Answer(text.encode(), status, CSS)


_RULES = "p.c{} {{ color: #{:06x}; font-size: {}px }}\n"
_STYLES: dict[str, Case] = {
    "css-loop": _style_case(
        "circular and endless imports",
        {
            "/a.css": _css('@import "/b.css";'),
            "/b.css": _css('@import "/a.css"; @import "/b.css";'),
        },
        "/a.css",
        "/endless/x.css",
    ),
    "css-hang": _style_case("no answer", {"/hang.css": HANG}, "/hang.css"),
    "css-404": _style_case("404", {"/none.css": _css("", 404)}, "/none.css"),
    "css-10-mb": _style_case(
        "10 MB of rules",
        {"/big.css": _css("".join(_RULES.format(n, n, n % 90) for n in range(250_000)))},
        "/big.css",
    ),
    "css-2-mb": _style_case(
        "a sheet just below the size limit",
        {"/big.css": _css("".join(_RULES.format(n, n, n % 90) for n in range(45_000)))},
        "/big.css",
    ),
    "css-tokens": _style_case(
        "endless comments, escapes, quotes and blocks",
        {
            "/comment.css": _css("/*" * 100_000),
            "/escape.css": _css("\\" * 200_000),
            "/quote.css": _css('"' + "x" * MIB),
            "/nested.css": _css("a{" * 5_000 + "@media x{" * 5_000 + "(" * 5_000),
        },
        "/comment.css",
        "/escape.css",
        "/quote.css",
        "/nested.css",
    ),
    "css-attributes": _matched_slowly(),
    "css-inside": _style_case(
        "sheets, imports and redirects on loopback",
        {
            "/import.css": _css('@import "INTERNAL/import.css";'),
            "/redirect.css": Answer(b"", 302, CSS | {"Location": "http://127.0.0.2/x.css"}),
        },
        "INTERNAL/sheet.css",
        "http://inner.example/sheet.css",
        "http://169.254.169.254/sheet.css",
        "/import.css",
        "/redirect.css",
        "file:///etc/hostname",
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
        "headline and paragraphs that a spreadsheet evaluates",
        lambda _: Answer(
            dress(
                '=HYPERLINK("http://a.example/","Mehr")', _FORMULAS, meta_charset="utf-8"
            ).encode(),
            headers=HTML,
        ),
    )
}

#: every case, by the name of its site
CASES: dict[str, Case] = {
    **{name: page_case(name) for name in (*PAGES, *TRANSPORTS)},
    **_HEADS,
    **_CHARSETS,
    **PYTHON_CHARSETS,
    **_HUGE,
    **_REDIRECTS,
    **_LOAD,
    **ROBOTS,
    **OPT_OUTS,
    **CODINGS,
    **SITEMAPS,
    **FEEDS,
    **TRAPS,
    **_STYLES,
    **LINKS,
    **_OUTPUT,
}
#: cases that :mod:`tests.extraction.test_bad_input` does not crawl
SITE_CASES = {name: case for name, case in CASES.items() if name not in {*PAGES, *TRANSPORTS}}
