"""``LeaseScheduler``: requests are pending in the file until all that they led to is there."""

from __future__ import annotations

import asyncio
import logging
from itertools import count
from typing import TYPE_CHECKING, Final, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from newscrawl import clock
from newscrawl.crawl.frontier import outbox
from newscrawl.crawl.frontier.frontier_store import CrawlStoreError
from newscrawl.crawl.frontier.lease import NO_KEY, Lease
from newscrawl.crawl.frontier.lease_middleware import START, LeaseMiddleware, WatchedErrback
from newscrawl.crawl.frontier.leases import INSERT, LEASE, PARENT, SCHEMA, LeaseBook
from newscrawl.crawl.frontier.request_keys import Keys
from newscrawl.crawl.frontier.request_queue import Entry, PendingRequests
from newscrawl.crawl.frontier.serialization import NotPlainError, dump_request, load_request
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from newscrawl.crawl.frontier.request_queue import Slot

logger = logging.getLogger(__name__)

_LOAD: Final = """
SELECT rank, id, key, request FROM request
WHERE slot = ? AND request IS NOT NULL AND (rank, id) >= (?, ?) ORDER BY rank, id LIMIT ?
"""
_COUNT: Final = "SELECT slot, count(*) FROM request WHERE request IS NOT NULL GROUP BY slot"
_LAST: Final = """
SELECT max(
    (SELECT coalesce(max(id), 0) FROM request), (SELECT coalesce(max(request), 0) FROM outcome)
)
"""
_CLEAR: Final = ("DELETE FROM request", outbox.CLEAR)


class LeaseScheduler(BaseScheduler):
    """Scheduler that loses nothing: what was not done when a crawl ended is done by the next.

    A request is handed out under a lease, and pending in the file until all that it led to is
    there, too. Requests are JSON with callbacks by name; one that cannot be so is kept in memory,
    and its parent under lease until it is done. A request with ``newscrawl_planned`` in its meta is
    in memory alone: its spider plans it again. A crawl that ended before it had finished is
    resumed by the next one with the same file; what ``start()`` yields again is known.

    Download slots take turns, the one with the fewest requests under way first; within a slot
    it goes by priority, then by age. The dupefilter is its own, by the project's fingerprints.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._book = LeaseBook.for_crawler(crawler)
        self._book.on_landing = self._landed
        self._book.tells_crawls = True
        self._store = self._book.store
        self._keys = Keys(crawler)
        self._slot_of = crawler.engine.downloader.get_slot_key
        memory = setting(crawler.settings, "NEWSCRAWL_FRONTIER_MEMORY")
        self._pending = PendingRequests(memory, self._load_soon, self._is_in_file)
        self._seen: set[int] = set()
        self._parents: dict[int, Lease] = {}
        self._ids = count(1)
        self._starved = False
        self._tasks: set[asyncio.Task[None]] = set()
        crawler.signals.connect(self._scheduled, signals.request_scheduled)
        crawler.signals.connect(self._book.abandon, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the scheduler; raise ``ValueError`` where its middleware is missing."""
        if crawler.get_spider_middleware(LeaseMiddleware) is None:
            raise ValueError(
                "LeaseScheduler needs newscrawl.crawl.frontier.LeaseMiddleware in SPIDER_MIDDLEWARES"
            )
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None]:
        """Open the file; fail with ``CrawlStoreError`` where it cannot be used."""
        self._spider = spider
        return deferred_from_coro(self._open())

    async def _open(self) -> None:
        await self._store.open(SCHEMA + outbox.SCHEMA)
        runs = await self._store.read("SELECT started FROM run WHERE ended IS NULL")
        if runs and setting(self._crawler.settings, "NEWSCRAWL_RESUME"):
            await self._resume(runs[0][0])
        else:
            self._begin()

    def _begin(self) -> None:
        self._end_run()
        for table in ("outcome", "spent"):
            self._store.write(f"DELETE FROM {table}")  # noqa: S608  # our own names
        self._store.write("INSERT INTO run (started) VALUES (?)", [(clock.now().isoformat(),)])

    def _end_run(self) -> None:
        for sql in _CLEAR:
            self._store.write(sql)
        self._store.write(
            "UPDATE run SET ended = ? WHERE ended IS NULL", [(clock.now().isoformat(),)]
        )

    async def _resume(self, started: str) -> None:
        read = self._store.read
        self._seen = {key for (key,) in await read("SELECT key FROM request")}
        ((last,),) = await read(_LAST)
        self._ids = count(last + 1)
        for slot in [self._pending.restore(*row) for row in await read(_COUNT)]:
            await self._load(slot)
        logger.info(
            "Resuming the crawl of %s: %d requests are pending", started, len(self._pending)
        )
        self._stats.set_value("newscrawl/frontier/resumed_count", len(self._pending))

    def close(self, reason: str) -> Deferred[None]:
        """Commit; forget the requests of a crawl that has *finished*."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        self._book.settle()
        if reason == "finished" and not self._book and not self._pending:
            self._end_run()
        try:
            await self._store.commit()
        except CrawlStoreError:
            return  # which has been told, and ends the crawl
        if left := len(self._pending) + len(self._book):
            logger.info("Not done: %d requests, left to the next crawl of this state", left)

    def has_pending_requests(self) -> bool:
        """Return True while there are requests to hand out, in memory or in the file."""
        return len(self._pending) > 0

    def enqueue_request(self, request: Request) -> bool:
        """Take a new request, or the one that takes an older one's place; False for a known one."""
        lease = self._book.find(request)
        if lease is not None and lease.flying:
            return self._continue(lease, request)
        request.meta.pop(LEASE, None)
        if isinstance(request.errback, WatchedErrback):  # of a copy of a request under lease
            request.errback = request.errback.errback
        number = request.meta.pop(PARENT, None)
        parent = self._book.get(number)
        key = self._keys.key(request, parent, from_start=number == START)
        if key in self._seen:
            self._book.share(key, parent)
            self._stats.inc_value("dupefilter/filtered")
            return False
        self._add(request, key, parent)
        self._stats.inc_value("scheduler/enqueued")
        return True

    def _add(self, request: Request, key: int, parent: Lease | None) -> None:
        number, name, rank = next(self._ids), str(self._slot_of(request)), -request.priority
        plain: str | Request = request
        if key != NO_KEY:
            self._seen.add(key)
            try:
                plain = dump_request(request, self._spider)
            except NotPlainError as error:
                self._keep_in_memory(number, request, parent, error)
            else:
                self._book.add_request((number, key, name, rank, plain), parent)
        self._pending.push(name, Entry(rank, number, key, plain))

    def _keep_in_memory(
        self, number: int, request: Request, parent: Lease | None, error: NotPlainError
    ) -> None:
        self._stats.inc_value("newscrawl/frontier/in_memory_count")
        logger.warning("Kept in memory, with the request that led to it: %s (%s)", request, error)
        if parent:
            parent.children += 1
            self._parents[number] = parent

    def _continue(self, lease: Lease, request: Request) -> bool:
        """Take a redirect or a retry: it stays under its lease."""
        lease.announced = False
        if self._is_known_page(lease, request):
            lease.dropped = "dropped/duplicate"
            self._book.give_up(lease, "duplicate")
            return False
        lease.final_url = request.url
        self._landed(lease.slot)
        lease.slot = str(self._slot_of(request))
        self._pending.push(lease.slot, Entry(-request.priority, lease.id, lease.key, request))
        return True

    def _is_known_page(self, lease: Lease, request: Request) -> bool:
        """Return True for a redirect to what another request fetches."""
        if request.dont_filter or request.url == lease.final_url:
            return False
        key = self._keys.fingerprint(request)
        if key in lease.redirects or key == lease.key:
            return False  # a loop, which the redirect middleware ends
        if key in self._seen:
            self._book.share(key, lease)
            return True
        self._seen.add(key)
        lease.redirects.add(key)
        lease.writes.append((INSERT, [(next(self._ids), key, "", 0, None)]))
        return False

    def next_request(self) -> Request | None:
        """Return the next request, under its lease; None where none is in memory."""
        while found := self._pending.pop():
            name, entry = found
            request = self._hand_out(name, entry)
            if request is not None:
                self._stats.inc_value("scheduler/dequeued")
                return request
        self._starved = self.has_pending_requests()
        return None

    def _hand_out(self, name: str, entry: Entry) -> Request | None:
        if isinstance(entry.request, Request):
            request = entry.request
            if LEASE in request.meta:
                return request
        else:
            try:
                request = load_request(entry.request, self._spider)
            except NotPlainError as error:
                self._refuse(name, entry, error)
                return None
        lease = Lease(entry.id, entry.key, request.url, name, meta=request.meta)
        if entry.request is request:
            lease.durable, lease.parent = False, self._parents.pop(entry.id, None)
        lease.final_url = request.url
        request.meta[LEASE] = entry.id
        request.errback = WatchedErrback(self._book, lease, request.errback)
        self._book.add(lease)
        return request

    def _refuse(self, name: str, entry: Entry, error: NotPlainError) -> None:
        """End a request that was written by another version of the spider."""
        logger.error("Not fetched: %s: %s", entry.request, error)
        lease = Lease(entry.id, entry.key, "", name)
        self._book.add(lease)
        self._book.give_up(lease, "no_callback")

    def _is_in_file(self, entry: Entry) -> bool:
        return isinstance(entry.request, str) and not self._book.holds_back(entry.key)

    def _landed(self, name: str) -> None:
        self._pending.land(name)

    def _scheduled(self, request: Request) -> None:
        """Note a request on its way to :meth:`enqueue_request`, which others may still refuse."""
        if parent := self._book.get(request.meta.get(PARENT)):
            parent.requests -= 1
            self._book.check(parent)
        lease = self._book.find(request)
        if lease and lease.flying:
            lease.announced = True
            asyncio.get_running_loop().call_soon(self._end_if_refused, lease)

    def _end_if_refused(self, lease: Lease) -> None:
        if lease.announced:
            lease.announced = False
            self._book.give_up(lease, "ignored")

    def _load_soon(self, slot: Slot) -> None:
        task = asyncio.ensure_future(self._load(slot))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _load(self, slot: Slot) -> None:
        """Read the first requests of *slot* that memory does not hold."""
        known = self._book.numbers
        limit = self._pending.share + len(known) + len(slot.held)
        assert slot.horizon is not None  # noqa: S101
        try:
            rows = await self._store.read(_LOAD, (slot.name, *slot.horizon, limit))
        except CrawlStoreError as error:
            logger.error("Pending requests cannot be read: %s", error)  # noqa: TRY400
            return
        entries = [Entry(*row) for row in rows]
        self._pending.loaded(slot, entries, known=known, complete=len(rows) < limit)
        self._wake()

    def _wake(self) -> None:
        """Have the engine ask again: it has been told that there was nothing."""
        if self._starved and (request := self.next_request()):
            self._starved = False
            self._crawler.engine.crawl(request)
