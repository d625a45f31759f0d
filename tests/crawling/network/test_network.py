"""Download slots, the resolver, copies of responses and the filter of secrets."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from scrapy import Request, Spider, signals
from scrapy.core.downloader import Slot
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler
from twisted.internet.defer import Deferred

from newscrawl.crawling.logs import LogText, LogTextFilter
from newscrawl.crawling.network import RefusedError, copy_response
from newscrawl.crawling.network.downloader import Downloader, LookupThread
from newscrawl.crawling.network.page_download import (
    MAX_HEADER_FEEDS,
    SHEET_SITE,
    header_feeds,
    header_hints,
)
from newscrawl.middlewares.politeness import REFUSAL_LIMIT, Pace
from newscrawl.workers.pool import WorkerPool
from tests.conftest import run_python

NOW = datetime(2026, 11, 23, tzinfo=UTC)


def make_downloader(**settings: object) -> Downloader:
    no_handlers = dict.fromkeys(("data", "file", "ftp", "http", "https", "s3"))
    return Downloader(get_crawler(Spider, {"DOWNLOAD_HANDLERS": no_handlers, **settings}))


def slots(downloader: Downloader, *urls: str, **meta: str) -> list[str]:
    return [downloader.get_slot_key(Request(url, meta=meta)) for url in urls]


HOSTS = (
    "http://a.b.example/1",
    "https://www.b.example:444/",
    "http://c.example/",
    "http://b.example/",
)


async def test_hosts_of_a_domain_share_a_slot():
    for _ in range(2):
        downloader = make_downloader()
        assert slots(downloader, *HOSTS) == ["b.example", "b.example", "c.example", "b.example"]
        assert slots(downloader, *HOSTS) == ["b.example", "b.example", "c.example", "b.example"]
    one = make_downloader(DOWNLOAD_SLOTS={"a.b.example": {"delay": 3}})
    assert slots(one, *HOSTS[:2]) == ["a.b.example", "b.example"]
    by_host = make_downloader(NEWSCRAWL_POLITENESS_ENABLED=False)
    assert slots(by_host, *HOSTS[:2]) == ["a.b.example", "www.b.example"]


async def test_a_domain_gets_no_more_requests_at_once_than_its_concurrency(
    monkeypatch: pytest.MonkeyPatch,
):
    downloader = make_downloader(CONCURRENT_REQUESTS_PER_DOMAIN=2)
    running: list[Request] = []
    numbers = []

    async def download(request: Request) -> Response:
        running.append(request)
        await asyncio.sleep(0)
        numbers.append(len(running))
        running.remove(request)
        return Response(request.url)

    monkeypatch.setattr(downloader.handlers, "download_request_async", download)
    requests = [Request(f"http://a.example/{number}") for number in range(6)]
    await asyncio.gather(*map(downloader._enqueue_request, requests))
    assert len(numbers) == len(requests)
    assert max(numbers) == 2


async def test_a_given_slot_takes_precedence():
    downloader = make_downloader()
    assert slots(downloader, HOSTS[0], download_slot="mine") == ["mine"]
    assert slots(downloader, HOSTS[0]) == ["b.example"]
    # A redirect to another domain has the slot of the first request.
    assert slots(downloader, HOSTS[2], download_slot="b.example") == ["c.example"]


async def test_slots_take_turns(monkeypatch: pytest.MonkeyPatch):
    """As many downloads as allowed; a slot that waits for its delay takes the turn of no other."""
    downloader = make_downloader(
        CONCURRENT_REQUESTS=2,
        CONCURRENT_REQUESTS_PER_DOMAIN=1,
        DOWNLOAD_SLOTS={"late.example": {"delay": 1e9}},
    )
    order: list[str] = []
    running = most = 0

    async def download(request: Request) -> Response:
        nonlocal running, most
        order.append(request.url[7])
        running += 1
        most = max(most, running)
        for _ in range(9):
            await asyncio.sleep(0)
        running -= 1
        return Response(request.url)

    monkeypatch.setattr(downloader.handlers, "download_request_async", download)
    late, *others = [
        [asyncio.ensure_future(downloader._enqueue_request(Request(url))) for _ in range(3)]
        for url in (
            "http://late.example",
            "http://a.example",
            "http://b.example",
            "http://c.example",
        )
    ]
    await asyncio.gather(*(request for requests in others for request in requests))
    assert most == 2
    assert sorted(order[:3]) == sorted(order[3:6]) == sorted(order[6:]) == ["a", "b", "c"]
    downloader.close()
    downloader.refuse_waiting("late.example", "closed")
    for request in late:
        with pytest.raises(RefusedError, match="closed"):
            await request


async def test_downloads_wait_for_the_pages_before_them(monkeypatch: pytest.MonkeyPatch):
    """While pages of as many sites as there may be downloads wait for workers, only sheets come."""
    downloader = make_downloader(CONCURRENT_REQUESTS=2)
    downloader.crawler.engine = Mock(_slot=Mock(closing=None))
    pool = WorkerPool(0)
    monkeypatch.setattr(WorkerPool, "for_crawler", lambda _: pool)
    downloader._watch()

    async def download(request: Request) -> Response:
        return Response(request.url)

    monkeypatch.setattr(downloader.handlers, "download_request_async", download)
    task = "tests.helpers.hostile_tasks:spin"
    pages = [
        asyncio.ensure_future(pool.call(task, b"", site=site, seconds=0.05)) for site in "abbc"
    ]
    await asyncio.sleep(0)
    assert pool.waiting_sites == 2
    page = asyncio.ensure_future(downloader._enqueue_request(Request("http://a.example")))
    sheet = Request("http://a.example/sheet.css", meta={SHEET_SITE: "a.example"})
    await downloader._enqueue_request(sheet)
    assert not page.done()
    await page
    assert not pages[-1].done()
    await asyncio.gather(*pages)
    await pool.close()
    downloader._end_watch()


async def test_requests_that_wait_need_a_scheduler_that_knows_slots():
    downloader = make_downloader(CONCURRENT_REQUESTS=2)
    downloader.active.update(Request(f"http://a.example/{n}") for n in range(4))
    assert downloader.needs_backout()
    downloader.max_waiting = 3
    assert not downloader.needs_backout()
    downloader.max_waiting = 2
    assert downloader.needs_backout()
    downloader.total_concurrency = 0
    assert not downloader.needs_backout()


async def test_refuses_waiting_requests_of_a_slot():
    downloader = make_downloader()
    slot = downloader.slots["a.example"] = Slot(1, 0, jitter=0)
    waiting: list[Deferred[Response]] = [Deferred(), Deferred()]
    slot.queue.extend((Request("http://a.example/"), deferred) for deferred in waiting)
    downloader.refuse_waiting("a.example", "closed")
    downloader.refuse_waiting("b.example", "closed")
    assert not slot.queue
    for deferred in waiting:
        with pytest.raises(RefusedError, match="closed"):
            await deferred.asFuture(asyncio.get_running_loop())


def test_the_end_of_a_crawl_waits_for_no_lookup():
    answer = threading.Event()
    thread = LookupThread(target=answer.wait, name="lookup")
    thread.start()
    thread.join()
    assert (thread.is_alive(), thread.daemon) == (True, True)
    answer.set()
    thread.join(60)
    assert not thread.is_alive()


RESOLVE = """
import sys
from twisted.internet import asyncioreactor
asyncioreactor.install()
from twisted.internet import reactor
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.protocol import Factory, Protocol
from newscrawl.middlewares.safety import AddressPolicy
from newscrawl.middlewares.safety import CheckedResolver

original = reactor.nameResolver
resolver = CheckedResolver(AddressPolicy(sys.argv[1:]))
resolver.install()
port = reactor.listenTCP(0, Factory.forProtocol(Protocol), interface="127.0.0.1")
endpoint = HostnameEndpoint(reactor, "LOCALHOST", port.getHost().port)
found = []
endpoint.connect(Factory.forProtocol(Protocol)).addBoth(found.append).addBoth(lambda _: reactor.stop())
reactor.run()
resolver.uninstall()
print(type(found[0]).__name__, list(resolver.refused), reactor.nameResolver is original)
"""


@pytest.mark.parametrize(
    ("allowed", "result"),
    [
        ((), "Failure ['localhost'] True"),
        (("127.0.0.0/8",), "Protocol [] True"),
        (("localhost",), "Protocol [] True"),
    ],
)
def test_connects_to_permitted_addresses_only(allowed: tuple[str, ...], result: str):
    """Checked at the connection, with the resolver of the reactor."""
    code = RESOLVE.replace("sys.argv[1:]", repr(list(allowed)))
    assert run_python(code).strip() == result


def test_copies_a_response_with_changes():
    response = HtmlResponse("http://a.example/", body=b"abc", encoding="cp1252", flags=["x"])
    copy = copy_response(response, body=b"d")
    assert (type(copy), copy.url, copy.body, copy.flags) == (
        HtmlResponse,
        response.url,
        b"d",
        ["x"],
    )
    assert copy.encoding == "cp1252"
    plain = copy_response(Response("http://a.example/"), HtmlResponse, encoding="utf-8")
    assert (type(plain), plain.encoding) == (HtmlResponse, "utf-8")


@pytest.fixture
def handler() -> Iterator[logging.Handler]:
    handler = logging.NullHandler()
    logging.getLogger().addHandler(handler)
    yield handler
    for other in logging.getLogger().handlers:
        for known in [it for it in other.filters if isinstance(it, LogTextFilter)]:
            other.removeFilter(known)
    logging.getLogger().removeHandler(handler)


def test_filters_secrets_of_each_handler_once(handler: logging.Handler):
    crawler = get_crawler(Spider)
    extension = LogText.from_crawler(crawler)
    assert len(handler.filters) == 1
    handler.filters.clear()  # Scrapy replaces its handler
    for _ in range(2):
        crawler.signals.send_catch_log(signals.spider_opened)
    assert handler.filters == [extension._filter]


def test_limits_of_a_pace():
    pace = Pace(base=0, max_delay=60)
    assert pace.base == pace.delay == 0.01
    for _ in range(REFUSAL_LIMIT):
        assert not pace.gives_up
        pace.record_refusal(NOW, None)
    assert pace.gives_up
    pace.record_refusal(NOW, 1e12)
    assert pace.waiting_until == NOW + timedelta(days=366)
    pace.close(NOW, 60)
    assert not pace.gives_up
    assert pace.is_closed(NOW + timedelta(seconds=59))
    assert not pace.is_closed(NOW + timedelta(seconds=60))


URL = "https://news.example/a"
FEED = 'rel=alternate; type="application/rss+xml"'


def page(*links: str) -> Response:
    return Response(URL, headers={"Link": list(links)})


def test_finds_feeds_and_the_canonical_url():
    response = page(
        f"</feed>; {FEED}, <b.css>; rel=preload",
        "<mailto:a@b.example>; rel=canonical",
        '</story>; rel="x canonical"',
    )
    assert header_feeds(response) == ["https://news.example/feed"]
    assert header_hints(response) == {"canonical": "https://news.example/story"}


def test_reads_the_first_links():
    response = page(*(f"</{number}>; {FEED}" for number in range(1000)), "</b>; rel=canonical")
    assert header_feeds(response) == [f"https://news.example/{n}" for n in range(MAX_HEADER_FEEDS)]
    assert header_hints(response) == {"canonical": "https://news.example/b"}
    assert header_hints(page("x" * 70_000, "</b>; rel=canonical")) == {}
