"""Fault cases of discovery: sitemaps, feeds, links to internal addresses, crawler traps."""

import gzip
import json
import random
from collections.abc import Callable
from functools import cache

from tests.servers.faulty_pages import FAILED, MIB, Case, Visit
from tests.servers.site import HTML, XML, Answer, redirect

#: spellings of internal addresses
INTERNAL_HOSTS = (
    "127.0.0.2", "2130706434", "0x7f.2", "0177.0.0.2", "127.2", "[::ffff:127.0.0.2]", "[::1]",
    "0.0.0.0", "10.1.2.3", "169.254.169.254", "[fe80::1]", "localhost", "inner.example",
    "metadata.google.internal", "user:secret@127.0.0.2",
)  # fmt: skip

FEED_LINK = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'


def internal_urls(visit: Visit, path: str) -> list[str]:
    """Return URLs of internal addresses, files and data."""
    port = visit.internal_url.rsplit(":", 1)[-1]
    urls = [f"http://{host}:{port}{path}" for host in INTERNAL_HOSTS]
    return [*urls, f"ftp://127.0.0.2:{port}{path}", f"file:///etc{path}", "data:text/html,<p>x"]


def refresh(url: str) -> Answer:
    """Return a page with a meta refresh to *url*."""
    tag = f'<meta http-equiv="refresh" content="0;url={url}">'
    return Answer(f"<html><head>{tag}</head><p>Weiter</p></html>".encode(), headers=HTML)


def feed(visit: Visit, before: str, doctype: str = "", after: str = "") -> bytes:
    """Return an RSS feed of the healthy articles, with text *before* and *after* them."""
    items = "".join(
        f"<item><title>Teil {n}</title><link>{url}</link></item>"
        for url, n in visit.site.healthy.items()
    )
    return (
        f'<?xml version="1.0"?>{doctype}<rss version="2.0"><channel><title>t</title>'
        f"{before}{items}{after}</channel></rss>"
    ).encode()


def _entities(first: str, levels: int) -> str:
    """Return a DTD in which the entity ``e<levels>`` repeats *first* 10 ** *levels* times."""
    lines = [f'<!ENTITY e0 "{first}">']
    lines += [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, levels + 1)]
    return f"<!DOCTYPE x [{''.join(lines)}]>"


def _sitemap(entries: str, doctype: str = "", root: str = "urlset") -> bytes:
    namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    return f'<?xml version="1.0"?>{doctype}<{root} {namespace}>{entries}</{root}>'.encode()


def _locs(urls: list[str], item: str = "url") -> str:
    return "".join(f"<{item}><loc>{url}</loc></{item}>" for url in urls)


@cache
def _million_urls(base: str) -> bytes:
    lines = (f"<url><loc>{base}/meldungen/eine-{n}.html</loc></url>" for n in range(1_000_000))
    return gzip.compress(_sitemap("".join(lines)), 1)


@cache
def _gzip_bomb() -> bytes:
    return gzip.compress(bytes(512 * MIB), 1)


def _sitemap_case(description: str, make: Callable[[Visit], bytes], *outcomes: str) -> Case:
    def reply(visit: Visit) -> Answer | None:
        if not visit.target.startswith("/bad.xml"):
            return None
        return Answer(make(visit), headers=XML)

    return Case(
        description,
        reply,
        outcomes or ("read", *FAILED),
        "/bad.xml",
        robots="Sitemap: BASE/bad.xml\n",
    )


def _xxe(visit: Visit, entity: str) -> str:
    return f'<!DOCTYPE x [<!ENTITY x SYSTEM "{entity}"><!ENTITY % y SYSTEM "{visit.internal_url}/d"> %y;]>'


SITEMAPS: dict[str, Case] = {
    "sitemap-laughs": _sitemap_case(
        "a billion laughs",
        lambda visit: _sitemap(_locs([f"{visit.base}/&e9;"]), _entities("ha", 9)),
    ),
    "sitemap-quadratic": _sitemap_case(
        "an entity of 100 KB, 20,000 times",
        lambda visit: _sitemap(
            _locs([f"{visit.base}/{'&e0;' * 20_000}"]), _entities("h" * 100_000, 0)
        ),
    ),
    "sitemap-xxe": _sitemap_case(
        "entities from a file and from loopback",
        lambda visit: _sitemap(_locs([f"{visit.base}/&x;"]), _xxe(visit, "file:///etc/hostname")),
    ),
    "sitemap-bomb": _sitemap_case("0.5 MB that decompress to 512 MB", lambda _: _gzip_bomb()),
    "sitemap-self": _sitemap_case(
        "an index of itself",
        lambda visit: _sitemap(
            _locs([f"{visit.base}/bad.xml"] * 3, "sitemap"), root="sitemapindex"
        ),
    ),
    "sitemap-random": _sitemap_case(
        "an endless chain of indexes",
        lambda visit: _sitemap(
            _locs([f"{visit.base}/bad.xml?{random.random()}" for _ in range(50)], "sitemap"),
            root="sitemapindex",
        ),
    ),
    "sitemap-million": _sitemap_case(
        "a million URLs, compressed", lambda visit: _million_urls(visit.base)
    ),
    "sitemap-locs": _sitemap_case(
        "an index with 200,000 addresses in one entry",
        lambda _: _sitemap(
            f"<sitemap>{'<loc>/s.xml</loc>' * 200_000}</sitemap>", root="sitemapindex"
        ),
    ),
    "sitemap-alternates": _sitemap_case(
        "200,000 alternates in one entry",
        lambda visit: _sitemap(
            f"<url><loc>{visit.base}/x</loc>" + '<x:link href="/y"/>' * 200_000 + "</url>"
        ),
    ),
    "sitemap-index-many": _sitemap_case(
        "an index of 40,000 sitemaps",
        lambda visit: _sitemap(
            _locs([f"{visit.base}/s{n}.xml" for n in range(40_000)], "sitemap"), root="sitemapindex"
        ),
        "read",
    ),
    "sitemap-bad-entry": _sitemap_case(
        "invalid URLs",
        lambda visit: _sitemap(
            _locs(
                [
                    "javascript:void(0)",
                    "http://[::1",
                    "http://a:b:c/",
                    "//",
                    "",
                    "mailto:a@b.example",
                    "http://" + "x" * 100_000,
                    *visit.site.healthy,
                ]
            )
        ),
        "read",
    ),
    "sitemap-inside": _sitemap_case(
        "URLs of loopback and files",
        lambda visit: _sitemap(
            _locs(internal_urls(visit, "/2026/03/14/eine-meldung-von-innen.html"))
        ),
        "read",
    ),
    "sitemap-index-inside": _sitemap_case(
        "an index of sitemaps on loopback",
        lambda visit: _sitemap(
            _locs(internal_urls(visit, "/map.xml"), "sitemap"), root="sitemapindex"
        ),
        "read",
    ),
}


def _feed_case(description: str, make: Callable[[Visit], bytes], *outcomes: str) -> Case:
    def reply(visit: Visit) -> Answer | None:
        return Answer(make(visit), headers=XML) if visit.target == "/feed.xml" else None

    return Case(description, reply, outcomes or ("read", *FAILED), "/feed.xml", front=FEED_LINK)


FEEDS: dict[str, Case] = {
    "rss-laughs": _feed_case(
        "a billion laughs",
        lambda visit: feed(visit, "<description>&e9;</description>", _entities("ha", 9)),
    ),
    "rss-xxe": _feed_case(
        "entities from a file and from loopback",
        lambda visit: feed(
            visit, "<description>&x;</description>", _xxe(visit, "file:///etc/hostname")
        ),
    ),
    "rss-many": _feed_case(
        "100,000 entries",
        lambda visit: feed(
            visit,
            "",
            after="".join(
                f"<item><title>x</title><link>{visit.base}/2026/03/14/{n}-x.html</link></item>"
                for n in range(100_000)
            ),
        ),
        "read",
    ),
    "rss-bases": _feed_case(
        "20,000 nested elements with xml:base",
        lambda visit: feed(visit, "", after='<a xml:base="x/">' * 20_000),
        "read",
    ),
    "rss-language": _feed_case(
        "a language of 1 MB, for 2,000 entries",
        lambda visit: feed(
            visit,
            f"<language>{'x' * MIB}</language>",
            after="".join(
                f"<item><link>{visit.base}/2026/03/14/{n}-x.html</link></item>" for n in range(2000)
            ),
        ),
        "read",
    ),
    "opml-many": _feed_case(
        "an OPML of 100,000 feeds",
        lambda _: (
            "<opml><body>"
            + "".join(f'<outline xmlUrl="/f{n}.xml"/>' for n in range(100_000))
            + "</body></opml>"
        ).encode(),
        "read",
    ),
    "json-feed-many": _feed_case(
        "a JSON Feed of 100,000 entries and hubs",
        lambda _: json.dumps(
            {
                "items": [{"url": f"http://other.example/{n}-x.html"} for n in range(100_000)],
                "hubs": [{}] * 100_000,
                "next_url": "x" * MIB,
            }
        ).encode(),
        "read",
    ),
    "rss-inside": _feed_case(
        "entries on loopback and in files",
        lambda visit: feed(
            visit,
            "".join(
                f"<item><link>{url}</link></item>" for url in internal_urls(visit, "/2026/x.html")
            ),
        ),
        "read",
    ),
}


def links_page(urls: list[str]) -> Answer:
    """Return a page with a link to each of *urls*."""
    links = "".join(
        f'<li><a href="{url}">Was in der Stadt am Fluss noch geschah, Folge {n}</a></li>'
        for n, url in enumerate(urls)
    )
    return Answer(f"<html><title>x</title><ul>{links}</ul></html>".encode(), headers=HTML)


def _internal_hops(reply: Callable[[str], Answer]) -> Callable[[Visit], Answer | None]:
    """Return replies with a page of links to pages that each lead to an internal address."""
    start = "/2026/03/14/was-noch-geschah-"

    def hop(visit: Visit) -> Answer | None:
        urls = internal_urls(visit, "/x.html")
        if visit.target == "/":
            return links_page([f"{start}{number}.html" for number in range(len(urls))])
        if visit.target.startswith(start):
            return reply(urls[int(visit.target.removeprefix(start).removesuffix(".html"))])
        return None

    return hop


def _front_case(description: str, piece: str, number: int) -> Case:
    """Return the case of a front page with *number* of *piece*, which may contain the number."""
    return Case(
        description,
        lambda _: None,
        ("read",),
        "/",
        front="".join(piece.format(n) for n in range(number)),
    )


LINKS: dict[str, Case] = {
    "feeds-many": _front_case(
        "20,000 feeds", "<link rel=alternate type=application/rss+xml href=/f{}.xml>", 20_000
    ),
    "next-many": _front_case("20,000 next pages", "<link rel=next href=/?page={}>", 20_000),
    "loaded-many": _front_case("20,000 loaded pages", "<i data-next='/n?page={}'></i>", 20_000),
    "frames-many": _front_case("50,000 frames", "<iframe src=/f{}></iframe>", 50_000),
    "options-many": _front_case("50,000 options", "<option value=/f/{}>x</option>", 50_000),
    "anchors-many": _front_case("50,000 sections", "<a href=/ressort-{}/>Ressort</a>", 50_000),
    "links-inside": Case(
        "links to loopback and files",
        lambda visit: (
            links_page(internal_urls(visit, "/2026/03/14/eine-lange-geschichte-von-innen.html"))
            if visit.target == "/"
            else None
        ),
        ("read",),
        "/",
    ),
    "redirects-inside": Case(
        "pages that redirect to loopback", _internal_hops(redirect), ("read",), "/"
    ),
    "refreshes-inside": Case(
        "pages with meta refresh to loopback", _internal_hops(refresh), ("read",), "/"
    ),
}


def _trap_case(description: str, start: str, follow: Callable[[Visit], list[str] | None]) -> Case:
    def reply(visit: Visit) -> Answer | None:
        urls = follow(visit)
        return None if urls is None else links_page(urls)

    return Case(description, reply, ("read",), "/", front=f'<a href="{start}">Mehr davon</a>')


def _calendar(visit: Visit) -> list[str] | None:
    if not visit.target.startswith("/kalender/"):
        return None
    year, month = (int(part) for part in visit.target.split("/")[2:4])
    year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    days = [f"/termine/{year}-{month:02}-{day:02}/was-heute-los-ist.html" for day in range(1, 29)]
    return [f"/kalender/{year}/{month}/", *days]


def _sessions(visit: Visit) -> list[str] | None:
    if not visit.target.startswith("/thema"):
        return None
    session = f"{random.getrandbits(128):032x}"
    return [f"/thema/{n}.html?PHPSESSID={session}&sid={session}" for n in range(30)]


def _deep(visit: Visit) -> list[str] | None:
    if not visit.target.startswith("/archiv/"):
        return None
    return ["archiv/", "lokales/archiv/", "../archiv/lokales/", *(f"{n}/" for n in range(10))]


def _stories(visit: Visit) -> list[str] | None:
    if not visit.target.startswith("/geschichten/"):
        return None
    return [
        f"/geschichten/2026/03/14/eine-geschichte-{random.getrandbits(64)}.html" for _ in range(99)
    ]


TRAPS: dict[str, Case] = {
    "trap-calendar": _trap_case("an endless calendar", "/kalender/2026/11/", _calendar),
    "trap-sessions": _trap_case("a session in every link", "/thema/1.html", _sessions),
    "trap-deep": _trap_case("relative links that make URLs longer and longer", "/archiv/", _deep),
    "trap-stories": _trap_case("endless links to new pages", "/geschichten/", _stories),
}
