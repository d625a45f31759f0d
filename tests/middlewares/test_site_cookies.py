"""Cookies of sites that do not answer without them."""

import asyncio
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Response

from newscrawl.middlewares import SiteCookiesMiddleware
from newscrawl.middlewares.site_cookies import MAX_COOKIE_SIZE, MAX_COOKIES, MAX_SITES
from tests.servers import Request as ServerRequest
from tests.servers import response
from tests.servers.pages import article_page
from tests.servers.site import SiteServer, html

SITE = "https://www.paper.example/"


def answer(middleware: SiteCookiesMiddleware, cookies: list[str], url: str = SITE) -> None:
    request = Request(url)
    middleware.process_request(request)
    headers = {"Set-Cookie": cookies}
    middleware.process_response(request, Response(url, headers=headers))
    assert "Cookie" not in request.headers, "it would be stored with a retry"
    assert "cookiejar" not in request.meta


def cookie(middleware: SiteCookiesMiddleware, url: str) -> str:
    request = Request(url)
    middleware.process_request(request)
    return (request.headers.get("Cookie") or b"").decode()


def test_cookies_return_to_their_site_only() -> None:
    middleware = SiteCookiesMiddleware()
    answer(
        middleware,
        [
            "a=1; Path=/",
            "b=2; Domain=paper.example",
            "c=3; Domain=example",
            "d=4; Domain=b.example",
        ],
    )
    assert cookie(middleware, SITE) == "a=1; b=2"
    assert cookie(middleware, "https://m.paper.example/") == "b=2"
    for other in ("https://other.example/", "https://paper.example.org/"):
        assert cookie(middleware, other) == ""


def test_public_suffixes_have_no_cookies() -> None:
    middleware = SiteCookiesMiddleware()
    answer(middleware, ["a=1; Domain=co.uk"], "https://news.co.uk/")
    assert cookie(middleware, "https://other.co.uk/") == cookie(middleware, "https://news.co.uk/")


def test_number_and_size_are_bounded() -> None:
    middleware = SiteCookiesMiddleware()
    answer(middleware, [f"c{n}=1" for n in range(10 * MAX_COOKIES)])
    answer(middleware, [f"big={'x' * MAX_COOKIE_SIZE}"])
    assert len(cookie(middleware, SITE).split("; ")) == MAX_COOKIES
    answer(middleware, ["one=more"])
    assert cookie(middleware, SITE) == ""
    for number in range(MAX_SITES + 10):
        answer(middleware, ["a=1"], f"https://paper{number}.example/")
    assert len(middleware.jars) == MAX_SITES


class CookieWall(SiteServer):
    """Redirects to the same URL until its cookie comes."""

    async def answer(self, request: ServerRequest, writer: asyncio.StreamWriter) -> bool:
        if request.target == "/robots.txt" or "seen=1" in request.headers.get("cookie", ""):
            return await super().answer(request, writer)
        self.record(request, 302)
        headers = {"Location": request.target, "Set-Cookie": "seen=1; Path=/"}
        writer.write(response(b"", 302, headers=headers))
        return True


@pytest.mark.slow
@pytest.mark.parametrize("enabled", [True, False])
def test_site_that_redirects_until_a_cookie_comes(tmp_path: Path, *, enabled: bool) -> None:
    """COOKIES_ENABLED turns cookies off."""
    story = "/2026/11/20/a-story-of-the-day-with-a-long-name-1.html"
    with CookieWall() as web:
        link = f'<a href="{story}">A story of the day, with a long headline</a>'
        web.put("127.0.0.1/", html(link))
        web.put(f"127.0.0.1{story}", html(article_page(1)))
        crawl = web.crawl(tmp_path, COOKIES_ENABLED=enabled)
    assert len(crawl.items) == enabled
    assert b"seen=1" not in (tmp_path / "state.sqlite").read_bytes()
    assert "Traceback" not in crawl.output
