"""Requests to private addresses, bodies that contradict their headers, secrets in the log."""

import asyncio
import gzip
import io
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils.test import get_crawler

from newscrawl.crawling.logs import LogTextFilter, mask_secrets
from newscrawl.document.encoding import is_binary
from newscrawl.middlewares import SafetyMiddleware
from newscrawl.middlewares.safety import AddressPolicy, written_address
from tests.helpers.crawls import Crawl, crawl_pages, direct_environment
from tests.servers import Request, response
from tests.servers.pages import article_page, paragraphs
from tests.servers.site import INTERNAL, Answer, SiteServer, html, redirect, text

REFUSED = "newscrawl/safety/refused_count"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "0.0.0.0", "0",
        "10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "198.18.0.1",
        "224.0.0.1", "255.255.255.255", "[::1]", "::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b::10.0.0.1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:f5ff:fffe",
        "localhost", "LOCALHOST.", "a.localhost", "printer.local", "metadata.google.internal",
        "router.home.arpa", "intranet", "",
    ],
)  # fmt: skip
def test_refuses_private_hosts(host: str):
    assert AddressPolicy().refuses(host)


@pytest.mark.parametrize(
    "host",
    ["example.com", "1.1.1.1", "16843009", "2606:4700::1111", "[2606:4700::1111]", "a.b.example",
     "64:ff9b::101:101", "2002:101:101::", "1.example"],
)  # fmt: skip
def test_accepts_public_hosts(host: str):
    assert not AddressPolicy().refuses(host)


def test_allows_listed_hosts_addresses_networks():
    policy = AddressPolicy(["127.0.0.1", "10.0.0.0/8", "Intranet", "::1", "news.internal"])
    for host in ("127.0.0.1", "127.1", "10.9.8.7", "intranet", "[::1]", "news.internal."):
        assert not policy.refuses(host)
    for host in ("127.0.0.2", "11.0.0.1.internal", "localhost", "::2", "x.news.internal"):
        assert policy.refuses(host)
    assert policy.permits("intranet", "192.168.0.7")
    assert not policy.permits("other.example", "192.168.0.7")
    assert policy.permits("other.example", "10.0.0.1")


@pytest.mark.parametrize("entry", ["http://a.example", "a.example:80", "10.0.0.0/99", "a b", ""])
def test_rejects_invalid_allow_list(entry: str):
    crawler = get_crawler(settings_dict={"NEWSCRAWL_ALLOWED_ADDRESSES": [entry]})
    with pytest.raises(ValueError, match="NEWSCRAWL_ALLOWED_ADDRESSES"):
        SafetyMiddleware.from_crawler(crawler)


def test_host_names_are_no_addresses():
    assert written_address("1.example") is None
    assert written_address("127.0.0.1.nip.example") is None


def refused(crawl: Crawl, reason: str) -> int:
    """Return the number of requests that were refused for *reason*."""
    return int(crawl.stats.get(f"{REFUSED}/{reason}", 0))


@pytest.fixture
def webs() -> Iterator[tuple[SiteServer, SiteServer]]:
    """Serve a public and a private web."""
    with SiteServer() as web, SiteServer(address=INTERNAL) as inner:
        yield web, inner


def crawl_urls(folder: Path, *urls: str, **settings: Any) -> Crawl:
    """Crawl *urls* with a spider that does not use newscrawl."""
    done = crawl_pages(folder, urls, **{"RETRY_TIMES": 1, **settings})
    assert done.returncode == 0, done.output[-5000:]
    return done


def inside(port: int, way: str, secret: Path) -> list[str]:
    """Return seven private URLs that are unique to *way*, and three file URLs."""
    return [
        f"http://{INTERNAL}:{port}/{way}",
        f"http://2130706434:{port}/{way}",
        f"http://0x7f.2:{port}/{way}",
        f"http://[::ffff:127.0.0.2]:{port}/{way}",
        f"http://inner.example:{port}/{way}",
        f"http://localhost:{port}/{way}",
        f"http://169.254.169.254/{way}",
        f"ftp://{INTERNAL}:{port}/{way}",
        f"{secret.as_uri()}?{way}",
        f"data:text/html;base64%2CPHRpdGxlPmRhdGE8L3RpdGxlPg==#{way}",
    ]


@pytest.mark.slow
def test_refuses_private_urls_from_any_source(tmp_path: Path, webs: tuple[SiteServer, SiteServer]):
    web, inner = webs
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    ways = {way: inside(inner.port, way, secret) for way in ("link", "redirect", "refresh", "css")}
    urls = ways["link"]
    for number, url in enumerate(ways["redirect"]):
        web.put(f"news.example/redirect-{number}", redirect(url))
    for number, url in enumerate(ways["refresh"]):
        refresh = f'<meta http-equiv="refresh" content="0;url={url}">'
        web.put(f"news.example/refresh-{number}", html(f"<head>{refresh}</head>"))
    sheets = "".join(f'<link rel="stylesheet" href="{url}">' for url in ways["css"])
    article = article_page(3).replace("</head>", f"{sheets}</head>").encode()
    web.put("news.example/article", Answer(article, headers={"Content-Type": "text/html"}))
    web.put("trick.example/robots.txt", redirect(f"http://{INTERNAL}:{inner.port}/robots"))
    for way in ("redirect", "refresh"):
        urls += [f"http://news.example:{web.port}/{way}-{number}" for number in range(10)]
    urls += [f"http://news.example:{web.port}/article", f"http://trick.example:{web.port}/x"]
    crawl = crawl_urls(tmp_path, *urls)
    assert inner.connections == 0
    assert "the secret" not in str(crawl.items)
    assert [item["url"] for item in crawl.items if "/article" in item["url"]] != []
    # Scrapy does not follow redirects to files, and sheets are refused by their scheme before.
    assert refused(crawl, "scheme") == 3
    assert refused(crawl, "address") == 4 * 7 + 1
    for url in ways["link"][:7]:  # or its robots.txt
        assert f"Refused (address): {url.removesuffix('link')}" in crawl.output
    assert crawl.errors() == []


@pytest.mark.slow
def test_checks_address_of_each_connection(tmp_path: Path, webs: tuple[SiteServer, SiteServer]):
    """DNS rebinding."""
    web, inner = webs
    web.put("rebinding.example/1", html("1", Connection="close"))
    urls = [f"http://rebinding.example:{web.port}/{n}" for n in (1, 2)]
    crawl = crawl_urls(
        tmp_path, *urls, DNSCACHE_ENABLED=False, ROBOTSTXT_OBEY=False,
        CONCURRENT_REQUESTS=1, NEWSCRAWL_MIN_BODY=0,
    )  # fmt: skip
    assert web.request_counts() == {"rebinding.example/1": 1}
    assert inner.connections == 0
    assert refused(crawl, "address") == 1


@pytest.mark.slow
def test_checks_urls_of_sitemaps_and_feeds(tmp_path: Path, webs: tuple[SiteServer, SiteServer]):
    web, inner = webs
    base, inside = f"http://127.0.0.1:{web.port}", f"http://{INTERNAL}:{inner.port}"
    robots = f"User-agent: *\nDisallow:\nSitemap: {inside}/map.xml\nSitemap: file:///etc/passwd\n"
    robots += f"Sitemap: {base}/index.xml\n"
    index = f"<sitemapindex><sitemap><loc>{inside}/deep.xml</loc></sitemap></sitemapindex>"
    web.put("127.0.0.1/robots.txt", text(robots))
    web.put("127.0.0.1/index.xml", text(index))
    web.put("127.0.0.1/", html(f'<a href="{inside}/a-story-of-some-length-2026.html">A story</a>'))
    crawl = web.crawl(tmp_path)
    assert crawl.returncode == 0
    assert inner.connections == 0
    counts = crawl.site_counts(web.site)
    assert counts["discovery_failed_count/address"] == 2
    assert crawl.stats["finish_reason"] == "finished"


@pytest.mark.slow
def test_disabled_middleware_refuses_nothing(tmp_path: Path, webs: tuple[SiteServer, SiteServer]):
    _, inner = webs
    inner.put("inner.example/", html("inside"))
    url = f"http://inner.example:{inner.port}/"
    crawl = crawl_urls(tmp_path, url, NEWSCRAWL_SAFETY_ENABLED=False)
    assert inner.request_counts()["inner.example/"] == 1
    assert refused(crawl, "address") == 0


@pytest.mark.slow
def test_checks_urls_behind_proxy(tmp_path: Path, webs: tuple[SiteServer, SiteServer]):
    """The proxy itself may have a private address."""
    _, inner = webs
    inner.put("paper.example/", html("by proxy"))
    environment = {**direct_environment(), "http_proxy": inner.url}
    urls = ["http://paper.example/", f"http://{INTERNAL}:{inner.port}/", "http://db.internal/"]
    done = crawl_pages(tmp_path, urls, environment)
    assert done.returncode == 0
    assert set(inner.request_counts()) == {"paper.example/robots.txt", "paper.example/"}
    assert done.stats[f"{REFUSED}/address"] == 2


@pytest.mark.slow
def test_aborts_response_with_too_many_headers(tmp_path: Path, webs: tuple[SiteServer, SiteServer]):
    web, _ = webs
    headers = {"Content-Type": "text/html"} | {f"X-Header-{n}": "x" for n in range(100_000)}
    web.put("many.example/", Answer(b"<p>x", headers=headers))
    web.put("few.example/", html("x"))
    urls = [f"http://{name}.example:{web.port}/" for name in ("many", "few")]
    crawl = crawl_urls(tmp_path, *urls)
    assert refused(crawl, "headers") == 1
    assert web.request_counts()["many.example/"] == 1
    assert 100 < crawl.stats["reactor/headers"] <= 1000
    assert crawl.stats["newscrawl/extract/dropped_count/not_article"] == 1


HTML = "<html><head><meta charset={}><title>Über</title></head><body><p>{}</p></body></html>"


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\n", b"\x89PNG\r\n", b"PK\x03\x04", b"\x7fELF", b"OggS", b"\xd0\xcf\x11\xe0",
     random.Random(7).randbytes(3000)],
)  # fmt: skip
def test_detects_binary_data(data: bytes):
    assert is_binary(data)


@pytest.mark.parametrize(
    "charset", ["utf-8", "utf-16", "utf-16-le", "cp1252", "iso2022_jp", "shift_jis"]
)
def test_text_in_any_charset_is_not_binary(charset: str):
    assert not is_binary(HTML.format(charset, "日本 Text " * 300).encode(charset, "replace"))
    assert not is_binary(b"")


class Packed(SiteServer):
    """Sends compressed pages, with errors that the URL names, unless ``identity`` is requested."""

    always = False

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        kind = request.target.strip("/")
        if kind == "robots.txt":
            return await super().answer(request, writer)
        page = article_page(5).encode()
        good = gzip.compress(page)
        packed = {
            "good": good,
            "lie": page,
            "noise": b"\x1f\x8b" + random.Random(1).randbytes(500),
            "br": b"\xff" * 500,
        }[kind.split("-")[0]]
        encoding = "br" if kind == "br" else "gzip"
        plain = request.headers["accept-encoding"] == "identity" and "always" not in kind
        self.record(request, 200)
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if not plain:
            headers["Content-Encoding"] = encoding
        writer.write(response(page if plain else packed, headers=headers))
        return True


@pytest.mark.slow
def test_retries_uncompressed_once(tmp_path: Path):
    kinds = ["good", "lie", "noise", "br", "noise-always"]
    with Packed() as web:
        urls = [f"http://paper.example:{web.port}/{kind}" for kind in kinds]
        crawl = crawl_pages(tmp_path, urls, RETRY_TIMES=0)
    assert crawl.returncode == 0
    requested = {kind: web.request_counts()[f"paper.example/{kind}"] for kind in kinds}
    assert requested == {"good": 1, "lie": 1, "noise": 2, "br": 2, "noise-always": 2}
    assert crawl.stats["newscrawl/compression/retried_count"] == 3
    whole = {
        item["url"].rsplit("/", 1)[1] for item in crawl.items if paragraphs(5)[-1] in item["body"]
    }
    assert whole == {"good", "lie", "noise", "br"}


@pytest.mark.slow
def test_binary_page_fails_without_worker(tmp_path: Path):
    story = "/2026/11/20/a-story-of-the-day-with-a-long-name-1.html"
    with SiteServer() as web:
        web.put(
            "127.0.0.1/", html(f'<a href="{story}">A story of the day, with a long headline</a>')
        )
        body = b"%PDF-1.7\n" + random.Random(3).randbytes(5000)
        web.put(f"127.0.0.1{story}", Answer(body, headers={"Content-Type": "text/html"}))
        crawl = web.crawl(tmp_path)
        counts = crawl.site_counts(web.site)
    assert counts["failed_count/binary"] == 1


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<GET http://me:pass@a.example/x>", "<GET http://***@a.example/x>"),
        ("s3://key:se/cret@bucket", "s3://key:se/cret@bucket"),
        ("https://token@a.example:8080/", "https://***@a.example:8080/"),
        ("http://a.example/@user/story", "http://a.example/@user/story"),
        ("/a?access_token=abc.def&page=2", "/a?access_token=***&page=2"),
        ("/a?X-Amz-Signature=0a1b&X-Amz-Date=1", "/a?X-Amz-Signature=***&X-Amz-Date=1"),
        ("/a?x=1&api_key=K&apikey=K", "/a?x=1&api_key=***&apikey=***"),
        ("/a?key=K;sig=S;sid=1", "/a?key=***;sig=***;sid=***"),
        ("'http://a.example/?PASSWORD=p%20q'", "'http://a.example/?PASSWORD=***'"),
        ("/a?auth=1&authToken=2&Authorization=3", "/a?auth=***&authToken=***&Authorization=***"),
        (
            "/a?author=jane&monkey=1&barcode=17&keyword=x",
            "/a?author=jane&monkey=1&barcode=17&keyword=x",
        ),
        ("/a#access_token=T&state=1", "/a#access_token=***&state=1"),
        ("see //user:pw@h/x", "see //***@h/x"),
        ("http://us@er:pw@h/", "http://***@h/"),
        ("/a?%74oken=T&api%5Fkey=K", "/a?%74oken=***&api%5Fkey=***"),
        ("/a?PHPSESSID=1&session=2", "/a?PHPSESSID=***&session=***"),
        ("/a?pass=1&code=2&otp=3", "/a?pass=***&code=***&otp=***"),
        ("/a?user[password]=1&token[]=2", "/a?user[password]=***&token[]=***"),
        (
            "/a?url=http%3A%2F%2Fb%2F%3Fx%3D1%26token%3DT&y=1",
            "/a?url=http%3A%2F%2Fb%2F%3Fx%3D1%26token%3D***&y=1",
        ),
        ("/a?url=b%253Ftoken%253DT", "/a?url=b%253Ftoken%253D***"),
        ("a page, 3 = 3", "a page, 3 = 3"),
    ],
)
def test_masks_secrets_only(text: str, clean: str):
    assert mask_secrets(text) == clean
    assert mask_secrets(clean) == clean


@given(st.text(st.characters(exclude_characters="=@%")))
def test_keeps_text_without_urls(text: str):
    assert mask_secrets(text) == text


def test_masks_messages_arguments_and_tracebacks():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(LogTextFilter())
    logger = logging.getLogger("tests.secrets")
    logger.addHandler(handler)
    try:
        logger.warning("Crawled %(url)s", {"url": "http://u:p@a.example/?token=T"})
        logger.warning("Plain %s", 100)
        logger.warning("Encoding %r, %s\n\tnext", b"\x1b", "gz\x1b]0;a\x07\x9b31m\r\u202eip")
        try:
            int("http://u:p@a.example/?key=K")
        except ValueError:
            logger.exception("Failed")
    finally:
        logger.removeHandler(handler)
    lines = stream.getvalue()
    assert "u:p" not in lines
    assert "=T" not in lines
    assert "=K" not in lines
    assert "Plain 100" in lines
    assert "gz\\x1b]0;a\\x07\\x9b31m\\r\\u202eip\n\tnext\n" in lines
    assert "ValueError: invalid literal for int() with base 10: 'http://***@a.exam" in lines


@pytest.mark.slow
def test_masks_messages_of_scrapy(tmp_path: Path):
    with SiteServer() as web:
        host = f"paper.example:{web.port}"
        web.put("paper.example/a?token=SECRET-1", redirect("/b?signature=SECRET-2"))
        web.put("paper.example/b?signature=SECRET-2", html("x"))
        urls = [
            f"http://{host}/a?token=SECRET-1",
            f"http://user:SECRET-3@{host}/",
            f"http://nowhere.example:{web.port}/?api_key=SECRET-4",
            "ftp://user:SECRET-5@paper.example/x",
        ]
        crawl = crawl_pages(
            tmp_path, urls,  RETRY_TIMES=1,
            LOG_LEVEL="DEBUG", ROBOTSTXT_OBEY=False, MY_PROXY="http://user:SECRET-6@proxy.example",
            NEWSCRAWL_CSS_ENABLED=False,
        )  # fmt: skip
    assert crawl.returncode == 0
    log = [line for line in crawl.output.splitlines() if "SECRET" in line and "'url'" not in line]
    assert log == []
    assert "signature=***" in crawl.output
