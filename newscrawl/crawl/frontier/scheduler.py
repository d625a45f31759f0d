"""``LeaseScheduler``: a scheduler that keeps requests in the crawl store until they are done."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import logging
import random
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Final, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from newscrawl import clock
from newscrawl.crawl.frontier.crawl_store import CrawlStoreError
from newscrawl.crawl.frontier.lease_middleware import START, LeaseErrback, LeaseMiddleware
from newscrawl.crawl.frontier.leases import (
    DELETE_DELIVERED,
    INSERT,
    LEASE,
    NO_KEY,
    PARENT,
    PLANNED,
    Lease,
    LeaseBook,
    LeaseObserver,
)
from newscrawl.crawl.frontier.request_queue import PendingRequests, QueueEntry
from newscrawl.crawl.frontier.serialization import (
    SerializationError,
    dump_request,
    load_request,
)
from newscrawl.crawl.frontier.watchdog import read_record, start_watchdog
from newscrawl.defaults import setting
from newscrawl.sqlite import checksum

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from newscrawl.crawl.frontier.request_queue import SlotQueue
    from newscrawl.crawl.frontier.watchdog import Watchdog

logger = logging.getLogger(__name__)

RESUMED_COUNT: Final = "newscrawl/frontier/resumed_count"

_SELECT_PENDING: Final = """
SELECT rank, id, key, request, checksum FROM request
WHERE slot = ? AND request IS NOT NULL AND (rank, id) >= (?, ?) ORDER BY rank, id LIMIT ?
"""
_COUNT_PENDING: Final = "SELECT slot, count(*) FROM request WHERE request IS NOT NULL GROUP BY slot"
_SELECT_LAST_ID: Final = """
SELECT max(
    (SELECT coalesce(max(id), 0) FROM request), (SELECT coalesce(max(request), 0) FROM outcome)
)
"""


class LeaseScheduler(BaseScheduler, LeaseObserver):
    """Scheduler of a crawl that can be killed and resumed without losing requests or items.

    A request returned to the engine has a lease; it stays pending in the file until all its results
    are written. Requests are stored as JSON with callbacks by name. A request that cannot be
    serialized is kept in memory, and its parent stays leased until it is done. A request with
    ``newscrawl_planned`` in its meta is only in memory: its spider makes it again. An unfinished
    crawl is resumed by the next one with the same file; ``start()`` runs again, and its
    requests are duplicates.

    The download slot with the fewest requests in flight comes next; in a slot, requests are
    ordered by priority, then by age. Duplicates are filtered by the project's request fingerprints.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._book = LeaseBook.for_crawler(crawler)
        self._book.observe(self)
        self._store = self._book.store
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._start_counts: Counter[bytes] = Counter()
        self._slot_of = crawler.engine.downloader.get_slot_key
        memory = setting(crawler.settings, "NEWSCRAWL_FRONTIER_MEMORY")
        self._pending = PendingRequests(memory, self._load_soon, self._is_in_file)
        self._seen: set[int] = set()
        self._parents: dict[int, Lease] = {}
        self._ids = count(1)
        self._starved = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._watchdog: Watchdog | None = None
        crawler.signals.connect(self._request_scheduled, signals.request_scheduled)
        crawler.signals.connect(self._book.fail_all, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the scheduler; raises ``ValueError`` if its spider middleware is not enabled."""
        if crawler.get_spider_middleware(LeaseMiddleware) is None:
            raise ValueError(
                "LeaseScheduler requires newscrawl.crawl.frontier.LeaseMiddleware "
                "in SPIDER_MIDDLEWARES"
            )
        if jobdir := crawler.settings.get("JOBDIR"):
            logger.warning("NEWSCRAWL_STATE replaces the scheduler of JOBDIR (%s)", jobdir)
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None]:
        """Resume the crawl in the file, if any; fails with ``CrawlStoreError``."""
        self._spider = spider
        return deferred_from_coro(self._open())

    async def _open(self) -> None:
        runs = await self._store.read("SELECT started FROM run WHERE ended IS NULL")
        if runs and setting(self._crawler.settings, "NEWSCRAWL_RESUME"):
            await self._resume(runs[0][0])
        else:
            self._end_run()
            self._store.write("DELETE FROM outcome")
            self._store.write("INSERT INTO run (started) VALUES (?)", [(clock.now().isoformat(),)])
        # With Python's 700 new objects, two pages, the search for garbage takes 7 % of the process.
        if 0 < gc.get_threshold()[0] < 5_000:
            gc.set_threshold(5_000)
        if await self._commit():  # now, since a stalled event loop runs no timer
            self._watchdog = start_watchdog(self._crawler, self._book, asyncio.get_running_loop())

    def _end_run(self) -> None:
        self._store.write("DELETE FROM request")
        self._store.write(DELETE_DELIVERED)
        now = clock.now().isoformat()
        self._store.write("UPDATE run SET ended = ? WHERE ended IS NULL", [(now,)])

    async def _resume(self, started: str) -> None:
        await self._set_stalled_request_aside()
        read = self._store.read
        self._seen = {key for (key,) in await read("SELECT key FROM request")}
        ((last_id,),) = await read(_SELECT_LAST_ID)
        self._ids = count(last_id + 1)
        for slot in [self._pending.restore(*row) for row in await read(_COUNT_PENDING)]:
            await self._load(slot)
        pending = len(self._pending)
        logger.info("Resuming the crawl of %s: %d pending requests", started, pending)
        self._stats.set_value(RESUMED_COUNT, pending)

    async def _set_stalled_request_aside(self) -> None:
        stalled = read_record(self._store.path) if self._store.path else None
        if stalled and await self._book.set_aside(stalled):
            message = "The last run stalled in %s; setting aside %s as failed/stalled"
            logger.warning(message, stalled.place, stalled.url)
            await self._commit()

    async def _commit(self) -> bool:
        """Commit all writes; return False if that failed, which closes the spider."""
        try:
            await self._store.commit()
        except CrawlStoreError:  # logged by the store
            return False
        return True

    def close(self, reason: str) -> Deferred[None]:
        """Commit; delete the requests of a crawl that has finished."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        if self._watchdog:
            self._watchdog.stop()
        self._book.end_finished()
        if reason == "finished" and not self._book and not self._pending:
            self._end_run()
        if await self._commit() and (pending := len(self._pending) + len(self._book)):
            logger.info("%d requests pending; the next run resumes them", pending)

    def request_released(self, slot: str) -> None:
        """Handle that a request of the download *slot* is no longer in flight."""
        self._pending.release(slot)

    def is_full(self) -> bool:
        """Return True if start requests should wait."""
        return self._pending.is_full()

    def has_pending_requests(self) -> bool:
        """Return True if there are pending requests, in memory or in the file."""
        return len(self._pending) > 0

    def enqueue_request(self, request: Request) -> bool:
        """Add a new request, or a redirect or retry; return False if it is a duplicate."""
        lease = self._book.find(request)
        if lease is not None and lease.in_flight:
            return self._replace(lease, request)
        request.meta.pop(LEASE, None)
        if isinstance(request.errback, LeaseErrback):  # a copy of a leased request
            request.errback = request.errback.errback
        parent_id = request.meta.pop(PARENT, None)
        parent = self._book.get(parent_id)
        key = self._key(request, parent, from_start=parent_id == START)
        if key in self._seen:
            self._book.add_duplicate(key, parent)
            self._stats.inc_value("dupefilter/filtered")
            return False
        self._add(request, key, parent)
        self._stats.inc_value("scheduler/enqueued")
        return True

    def _key(self, request: Request, parent: Lease | None, *, from_start: bool) -> int:
        """Return the 64-bit key of *request*, yielded by the callback of *parent* or by ``start()``.

        The key of a request subject to the dupefilter is its fingerprint. The key of an unfiltered
        request also covers its parent and its number among the requests of this parent with the
        same fingerprint, so that a repeated callback after a crash yields the same keys.
        """
        if request.meta.get(PLANNED):
            return NO_KEY
        fingerprint = self._fingerprint(request)
        if not request.dont_filter:
            return _to_integer(fingerprint)
        if not from_start and (parent is None or parent.key == NO_KEY):
            return random.getrandbits(63)  # of an extension, for example: a new key each time
        counts = parent.fingerprint_counts if parent else self._start_counts
        counts[fingerprint] += 1
        origin = f"{parent.key if parent else 0} {counts[fingerprint]}"
        return _to_integer(hashlib.sha256(fingerprint + origin.encode()).digest())

    def _add(self, request: Request, key: int, parent: Lease | None) -> None:
        request_id, slot, rank = next(self._ids), str(self._slot_of(request)), -request.priority
        stored: str | Request = request
        if key != NO_KEY:
            self._seen.add(key)
            try:
                stored = dump_request(request, self._spider)
            except SerializationError as error:
                self._keep_in_memory(request_id, request, parent, error)
            else:
                row = (request_id, key, slot, rank, stored, checksum(stored))
                self._book.add_request(row, parent)
        self._pending.push(slot, QueueEntry(rank, request_id, key, stored))

    def _keep_in_memory(
        self, request_id: int, request: Request, parent: Lease | None, error: SerializationError
    ) -> None:
        self._stats.inc_value("newscrawl/frontier/in_memory_count")
        logger.warning("Could not serialize %s, keeping it in memory: %s", request, error)
        if parent:
            parent.children += 1
            self._parents[request_id] = parent

    def _replace(self, lease: Lease, request: Request) -> bool:
        """Add a redirect or retry under the lease of the original request."""
        lease.replacement_announced = False
        if self._is_duplicate_redirect(lease, request):
            lease.dropped = "dropped/duplicate"
            self._book.fail(lease, "duplicate")
            return False
        lease.final_url = request.url
        self._pending.release(lease.slot)
        lease.slot = str(self._slot_of(request))
        self._pending.push(lease.slot, QueueEntry(-request.priority, lease.id, lease.key, request))
        return True

    def _is_duplicate_redirect(self, lease: Lease, request: Request) -> bool:
        if request.dont_filter or request.url == lease.final_url:
            return False
        key = _to_integer(self._fingerprint(request))
        if key in lease.redirects or key == lease.key:
            return False  # a loop, which the redirect middleware ends
        if key in self._seen:
            self._book.add_duplicate(key, lease)
            return True
        self._seen.add(key)
        lease.redirects.add(key)
        lease.writes.append((INSERT, [(next(self._ids), key, "", 0, None, None)]))
        return False

    def next_request(self) -> Request | None:
        """Return the next request with a lease; None if none is in memory."""
        while popped := self._pending.pop():
            request = self._lease(*popped)
            if request is not None:
                self._stats.inc_value("scheduler/dequeued")
                return request
        self._starved = self.has_pending_requests()
        return None

    def _lease(self, slot: str, entry: QueueEntry) -> Request | None:
        """Return the request of *entry* with a lease; None if it cannot be loaded."""
        if isinstance(entry.request, Request):
            request = entry.request
            if LEASE in request.meta:
                return request
        else:
            try:
                request = load_request(entry.request, self._spider)
            except SerializationError as error:
                # Stored by another version of the spider, or damaged.
                message = "Could not load a request, skipping it: %s (%s)"
                logger.error(message, entry.request, error)  # noqa: TRY400
                lease = Lease(entry.id, entry.key, "", slot)
                self._book.add(lease)
                self._book.fail(lease, "no_callback" if entry.request else "damaged")
                if not entry.request:
                    self._store.damage.append(f"{self._store.path}: request {entry.id} is damaged")
                return None
        lease = Lease(entry.id, entry.key, request.url, slot, meta=request.meta)
        if entry.request is request:
            lease.durable, lease.parent = False, self._parents.pop(entry.id, None)
        lease.final_url = request.url
        request.meta[LEASE] = entry.id
        request.errback = LeaseErrback(self._book, lease, request.errback)
        self._book.add(lease)
        return request

    def _is_in_file(self, entry: QueueEntry) -> bool:
        return isinstance(entry.request, str) and not self._book.is_unwritten(entry.key)

    def _request_scheduled(self, request: Request) -> None:
        """Record a request before :meth:`enqueue_request`; signal handlers may still reject it."""
        if parent := self._book.get(request.meta.get(PARENT)):
            parent.requests -= 1
            self._book.check(parent)
        lease = self._book.find(request)
        if lease and lease.in_flight:
            lease.replacement_announced = True
            asyncio.get_running_loop().call_soon(self._fail_if_rejected, lease)

    def _fail_if_rejected(self, lease: Lease) -> None:
        if lease.replacement_announced:
            lease.replacement_announced = False
            self._book.fail(lease, "ignored")

    def _load_soon(self, slot: SlotQueue) -> None:
        task = asyncio.ensure_future(self._load(slot))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _load(self, slot: SlotQueue) -> None:
        """Load the first requests of *slot* behind its horizon from the file."""
        leased = self._book.ids
        limit = self._pending.slot_memory + len(leased) + len(slot.kept)
        assert slot.horizon is not None  # noqa: S101
        try:
            rows = await self._store.read(_SELECT_PENDING, (slot.name, *slot.horizon, limit))
        except CrawlStoreError as error:
            logger.error("Could not read pending requests: %s", error)  # noqa: TRY400
            return
        entries = [
            QueueEntry(rank, id_, key, text if checksum(text) == stored else "")
            for rank, id_, key, text, stored in rows
        ]
        self._pending.loaded(slot, entries, leased=leased, complete=len(rows) < limit)
        # Wake the engine: it does not call next_request() again by itself.
        if self._starved and (request := self.next_request()):
            self._starved = False
            self._crawler.engine.crawl(request)


def _to_integer(digest: bytes) -> int:
    """Return the first 8 bytes of *digest* as an SQLite integer."""
    return int.from_bytes(digest[:8], "big", signed=True)
