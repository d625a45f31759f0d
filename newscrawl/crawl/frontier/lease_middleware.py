"""What comes of a request: the callbacks and errbacks of leases are watched here."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.spider import iterate_spider_output
from twisted.python.failure import Failure

from newscrawl.crawl.frontier.leases import LEASE, PARENT, LeaseBook
from newscrawl.crawl.reporting.outcomes import failure_reason

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from newscrawl.crawl.frontier.lease import Lease

START: Final = 0
"""Stands for start() as the parent of a request."""


class LeaseMiddleware:
    """Tells leases what their callbacks yield. Its place is next to the engine, before all others.

    :class:`~newscrawl.crawl.frontier.LeaseScheduler` needs it.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._book = LeaseBook.for_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware."""
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Mark first requests: a crawl that is resumed yields them again."""
        async for output in start:
            if isinstance(output, Request):
                output.meta[PARENT] = START
            yield output

    def process_spider_input(self, response: Response) -> None:
        """Note that a response has come."""
        request = response.request
        lease = self._book.find(request)
        if lease is not None and request is not None:
            self._book.land(lease, request)
            lease.final_url = response.url
            lease.unchanged = response.status == HTTPStatus.NOT_MODIFIED
            lease.in_spider = lease.running = True

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Count the items of a lease and mark its requests, until there are no more."""
        lease = self._book.find(response.request)
        if lease is None:
            async for output in result:
                yield output
            return
        # What recovers from an exception comes this way a second time.
        lease.running = True
        try:
            async for output in result:
                yield _counted(output, lease, response.request)
        except Exception as error:
            _fail(self._book, lease, error)
            raise
        self._book.exhaust(lease)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """End the output of a callback that raised."""
        if lease := self._book.find(response.request):
            _fail(self._book, lease, exception)


class WatchedErrback:
    """The errback of a request under a lease, its own or none.

    Scrapy hands it what no spider middleware sees: that a download failed, and what the spider
    makes of it.
    """

    def __init__(
        self, book: LeaseBook, lease: Lease, errback: Callable[[Failure], Any] | None
    ) -> None:
        self._book = book
        self._lease = lease
        #: the spider's own
        self.errback = errback

    def __call__(self, failure: Failure) -> Any:
        """Do what the spider's errback does; without one, raise the failure."""
        lease = self._lease
        self._book.land(lease, failure.request)  # type: ignore[attr-defined]
        lease.failed = failure_reason(failure.value)
        if lease.in_spider:  # the middleware sees the output
            return self._call(failure)
        lease.running = True
        try:
            output = self._call(failure)
        except Exception as error:
            if error is not failure.value:
                _fail(self._book, lease, error)
            self._book.exhaust(lease)
            raise
        return self._watched(output, failure)

    def _call(self, failure: Failure) -> Any:
        if self.errback is None:
            failure.raiseException()
        output = self.errback(failure)
        if isinstance(output, Failure):
            output.raiseException()
        return output

    async def _watched(self, output: Any, failure: Failure) -> AsyncIterator[Any]:
        request = failure.request  # type: ignore[attr-defined]
        try:
            result = await ensure_awaitable(iterate_spider_output(output))
            async for each in as_async_generator(result):
                yield _counted(each, self._lease, request)
        except Exception as error:
            _fail(self._book, self._lease, error)
            raise
        self._book.exhaust(self._lease)


def _counted(output: Any, lease: Lease, request: Request | None) -> Any:
    """Return *output* of a callback, which the lease now waits for."""
    if isinstance(output, Request):
        if output is request or PARENT in output.meta:  # yielded a second time
            output = output.copy()
        output.meta.pop(LEASE, None)
        output.meta[PARENT] = lease.id
        lease.requests += 1
    elif output is not None:
        lease.items += 1
    return output


def _fail(book: LeaseBook, lease: Lease, error: Exception) -> None:
    if not isinstance(error, CloseSpider):
        lease.failed = failure_reason(error)
    book.exhaust(lease)
