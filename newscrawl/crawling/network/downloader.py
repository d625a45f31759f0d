"""Scrapy's downloader with one slot per registered domain."""

from __future__ import annotations

import asyncio
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.reactor import is_reactor_installed

from newscrawl.crawling.network import RefusedError
from newscrawl.crawling.network.page_download import SHEET_SITE
from newscrawl.crawling.urls import registered_domain, site_key
from newscrawl.defaults import setting
from newscrawl.workers.child import STOPPED
from newscrawl.workers.pool import WorkerPool

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from scrapy.http import Response

MAX_WAITING: Final = 1000
"""Requests beyond ``CONCURRENT_REQUESTS`` that wait for their domains or their robots.txt."""
STOP_GRACE: Final = 2.5
"""Seconds that downloads and pages in progress have to finish when a crawl is stopped."""
_WATCH_INTERVAL: Final = 0.2
LOOKUPS: Final = 2
"""Lookups of host names for each download that there may be: some outlast theirs."""


class LookupThread(Thread):
    """A thread of the reactor, which looks up host names in them.

    A lookup cannot be cancelled: with a name server that does not answer it lasts longer than the
    download, or the crawl, that needs it. So there are more threads than downloads, and the end of
    the process waits for none of them.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options, daemon=True)

    def join(self, timeout: float | None = None) -> None:
        """Return at once unless there is a *timeout*."""
        super().join(timeout or 0)


class Downloader(ScrapyDownloader):
    """Assigns all hosts of a registered domain to one slot, since they often share a server.

    ``a.example.com`` and ``www.example.com`` share delay and concurrency. The request meta
    ``download_slot`` and an entry for the host in ``DOWNLOAD_SLOTS`` take precedence.

    A domain holds up no other one: ``CONCURRENT_REQUESTS`` limits the downloads, and slots take
    turns. No download starts while pages of as many sites wait for a worker. Style sheets are not
    counted, since their middleware limits them. With a scheduler that takes care of slots,
    :attr:`max_waiting` other requests may wait for the delay of their slot, or for robots.txt. When
    a crawl is stopped, these are refused at once as ``stopped``, and those in progress after
    ``STOP_GRACE``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._by_domain = setting(crawler.settings, "NEWSCRAWL_POLITENESS_ENABLED")
        self._own: set[str] = set()
        #: requests beyond ``CONCURRENT_REQUESTS`` that may wait; a scheduler sets it
        self.max_waiting = 0
        self._downloads: set[asyncio.Task[Any]] = set()
        #: number of downloads without style sheets, with those whose task has not started
        self._running = 0
        #: slots that wait for their turn
        self._held: dict[Slot, None] = {}
        self._workers: WorkerPool | None = None
        self._stopped = False
        self._watcher: asyncio.Task[None] | None = None
        crawler.signals.connect(self._watch, signals.spider_opened)
        crawler.signals.connect(self._end_watch, signals.spider_closed)

    def get_slot_key(self, request: Request) -> str:
        """Return the registered domain of *request*, or its ``download_slot``."""
        if not self._by_domain:
            return super().get_slot_key(request)
        given: str | None = request.meta.get(self.DOWNLOAD_SLOT)
        # A redirect to another domain inherits the slot of the original request.
        if given is not None and given not in self._own:
            return given
        host = urlparse_cached(request).hostname or ""
        key = host if host in self.per_slot_settings else registered_domain(site_key(request.url))
        self._own.add(key)
        return key

    def needs_backout(self) -> bool:
        """Return whether no more requests can be sent, nor wait."""
        return 0 < self.total_concurrency <= len(self.active) - self.max_waiting

    async def _enqueue_request(self, request: Request) -> Response:
        if self._stopped:
            raise RefusedError(STOPPED)
        return await super()._enqueue_request(request)

    def _process_queue(self, slot: Slot) -> None:
        if self._is_full() and slot.queue and SHEET_SITE not in slot.queue[0][0].meta:
            self._held[slot] = None
        else:
            super()._process_queue(slot)

    def _is_full(self) -> bool:
        waiting = self._workers.waiting_sites if self._workers else 0
        return 0 < self.total_concurrency <= max(self._running, waiting)

    def _resume(self) -> None:
        while self._held and not self._is_full():
            held = next(iter(self._held))
            del self._held[held]
            self._process_queue(held)

    def _wait_for_download(self, slot: Slot, request: Request, *args: Any) -> Any:
        # Scrapy does so when its task starts, after it has emptied the queue: without a delay, all
        # waiting requests are sent at once.
        slot.transferring.add(request)
        self._running += SHEET_SITE not in request.meta
        return self._download_in_turn(slot, request, *args)

    async def _download_in_turn(self, slot: Slot, request: Request, result: Any) -> None:
        task = asyncio.current_task()
        self._downloads.add(task)  # type: ignore[arg-type]  # Scrapy makes one for each download
        try:
            await super()._wait_for_download(slot, request, result)
        except asyncio.CancelledError:
            result.errback(RefusedError(STOPPED))
        finally:
            self._downloads.discard(task)
            self._running -= SHEET_SITE not in request.meta
            self._resume()

    def refuse_waiting(self, key: str, reason: str) -> None:
        """Fail all requests that wait in the slot *key* with ``RefusedError(reason)``."""
        slot = self.slots.get(key)
        while slot and slot.queue:
            _, waiting = slot.queue.popleft()
            waiting.errback(RefusedError(reason))

    def _watch(self) -> None:
        self._watcher = asyncio.create_task(self._stop_with_spider())
        self._workers = WorkerPool.for_crawler(self.crawler)
        self._workers.on_turn = self._resume
        if is_reactor_installed():
            from twisted.internet import reactor  # noqa: PLC0415  # importing it installs one

            pool = reactor.getThreadPool()
            pool.threadFactory = LookupThread
            pool.adjustPoolsize(maxthreads=pool.max + LOOKUPS * self.total_concurrency)

    async def _stop_with_spider(self) -> None:
        """Refuse all requests when the spider is closing, which Scrapy waits for without limit."""
        while (slot := self.crawler.engine._slot) and slot.closing is None:  # noqa: ASYNC110, SLF001
            await asyncio.sleep(_WATCH_INTERVAL)
        self._stopped = True
        for key in list(self.slots):
            self.refuse_waiting(key, STOPPED)
        await asyncio.sleep(STOP_GRACE)
        WorkerPool.for_crawler(self.crawler).stop()
        for task in self._downloads:
            task.cancel()

    def _end_watch(self) -> None:
        if self._watcher:
            self._watcher.cancel()
