"""A list of proxies: one per site, with the others in its place if it fails."""

from __future__ import annotations

import base64
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from newscrawl import clock
from newscrawl.crawling.network import RefusedError
from newscrawl.middlewares import ProxyListMiddleware
from newscrawl.middlewares.proxy_list import MAX_FAILURES, PAUSE
from tests.helpers.crawls import crawl_pages
from tests.servers import LoopbackServer, response
from tests.servers.pages import article_page

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from tests.servers import Request as HttpRequest

DOMAINS = [f"site{number}.example" for number in range(40)]
PROXIES = [f"http://proxy{number}.example:3128" for number in range(4)]


@pytest.fixture
def middleware() -> ProxyListMiddleware:
    """Return the middleware with four proxies."""
    crawler = get_crawler(settings_dict={"NEWSCRAWL_PROXIES": PROXIES})
    return ProxyListMiddleware.from_crawler(crawler)


def assign(middleware: ProxyListMiddleware, url: str, **meta: Any) -> Request:
    """Return a request with its proxy."""
    request = Request(url, meta=meta)
    middleware.process_request(request)
    return request


def test_each_domain_has_one_proxy(middleware: ProxyListMiddleware):
    """Hosts and pages of a domain have the same one; all proxies are used."""
    chosen = {domain: assign(middleware, f"https://{domain}/").meta["proxy"] for domain in DOMAINS}
    assert set(chosen.values()) == set(PROXIES)
    for domain, proxy in chosen.items():
        assert assign(middleware, f"https://news.{domain}/a/b").meta["proxy"] == proxy


def test_keeps_the_proxy_of_a_request(middleware: ProxyListMiddleware):
    for proxy in (None, "http://own.example:1"):
        request = assign(middleware, "https://site1.example/", proxy=proxy)
        assert request.meta["proxy"] == proxy


def test_failing_proxy_is_paused(middleware: ProxyListMiddleware):
    """A retry avoids it at once; its domains return after the pause, the others never move."""
    start = datetime(2026, 11, 23, tzinfo=UTC)
    clock.set_clock(lambda: start)
    try:
        before = {domain: assign(middleware, f"https://{domain}/") for domain in DOMAINS}
        first = before[DOMAINS[0]]
        failing = first.meta["proxy"]
        for _ in range(MAX_FAILURES):
            request = assign(middleware, first.url)
            assert request.meta["proxy"] == failing
            middleware.process_exception(request, OSError())
            middleware.process_request(retry := request.copy())
            assert retry.meta["proxy"] != failing
        for domain in DOMAINS:
            proxy = assign(middleware, f"https://{domain}/").meta["proxy"]
            assert proxy != failing
            assert before[domain].meta["proxy"] in (proxy, failing)
        for hours in (-5, 0, 5):  # by which the system clock is set meanwhile
            system = start + timedelta(hours=hours)
            clock.set_clock(lambda now=system: now, lambda: start + timedelta(seconds=PAUSE - 1))
            assert assign(middleware, first.url).meta["proxy"] != failing
        clock.set_clock(lambda: system, lambda: start + timedelta(seconds=PAUSE))
        assert assign(middleware, first.url).meta["proxy"] == failing
    finally:
        clock.set_clock(None)


def test_a_site_that_fails_with_any_proxy_pauses_none(middleware: ProxyListMiddleware):
    """Nor do requests that are not sent."""
    request = assign(middleware, "https://site1.example/", retry_times=1)
    proxy = request.meta["proxy"]
    for _ in range(MAX_FAILURES):
        middleware.process_exception(request, OSError())
        middleware.process_exception(assign(middleware, request.url), RefusedError("retry_after"))
    assert assign(middleware, request.url).meta["proxy"] == proxy


def test_success_resets_the_failures(middleware: ProxyListMiddleware):
    request = assign(middleware, "https://site1.example/")
    proxy = request.meta["proxy"]
    for _ in range(3 * MAX_FAILURES):
        middleware.process_exception(request, OSError())
        middleware.process_response(request, Response(request.url, status=503))
    assert assign(middleware, request.url).meta["proxy"] == proxy
    for _ in range(MAX_FAILURES):
        middleware.process_response(request, Response(request.url, status=407))
    assert assign(middleware, request.url).meta["proxy"] != proxy


@pytest.mark.parametrize("url", ["proxy.example:3128", "socks5://a:hush@proxy.example", "http://"])
def test_rejects_invalid_urls(url: str):
    crawler = get_crawler(settings_dict={"NEWSCRAWL_PROXIES": [url]})
    with pytest.raises(ValueError, match="NEWSCRAWL_PROXIES: ") as error:
        ProxyListMiddleware.from_crawler(crawler)
    assert "hush" not in str(error.value)


class Proxy(LoopbackServer):
    """Proxy that answers itself, with the same article on all hosts."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: defaultdict[str, set[str | None]] = defaultdict(set)

    async def answer(self, request: HttpRequest, writer: asyncio.StreamWriter) -> bool:
        """Send the article."""
        self.record(request, 200)
        self.seen[request.host].add(request.headers.get("proxy-authorization"))
        writer.write(response(article_page(1).encode()))
        return True


@pytest.mark.slow
def test_crawl_through_proxies(tmp_path: Path):
    """One of three is down: all pages arrive, each site through one proxy, without secrets in the log."""
    urls = [f"http://{domain}/2026/a-story-of-the-town" for domain in DOMAINS[:12]]
    with Proxy() as first, Proxy() as second:
        proxies = [
            *(proxy.url.replace("//", "//ada:hush@") for proxy in (first, second)),
            "http://ada:hush@127.0.0.1:9",
        ]
        crawl = crawl_pages(
            tmp_path, urls, {}, NEWSCRAWL_PROXIES=",".join(proxies), ROBOTSTXT_OBEY=False
        )
    assert sorted(item["url"] for item in crawl.items) == sorted(urls)
    assert not first.seen.keys() & second.seen.keys()
    assert first.seen.keys() | second.seen.keys() == set(DOMAINS[:12])
    login = "Basic " + base64.b64encode(b"ada:hush").decode()
    assert set.union(*first.seen.values(), *second.seen.values()) == {login}
    assert crawl.stats["newscrawl/proxies/paused_count"] >= 1
    assert "Proxy http://***@127.0.0.1:9 failed" in crawl.output
    assert "hush" not in crawl.output
