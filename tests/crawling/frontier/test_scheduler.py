"""The scheduler and its leases on a state file, without network."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.http import Response
from twisted.internet.error import TimeoutError as DownloadTimeoutError
from twisted.python.failure import Failure

from newscrawl.crawling.frontier.leases import LEASE, PARENT, Lease
from tests.helpers.scheduler_run import URL, Run, run


class Renamed(Spider):
    name = "pages"

    def parse(self, response: Response) -> None: ...


async def test_resumes_what_has_not_ended(state_file: Path):
    async with run(state_file) as first:
        assert first.add(1, 2, 3) == [True, True, True]
        assert first.add(1) == [False]
        first.end(first.next())
        first.next()
    async with run(state_file) as second:
        assert second.crawler.stats.get_value("newscrawl/frontier/resumed_count") == 2
        assert second.add(1, 2, 3, 4) == [False, False, False, True]
        assert await second.next_pages(3) == ["2", "3", "4"]
        assert not second.scheduler.has_pending_requests()
        assert await second.outcomes() == dict.fromkeys("1234", "read")


async def test_a_finished_crawl_is_not_resumed(state_file: Path):
    async with run(state_file, reason="finished") as first:
        first.add(1)
        await first.next_pages(1)
    async with run(state_file) as second:
        assert second.add(1) == [True]
        assert await second.outcomes() == {}


async def test_a_crawl_with_pending_requests_is_not_finished(state_file: Path):
    async with run(state_file, reason="finished") as first:
        first.add(1, 2)
        first.next()
    async with run(state_file, reason="finished") as second:
        await second.next_pages(1)
        second.next()
    async with run(state_file) as third:
        assert await third.next_pages(1) == ["2"]
        assert not third.scheduler.has_pending_requests()


async def test_loads_written_requests_in_order(state_file: Path):
    async with run(state_file) as first:
        first.add(*range(100, 200))
        first.add(*range(50), priority=1)
        expected = [str(n) for n in (*range(50), *range(100, 200))]
        await first.book.store.commit()
        assert not first.scheduler._texts
        assert await first.next_pages(20) == expected[:20]
    async with run(state_file) as second:
        assert await second.next_pages(130) == expected[20:]
        assert second.scheduler.next_request() is None


async def test_start_requests_let_the_loop_run(state_file: Path):
    """Scrapy reads ``start()`` without a turn of the loop while its downloader is busy."""
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def start() -> AsyncIterator[Request]:
        for page in range(1_000_000):
            if turns > 50:
                return
            yield Request(f"{URL}/{page}")

    async with run(state_file) as current:
        others = asyncio.ensure_future(count_turns())
        async for request in current.middleware.process_start(start()):
            current.scheduler.enqueue_request(request)
        others.cancel()
    assert turns > 50


async def test_unfiltered_requests_have_their_own_keys(state_file: Path):
    """A resumed crawl calls ``start()`` again, whose requests are known."""
    start = {"dont_filter": True, "meta": {PARENT: 0}}
    async with run(state_file) as first:
        assert first.add(1, 1, **start) == [True, True]
    async with run(state_file) as second:
        assert second.add(1, 1, 1, **start) == [False, False, True]


async def test_unfiltered_requests_of_extensions_are_always_new(state_file: Path):
    for _ in range(2):
        async with run(state_file) as current:
            assert current.add(1, 1, dont_filter=True) == [True, True]
            await current.next_pages(2)


async def test_planned_requests_are_only_in_memory(state_file: Path):
    planned = {"meta": {"newscrawl_planned": True}}
    async with run(state_file) as first:
        assert first.add(1, 1, **planned) == [True, True]
    async with run(state_file) as second:
        assert not second.scheduler.has_pending_requests()


async def test_children_are_written_with_the_end_of_their_parent(state_file: Path):
    async with run(state_file) as first:
        first.add(1)
        parent = first.next()
        first.add(2, meta={PARENT: parent.meta[LEASE]})
        assert first.next().url == f"{URL}/2"
    async with run(state_file) as second:
        assert await second.next_pages(1) == ["1"]
        assert not second.scheduler.has_pending_requests()
    async with run(state_file) as third:
        third.add(3)
        parent = third.next()
        third.add(4, meta={PARENT: parent.meta[LEASE]})
        third.end(parent)
    async with run(state_file) as fourth:
        assert await fourth.next_pages(1) == ["4"]


async def test_a_parent_waits_for_a_child_in_memory(state_file: Path):
    async with run(state_file) as first:
        first.add(1)
        parent = first.next()
        meta = {PARENT: parent.meta[LEASE], "value": {1, 2}}
        assert first.add(2, meta=meta) == [True]
        first.end(parent)
        assert await first.outcomes() == {}
        await first.next_pages(1)
        assert await first.outcomes() == {"1": "read", "2": "read"}


async def test_a_redirect_keeps_its_lease(state_file: Path):
    async with run(state_file) as first:
        first.add(1)
        request = first.next()
        for url in ("https://www.b.example/3", f"{URL}/1", f"{URL}/5"):
            assert first.scheduler.enqueue_request(request.replace(url=url, priority=9))
            request = first.next()
            assert request.url == url
        first.end(request)
        assert first.add(5) == [False]  # known as a target
        rows = await first.book.store.read("SELECT url, final_url FROM outcome")
        assert rows == [(f"{URL}/1", f"{URL}/5")]
        assert not first.scheduler.has_pending_requests()
    async with run(state_file) as second:
        assert second.add(5) == [False]


async def test_a_redirect_to_a_known_page_is_dropped(state_file: Path):
    async with run(state_file) as first:
        first.add(1, 2)
        request = first.next()
        assert not first.scheduler.enqueue_request(request.replace(url=f"{URL}/2"))
        first.book.end_finished()
        assert await first.outcomes() == {"1": "dropped/duplicate"}
        assert await first.next_pages(1) == ["2"]


async def test_an_idle_spider_ends_lost_requests(
    state_file: Path, caplog: pytest.LogCaptureFixture
):
    async with run(state_file) as first:
        first.add(1)
        lease = first.book.find(first.next())
        assert lease is not None
        lease.outputs, lease.phase = 2, "callback"
        first.crawler.signals.send_catch_log(signals.spider_idle, spider=first.spider)
        assert await first.outcomes() == {"1": "failed/lost"}
        assert "Request lost" in caplog.text


async def test_a_missing_callback_fails(state_file: Path):
    async with run(state_file) as first:
        first.add(1, callback="other")
        first.add(2)
    async with run(state_file, Renamed) as second:
        assert await second.next_pages(1) == ["2"]
        outcomes = await second.book.store.read("SELECT outcome FROM outcome ORDER BY request")
        assert outcomes == [("failed/no_callback",), ("read",)]
        assert second.book.store.damage == []


async def test_a_damaged_request_fails_and_is_reported(state_file: Path):
    async with run(state_file) as first:
        first.add(1, 2)
    with closing(sqlite3.connect(state_file)) as connection, connection:
        connection.execute("UPDATE request SET request = replace(request, '/1', '/9')")
    async with run(state_file) as second:
        assert await second.next_pages(1) == ["2"]
        outcomes = await second.book.store.read("SELECT outcome FROM outcome ORDER BY request")
        assert outcomes == [("failed/damaged",), ("read",)]
        assert second.book.store.damage == [f"{state_file}: request 1 is damaged"]


@pytest.mark.parametrize("problem", ["", "damage", "failure"])
async def test_a_damaged_or_unwritten_state_fails_the_command(
    state_file: Path, problem: str, caplog: pytest.LogCaptureFixture
):
    """Scrapy's commands return exit code 1 for a crawler without spider."""
    async with run(state_file) as first:
        if problem == "damage":
            first.book.store.damage.append("row 1 is damaged")
        elif problem:
            first.book.store.write("INSERT INTO missing VALUES (1)")
    assert (first.crawler.spider is None) == bool(problem)
    assert ("exit code 1: " in caplog.text) == bool(problem)


class RefusedItem(DropItem):
    reason = "short"


class FailedItem(DropItem):
    status = "failed/timeout"


@pytest.mark.parametrize(
    ("signal", "arguments", "outcome"),
    [
        (signals.item_scraped, {}, "article"),
        (signals.item_dropped, {"exception": DropItem("")}, "dropped/drop_item"),
        (signals.item_dropped, {"exception": RefusedItem("")}, "dropped/short"),
        (signals.item_dropped, {"exception": FailedItem("")}, "failed/timeout"),
        (signals.item_error, {"failure": None}, "failed/pipeline"),
    ],
)
async def test_outcome_of_an_item(
    state_file: Path, signal: object, arguments: dict[str, Any], outcome: str
):
    """The request ends after its last item; the item is in the outbox if it was scraped."""
    async with run(state_file) as first:
        first.add(1)
        response = first.response(first.next(), items=2)
        item = {"url": response.url, "body": "text"}
        first.send(signal, response, item, **arguments)
        assert await first.outcomes() == {}
        first.send(signal, response, item, **arguments)
        assert await first.outcomes() == {"1": outcome}
        rows = await first.book.store.read("SELECT item FROM outbox")
        assert [json.loads(text) for (text,) in rows] == ([item] if outcome == "article" else [])


async def test_an_item_that_is_not_json_fails(state_file: Path):
    async with run(state_file) as first:
        first.add(1)
        response = first.response(first.next(), items=1)
        first.send(signals.item_scraped, response, {"url": object()})
        assert await first.outcomes() == {"1": "failed/unserializable"}


async def test_writes_of_a_request_are_committed_with_its_end(state_file: Path):
    async with run(state_file) as first:
        first.add(1)
        request = first.next()
        sql = "INSERT INTO memory VALUES (?, 'x', '', 0)"
        rows = "SELECT owner FROM memory WHERE name = 'x'"
        first.book.write_with_end(request, sql, [("a",)])
        assert await first.book.store.read(rows) == []
        first.book.write_with_end(None, sql, [("b",)])
        assert await first.book.store.read(rows) == [("b",)]
        first.end(request)
        assert sorted(await first.book.store.read(rows)) == [("a",), ("b",)]


@pytest.mark.parametrize("state", ["", "state.sqlite"])
async def test_jobdir_without_a_state_file(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Nothing would resume the crawl, although its user wants that."""
    monkeypatch.chdir(tmp_path)
    async with run(tmp_path / "unused", NEWSCRAWL_STATE=state, JOBDIR="job"):
        assert ("an interrupted crawl is lost" in caplog.text) == (not state)


ITEM = {"url": "a"}


async def outputs(*elements: Any) -> AsyncIterator[Any]:
    """Yield *elements*; raise those that are exceptions."""
    for element in elements:
        if isinstance(element, Exception):
            raise element
        yield element


def received(current: Run, status: int = 200) -> tuple[Lease, Response]:
    """Return the lease of the next request, and its response after the middleware."""
    request = current.next()
    lease = current.book.find(request)
    assert lease is not None
    response = Response(f"{request.url}?final", status=status, request=request)
    current.middleware.process_spider_input(response)
    return lease, response


async def read(current: Run, response: Response, *elements: Any) -> list[Any]:
    """Return what the middleware yields for the output of a callback."""
    passed = current.middleware.process_spider_output(response, outputs(*elements))
    return [element async for element in passed]


@pytest.mark.parametrize(("status", "outcome"), [(200, "read"), (304, "unchanged")])
async def test_a_request_ends_with_its_callback(state_file: Path, status: int, outcome: str):
    async with run(state_file) as current:
        current.add(1)
        _, response = received(current, status)
        current.book.end_finished()
        assert await current.outcomes() == {}
        assert await read(current, response) == []
        current.book.end_finished()
        assert await current.outcomes() == {"1": outcome}
        assert await current.book.store.read("SELECT final_url FROM outcome") == [
            (f"{URL}/1?final",)
        ]


async def test_counts_items_and_requests(state_file: Path):
    async with run(state_file) as current:
        current.add(1)
        lease, response = received(current)
        child = Request(f"{URL}/2", meta=dict(response.meta))
        found = await read(current, response, ITEM, None, child, child, response.request)
        assert found[:3] == [ITEM, None, child]
        assert (lease.outputs, lease.phase) == (4, "done")
        assert len({id(request) for request in (*found[2:], response.request)}) == 4
        assert all(request.meta[PARENT] == lease.id for request in found[2:])
        assert not any(LEASE in request.meta for request in found[2:])
        assert LEASE in response.meta


@pytest.mark.parametrize(
    ("error", "outcome"), [(ValueError(), "failed/error"), (CloseSpider(), "read")]
)
async def test_a_callback_that_raises(state_file: Path, error: Exception, outcome: str):
    async with run(state_file) as current:
        current.add(1, 2)
        _, response = received(current)
        with pytest.raises(type(error)):
            await read(current, response, error)
        _, second = received(current)
        current.middleware.process_spider_exception(second, error)
        current.book.end_finished()
        assert await current.outcomes() == {"1": outcome, "2": outcome}


async def test_responses_without_a_lease_pass(state_file: Path):
    async with run(state_file) as current:
        response = Response(URL, request=Request(URL))
        current.middleware.process_spider_input(response)
        assert await read(current, response, ITEM) == [ITEM]


async def test_marks_start_requests(state_file: Path):
    async with run(state_file) as current:
        start = current.middleware.process_start(outputs(Request(URL), ITEM))
        request, item = [element async for element in start]
        assert (request.meta[PARENT], item) == (0, ITEM)


@pytest.mark.parametrize("in_spider", [False, True])
async def test_a_failed_download(state_file: Path, in_spider: bool):
    """Without an errback the failure is raised; the request has ended."""
    async with run(state_file) as current:
        current.add(1)
        request = received(current)[1].request if in_spider else current.next()
        assert request is not None
        failure = Failure(DownloadTimeoutError())
        failure.request = request  # type: ignore[attr-defined]
        assert request.errback is not None
        with pytest.raises(DownloadTimeoutError):
            request.errback(failure)
        current.book.end_finished()
        assert await current.outcomes() == ({} if in_spider else {"1": "failed/timeout"})


@pytest.mark.parametrize("error", [None, ValueError()])
async def test_counts_the_output_of_an_errback(state_file: Path, error: Exception | None):
    async with run(state_file) as current:
        current.spider.other = lambda _: outputs(ITEM, Request(f"{URL}/2"), *filter(None, [error]))
        current.add(1)
        request = current.next()
        lease = current.book.find(request)
        assert lease is not None
        errback: Any = request.errback
        errback.errback = current.spider.other
        failure = Failure(DownloadTimeoutError())
        failure.request = request  # type: ignore[attr-defined]
        found = []
        try:
            async for element in errback(failure):
                assert lease.phase == "callback"
                found.append(element)
        except ValueError:
            assert error is not None
            assert lease.outcome == "failed/error"
        assert found[0] == ITEM
        assert found[1].meta[PARENT] == lease.id
        assert (lease.outputs, lease.phase) == (2, "done")
