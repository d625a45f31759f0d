"""Generated sites of the growth benchmark: cheap pages of varied templates and texts."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.servers import LoopbackServer, Request, response
from tests.servers.pages import PUBLISHED, paragraphs, title

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

PAGES_PER_SITE = 500
#: one page in so many repeats the text of another
_COPIES = 50
_WORDS = sorted({word for n in range(49) for text in paragraphs(n) for word in text.split()})
_TEMPLATES = (
    """<header><a href="/">{site}</a></header><main><article><h1>{title}</h1><time datetime="{date}">
    </time>{body}</article></main><aside>{menu}</aside>""",
    """<div id=page><div class=nav>{menu}</div><div class=story><h1 class=head>{title}</h1>
    <span class=date>{date}</span><div class=text>{body}</div></div></div>""",
    """<table><tr><td class=left>{menu}</td><td class=content><h2>{title}</h2><i>{date}</i>{body}
    </td></tr></table>""",
    """<nav>{menu}</nav><section class="post"><h1>{title}</h1><div class="meta">{date}</div>
    <div class="entry">{body}</div></section><footer>{site}</footer>""",
)
_MENU = "".join(f"<li><a href='/topic/{n}/'>Topic {n}</a></li>" for n in range(60))
_XML = {"Content-Type": "application/xml"}
_HTML = {"Content-Type": "text/html; charset=utf-8"}
_CSS = {"Content-Type": "text/css"}
_SHEET = b".nav li { display: inline-block } .text p { font-size: 18px } .date { color: #777 }"


def host_of(site: int) -> str:
    """Return the host of a site."""
    return f"growth-{site:04}.example"


def site_urls(pages: int, port: int) -> Iterator[str]:
    """Yield the URLs of the sites of *pages* pages."""
    for site in range(-(-pages // PAGES_PER_SITE)):
        yield f"http://{host_of(site)}:{port}/"


class GrowthServer(LoopbackServer):
    """Serves the sites of *pages* pages: sitemap, style sheet and articles."""

    def __init__(self, pages: int) -> None:
        super().__init__()
        self._pages = pages

    @property
    def port(self) -> int:
        """Port of the server."""
        return self._port

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the document."""
        name, _, number = request.target.rpartition("-")
        host = request.headers.get("host", request.host)
        if name.endswith("/report") and number.endswith(".html"):
            answer = response(page(int(number.removesuffix(".html"))), 200, _HTML)
        elif request.target == "/robots.txt":
            rules = f"User-agent: *\nAllow: /\nSitemap: http://{host}/sitemap.xml\n"
            answer = response(rules.encode(), 200, {"Content-Type": "text/plain"})
        elif request.target == "/sitemap.xml":
            answer = response(self._sitemap(host), 200, _XML)
        elif request.target.endswith(".css"):
            answer = response(_SHEET, 200, _CSS)
        else:
            answer = response(b"<title>x</title>", 200 if request.target == "/" else 404, _HTML)
        writer.write(answer)
        return True

    def _sitemap(self, host: str) -> bytes:
        first = int(host.partition("-")[2].partition(".")[0]) * PAGES_PER_SITE
        last = min(first + PAGES_PER_SITE, self._pages)
        entries = "".join(
            f"<url><loc>http://{host}/2026/03/14/news/report-{n}.html</loc></url>"
            for n in range(first, last)
        )
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return f"<urlset xmlns='{space}'>{entries}</urlset>".encode()


def page(number: int) -> bytes:
    """Return a page; one in :data:`_COPIES` has the text of an earlier one of another site."""
    is_copy = number % _COPIES == 0 and number >= PAGES_PER_SITE
    source = number - PAGES_PER_SITE + 1 if is_copy else number
    chance = random.Random(source)
    body = "".join(
        f"<p>{' '.join(chance.choices(_WORDS, k=60)).capitalize()}.</p>"
        for _ in range(chance.randint(4, 9))
    )
    site = number // PAGES_PER_SITE
    html = _TEMPLATES[site % len(_TEMPLATES)].format(
        site=host_of(site),
        title=title(source),
        date=(PUBLISHED + timedelta(minutes=number % 4000)).isoformat(),
        body=body,
        menu=_MENU,
    )
    head = f"<title>{title(source)}</title><link rel=stylesheet href=/{site % 40}.css>"
    return f"<!DOCTYPE html><html lang=de><head>{head}</head><body>{html}</body></html>".encode()
