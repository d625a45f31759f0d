"""``LeaseScheduler``: a scheduler that keeps requests in the crawl store until they are done."""

from __future__ import annotations

import gc
import hashlib
import logging
import random
from collections import Counter
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Final, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from newscrawl import clock
from newscrawl.crawling.crawl_store import CrawlStoreError, SiteMemory, query_of
from newscrawl.crawling.frontier.lease_middleware import START, LeaseErrback, LeaseMiddleware
from newscrawl.crawling.frontier.leases import (
    DELETE_DELIVERED,
    INSERT,
    LEASE,
    NO_KEY,
    PARENT,
    PLANNED,
    Lease,
    LeaseBook,
)
from newscrawl.crawling.frontier.request_queue import (
    PendingRequests,
    QueueEntry,
    SerializationError,
    dump_request,
    load_request,
)
from newscrawl.crawling.network.downloader import MAX_WAITING, Downloader
from newscrawl.defaults import setting
from newscrawl.sqlite import checksum

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

#: name in the memory: the query of the unfinished crawl that was started at the time *owner*
_RUN: Final = "run"
RESUMED_COUNT: Final = "newscrawl/frontier/resumed_count"

_SELECT_KEYS: Final = """
SELECT id, key, slot, rank, request IS NOT NULL FROM request WHERE id > ? ORDER BY id LIMIT 10000
"""
_SELECT_TEXT: Final = "SELECT request, checksum FROM request WHERE id = ? AND request IS NOT NULL"
_SELECT_LAST_ID: Final = """
SELECT max(
    (SELECT coalesce(max(id), 0) FROM request), (SELECT coalesce(max(request), 0) FROM outcome)
)
"""


class LeaseScheduler(BaseScheduler):
    """Scheduler of a crawl that can be killed and resumed without losing requests or items.

    A request returned to the engine has a lease; it stays pending in the file until all its results
    are written. Requests are stored as JSON with callbacks by name. A request that cannot be
    serialized is kept in memory, and its parent stays leased until it is done. A request with
    ``newscrawl_planned`` in its meta is only in memory: its spider makes it again. An unfinished
    crawl is resumed by the next one with the same file; ``start()`` runs again, and its
    requests are duplicates.

    The download slot with the fewest requests in flight comes next, up to ``CONCURRENT_REQUESTS``
    of a slot; in a slot, requests are ordered by priority, then by age. Duplicates are filtered by
    the project's request fingerprints.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._book = LeaseBook.for_crawler(crawler)
        self._store = self._book.store
        self._memory = SiteMemory.for_crawler(crawler)
        self._fingerprint = crawler.request_fingerprinter.fingerprint
        self._start_counts: Counter[bytes] = Counter()
        downloader = crawler.engine.downloader
        self._slot_of = downloader.get_slot_key
        self._slot_limit = downloader.total_concurrency or float("inf")
        if isinstance(downloader, Downloader):
            downloader.max_waiting = MAX_WAITING
        self._pending = PendingRequests()
        self._book.release_slot = self._pending.release
        #: JSON of requests by key; that of other pending ones is only in the file
        self._texts: dict[int, str] = {}
        if self._store.path:
            self._store.prepare_commits(self._prepare_commit)
        self._seen: set[int] = set()
        self._parents: dict[int, Lease] = {}
        self._ids = count(1)
        crawler.signals.connect(self._request_scheduled, signals.request_scheduled)
        crawler.signals.connect(self._book.fail_all, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the scheduler; raises ``ValueError`` if its spider middleware is not enabled."""
        if crawler.get_spider_middleware(LeaseMiddleware) is None:
            raise ValueError(
                "LeaseScheduler requires newscrawl.crawling.frontier.LeaseMiddleware "
                "in SPIDER_MIDDLEWARES"
            )
        if jobdir := crawler.settings.get("JOBDIR"):
            is_empty = not setting(crawler.settings, "NEWSCRAWL_STATE")
            effect = ", and is empty: an interrupted crawl is lost" if is_empty else ""
            message = "NEWSCRAWL_STATE replaces the scheduler of JOBDIR (%s)%s"
            logger.warning(message, jobdir, effect)
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None]:
        """Resume the crawl in the file, if any; fails with ``CrawlStoreError``."""
        self._spider = spider
        return deferred_from_coro(self._open())

    async def _open(self) -> None:
        query = str(query_of(self._spider)[0])
        for started, unfinished, _ in await self._memory.find(_RUN):
            if unfinished == query:
                await self._resume(started)
                break
            message = "The unfinished crawl of %s was asked for something else: its state stays"
            logger.info(message, started)
        else:
            self._end_run()
            self._store.write("DELETE FROM outcome")
            self._memory.put(_RUN, clock.now().isoformat(), query, inf)
        # With Python's 700 new objects, two pages, the search for garbage takes 7 % of the process.
        if 0 < gc.get_threshold()[0] < 5_000:
            gc.set_threshold(5_000)
        # Modules stay: collections, with those at the end of the process, need not look at them.
        if not gc.get_freeze_count():
            gc.freeze()
        await self._commit()

    def _end_run(self) -> None:
        self._store.write("DELETE FROM request")
        self._store.write(DELETE_DELIVERED)
        self._store.write("DELETE FROM memory WHERE name = ?", [(_RUN,)])

    async def _resume(self, started: str) -> None:
        ((last_id,),) = await self._store.read(_SELECT_LAST_ID)
        self._ids = count(last_id + 1)
        request_id = -1
        while rows := await self._store.read(_SELECT_KEYS, (request_id,)):
            for request_id, key, slot, rank, is_pending in rows:
                self._seen.add(key)
                if is_pending:
                    self._pending.push(slot, QueueEntry(rank, request_id, key))
        pending = len(self._pending)
        logger.info("Resuming the crawl of %s: %d pending requests", started, pending)
        self._stats.set_value(RESUMED_COUNT, pending)

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
        self._book.end_finished()
        if reason == "finished" and not self._book and not self._pending:
            self._end_run()
        if await self._commit() and (pending := len(self._pending) + len(self._book)):
            logger.info("%d requests pending; the next run resumes them", pending)

    def has_pending_requests(self) -> bool:
        """Return True if there are pending requests."""
        return len(self._pending) > 0

    def enqueue_request(self, request: Request) -> bool:
        """Add a new request, or a redirect or retry; return False if it is a duplicate."""
        lease = self._book.find(request)
        if lease is not None and lease.phase == "download":
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
        """Return the 64-bit key of *request*, from the callback of *parent* or from ``start()``.

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
        entry = QueueEntry(rank, request_id, key, request)
        if key != NO_KEY:
            self._seen.add(key)
            try:
                text = dump_request(request, self._spider)
            except SerializationError as error:
                self._stats.inc_value("newscrawl/frontier/in_memory_count")
                message = "Could not serialize %s, keeping it in memory: %s"
                logger.warning(message, request, error)
                if parent:
                    parent.children += 1
                    self._parents[request_id] = parent
            else:
                entry = QueueEntry(rank, request_id, key)
                self._texts[key] = text
                row = (request_id, key, slot, rank, text, checksum(text))
                self._book.add_request(row, parent)
        self._pending.push(slot, entry)

    def _prepare_commit(self) -> Callable[[], None]:
        """Keep only the JSON of requests that are not in the file after the commit."""
        written = [key for key in self._texts if not self._book.is_unwritten(key)]

        def forget() -> None:
            for key in written:
                self._texts.pop(key, None)

        return forget

    def _replace(self, lease: Lease, request: Request) -> bool:
        """Add a redirect or retry under the lease of the original request."""
        if self._is_duplicate_redirect(lease, request):
            lease.record("dropped/duplicate")
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
        """Return the next request with a lease; None if there is none."""
        while popped := self._pending.pop(self._slot_limit):
            request = self._lease(*popped)
            if request is not None:
                self._stats.inc_value("scheduler/dequeued")
                return request
        return None

    def _lease(self, slot: str, entry: QueueEntry) -> Request | None:
        """Return the request of *entry* with a lease; None if it cannot be loaded."""
        request = entry.request
        if request is not None and LEASE in request.meta:
            return request
        if request is None:
            text = self._texts.pop(entry.key, "") or self._read_text(entry.id)
            try:
                request = load_request(text, self._spider)
            except SerializationError as error:
                # Stored by another version of the spider, or damaged.
                message = "Could not load a request, skipping it: %s (%s)"
                logger.error(message, text, error)  # noqa: TRY400
                lease = Lease(entry.id, entry.key, "", slot)
                self._book.add(lease)
                self._book.fail(lease, "no_callback" if text else "damaged")
                if not text:
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

    def _read_text(self, request_id: int) -> str:
        """Return the JSON of a request in the file, "" if it is damaged."""
        try:
            rows = self._store.read_committed(_SELECT_TEXT, (request_id,))
        except CrawlStoreError as error:
            logger.error("Could not read a pending request: %s", error)  # noqa: TRY400
            return ""
        return next((text for text, stored in rows if checksum(text) == stored), "")

    def _request_scheduled(self, request: Request) -> None:
        """Record a request of a callback, which other handlers of the signal may still reject."""
        if parent := self._book.get(request.meta.get(PARENT)):
            parent.outputs -= 1
            self._book.check(parent)


def _to_integer(digest: bytes) -> int:
    """Return the first 8 bytes of *digest* as an SQLite integer."""
    return int.from_bytes(digest[:8], "big", signed=True)
