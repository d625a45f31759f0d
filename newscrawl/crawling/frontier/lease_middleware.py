"""Spider middleware that records the results of each leased request."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.spider import iterate_spider_output
from twisted.python.failure import Failure

from newscrawl.component import Component
from newscrawl.crawling.crawl_store import CrawlStoreError
from newscrawl.crawling.frontier.leases import LEASE, PARENT, LeaseBook
from newscrawl.crawling.network.failures import failure_reason
from newscrawl.workers.child import is_stopped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawling.frontier.leases import Lease

START: Final = 0
"""Parent ID of requests from ``start()``."""
MAX_UNWRITTEN: Final = 5_000
"""Start requests that wait to be written to the file."""
MAX_START_TIME: Final = 0.01
"""Seconds for which ``start()`` is read at a time."""
TURNS: Final = 10
"""Turns of the event loop in between; a page needs several dozen."""


class LeaseMiddleware(Component):
    """Counts the items and requests that callbacks yield, for their leases.

    :class:`~newscrawl.crawling.frontier.LeaseScheduler` requires it. It must be the first spider
    middleware (closest to the engine).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._book = LeaseBook.for_crawler(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Mark start requests, which a resumed crawl yields again; pause between them.

        Scrapy reads on without a turn of the event loop while its downloader is busy.
        """
        began, unwritten = monotonic(), 0
        async for output in start:
            if isinstance(output, Request):
                output.meta[PARENT] = START
            yield output
            unwritten += 1
            if unwritten == MAX_UNWRITTEN:
                unwritten = 0
                try:
                    await self._book.store.commit()
                except CrawlStoreError:  # the store closes the spider
                    return
            if monotonic() - began > MAX_START_TIME:
                for _ in range(TURNS):
                    await asyncio.sleep(0)
                began = monotonic()

    def process_spider_input(self, response: Response) -> None:
        """Record the response."""
        request = response.request
        lease = self._book.find(request)
        if lease is not None and request is not None:
            self._book.response_received(lease, request)
            lease.final_url = response.url
            lease.record("unchanged" if response.status == HTTPStatus.NOT_MODIFIED else "read")
            lease.phase = "callback"

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Count the output of a callback until it finishes."""
        lease = self._book.find(response.request)
        if lease is None:
            async for output in result:
                yield output
            return
        # Output that replaces an exception passes here a second time.
        lease.phase = "callback"
        async for output in _counted(result, self._book, lease, response.request):
            yield output

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Record the exception of a callback."""
        if lease := self._book.find(response.request):
            _callback_failed(self._book, lease, exception)


class LeaseErrback:
    """Errback of a leased request; calls the spider's errback, if any.

    Needed since spider middlewares do not see download failures and the output of errbacks.
    """

    def __init__(
        self, book: LeaseBook, lease: Lease, errback: Callable[[Failure], Any] | None
    ) -> None:
        self.book = book
        self._lease = lease
        #: errback of the spider
        self.errback = errback

    def __call__(self, failure: Failure) -> Any:
        """Call the spider's errback; without one, raise the failure."""
        lease = self._lease
        self.book.response_received(lease, failure.request)  # type: ignore[attr-defined]
        lease.record(f"failed/{failure_reason(failure.value)}")
        if is_stopped(failure.value):
            lease.stopped = True
            return None
        if lease.phase == "callback":  # the middleware counts the output
            return self._call(failure)
        lease.phase = "callback"
        try:
            output = self._call(failure)
        except Exception as error:
            if error is not failure.value:
                _callback_failed(self.book, lease, error)
            self.book.callback_finished(lease)
            raise
        request = failure.request  # type: ignore[attr-defined]
        return _counted(_awaited(output), self.book, lease, request)

    def _call(self, failure: Failure) -> Any:
        if self.errback is None:
            failure.raiseException()
        output = self.errback(failure)
        if isinstance(output, Failure):
            output.raiseException()
        return output


async def _awaited(output: Any) -> AsyncIterator[Any]:
    """Yield the output of a callback, which may be a coroutine or any iterable."""
    result = await ensure_awaitable(iterate_spider_output(output))
    async for element in as_async_generator(result):
        yield element


async def _counted(
    result: AsyncIterator[Any], book: LeaseBook, lease: Lease, request: Request | None
) -> AsyncIterator[Any]:
    """Yield the output of a callback, and record when it ends or fails."""
    try:
        async for output in result:
            yield _count_output(output, lease, request)
    except Exception as error:
        _callback_failed(book, lease, error)
        if not lease.stopped:
            raise
    book.callback_finished(lease)


def _count_output(output: Any, lease: Lease, request: Request | None) -> Any:
    if isinstance(output, Request):
        if output is request or PARENT in output.meta:  # yielded a second time
            output = output.copy()
        output.meta.pop(LEASE, None)
        output.meta[PARENT] = lease.id
    if output is not None:
        lease.outputs += 1
    return output


def _callback_failed(book: LeaseBook, lease: Lease, error: Exception) -> None:
    if not isinstance(error, CloseSpider):
        lease.record(f"failed/{failure_reason(error)}")
        lease.stopped |= is_stopped(error)
    book.callback_finished(lease)
