"""Results of callbacks and errbacks are counted for the lease of their request."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from twisted.internet.error import TimeoutError as DownloadTimeoutError
from twisted.python.failure import Failure

from newscrawl.crawling.frontier.leases import LEASE, PARENT, Lease
from tests.helpers.scheduler_run import URL, Run, run

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
