"""Scrapy's downloader with one slot per registered domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.utils.httpobj import urlparse_cached

from newscrawl.crawl.discovery.urls import registered_domain, site_key
from newscrawl.crawl.network import RefusedError
from newscrawl.defaults import setting

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler

MAX_SLOW_REQUESTS: Final = 1000
"""Requests to slow domains that do not count towards ``CONCURRENT_REQUESTS``."""


class Downloader(ScrapyDownloader):
    """Assigns all hosts of a registered domain to one slot, since they often share a server.

    ``a.example.com`` and ``www.example.com`` share delay and concurrency. The request meta
    ``download_slot`` and an entry for the host in ``DOWNLOAD_SLOTS`` take precedence. Requests that
    wait for a domain in :attr:`slow` do not count as active, so that a few domains with a long
    Retry-After do not block all others.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._by_domain = setting(crawler.settings, "NEWSCRAWL_POLITENESS_ENABLED")
        self._own: set[str] = set()
        #: keys of slots with a long delay
        self.slow: set[str] = set()

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
        """Return whether ``CONCURRENT_REQUESTS`` requests are active."""
        if not self.slow:
            return super().needs_backout()
        slots = (self.slots[key] for key in self.slow if key in self.slots)
        waiting = min(sum(len(slot.queue) for slot in slots), MAX_SLOW_REQUESTS)
        return 0 < self.total_concurrency <= len(self.active) - waiting

    def _wait_for_download(self, slot: Slot, request: Request, *args: Any) -> Any:
        # Scrapy does so when its task starts, after it has emptied the queue: without a delay, all
        # waiting requests are sent at once.
        slot.transferring.add(request)
        return super()._wait_for_download(slot, request, *args)

    def refuse_waiting(self, key: str, reason: str) -> None:
        """Fail all requests that wait in the slot *key* with ``RefusedError(reason)``."""
        slot = self.slots.get(key)
        while slot and slot.queue:
            _, waiting = slot.queue.popleft()
            waiting.errback(RefusedError(reason))
