"""Headers, logins, delays, rules and cookies of single sites."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from newscrawl.crawling.discovery.site_list import Site, SitesError, make_site
from newscrawl.middlewares import SiteCookiesMiddleware, SiteOptionsMiddleware
from newscrawl.middlewares.site_cookies import MAX_COOKIE_SIZE, MAX_COOKIES, MAX_SITES
from tests.helpers.crawls import Crawl, run_scrapy
from tests.servers import Request as ServerRequest
from tests.servers import response
from tests.servers.pages import article_page
from tests.servers.site import SiteServer, html, redirect

KEY, SESSION, NEXT = "s3cret-key", "s3cret-session", "s3cret-next"
STORY = "/2026/11/20/a-story-of-the-day-with-a-long-name-{}.html"


def crawler_of(*sites: Site, **settings: object) -> Crawler:
    crawler = get_crawler(settings_dict=settings)
    crawler.spider = crawler._create_spider("x")
    crawler.spider.sites = list(sites)
    return crawler


def test_headers_are_in_a_request_only_while_it_is_downloaded():
    site = make_site(
        {"url": "https://www.paper.example/", "headers": {"X-Key": KEY, "Accept": "a"}}
    )
    middleware = SiteOptionsMiddleware(crawler_of(site))
    for fails in (False, True):
        request = Request("https://m.paper.example/1", headers={"Accept": ["b", "c"]})
        middleware.process_request(request)
        sent = request.headers.to_unicode_dict()
        assert (sent["X-Key"], sent["Accept"]) == (KEY, "a")
        if fails:
            middleware.process_exception(request, OSError())
        else:
            middleware.process_response(request, Response(request.url))
        assert dict(request.headers) == {b"Accept": [b"b", b"c"]}
    others = ("http://www.paper.example/", "https://paper.example.org/", "https://other.example/")
    for url in others:
        request = Request(url)
        middleware.process_request(request)
        assert not request.headers, url


def test_nothing_to_do():
    with pytest.raises(NotConfigured):
        SiteOptionsMiddleware(crawler_of(make_site("paper.example")))


def test_closest_site_of_a_domain():
    """A listed host has its own options, other hosts of the domain those of the first one."""
    sites = [
        make_site({"url": f"https://{host}.paper.example", "headers": {"X-Key": host}})
        for host in ("www", "blog")
    ]
    middleware = SiteOptionsMiddleware(crawler_of(*sites))
    for host, key in (("www", b"www"), ("blog", b"blog"), ("m", b"www")):
        request = Request(f"https://{host}.paper.example/")
        middleware.process_request(request)
        assert request.headers["X-Key"] == key


def test_cookies_need_their_middleware():
    site = make_site({"url": "paper.example", "cookies": "a=1"})
    with pytest.raises(SitesError, match="need COOKIES_ENABLED"):
        SiteCookiesMiddleware.from_crawler(crawler_of(site, COOKIES_ENABLED=False))


def test_cookies_of_the_list_survive_too_many_others():
    site = make_site({"url": "https://paper.example", "cookies": {"sid": SESSION}})
    middleware = SiteCookiesMiddleware.from_crawler(crawler_of(site))
    for number in range(80):
        request = Request(site.url)
        middleware.process_request(request)
        assert f"sid={SESSION}" in (request.headers["Cookie"] or b"").decode()
        headers = {"Set-Cookie": f"c{number}=1"}
        middleware.process_response(request, Response(site.url, headers=headers))


def crawl(folder: Path, *command: str, **settings: object) -> Crawl:
    settings = {
        "NEWSCRAWL_WARC": folder / "warc",
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": folder / "cache",
        "HTTPCACHE_IGNORE_HTTP_CODES": "503",
        "LOG_LEVEL": "DEBUG",
        "RETRY_TIMES": 1,
        "NEWSCRAWL_BACKOFF_DELAY": 0.1,
        **settings,
    }
    return run_scrapy(folder, [*command], None, settings)


def write_list(folder: Path, web: SiteServer, **options: object) -> Path:
    """Write a list of one site with a login; its secrets are in the folder ``secret``."""
    (folder / "secret").mkdir()
    (folder / "secret" / "cookies.txt").write_text(
        "# Netscape HTTP Cookie File\n"
        f".paper.example\tTRUE\t/\tFALSE\t0\tsid\t{SESSION}\n"
        f".other.example\tTRUE\t/\tFALSE\t0\tsid\t{SESSION}\n"
    )
    site = {
        "url": f"http://www.paper.example:{web.port}/",
        "headers": {"X-Key": KEY, "User-Agent": "partner/1"},
        "cookies": {"edition": "int"},
        "cookie_file": "cookies.txt",
        **options,
    }
    path = folder / "secret" / "sites.json"
    path.write_text(json.dumps([site]))
    return path


def find_secrets(folder: Path, secret: bytes = b"s3cret") -> list[str]:
    """Return the files of a crawl with *secret*; Scrapy's cache has the cookies of requests."""
    found = []
    for path in folder.rglob("*"):
        is_cached = "cache" in path.parts and secret != KEY.encode()
        if path.is_file() and path.parent.name != "secret" and not is_cached:
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            found += [str(path)] * (secret in data)
    return found


@pytest.mark.slow
def test_login_of_a_site(tmp_path: Path):
    """Secrets go to the hosts of the site only, and nowhere to disk; the session is renewed."""
    with SiteServer() as web:
        path = write_list(tmp_path, web)
        links = "".join(
            f'<a href="{STORY.format(n)}">A story of the day, with a long headline</a>'
            for n in range(4)
        )
        web.put(
            "www.paper.example/",
            html(links, Set_Cookie=f"sid={NEXT}; Path=/; Domain=paper.example"),
        )
        web.put(f"www.paper.example{STORY.format(0)}", html(article_page(0)))
        web.put(f"www.paper.example{STORY.format(1)}", html("", 503), html(article_page(1)))
        web.put(
            f"www.paper.example{STORY.format(2)}",
            redirect(f"http://other.example:{web.port}{STORY.format(2)}"),
        )
        web.put(f"other.example{STORY.format(2)}", html(article_page(2)))
        web.put(
            f"www.paper.example{STORY.format(3)}",
            redirect(f"http://m.paper.example:{web.port}{STORY.format(3)}"),
        )
        web.put(f"m.paper.example{STORY.format(3)}", html(article_page(3)))
        done = crawl(tmp_path, "crawl", "sitelist", "-a", f"sites={path}")
        log = list(web.received)
    assert len(done.items) == 3, done.output
    assert done.errors() == []
    sessions = []
    for request in log:
        sent = request.headers
        if request.host.startswith("other."):
            assert "x-key" not in sent
            assert "cookie" not in sent
            assert sent["user-agent"].startswith("newscrawl/")
            continue
        assert (sent["x-key"], sent["user-agent"]) == (KEY, "partner/1"), request.target
        cookies = dict(pair.split("=", 1) for pair in sent["cookie"].split("; "))
        assert cookies["edition"] == "int"
        sessions.append(cookies["sid"])
    assert any(request.host.startswith("other.") for request in log)
    assert {*sessions} == {SESSION, NEXT}
    assert sessions == sorted(sessions, key=[SESSION, NEXT].index)
    assert find_secrets(tmp_path) == find_secrets(tmp_path, KEY.encode()) == []


@pytest.mark.slow
def test_options_apply_to_other_spiders(tmp_path: Path):
    """With NEWSCRAWL_SITES, and rules of the site instead of those of the setting."""
    (tmp_path / "secret-rules").mkdir()
    (tmp_path / "secret-rules" / "www.paper.example.txt").write_text("title: //h2\ntitel: //h1")
    with SiteServer() as web:
        path = write_list(tmp_path, web, rules="../secret-rules", delay=0.3)
        for number in range(3):
            page = article_page(number).replace("</article>", "<h2>By rule</h2></article>")
            web.put(f"www.paper.example{STORY.format(number)}", html(page))
        base = f"http://www.paper.example:{web.port}"
        urls = ",".join(base + STORY.format(n) for n in range(3))
        command = ("runspider", "tests/spiders/page_spider.py", "-a", f"urls={urls}")
        done = crawl(tmp_path, *command, NEWSCRAWL_SITES=path, DOWNLOAD_DELAY_JITTER=0)
        stories = [request for request in web.received if "/2026/" in request.target]
    assert [item["title"] for item in done.items] == ["By rule"] * 3, done.output
    assert {request.headers["x-key"] for request in stories} == {KEY}
    assert done.output.count("unknown directive 'titel: //h1'") == 1
    assert find_secrets(tmp_path) == find_secrets(tmp_path, KEY.encode()) == []


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
